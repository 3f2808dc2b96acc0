"""The journal's entries, and what they add up to when they are folded into the state.

Folding goes by offset and never by time, so that clocks and parallel processes cannot make an
entry count twice or not at all.
"""

from __future__ import annotations

from gitguard.errors import InvalidInput
from gitguard.model.events import PlanItem
from gitguard.model.record import Kind, Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any, ClassVar

STARTED = "tool-start"
ENDED = "tool-end"
FAILED = "tool-failed"
INTERRUPTED = "tool-interrupted"
PROMPT = "prompt"
TURN_ENDED = "turn-end"


class Entry(Record):
    """One line of the journal."""

    kinds: ClassVar[Mapping[str, Kind]] = {
        "event": Kind("text", "What happened."),
        "at": Kind("time", "When."),
        "host_session": Kind("text", "In which conversation."),
        "id": Kind("text", "The tool call's id."),
        "tool": Kind("text", "The tool's name."),
        "summary": Kind("text", "The parameters, the prompt, or how the answer began."),
        "read": Kind("texts", "Files the call read."),
        "written": Kind("texts", "Files the call changed."),
        "error": Kind("text", "How the call failed."),
        "sub_agent": Kind("text", "The sub-agent that acted."),
        "plan": Kind("records", "What the call did to the host's plan.", of=PlanItem),
        "whole_plan": Kind("flag", "Whether these are all items there are."),
        "settles": Kind("text", "What the agent had said at length, if a short prompt answers it."),
        "pivot": Kind("flag", "Whether the prompt answered a long message that is not here."),
        "long": Kind("flag", "Whether the answer was long, of which this is the beginning."),
        "calls": Kind("count", "Of the end of a call: how many of the conversation's had ended."),
    }
    event: str
    at: str
    host_session: str
    id: str = ""
    tool: str = ""
    summary: str = ""
    read: tuple[str, ...] = ()
    written: tuple[str, ...] = ()
    error: str = ""
    sub_agent: str = ""
    plan: tuple[PlanItem, ...] = ()
    whole_plan: bool = False
    settles: str = ""
    pivot: bool = False
    long: bool = False
    calls: int = 0
    extra: Mapping[str, Any] = {}

    def line(self) -> dict[str, Any]:
        """Return the entry's document without its empty fields."""
        return {name: value for name, value in self.to_document().items() if value}


def read_entries(documents: Iterable[dict[str, Any]]) -> tuple[Entry, ...]:
    """Read the entries of a journal; a line that is not one of ours is skipped."""
    entries = []
    for document in documents:
        try:
            entries.append(Entry.from_document(document))
        except InvalidInput:
            continue
    return tuple(entries)


def open_calls(entries: Iterable[Entry]) -> tuple[Entry, ...]:
    """Return the tool calls that began and never ended."""
    running: dict[str, Entry] = {}
    for entry in entries:
        if entry.event == STARTED:
            running[entry.id] = entry
        elif entry.event in (ENDED, FAILED, INTERRUPTED):
            running.pop(entry.id, None)
    return tuple(running.values())
