"""Cuts a conversation into pieces, and never a tool call from its result."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from gitguard.model.conversation import AGENT, CALL, MESSAGE, RESULT, TOOL, USER, TranscriptEntry
from gitguard.model.value import Value
from gitguard.transcripts.fitting.tokens import tokens_of

FEWEST_MESSAGES = 4
"""So many messages a part has at least; fewer are not worth a summary of their own."""


class Unit(Value):
    """What stays together: a message, or an answer with the results of all its calls."""

    entries: tuple[TranscriptEntry, ...]
    tokens: int
    messages: int
    """Messages of the model's; an answer in several entries is one."""
    begins_turn: bool
    """Whether the user speaks in it."""

    @classmethod
    def of(cls, entries: list[TranscriptEntry]) -> Unit:
        """Return the unit of entries."""
        messages = [entry for entry in entries if entry.kind == MESSAGE]
        answers = {entry.message for entry in messages if entry.message}
        return cls(
            tuple(entries),
            tokens_of(messages),
            sum(not entry.message for entry in messages) + len(answers),
            any(entry.role == USER and not entry.by_host for entry in messages),
        )

    @property
    def is_orphaned(self) -> bool:
        """Whether all it has are results of calls that are not in it."""
        messages = [entry for entry in self.entries if entry.kind == MESSAGE]
        return bool(messages) and all(entry.role == TOOL for entry in messages)


def units(entries: Sequence[TranscriptEntry]) -> tuple[Unit, ...]:
    """Put together what stays together, in the order it has."""
    groups: list[list[TranscriptEntry]] = []
    called: dict[str, int] = {}
    for entry in entries:
        if not groups or _begins_one(entry, groups[-1]):
            groups.append([])
        groups[-1].append(entry)
        first = min((called.get(id_, len(groups) - 1) for id_ in _ids(entry, RESULT)), default=-1)
        # A result may come after the user spoke again, as of a call that ran in the background: a
        # host refuses a history in which one stands without its call, so all between them stays.
        if 0 <= first < len(groups) - 1:
            later = [each for group in groups[first + 1 :] for each in group]
            groups[first] += later
            del groups[first + 1 :]
            called.update(dict.fromkeys((c for e in later for c in _ids(e, CALL)), first))
        called.update(dict.fromkeys(_ids(entry, CALL), len(groups) - 1))
    return tuple(map(Unit.of, groups))


def _begins_one(entry: TranscriptEntry, before: list[TranscriptEntry]) -> bool:
    if entry.kind != MESSAGE or entry.role == TOOL:
        return False
    if entry.role == AGENT and entry.message:
        return all(entry.message != other.message for other in before)
    return any(other.kind == MESSAGE for other in before) or entry.role == USER


def _ids(entry: TranscriptEntry, kind: str) -> list[str]:
    return [block.id for block in entry.blocks if block.kind == kind and block.id]


def total(history: Iterable[Unit]) -> int:
    """Return the tokens of units."""
    return sum(unit.tokens for unit in history)


def count_messages(history: Iterable[Unit]) -> int:
    """Return the messages in units."""
    return sum(unit.messages for unit in history)


def by_share(history: tuple[Unit, ...], parts: int) -> list[tuple[Unit, ...]]:
    """Cut into parts of about as many tokens each, none of fewer than four messages."""
    left = count_messages(history)
    parts = max(min(parts, left // FEWEST_MESSAGES), 1)
    share = total(history) / parts
    cut: list[tuple[Unit, ...]] = []
    begin = tokens = messages = 0
    for place, unit in enumerate(history):
        enough = min(messages, left) >= FEWEST_MESSAGES
        if enough and tokens + unit.tokens / 2 > share and len(cut) < parts - 1:
            cut.append(history[begin:place])
            begin, tokens, messages = place, 0, 0
        tokens += unit.tokens
        messages += unit.messages
        left -= unit.messages
    return [*cut, history[begin:]] if history else []


def by_size(history: tuple[Unit, ...], most: int) -> list[tuple[Unit, ...]]:
    """Cut into chunks of at most so many tokens each; what is larger than that stands alone."""
    chunks: list[tuple[Unit, ...]] = []
    run: list[Unit] = []
    for unit in history:
        if unit.tokens > most:
            chunks += [*_shared(tuple(run), most), (unit,)]
            run = []
        else:
            run.append(unit)
    return [*chunks, *_shared(tuple(run), most)]


def _shared(run: tuple[Unit, ...], most: int) -> list[tuple[Unit, ...]]:
    return by_share(run, -(-total(run) // max(most, 1))) if run else []


def prune(history: tuple[Unit, ...], budget: int) -> tuple[tuple[Unit, ...], tuple[Unit, ...]]:
    """Take the older half away until the rest fits; return what went, and what is left.

    Where there is too little left to halve, single units go; the last one stays whatever its size.
    """
    pruned: list[Unit] = []
    while total(history) > budget and len(history) > 1:
        halves = by_share(history, 2)
        older = halves[0] if len(halves) > 1 else history[:1]
        pruned += older
        history = history[len(older) :]
        # Results without their calls are what hosts refuse, so a history never begins with them.
        while len(history) > 1 and history[0].is_orphaned:
            pruned.append(history[0])
            history = history[1:]
    return tuple(pruned), history


def first_of_last_turns(history: tuple[Unit, ...], most: int) -> int:
    """Return where the last turns begin, 0 where there are fewer of them.

    The rest of a turn that was split before stands in front of them, also where no other turn does.
    """
    begins = [place for place, unit in enumerate(history) if unit.begins_turn]
    return begins[-most] if len(begins) >= most else 0
