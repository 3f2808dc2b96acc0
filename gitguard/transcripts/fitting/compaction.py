"""Decides what a compaction summarizes and what it keeps word for word."""

from __future__ import annotations

from gitguard.model.text import exact_timestamp
from gitguard.model.value import Value
from gitguard.transcripts.fitting.chunks import (
    Unit,
    count_messages,
    first_of_last_turns,
    prune,
    total,
    units,
)
from gitguard.transcripts.fitting.context import VisibleContext
from gitguard.transcripts.fitting.limits import TurnLimit
from gitguard.transcripts.fitting.tokens import estimate

KEPT_TURNS = 3


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
        return exact_timestamp(self.at)


class CompactionPlan(Value):
    """What becomes of each part of a conversation."""

    before: VisibleContext
    old: tuple[Unit, ...]
    """What a summary takes the place of, oldest first."""
    kept: tuple[Unit, ...]
    """What stays word for word, oldest first."""
    splits_turn: bool = False
    """Whether the beginning of the first turn that is kept is not."""
    left_out: int = 0
    """Older turns that a history limit leaves out, of what is old as well."""
    limit: TurnLimit | None = None
    """The history limit in force."""

    @property
    def has_anchor(self) -> bool:
        """Whether a transcript can name where what stays begins: some of it has an id."""
        return any(entry.id for unit in self.kept for entry in unit.entries)

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


def plan(
    before: VisibleContext, *, budget: int, keep_turns: int = KEPT_TURNS
) -> CompactionPlan | None:
    """Return what to do with a conversation, None where there is nothing to summarize.

    The last turns stay, fewer of them where they take more than the budget. Only a last turn that
    does so by itself is split: of it, what is older goes first.
    """
    history = units(before.entries)
    cut = 0
    for turns in range(keep_turns, 0, -1):
        cut = first_of_last_turns(history, turns)
        if total(history[cut:]) <= budget:
            break
    pruned, kept = prune(history[cut:], budget)
    old = (*history[:cut], *pruned)
    if not count_messages(old):
        return None
    splits = bool(kept) and not kept[0].begins_turn
    return CompactionPlan(before, old, kept, splits_turn=splits)
