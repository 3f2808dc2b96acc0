"""Entries at the end of a file that stand behind what follows them.

A host that goes back from the last line finds little of the conversation then. They belong before
what follows them; copies of what stands there already go. Elsewhere in a file the place of a line
means nothing, and Claude Code itself may write the first one late.
"""

from __future__ import annotations

from gitguard.model.value import Value
from gitguard.transcripts.rewriting.edits import Drop, Shift

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gitguard.model.conversation import Entry


class InOrder(Value):
    """Entries in the order in which they belong, and what brings their lines into it."""

    entries: Sequence[Entry]
    edits: tuple[Drop | Shift, ...] = ()


def in_order(entries: Sequence[Entry], begin: int) -> InOrder:
    """Put entries before what follows them; begin is where the line stands that remains first."""
    late = dict(sorted(_late(entries)))
    if not late:
        return InOrder(entries)
    found: list[Entry] = []
    edits: list[Drop | Shift] = []
    brought: dict[int, list[Entry]] = {}
    originals = {entry.id: entry for place, entry in reversed([*enumerate(entries)]) if entry.id}
    for place, before in late.items():
        entry = entries[place]
        original = originals[entry.id]
        if original is entry:
            brought.setdefault(before, []).append(entry)
        elif _is_copy(entry, original):
            edits.append(Drop(entry.at))
        else:
            late = {other: to for other, to in late.items() if other != place}
    for place, entry in enumerate(entries):
        for one in brought.get(place, ()):
            edits.append(Shift(one.at, found[-1].at if found else begin))
            found.append(one)
        if place not in late:
            found.append(entry)
    return InOrder(found, tuple(edits))


def _late(entries: Sequence[Entry]) -> Iterator[tuple[int, int]]:
    """Yield the places of last entries that only earlier ones follow, and of the first of those."""
    first: dict[str, int] = {}
    last: dict[str, int] = {}
    for place, entry in enumerate(entries):
        if entry.parent and not entry.is_aside:
            first.setdefault(entry.parent, place)
            last[entry.parent] = place
    known = {entry.id: entry for entry in entries if entry.id}
    for place in range(len(entries) - 1, -1, -1):
        entry = entries[place]
        if entry.is_aside or not entry.id:
            continue
        before = first.get(entry.id, place)
        if last.get(entry.id, place) >= place or _follows(entry, entries[before], known):
            return
        yield place, before


def _follows(entry: Entry, other: Entry, known: dict[str, Entry]) -> bool:
    """Say whether an entry follows another one, in whatever many steps."""
    passed: set[str] = set()
    while entry.parent in known and entry.parent not in passed:
        passed.add(entry.parent)
        entry = known[entry.parent]
    return other.id in passed


def _is_copy(entry: Entry, original: Entry) -> bool:
    if entry.end - entry.at != original.end - original.at:
        return False
    return entry == original.replace(at=entry.at, end=entry.end)
