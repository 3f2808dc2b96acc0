"""What of a transcript still stands in the model's context.

Transcripts only grow: turns that were taken back, branches that were left and all that a compaction
summarized are still in the file. Hosts find their way through it by the parents of entries, and by
what the last compaction says it keeps; so do we.
"""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

from gitguard.model.conversation import AGENT, COMPACTION, MESSAGE, RESET, TOOL, Entry
from gitguard.model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence


class Context(Value):
    """The part of a conversation that the model still sees."""

    entries: tuple[Entry, ...] = ()
    """Oldest first; those between messages that say nothing to the model as well."""
    summary: str = ""
    """What the last compaction put in the place of all before."""
    compactions: int = 0
    last: Entry | None = None
    """What the next entry will follow."""
    ids: frozenset[str] = frozenset()
    """Those that the transcript has given away."""


def context_of(entries: Iterable[Entry]) -> Context:
    """Return what stands of a conversation, its entries given oldest first.

    What they are in the file is not kept, so that a long conversation takes less memory.
    """
    known: dict[str, Entry] = {}
    turning: list[str] = []
    for number, entry in enumerate(entries):
        if not can_stand(entry):
            continue
        name = entry.id or f"#{number}"
        known.pop(name, None)  # the last line is what the next one follows, also as a copy
        known[name] = entry.replace(raw=b"") if entry.raw else entry
        if entry.kind == COMPACTION:
            turning.append(name)
    if not known:
        return Context()
    ids, newest = frozenset(known), known[turning[-1]] if turning else None
    if newest is not None and not newest.keeps_on:
        found = _behind_a_list(known, newest, len(set(turning)))
    else:
        found = _on_the_path(known, len(set(turning)))
    return found.replace(ids=ids)


def lost_parents(entries: Sequence[Entry]) -> dict[int, str]:
    """Return for entries that follow one which is not there what stands before the gap, by place.

    The first may follow one of another file, and parts of sub-agents are left alone.
    """
    own = [entry for entry in entries if entry.id and not entry.is_aside]
    known = {entry.id for entry in entries}
    return {
        entry.at: before.id
        for before, entry in pairwise(own)
        if entry.parent and entry.parent not in known
    }


def can_stand(entry: Entry) -> bool:
    """Say whether an entry can be part of a context: others follow it, it speaks or measures."""
    is_told = entry.id or entry.tokens or entry.kind in (MESSAGE, COMPACTION)
    return bool(is_told) and not entry.is_aside


def _behind_a_list(known: dict[str, Entry], newest: Entry, compactions: int) -> Context:
    """Return what stands where a compaction lists what it keeps, and everything before is gone."""
    kept = _kept(known, newest)
    later = {name: entry for name, entry in known.items() if entry.at > newest.at}
    told = None if newest.blocks else _told_behind(newest, later.values())
    if told is not None:
        later.pop(told.id)
    path = _with_sides(later, _path(later)) if later else []
    found = [*kept, *path]
    summary = "\n".join(block.text for block in (told or newest).blocks)
    return Context(tuple(found), summary, compactions, found[-1] if found else told or newest)


def _told_behind(newest: Entry, later: Iterable[Entry]) -> Entry | None:
    """Return the message with a compaction's summary, which may stand behind notes of the host."""
    first = next((entry for entry in later if entry.kind == MESSAGE), None)
    is_it = first is not None and first.id and (first.by_host or first.parent == newest.id)
    return first if is_it else None


def _kept(known: dict[str, Entry], compaction: Entry) -> list[Entry]:
    kept = [known[name] for name in compaction.kept if name in known]
    if not compaction.keeps_between or len(kept) < len(compaction.kept):
        return kept
    first, last = kept[0].at, kept[-1].at
    upto = {name: entry for name, entry in known.items() if entry.at <= last}
    path = _path(upto)
    # A link of the way may lie in no line; then all lines between the two stand for it.
    part = path[path.index(kept[0]) :] if kept[0] in path else list(upto.values())
    return [entry for entry in _with_sides(upto, part) if first <= entry.at]


def _on_the_path(known: dict[str, Entry], compactions: int) -> Context:
    """Return what stands where the way back from the last entry passes every compaction."""
    path = _path(known)
    at = {entry.id: place for place, entry in enumerate(path)}
    begin, summary = 0, ""
    for place, entry in enumerate(path):
        if entry.kind == RESET:
            begin, summary = place + 1, ""
        elif entry.kind == COMPACTION:
            kept = [at[name] for name in entry.kept if name in at]
            begin = min([place, *kept]) if kept else place
            summary = "\n".join(block.text for block in entry.blocks)
    stays = [entry for entry in path[begin:] if entry.kind not in (COMPACTION, RESET)]
    found = tuple(_with_sides(known, stays)) if stays else ()
    return Context(found, summary, compactions, path[-1])


def _path(known: dict[str, Entry]) -> list[Entry]:
    """Return the way from the root to the last entry; without parents, all there is."""
    entries = list(known.values())
    if not any(entry.parent for entry in entries):
        return entries
    path: list[Entry] = []
    passed: set[str] = set()
    entry: Entry | None = entries[-1]
    while entry is not None and entry.id not in passed:
        passed.add(entry.id)
        path.append(entry)
        entry = known.get(entry.parent)
    return path[::-1]


def _with_sides(known: dict[str, Entry], path: list[Entry]) -> list[Entry]:
    """Add what belongs to the path beside it: several calls at once make several ways on."""
    on_path = {id(entry) for entry in path}
    answers = {entry.message for entry in path if entry.role == AGENT and entry.message}
    places = [entry.at for entry in path]  # a root may stand behind what follows it
    begin, end = min(places), max(places)
    beside = [e for e in known.values() if id(e) not in on_path and begin < e.at < end]
    parts = [e for e in beside if e.role == AGENT and e.message in answers]
    # Only hosts that keep an answer in several entries look beside the path for its results.
    unanswered = _unanswered(path, parts)
    results = [e for e in beside if e.role == TOOL and _answers(e) & unanswered]
    if not (parts or results):
        return path
    return _in_place(path, (*parts, *results))


def _unanswered(path: list[Entry], parts: list[Entry]) -> set[str]:
    """Return the ids of calls that have fewer results on the path than there are such calls.

    Several answers may have used one id, so that a result on the path may be another call's.
    """
    calls = {(e.message, call) for e in (*path, *parts) if e.message for call in _calls(e)}
    left = Counter(call for _, call in calls)
    left.subtract(call for entry in path if entry.role == TOOL for call in _answers(entry))
    return {call for call, count in left.items() if count > 0}


def _in_place(path: list[Entry], beside: Iterable[Entry]) -> list[Entry]:
    """Put each entry behind that of the path before it in the file, and behind what it follows."""
    places = {id(entry): place for place, entry in enumerate(path)}
    known: dict[str, int] = {}
    behind: list[list[Entry]] = [[] for _ in path]
    before = 0
    for entry in sorted((*path, *beside), key=lambda entry: entry.at):
        if id(entry) in places:
            place = before = places[id(entry)]
        else:
            place = max(before, known.get(entry.parent, 0))
            behind[place].append(entry)
        known[entry.id] = place
    return [each for place, entry in enumerate(path) for each in (entry, *behind[place])]


def _calls(entry: Entry) -> Iterator[str]:
    return (block.id for block in entry.blocks if block.kind == "call")


def _answers(entry: Entry) -> set[str]:
    return {block.id for block in entry.blocks if block.kind == "result"}
