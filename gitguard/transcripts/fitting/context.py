"""What of a transcript still stands in the model's context.

Transcripts only grow: turns that were taken back, branches that were left and all that a compaction
summarized are still in the file. Hosts find their way through it by the parents of entries, and by
what the last compaction says it keeps; so do we.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from gitguard.model.conversation import AGENT, COMPACTION, MESSAGE, RESET, TOOL, TranscriptEntry
from gitguard.model.value import Value


class VisibleContext(Value):
    """The part of a conversation that the model still sees."""

    entries: tuple[TranscriptEntry, ...] = ()
    """Oldest first; those between messages that say nothing to the model as well."""
    summary: str = ""
    """What the last compaction put in the place of all before."""
    compactions: int = 0
    last: TranscriptEntry | None = None
    """What the next entry will follow."""
    ids: frozenset[str] = frozenset()
    """Those that the transcript has given away."""


def context_of(entries: Iterable[TranscriptEntry]) -> VisibleContext:
    """Return what stands of a conversation, its entries given oldest first.

    What they are in the file is not kept, so that a long conversation takes less memory.
    """
    entries_by_id: dict[str, TranscriptEntry] = {}
    turning: list[str] = []
    for number, entry in enumerate(entries):
        if not can_stand(entry):
            continue
        name = entry.id or f"#{number}"
        entries_by_id.pop(name, None)  # the last line is what the next one follows, also as a copy
        entries_by_id[name] = entry.replace(raw=b"") if entry.raw else entry
        if entry.kind == COMPACTION:
            turning.append(name)
    if not entries_by_id:
        return VisibleContext()
    ids, newest = frozenset(entries_by_id), entries_by_id[turning[-1]] if turning else None
    if newest is not None and not newest.keeps_on:
        context = _behind_a_list(entries_by_id, newest, len(set(turning)))
    else:
        context = _on_the_path(entries_by_id, len(set(turning)))
    return context.replace(ids=ids)


def lost_parents(entries: Sequence[TranscriptEntry]) -> dict[int, str]:
    """Return for entries that follow one which is not there what stands before the gap, by place.

    The first may follow one of another file, and parts of sub-agents are left alone.
    """
    followed = [entry for entry in entries if entry.id and not entry.is_aside]
    ids = {entry.id for entry in entries}
    return {
        entry.at: before.id
        for before, entry in pairwise(followed)
        if entry.parent and entry.parent not in ids
    }


def can_stand(entry: TranscriptEntry) -> bool:
    """Say whether an entry can be part of a context: others follow it, it speaks or measures."""
    is_told = entry.id or entry.tokens or entry.kind in (MESSAGE, COMPACTION)
    return bool(is_told) and not entry.is_aside


def _behind_a_list(
    entries_by_id: dict[str, TranscriptEntry], newest: TranscriptEntry, compactions: int
) -> VisibleContext:
    """Return what stands where a compaction lists what it keeps, and everything before is gone."""
    listed = _kept(entries_by_id, newest)
    behind = {name: entry for name, entry in entries_by_id.items() if entry.at > newest.at}
    summary_message = None if newest.blocks else _told_behind(newest, behind.values())
    # Where the compaction's own line was moved, some of what it keeps stands behind it.
    names = {entry.id for entry in listed}
    later = {name: entry for name, entry in behind.items() if name not in names}
    if summary_message is not None:
        later.pop(summary_message.id, None)
    path = _with_sides(later, _path(later)) if later else []
    entries = [*listed, *path]
    summary = "\n".join(block.text for block in (summary_message or newest).blocks)
    return VisibleContext(
        tuple(entries), summary, compactions, entries[-1] if entries else summary_message or newest
    )


def _told_behind(
    newest: TranscriptEntry, later: Iterable[TranscriptEntry]
) -> TranscriptEntry | None:
    """Return the message with a compaction's summary, which may stand behind notes of the host."""
    first = next((entry for entry in later if entry.kind == MESSAGE), None)
    is_it = first is not None and first.id and (first.by_host or first.parent == newest.id)
    return first if is_it else None


def _kept(
    entries_by_id: dict[str, TranscriptEntry], compaction: TranscriptEntry
) -> list[TranscriptEntry]:
    listed = [entries_by_id[name] for name in compaction.kept if name in entries_by_id]
    if not compaction.keeps_between or len(listed) < len(compaction.kept):
        return listed
    first, last = listed[0].at, listed[-1].at
    upto = {name: entry for name, entry in entries_by_id.items() if entry.at <= last}
    path = _path(upto)
    # A link of the way may lie in no line; then all lines between the two stand for it.
    part = path[path.index(listed[0]) :] if listed[0] in path else list(upto.values())
    return [entry for entry in _with_sides(upto, part) if first <= entry.at]


def _on_the_path(entries_by_id: dict[str, TranscriptEntry], compactions: int) -> VisibleContext:
    """Return what stands where the way back from the last entry passes every compaction."""
    path = _path(entries_by_id)
    at = {entry.id: place for place, entry in enumerate(path)}
    begin, summary = 0, ""
    for place, entry in enumerate(path):
        if entry.kind == RESET:
            begin, summary = place + 1, ""
        elif entry.kind == COMPACTION:
            listed = [at[name] for name in entry.kept if name in at]
            begin = min([place, *listed]) if listed else place
            summary = "\n".join(block.text for block in entry.blocks)
    stays = [entry for entry in path[begin:] if entry.kind not in (COMPACTION, RESET)]
    entries = tuple(_with_sides(entries_by_id, stays)) if stays else ()
    return VisibleContext(entries, summary, compactions, path[-1])


def _path(entries_by_id: dict[str, TranscriptEntry]) -> list[TranscriptEntry]:
    """Return the way from the root to the last entry; without parents, all there is."""
    entries = list(entries_by_id.values())
    if not any(entry.parent for entry in entries):
        return entries
    path: list[TranscriptEntry] = []
    passed: set[str] = set()
    entry: TranscriptEntry | None = entries[-1]
    while entry is not None and entry.id not in passed:
        passed.add(entry.id)
        path.append(entry)
        entry = entries_by_id.get(entry.parent)
    return path[::-1]


def _with_sides(
    entries_by_id: dict[str, TranscriptEntry], path: list[TranscriptEntry]
) -> list[TranscriptEntry]:
    """Add what belongs to the path beside it: several calls at once make several ways on."""
    on_path = {id(entry) for entry in path}
    answers = {entry.message for entry in path if entry.role == AGENT and entry.message}
    places = [entry.at for entry in path]  # a root may stand behind what follows it
    begin, end = min(places), max(places)
    beside = [e for e in entries_by_id.values() if id(e) not in on_path and begin < e.at < end]
    parts = [e for e in beside if e.role == AGENT and e.message in answers]
    # Only hosts that keep an answer in several entries look beside the path for its results.
    unanswered = _unanswered(path, parts)
    results = [e for e in beside if e.role == TOOL and _answers(e) & unanswered]
    if not (parts or results):
        return path
    return _in_place(path, (*parts, *results))


def _unanswered(path: list[TranscriptEntry], parts: list[TranscriptEntry]) -> set[str]:
    """Return the ids of calls that have fewer results on the path than there are such calls.

    Several answers may have used one id, so that a result on the path may be another call's.
    """
    calls = {(e.message, call) for e in (*path, *parts) if e.message for call in _calls(e)}
    left = Counter(call for _, call in calls)
    left.subtract(call for entry in path if entry.role == TOOL for call in _answers(entry))
    return {call for call, count in left.items() if count > 0}


def _in_place(
    path: list[TranscriptEntry], beside: Iterable[TranscriptEntry]
) -> list[TranscriptEntry]:
    """Put each entry behind that of the path before it in the file, and behind what it follows."""
    places = {id(entry): place for place, entry in enumerate(path)}
    places_by_id: dict[str, int] = {}
    behind: list[list[TranscriptEntry]] = [[] for _ in path]
    before = 0
    for entry in sorted((*path, *beside), key=lambda entry: entry.at):
        if id(entry) in places:
            place = before = places[id(entry)]
        else:
            place = max(before, places_by_id.get(entry.parent, 0))
            behind[place].append(entry)
        places_by_id[entry.id] = place
    return [each for place, entry in enumerate(path) for each in (entry, *behind[place])]


def _calls(entry: TranscriptEntry) -> Iterator[str]:
    return (block.id for block in entry.blocks if block.kind == "call")


def _answers(entry: TranscriptEntry) -> set[str]:
    return {block.id for block in entry.blocks if block.kind == "result"}
