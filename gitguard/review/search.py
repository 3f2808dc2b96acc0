"""Searches the histories of a repository for words."""

from __future__ import annotations

from collections.abc import Callable

from gitguard.errors import InvalidInput
from gitguard.model.text import timestamp
from gitguard.model.transcript import AGENT, USER
from gitguard.model.value import Value
from gitguard.review.entries import FIELDS, IndexedItem
from gitguard.review.histories import Histories, IndexedHistory
from gitguard.review.index import is_of_field
from gitguard.review.times import parse_since
from gitguard.review.words import ALL, PHRASE, RANKS, SOME, Words, read_words
from gitguard.sessions.lane_reading import lane_label
from gitguard.state.checkpoint import checkpoint_name
from gitguard.state.items import HOOK, PERSON, source_label


class Match(Value):
    """An item that has what was looked for, and where it stands."""

    session: str
    """The session's key."""
    checkpoint: str
    """The name of the first checkpoint that has it."""
    commit: str
    """That checkpoint's commit."""
    field: str
    id: str
    """The item's own id, empty for what has none."""
    by: str
    when: str
    kind: str
    text: tuple[str, ...]
    match: str
    """How well it has the words: phrase, all words or some words."""
    holds: bool | None
    """Whether it holds in the newest checkpoint; null for what was only said."""
    removed: str
    """The name of the checkpoint from which on it is gone, empty while it stands."""
    fixed_at: str
    archived: bool
    """Whether the session is archived."""
    is_ours: bool
    """Whether this machine wrote it, or trusts whose lane it is in."""
    writer: str = ""
    """The writer of the lane that it is in; empty for a session's own history."""
    elsewhere: bool = False
    """Whether another machine wrote it."""

    @property
    def is_joined(self) -> bool:
        """Whether another machine wrote it, and this one took it into the session's own history."""
        return self.elsewhere and not self.writer

    @property
    def source(self) -> str:
        """Who said it, and whether that was on another machine."""
        by = self.by if self.by in (USER, AGENT, HOOK, PERSON) else "unknown"
        return source_label(by, elsewhere=self.elsewhere)

    @property
    def label(self) -> str:
        """How a list names the session, or the lane."""
        return lane_label(self.session, self.writer)


class SearchQuery(Value):
    """What is looked for, and where."""

    words: Words
    fields: tuple[str, ...] = ()
    """Only in these; empty for all."""
    since: str = ""
    """Only what came up at that time or later."""
    most: int = 20


class Results(Value):
    """What a search found."""

    matches: tuple[Match, ...]
    """The best first."""
    count: int
    """How many there are with those that are not shown."""
    searched: int
    """How many histories were searched."""
    notes: tuple[str, ...] = ()
    unread: int = 0
    """How many of the notes are about what could not be read."""
    hidden_lanes: int = 0
    """How many lanes were not searched, because nobody here trusts their writers."""


def question(
    words: tuple[str, ...], fields: tuple[str, ...], since: str, most: int, now: float
) -> SearchQuery:
    """Read what is asked; raise `InvalidInput` for what cannot be asked."""
    for field in fields:
        if field not in FIELDS:
            raise InvalidInput(f"`{field:.40}` is not a field", f"Fields: {', '.join(FIELDS)}")
    earliest = timestamp(max(parse_since(since, now), 0)) if since else ""
    return SearchQuery(read_words(words), fields, earliest, most)


def search(histories: Histories, asked: SearchQuery, redact: Callable[[str], str]) -> Results:
    """Return what the histories have of the words: exact phrases first, and the newest of each."""
    ranked = _each_once(histories, [_ranked(history, asked) for history in histories.all])
    count = sum(len(numbers) for by_rank in ranked for numbers in by_rank.values())
    shown: list[Match] = []
    for rank in RANKS:
        newest = [
            (entry, history)
            for history, by_rank in zip(histories.all, ranked, strict=True)
            for entry in _newest(history, by_rank[rank], asked.most - len(shown))
        ]
        newest.sort(key=lambda pair: pair[0].when, reverse=True)
        newest = newest[: asked.most - len(shown)]
        shown += [match_of(entry, history, rank, redact) for entry, history in newest]
    return Results(
        matches=tuple(shown),
        count=count,
        searched=len(histories.all),
        notes=histories.notes,
        unread=histories.unread,
        hidden_lanes=histories.hidden_lanes,
    )


def _each_once(
    histories: Histories, ranked: list[dict[str, list[int]]]
) -> list[dict[str, list[int]]]:
    """Return what was found, an item of lanes only once.

    Whoever joined a lane has its items, so an item stands under the session's own history, and else
    in the lane in which it was not joined.
    """
    if not any(history.writer for history in histories.all):
        return ranked
    # Anybody may use an id again, so what says something else stands beside it.
    places: dict[tuple[str, ...], tuple[bool, bool, int]] = {}
    for place, (history, by_rank) in enumerate(zip(histories.all, ranked, strict=True)):
        for entry in history.index.entries(sorted(set().union(*by_rank.values()))):
            mark = (bool(history.writer), entry.commit in history.joins, place)
            key = (entry.id, *entry.parts)
            places[key] = min(places.get(key, mark), mark)
    once = []
    for place, (history, by_rank) in enumerate(zip(histories.all, ranked, strict=True)):
        kept = {
            rank: [
                number
                for number, entry in zip(numbers, history.index.entries(numbers), strict=True)
                if not (history.writer and entry.id) or places[entry.id, *entry.parts][-1] == place
            ]
            for rank, numbers in by_rank.items()
        }
        once.append(kept)
    return once


def _ranked(history: IndexedHistory, asked: SearchQuery) -> dict[str, list[int]]:
    """Return the numbers of the entries that have words, by how well, oldest first."""
    # Letters of ASCII are compared without case here; all others are folded in the index already.
    texts = history.index.texts.lower()
    having = [_having(texts, term) for term in asked.words.terms]
    some, each = set().union(*having), having[0].intersection(*having)
    exact = each if len(having) == 1 else each & _having(texts, asked.words.phrase)
    by_rank = {PHRASE: exact, ALL: each - exact, SOME: some - each}
    return {rank: _filtered(history, numbers, asked) for rank, numbers in by_rank.items()}


def _having(texts: bytes, term: str) -> set[int]:
    """Return the numbers of the lines that have a term.

    The lines are not divided first: that takes longer than to count the line ends between matches.
    """
    needle, numbers, number, start = term.encode(), [], 0, 0
    find, count = texts.find, texts.count
    while (place := find(needle, start)) >= 0:
        number += count(b"\n", start, place)
        numbers.append(number)
        start = find(b"\n", place) + 1
        number += 1
    return set(numbers)


def _filtered(history: IndexedHistory, numbers: set[int], asked: SearchQuery) -> list[int]:
    """Return the numbers of the entries that are asked for, oldest first."""
    index = history.index
    kept = sorted(numbers)
    if asked.fields:
        kept = [n for n in kept if is_of_field(index.lines[n], asked.fields)]
    if asked.since:
        entries = zip(kept, index.entries(kept), strict=True)
        kept = [n for n, entry in entries if entry.when >= asked.since]
    return kept


def _newest(history: IndexedHistory, numbers: list[int], most: int) -> list[IndexedItem]:
    return list(history.index.entries(numbers[-most:][::-1])) if most > 0 else []


def match_of(
    entry: IndexedItem, history: IndexedHistory, rank: str, redact: Callable[[str], str]
) -> Match:
    """Describe an entry of a history, without secrets."""
    is_joined = history.is_from_elsewhere(entry)
    return Match(
        session=history.session,
        checkpoint=checkpoint_name(entry.first),
        commit=entry.commit,
        field=entry.field,
        id=entry.id,
        by=entry.by,
        when=entry.when,
        kind=entry.kind,
        text=tuple(map(redact, entry.parts)),
        match=rank,
        holds=entry.holds,
        removed=checkpoint_name(entry.removed) if entry.removed else "",
        fixed_at=entry.fixed_at,
        archived=bool(history.archived),
        is_ours=history.is_ours and not is_joined,
        writer=history.writer,
        elsewhere=is_joined or bool(history.writer),
    )
