"""Decides what a compaction summarizes and what it keeps word for word."""

from __future__ import annotations

import os

from gitguard.model.text import timestamp
from gitguard.model.value import Value
from gitguard.transcripts.chunks import Unit, count_messages, last_turns, prune, total, units
from gitguard.transcripts.tokens import estimate

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from gitguard.model.events import Transcript
    from gitguard.transcripts.context import Context
    from gitguard.transcripts.limits import Limit

KEPT_TURNS = 3


class Writer(Value):
    """Where and how a conversation's compactions are written."""

    path: str
    """The transcript's file."""
    lines: Callable[[Plan, Written, str, Callable[[int], bytes]], list[bytes]]
    """Returns the lines to append to the file at a path; the last argument gives random bytes."""
    folder: str
    """The folder in which the conversation was held, empty where the file does not tell."""


def writer_of(transcript: Transcript) -> Writer:
    """Return how a conversation is written to; raise `InvalidInput` where it is only read."""
    from gitguard.transcripts import claude_code_compaction, session_compaction
    from gitguard.transcripts.writable import writable_of

    path, _ = writable_of(transcript)
    is_claude_code = transcript.format == "claude-code"
    module = claude_code_compaction if is_claude_code else session_compaction
    folder = module.folder(path)
    # Whoever wrote the file wrote this, too.
    is_one = os.path.isabs(folder) and "\0" not in folder
    return Writer(path, module.lines, os.path.realpath(folder) if is_one else "")


class Written(Value):
    """What a compaction says in the transcript."""

    summary: str
    at: float
    """Unix seconds."""
    tokens_before: int
    """As the host measured them last, or as we guess."""
    milliseconds: int = 0
    """How long it took."""
    read_files: tuple[str, ...] = ()
    modified_files: tuple[str, ...] = ()

    @property
    def timestamp(self) -> str:
        """The time as hosts write it, with milliseconds."""
        return f"{timestamp(self.at)[:-1]}.{int(self.at % 1 * 1000):03}Z"


class Plan(Value):
    """What becomes of each part of a conversation."""

    before: Context
    old: tuple[Unit, ...]
    """What a summary takes the place of, oldest first."""
    kept: tuple[Unit, ...]
    """What stays word for word, oldest first."""
    splits_turn: bool = False
    """Whether the beginning of the first turn that is kept is not."""
    left_out: int = 0
    """Older turns that a history limit leaves out, of what is old as well."""
    limit: Limit | None = None
    """The history limit in force."""

    @property
    def messages_before(self) -> int:
        """Messages in the context, a summary of earlier ones included."""
        return count_messages((*self.old, *self.kept)) + bool(self.before.summary)

    @property
    def tokens_before(self) -> int:
        """Tokens in the context, by our own guess."""
        return total((*self.old, *self.kept)) + estimate(len(self.before.summary))

    @property
    def messages_after(self) -> int:
        """Messages in the context afterwards, with the summary."""
        return count_messages(self.kept) + 1

    def tokens_after(self, summary: str) -> int:
        """Tokens in the context afterwards, by our own guess."""
        return total(self.kept) + estimate(len(summary))


def plan(before: Context, *, budget: int, keep_turns: int = KEPT_TURNS) -> Plan | None:
    """Return what to do with a conversation, None where there is nothing to summarize.

    The last turns stay, fewer of them where they take more than the budget. Only a last turn that
    does so by itself is split: of it, what is older goes first.
    """
    found = units(before.entries)
    cut = 0
    for turns in range(keep_turns, 0, -1):
        cut = last_turns(found, turns)
        if total(found[cut:]) <= budget:
            break
    gone, kept = prune(found[cut:], budget)
    old = (*found[:cut], *gone)
    if not count_messages(old):
        return None
    splits = bool(kept) and not kept[0].begins_turn
    return Plan(before, old, kept, splits_turn=splits)
