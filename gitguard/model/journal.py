"""The journal's entries, and what they add up to when they are folded into the state.

Folding goes by offset and never by time, so that clocks and parallel processes cannot make an
entry count twice or not at all.
"""

from __future__ import annotations

from gitguard.errors import InvalidInput
from gitguard.model.codec import dump_line
from gitguard.model.record import Kind, Record
from gitguard.model.text import shorten

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any, ClassVar, TypeVar

    from gitguard.model.snapshot import Work
    from gitguard.model.task import Artifact, Failure, LastAction, TaskState

    T = TypeVar("T", Artifact, Failure)

STARTED = "tool-start"
ENDED = "tool-end"
FAILED = "tool-failed"
INTERRUPTED = "tool-interrupted"
PROMPT = "prompt"
_MOST_FILES = 100
_MOST_FAILURES = 50
_ROOM = 48 * 1024
"""The bytes of mechanical entries in one list, so that no state grows too large by itself."""


class Entry(Record):
    """One line of the journal."""

    kinds: ClassVar[Mapping[str, Kind]] = {
        "event": Kind("text", "What happened."),
        "at": Kind("time", "When."),
        "host_session": Kind("text", "In which conversation."),
        "id": Kind("text", "The tool call's id."),
        "tool": Kind("text", "The tool's name."),
        "summary": Kind("text", "The parameters, or the prompt, in one line."),
        "read": Kind("texts", "Files the call read."),
        "written": Kind("texts", "Files the call changed."),
        "error": Kind("text", "How the call failed."),
        "sub_agent": Kind("text", "The sub-agent that acted."),
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


def fold(state: TaskState, entries: tuple[Entry, ...], now: str) -> TaskState:
    """Add what the entries say to the state; the same state comes back if they say nothing new."""
    from gitguard.model.task import Artifact, merge_artifacts

    written = tuple(
        Artifact(path=path, mechanical=True)
        for entry in entries
        if entry.event == ENDED
        for path in entry.written
    )
    artifacts = bounded(merge_artifacts(state.artifacts, written), _MOST_FILES)
    last, failures = _last_action(state, entries), _failures(state, entries)
    was = (state.artifacts, state.last_action, state.failed_attempts)
    if was == (artifacts, last, failures):
        return state
    return state.replace(
        artifacts=artifacts, last_action=last, failed_attempts=failures, updated_at=now
    )


def _failures(state: TaskState, entries: tuple[Entry, ...]) -> tuple[Failure, ...]:
    # While a state is pending its offset is not kept, and the same entries are folded again.
    failed = bounded(tuple(_failure(e) for e in entries if e.event == FAILED), _MOST_FAILURES)
    fresh = [failure for failure in failed if failure not in state.failed_attempts]
    if not fresh:
        return state.failed_attempts
    return bounded((*state.failed_attempts, *fresh), _MOST_FAILURES)


def _failure(entry: Entry) -> Failure:
    from gitguard.model.task import Failure

    what = f"{entry.tool}: {entry.summary}" if entry.summary else entry.tool
    return Failure(shorten(what, 400), entry.error or "failed", entry.at, mechanical=True)


def _last_action(state: TaskState, entries: tuple[Entry, ...]) -> LastAction | None:
    ended = [entry for entry in entries if entry.event == ENDED]
    noted = state.last_action is not None and not state.last_action.mechanical
    if not ended or noted:
        return state.last_action
    from gitguard.model.task import LastAction

    newest = ended[-1]
    summary = shorten(f"{newest.tool}: {newest.summary}" if newest.summary else newest.tool, 200)
    return LastAction(summary, "success", newest.at, mechanical=True)


def bounded(items: tuple[T, ...], most: int) -> tuple[T, ...]:
    """Drop the oldest mechanical entries above the bound; what the agent noted stays."""
    room, kept = _ROOM, []
    for item in reversed(items):
        if item.mechanical:
            most -= 1
            room -= len(dump_line(item.to_document()))
        if not item.mechanical or (most >= 0 and room >= 0):
            kept.append(item)
    return tuple(reversed(kept))


def work_of(entries: tuple[Entry, ...], state: TaskState) -> Work:
    """Return what the snapshot says of the work in progress."""
    from gitguard.model.snapshot import Work

    prompts = [entry.summary for entry in entries if entry.event == PROMPT]
    running = open_calls(entries)
    last = running[-1] if running else None
    return Work(
        topic=shorten(prompts[-1], 100) if prompts else "",
        interrupted=bool(running),
        last_tool=last.tool if last else "",
        last_tool_params=last.summary if last else "",
        files_modified=tuple(a.path for a in state.artifacts if a.kind == "file"),
    )
