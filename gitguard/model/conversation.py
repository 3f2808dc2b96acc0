"""A conversation as its transcript keeps it, whatever the host: entries, and blocks in them.

Hosts write one message as one entry or as several, results inside messages or as messages of
their own, trees or plain sequences. A format's module translates; everything that decides about
conversations knows only what stands here.
"""

from __future__ import annotations

from gitguard.model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

USER, AGENT, TOOL = "user", "agent", "tool"
"""Who speaks. Results of tools are the tool's, also where a format puts them in the user's name."""
TEXT, THINKING, CALL, RESULT, IMAGE, OTHER = (
    "text",
    "thinking",
    "call",
    "result",
    "image",
    "other",
)
"""What a block is."""
HEADER, MESSAGE, COMPACTION, RESET, UNKNOWN, BROKEN = (
    "header",
    "message",
    "compaction",
    "reset",
    "unknown",
    "broken",
)
"""What an entry is. UNKNOWN ones say nothing to the model; BROKEN ones do not parse."""
ABORTED, FAILED = "aborted", "failed"
"""How an answer ended before its time."""


_set = object.__setattr__


class Block(Value):
    """One block of a message."""

    kind: str
    at: int = -1
    """Its place in the content of its message, -1 for one that is not in the transcript yet."""
    text: str = ""
    """Of text, thinking and results: what it says."""
    id: str = ""
    """Of calls and results: the call's id, as it stands there."""
    name: str = ""
    """Of calls, and of results where the format repeats it: the tool's, as it stands there."""
    given: Mapping[str, Any] | None = None
    """Of calls; None where there is none or it is no object."""
    is_error: bool = False
    exit_code: int | None = None
    """Of results of commands, where the format tells it."""
    has_details: bool = False
    """Of results: whether the host keeps more beside what the model sees."""
    size: int = 0
    """Characters that the model sees of it; 4,800 for an image (about 1,200 tokens)."""

    @classmethod
    def saying(cls, kind: str, at: int, text: str) -> Block:
        """Return a block of a text; files have a hundred thousand of them, so it is quick."""
        made = object.__new__(cls)
        _set(made, "__dict__", {"kind": kind, "at": at, "text": text, "size": len(text)})
        return made

    @classmethod
    def result(cls, at: int, text: str, size: int, id: str) -> Block:
        """Return a result that is no error, just as quickly."""
        made = object.__new__(cls)
        _set(made, "__dict__", {"kind": RESULT, "at": at, "text": text, "size": size, "id": id})
        return made

    @classmethod
    def call(cls, at: int, name: str, size: int, id: str, given: Mapping[str, Any] | None) -> Block:
        """Return a call, just as quickly."""
        return cls._of(
            {"kind": CALL, "at": at, "name": name, "size": size, "id": id, "given": given}
        )


class TranscriptEntry(Value):
    """One entry of a transcript: a line of a file, or a row of a database."""

    at: int
    """Where it begins: a line's byte offset, or a row's number."""
    end: int
    """Where the next one begins."""
    raw: bytes = b""
    """The entry as it is kept, without a line end; empty where it is too long to be read."""
    kind: str = UNKNOWN
    id: str = ""
    parent: str = ""
    """The id of the entry that it follows, empty where the format has none."""
    role: str = ""
    blocks: tuple[Block, ...] = ()
    """Of messages; of a compaction one text block, the summary."""
    message: str = ""
    """What entries share that are one message to the model, empty for one of its own."""
    time: float = 0
    """Unix seconds, 0 if it does not tell."""
    stopped: str = ""
    """Of answers: aborted or failed, empty when complete."""
    tokens: int = 0
    """Of answers, or UNKNOWN ones behind them: tokens in the context then; 0 if none is told."""
    answered: int = 0
    """Of these, the tokens of the answer itself; the others were what the model was sent."""
    model: str = ""
    by_host: bool = False
    """Whether the host wrote it in the user's or the agent's name."""
    is_aside: bool = False
    """Whether it belongs to a sub-agent, and not to the conversation itself."""
    kept: tuple[str, ...] = ()
    """Of a compaction: the ids of the older entries that stay in the context; for a format that
    names only the first of them, that one alone."""
    keeps_on: bool = False
    """Of a compaction: whether everything from the one in `kept` on stays."""
    keeps_between: bool = False
    """Of a compaction: whether `kept` names the first and the last of what stays."""
    problem: str = ""
    """Of BROKEN entries: why it does not parse."""

    @classmethod
    def of(cls, at: int, end: int, raw: bytes, fields: dict[str, Any]) -> TranscriptEntry:
        """Return the entry that a format's module read; quicker than the constructor."""
        fields["at"], fields["end"], fields["raw"] = at, end, raw
        made = object.__new__(cls)
        _set(made, "__dict__", fields)
        return made

    @property
    def size(self) -> int:
        """Characters that the model sees of it."""
        return sum(block.size for block in self.blocks)
