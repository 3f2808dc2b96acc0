"""The journal's entries, and what they add up to when they are folded into the state.

Folding goes by offset and never by time, so that clocks and parallel processes cannot make an
entry count twice or not at all.
"""

from __future__ import annotations

from gitguard.errors import InvalidInput
from gitguard.model import fields
from gitguard.model.events import PlanItem
from gitguard.model.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container, Iterable
    from typing import Any

STARTED = "tool-start"
ENDED = "tool-end"
FAILED = "tool-failed"
INTERRUPTED = "tool-interrupted"
"""The user stopped the call while it ran."""
LOST = "tool-lost"
"""Nothing told of the call's end before the next turn began."""
REFUSED = "tool-refused"
"""The user refused the call, by the host's own record of it."""
PROMPT = "prompt"
PROMPT_READ = "prompt-read"
"""What a transcript has as a prompt from before a hook heard of the conversation."""
PROMPT_UNCONFIRMED = "prompt-unconfirmed"
"""What came as a prompt while a tool call ran, and nothing confirmed: nobody's words."""
TURN_ENDED = "turn-end"
SAID = "agent-said"
"""What the agent said in a turn that did not end, or that a compaction splits."""
REPORTED = "sub-agent-report"
"""What a sub-agent told the agent that started it."""
TAKEN_BACK = "taken-back"
"""The user took turns back, by the host's own record of the conversation."""
SUMMARY = "host-summary"
SHELL_EDITED = "shell-edited"
"""A shell command of the agent changed files, by their contents."""
FILE_WRITTEN = "file-written"
"""A call of whose end nothing told wrote files, as their times say."""
COMMITTED = "committed"
"""A shell command of the agent left a commit checked out, with its id and subject."""

_FOUND_LATER = (
    SHELL_EDITED,
    FILE_WRITTEN,
    COMMITTED,
    PROMPT_READ,
    PROMPT_UNCONFIRMED,
    REPORTED,
    TAKEN_BACK,
)


class JournalEntry(Record):
    """One line of the journal."""

    event: str = fields.text("What happened.")
    at: str = fields.time("When.")
    host_session: str = fields.text("In which conversation.")
    id: str = fields.text("The tool call's id.", default="")
    tool: str = fields.text("The tool's name.", default="")
    summary: str = fields.text("The parameters, the prompt, or how the answer began.", default="")
    read: tuple[str, ...] = fields.texts("Files the call read.", default=())
    written: tuple[str, ...] = fields.texts("Files the call changed.", default=())
    error: str = fields.text("How the call failed.", default="")
    sub_agent: str = fields.text("The sub-agent that acted.", default="")
    plan: tuple[PlanItem, ...] = fields.records(
        "What the call did to the host's plan.", of=PlanItem, default=()
    )
    whole_plan: bool = fields.flag("Whether these are all items there are.", default=False)
    settles: str = fields.text(
        "What the agent had asked or said at length, if a short prompt answers it.", default=""
    )
    since: str = fields.text(
        "Of a prompt: when its conversation began; a host may begin another under the same name.",
        default="",
    )
    is_shell: bool = fields.flag("Whether the call ran a shell command.", default=False)
    command: str = fields.text(
        "The shell command with its lines, if the summary does not hold all of it.", default=""
    )
    output: str = fields.text("The end of what the command said.", default="")
    is_probe: bool = fields.flag("Whether the call only looks something up.", default=False)
    milliseconds: int = fields.count(
        "How long the call ran, by the host's word; 0 if it does not say.", default=0
    )
    runs_on: bool = fields.flag(
        "Whether the command was left running in the background.", default=False, sparse=True
    )
    answers: tuple[str, ...] = fields.texts(
        "What the user answered to questions of the agent, each as `question → answer`.", default=()
    )
    said: str = fields.text("What the user said with a refusal.", default="")
    taken_back: tuple[str, ...] = fields.texts(
        "The ids of what was said in turns that the user took back.", default=(), sparse=True
    )
    remark: str = fields.text(
        "What the gate remarked on a call that it let pass: after DONE.", default="", sparse=True
    )
    whole: str = fields.text(
        "Of a host's summary: the id of the whole in the store of file snapshots.", default=""
    )
    length: int = fields.count("Of a host's summary: characters of the whole.", default=0)
    turn: int = fields.count("The conversation's turn, from 1; 0 before the first.", default=0)
    turn_id: str = fields.text(
        "Of the beginning of a call: the host's id of the turn, empty where it has none.",
        default="",
    )
    calls: int = fields.count(
        "Of the end of a call: how many of the conversation's had ended.", default=0
    )

    @property
    def shell_line(self) -> str:
        """The shell command, as whole as it is kept; empty if the call ran none."""
        return (self.command or self.summary) if self.is_shell else ""

    @property
    def is_found_later(self) -> bool:
        """Whether it was found out afterwards, and does not say where the turn stands."""
        return self.event in _FOUND_LATER

    def without_call(self) -> JournalEntry:
        """Return the entry without what it says of the tool call whose event brought it."""
        return self.replace(
            id="", tool="", read=(), written=(), error="", is_shell=False, output="",
            is_probe=False, milliseconds=0, runs_on=False, answers=(), plan=(), whole_plan=False,
        )  # fmt: skip

    def line(self) -> dict[str, Any]:
        """Return the entry's document without its empty fields."""
        return {name: value for name, value in self.to_document().items() if value}


def read_entries(documents: Iterable[dict[str, Any]]) -> tuple[JournalEntry, ...]:
    """Read the entries of a journal; a line that is not one of ours is skipped."""
    entries = []
    for document in documents:
        try:
            entries.append(JournalEntry.from_document(document))
        except InvalidInput:
            continue
    return tuple(entries)


_KNOWN_ENDS = (ENDED, FAILED, INTERRUPTED, REFUSED)


def open_calls(entries: Iterable[JournalEntry]) -> tuple[JournalEntry, ...]:
    """Return the tool calls that may still run."""
    return _without_end(entries, (*_KNOWN_ENDS, LOST))


def cut_off_calls(entries: Iterable[JournalEntry]) -> tuple[JournalEntry, ...]:
    """Return the tool calls of whose end nothing told, also those that are given up as lost."""
    return _without_end(entries, _KNOWN_ENDS)


def _without_end(entries: Iterable[JournalEntry], ends: Container[str]) -> tuple[JournalEntry, ...]:
    running: dict[str, JournalEntry] = {}
    for entry in entries:
        if entry.event == STARTED:
            running[entry.id] = entry
        elif entry.event in ends:
            running.pop(entry.id, None)
    return tuple(running.values())
