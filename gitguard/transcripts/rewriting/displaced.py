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
    from collections.abc import Mapping, Sequence

    from gitguard.model.conversation import Entry


_ROUNDS = 8
"""More are not needed but for a file that was put out of order on purpose."""


class InOrder(Value):
    """Entries in the order in which they belong, and what brings their lines into it."""

    entries: Sequence[Entry]
    edits: tuple[Drop | Shift, ...] = ()


def in_order(entries: Sequence[Entry], begin: int) -> InOrder:
    """Put entries before what follows them; begin is where the line stands that remains first."""
    order, moved, copies = list(entries), set[int](), list[int]()
    for _ in range(_ROUNDS):
        originals = {entry.id: entry for entry in reversed(order) if entry.id}
        late = _late(order, originals)
        gone = {at for at in late if _is_copy(order[at], originals[order[at].id])}
        brought = {place: to for place, to in late.items() if place not in gone and to >= 0}
        if not gone and not brought:
            break
        copies += [order[place].at for place in gone]
        moved |= {order[place].at for place in brought}
        order = _brought(order, brought, gone)
    before = [begin, *(entry.at for entry in order)]
    shifts = [Shift(e.at, at) for e, at in zip(order, before, strict=False) if e.at in moved]
    return InOrder(order, (*map(Drop, copies), *shifts))


def _brought(order: list[Entry], to: dict[int, int], gone: set[int]) -> list[Entry]:
    """Return entries of which some are brought before others, by their places."""
    ahead: dict[int, list[int]] = {}
    for place, other in to.items():
        ahead.setdefault(other, []).append(place)
    in_order: list[Entry] = []
    for place in range(len(order)):
        if place in to or place in gone:
            continue
        waiting, group = [place], list[int]()
        while waiting:
            group.append(waiting.pop())
            waiting += sorted(ahead.get(group[-1], ()))
        in_order += [order[place] for place in reversed(group)]
    return in_order


def _late(entries: Sequence[Entry], originals: Mapping[str, Entry]) -> dict[int, int]:
    """Return the places of last entries that only earlier ones follow, and of the first of those.

    A copy that is none, since it says something else, stays where it is: that is -1.
    """
    first: dict[str, int] = {}
    last: dict[str, int] = {}
    for place, entry in enumerate(entries):
        if entry.parent and not entry.is_aside:
            first.setdefault(entry.parent, place)
            last[entry.parent] = place
    places: dict[int, int] = {}
    for place in range(len(entries) - 1, -1, -1):
        entry = entries[place]
        if entry.is_aside or not entry.id:
            continue
        before = first.get(entry.id, place)
        if last.get(entry.id, place) >= place or _follows(entry, entries[before], originals):
            break
        places[place] = before if originals[entry.id] is entry else -1
    return places


def _follows(entry: Entry, other: Entry, entries_by_id: Mapping[str, Entry]) -> bool:
    """Say whether an entry follows another one, in whatever many steps."""
    passed: set[str] = set()
    while entry.parent in entries_by_id and entry.parent not in passed:
        passed.add(entry.parent)
        entry = entries_by_id[entry.parent]
    return other.id in passed


def _is_copy(entry: Entry, original: Entry) -> bool:
    if original is entry or entry.end - entry.at != original.end - original.at:
        return False
    return entry == original.replace(at=entry.at, end=entry.end)
