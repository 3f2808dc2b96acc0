"""Entries that stand where the conversation seems to end before they come.

A host goes back from the last line. If an entry at the end of the file stands behind what follows
it, the host finds little of the conversation: the entry belongs before what follows it, and copies
of what stands there already go. A result belongs before the next answer than its call's. If the
entries that follow the last one stand early in the file, the host misses them: they belong behind
it. Elsewhere in a file the place of a line means nothing, and Claude Code itself may write the
first one late.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gitguard.model.conversation import AGENT, TOOL, TranscriptEntry
from gitguard.model.value import Value
from gitguard.transcripts.rewriting.edits import Drop, Shift

_ROUNDS = 8
"""More are not needed but for a file that was put out of order on purpose."""


class InOrder(Value):
    """Entries in the order in which they belong, and what brings their lines into it."""

    entries: Sequence[TranscriptEntry]
    edits: tuple[Drop | Shift, ...] = ()


def in_order(entries: Sequence[TranscriptEntry], begin: int) -> InOrder:
    """Put entries before what follows them, or behind what they follow.

    begin is where the line stands that remains first. What would make the branch of the last entry
    shorter is left alone.
    """
    length = branch_length(entries)
    for brings_back in (True, False):
        arranged = _arranged(entries, begin, brings_back=brings_back)
        if branch_length(arranged.entries) >= length:
            return arranged
    return InOrder(entries)


def branch_length(entries: Sequence[TranscriptEntry]) -> int:
    """Return how many entries the last one follows from, itself included."""
    entries_by_id = {entry.id: entry for entry in entries if entry.id and not entry.is_aside}
    passed: set[str] = set()
    id_ = next((entry.id for entry in reversed(entries) if entry.id in entries_by_id), "")
    while id_ in entries_by_id and id_ not in passed:
        passed.add(id_)
        id_ = entries_by_id[id_].parent
    return len(passed)


def _arranged(entries: Sequence[TranscriptEntry], begin: int, *, brings_back: bool) -> InOrder:
    """Put entries in order; if none is brought back, all come behind the last one."""
    order, moved, copies = list(entries), set[int](), list[int]()
    for _ in range(_ROUNDS):
        originals = {entry.id: entry for entry in reversed(order) if entry.id}
        if early := _early(order, originals, anywhere=not brings_back):
            moved |= {order[place].at for place in early}
            block, places = [order[place] for place in early], set(early)
            order = [entry for place, entry in enumerate(order) if place not in places] + block
            continue
        late = _late(order, originals) if brings_back else {}
        gone = {at for at in late if _is_copy(order[at], originals[order[at].id])}
        brought = {place: to for place, to in late.items() if place not in gone}
        if not gone and not brought:
            break
        copies += [order[place].at for place in gone]
        moved |= {order[place].at for place in brought}
        order = _brought(order, brought, gone)
    before = [begin, *(entry.at for entry in order)]
    shifts = [Shift(e.at, at) for e, at in zip(order, before, strict=False) if e.at in moved]
    return InOrder(order, (*map(Drop, copies), *shifts))


def _brought(
    order: list[TranscriptEntry], to: dict[int, int], gone: set[int]
) -> list[TranscriptEntry]:
    """Return entries of which some are brought before others, by their places."""
    ahead: dict[int, list[int]] = {}
    for place, other in to.items():
        ahead.setdefault(other, []).append(place)
    in_order: list[TranscriptEntry] = []
    for place in range(len(order)):
        if place in to or place in gone:
            continue
        waiting, group = [place], list[int]()
        while waiting:
            group.append(waiting.pop())
            waiting += sorted(ahead.get(group[-1], ()))
        in_order += [order[place] for place in reversed(group)]
    return in_order


def _early(
    entries: Sequence[TranscriptEntry], originals: Mapping[str, TranscriptEntry], *, anywhere: bool
) -> list[int]:
    """Return the places of entries that follow the last one and stand before what it follows.

    They are in the order in which they follow: from the last one to the newest that goes back to
    it. anywhere: also those that stand between what the last one follows and the last one.
    """
    places = {id(entry): place for place, entry in enumerate(entries)}
    newest: dict[str, int] = {}
    for place, entry in enumerate(entries):
        if entry.parent and entry.id and not entry.is_aside and originals[entry.id] is entry:
            newest[entry.parent] = place
    last = next((entry for entry in reversed(entries) if entry.id and not entry.is_aside), None)
    if last is None or originals[last.id] is not last or last.parent not in originals:
        return []
    upto = places[id(originals[last.parent])]
    chain: list[int] = []
    passed = {last.id}
    place = newest.get(last.id, -1)
    stands_well = place >= upto and not anywhere
    if place < 0 or stands_well or _follows(last, entries[place], originals):
        return []
    while place >= 0 and entries[place].id not in passed:
        passed.add(entries[place].id)
        chain.append(place)
        place = newest.get(entries[place].id, -1)
    return chain


def _late(
    entries: Sequence[TranscriptEntry], originals: Mapping[str, TranscriptEntry]
) -> dict[int, int]:
    """Return the places of last entries that only earlier ones follow, and of the first of those.

    That may be a copy that says something else, which hosts take for the entry: they take the last.
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
        if entry.id not in first and (behind := _overtaken(place, entries, originals)):
            places[place] = behind
            continue
        before = first.get(entry.id, place)
        if last.get(entry.id, place) >= place or _follows(entry, entries[before], originals):
            break
        places[place] = before
    return places


def _overtaken(
    place: int, entries: Sequence[TranscriptEntry], originals: Mapping[str, TranscriptEntry]
) -> int:
    """Return the place behind the call of a result that nothing follows, 0 if it stands well.

    Only where several calls at once are several entries may nothing follow the result of one. No
    other answer stands before it then.
    """
    result = entries[place]
    call = originals.get(result.parent)
    if result.role != TOOL or call is None or not call.message:
        return 0
    answers = (e for e in reversed(entries[:place]) if e.role == AGENT and not e.is_aside)
    newest = next(answers, None)
    if newest is None or newest.message == call.message:
        return 0
    parts = [entry for entry in entries[:place] if entry.message == call.message]
    is_followed = any(_follows(newest, part, originals) for part in parts)
    behind = next(at for at, entry in enumerate(entries) if entry is call) + 1
    return behind if is_followed and behind < place else 0


def _follows(
    entry: TranscriptEntry, other: TranscriptEntry, entries_by_id: Mapping[str, TranscriptEntry]
) -> bool:
    """Say whether an entry follows another one, in whatever many steps."""
    passed: set[str] = set()
    while entry.parent in entries_by_id and entry.parent not in passed:
        passed.add(entry.parent)
        entry = entries_by_id[entry.parent]
    return other.id in passed


def _is_copy(entry: TranscriptEntry, original: TranscriptEntry) -> bool:
    if original is entry or entry.end - entry.at != original.end - original.at:
        return False
    return entry == original.replace(at=entry.at, end=entry.end)
