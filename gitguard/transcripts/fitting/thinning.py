"""A conversation with only its sizes, so that a hundred megabytes of it fit into memory."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

from gitguard.model.conversation import CALL, COMPACTION, MESSAGE, RESULT, Block, TranscriptEntry
from gitguard.model.value import Value
from gitguard.transcripts.fitting.context import can_stand

MOST = 40_000
"""Entries that are kept, the newest: in a window of a million tokens each would have 25 of them."""


class Thinned(Value):
    """What is left of a conversation."""

    entries: tuple[TranscriptEntry, ...]
    left_out: int
    """Older entries behind the last compaction that were too many."""


def thinned(entries: Iterable[TranscriptEntry], most: int = MOST) -> Thinned:
    """Return the entries of which `context_of` can say what stands, without what they say.

    The text of summaries stays, since it may be asked for. What is before a compaction that lists
    what it keeps is left out, as no later entry brings it back.
    """
    latest: deque[TranscriptEntry] = deque(maxlen=most)
    entries_taken, is_told = 0, False
    for entry in entries:
        if not can_stand(entry):
            continue
        if entry.kind == COMPACTION and not entry.keeps_on:
            latest = deque(_kept(latest, entry), maxlen=most)
            entries_taken = len(latest)
        latest.append(_thin(entry, with_text=is_told or entry.kind == COMPACTION))
        entries_taken += 1
        if entry.kind == COMPACTION:
            is_told = not entry.blocks  # the next message is its summary then
        elif entry.kind == MESSAGE:
            is_told = False
    return Thinned(tuple(latest), entries_taken - len(latest))


def _kept(before: Iterable[TranscriptEntry], compaction: TranscriptEntry) -> list[TranscriptEntry]:
    names = frozenset(compaction.kept)  # a long history may keep thousands
    listed = [entry for entry in before if entry.id in names]
    if not (compaction.keeps_between and listed):
        return listed
    return [entry for entry in before if entry.at >= listed[0].at]


def _thin(entry: TranscriptEntry, *, with_text: bool) -> TranscriptEntry:
    blocks = entry.blocks if with_text else tuple(map(_bare, entry.blocks))
    return entry.replace(raw=b"", model="", blocks=blocks)


def _bare(block: Block) -> Block:
    if block.kind not in (CALL, RESULT):
        return Block._of({"kind": block.kind, "size": block.size})
    fields = {"kind": block.kind, "size": block.size, "id": block.id, "name": block.name}
    return Block._of({**fields, "is_error": True} if block.is_error else fields)
