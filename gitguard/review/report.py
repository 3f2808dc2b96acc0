"""What a reviewer should know of a piece of work, from its commits and the states around them.

Everything here is a pure function of values. Each item is followed by its id from checkpoint to
checkpoint: where it appeared, whether it is still there, and who it comes from.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from typing import Any

from gitguard.model.commit import is_object_id
from gitguard.model.redaction.rules import walls
from gitguard.model.text import counted
from gitguard.model.value import Value
from gitguard.review.authorship import CONTENT, LINES, PATCH
from gitguard.review.piece import CodeChange, Piece
from gitguard.review.timeline import Timeline
from gitguard.sessions.lane_reading import lane_label
from gitguard.state import roles
from gitguard.state.checkpoint import FOLLOWS
from gitguard.state.items import HOOK, Artifact, Command, Decision, Exchange, Failure, Item, Note
from gitguard.state.task import TaskState

SCHEMA = "gitguard/report"
VERSION = 1
"""Of the document for programs, which references/reference/report.schema.json describes."""


def names_of(*roles: str) -> tuple[str, ...]:
    """Return the names of the fields that an agent notes in some roles."""
    return tuple(field.name for field in TaskState.noted(*roles))


FIELDS = (
    *names_of(roles.DECISION, roles.FAILURE, roles.LIMIT, roles.ASSUMPTION, roles.OPEN_WORK),
    *names_of(roles.OBSTACLE, roles.DONE_WORK, roles.LESSON, roles.REMARK),
    *("exchanges", "commands", "artifacts"),
)
"""What of a state a report follows, in the order in which it shows it."""
LIMITS = names_of(roles.LIMIT)
TOOLS, SHELL, NOTED, OUTSIDE, UNKNOWN = AUTHORS = (
    *("tools", "shell", "noted", "outside", "unknown"),
)
"""Who changed a file: the agent's edit tools or a shell command, as a hook saw; the agent says so;
nobody whom a hook saw; not known, where hooks saw the agent write it and not what was committed."""
_BY_SIGHT = (SHELL, TOOLS, NOTED).index


class ReportCheckpoint(Value):
    """A checkpoint as the report shows it."""

    name: str
    id: str
    session: str
    at: int
    trigger: str
    pressure: float | None
    code: str
    """The commit that was checked out, empty before the first."""
    commit: str
    """The commit that the work at this checkpoint went into, empty where it went into none."""
    why: str
    purged: str
    """The rules by which secrets were taken out of it later."""
    goal: str
    goal_by: str
    """user, agent or hook; empty while there is no goal."""
    status: str
    phase: str
    next_action: str
    confidence: float
    writer: str = ""
    """The writer of the lane that has it; empty for a session's own history."""
    joins: bool = False
    """Whether other writers' lanes were joined in it."""

    @property
    def label(self) -> str:
        """How the report names its session, or its lane."""
        return lane_label(self.session, self.writer)


class TrackedItem(Value):
    """An item of the state, and how long it was there."""

    field: str
    id: str
    text: str
    detail: str
    """A decision's reason, an attempt's error, how a command ended; else empty."""
    label: str
    """A decision's label, the kind of what was said, a command's outcome; else empty."""
    by: str
    """user, agent or hook."""
    elsewhere: bool
    """Whether another machine wrote it."""
    first: int
    """The checkpoint it appeared at, by its place in the report."""
    last: int
    """The last checkpoint that had it."""
    removed: int | None
    """The first checkpoint after that, None where the item is still there."""
    with_task: bool
    """Whether it went away because another task began."""
    inherited: bool
    """Whether it was there before the piece of work began."""
    spans: tuple[tuple[int, int], ...]
    """The checkpoints that had it, from and to; more than one where it was away in between."""
    also_by: tuple[str, ...] = ()
    """The writers of other lanes that have it alike, and in which it did not come by a join."""


class ReportedFile(Value):
    """A file, and who changed it."""

    path: str
    author: str
    """tools, shell, noted or outside."""
    in_commits: bool
    """Whether a commit of the range changed it."""


class Override(Value):
    """A person let a halted conversation go on."""

    at: str
    pressure: float
    reason: str


class Redaction(Value):
    """A secret was taken out."""

    rule: str
    where: str


class Verdict(Value):
    """What verifying a session's history has shown."""

    session: str
    text: str
    is_sound: bool
    is_ours: bool
    """Whether this machine wrote the history, or trusts it."""
    is_known: bool = True
    """Whether this machine has a record of the session at all, with which to compare."""
    notes: tuple[str, ...] = ()
    writer: str = ""
    """The writer of the lane that it is about; empty for a session's own history."""
    author: str = ""
    """Who that is, as people tell writers apart."""

    @property
    def label(self) -> str:
        """How the report names the session, or the lane."""
        return lane_label(self.session, self.writer)


class Report(Value):
    """One piece of work for its reviewer."""

    base: str
    head: str
    newest: ReportCheckpoint | None
    """How the work stands; None without a checkpoint."""
    commits: tuple[CodeChange, ...]
    unlinked: tuple[str, ...]
    """Ids of the commits that no checkpoint is tied to."""
    stops: tuple[ReportCheckpoint, ...]
    """The checkpoints, oldest first; the first of a session shows what was there before."""
    entries: tuple[TrackedItem, ...]
    files: tuple[ReportedFile, ...]
    overrides: tuple[Override, ...]
    redactions: tuple[Redaction, ...]
    verdicts: tuple[Verdict, ...]
    notes: tuple[str, ...]

    def of(
        self, *fields: str, stands: bool = False, is_new: bool = False
    ) -> tuple[TrackedItem, ...]:
        """Return the items of some fields.

        stands leaves out what went away, is_new what was there before the piece of work.
        """
        return tuple(
            entry
            for entry in self.entries
            if entry.field in fields
            and not (stands and entry.removed is not None)
            and not (is_new and entry.inherited)
        )

    def triggered(self, trigger: str) -> tuple[ReportCheckpoint, ...]:
        """Return the checkpoints that were taken for something."""
        return tuple(stop for stop in self.stops if stop.trigger == trigger)

    @property
    def peak(self) -> ReportCheckpoint | None:
        """The checkpoint with the highest pressure, of those after the piece of work began."""
        measured: list[ReportCheckpoint] = []
        sessions: set[str] = set()
        for stop in self.stops:
            is_before = stop.label not in sessions and not stop.commit
            sessions.add(stop.label)
            if stop.pressure is not None and not is_before:
                measured.append(stop)
        return max(measured, key=lambda stop: stop.pressure or 0, default=None)


class SessionPart:
    """One session's part in a piece of work; its checkpoints come newest first."""

    def __init__(self) -> None:
        self.stops: list[ReportCheckpoint] = []
        self._tasks: list[str] = []
        self._timeline = Timeline()
        self._listed: Mapping[str, tuple[Item, ...]] = {}
        self._items: dict[tuple[str, str], tuple[int, Item]] = {}

    def add(
        self, stop: ReportCheckpoint, task_id: str, listed: Mapping[str, tuple[Item, ...]]
    ) -> None:
        """Take in the next older checkpoint with its task and its state's items by field.

        The same mapping stands for the same state.
        """
        if listed is not self._listed:
            self._listed = listed
            self._items = {
                (field, item.id or _words(item)[0]): (place, item)
                for field, items in listed.items()
                for place, item in enumerate(items)
            }
        self._timeline.add(stop, self._items)
        self._tasks.append(task_id)
        self.stops.append(stop)

    def entries(self, offset: int, listed: set[str], work: Collection[str]) -> list[TrackedItem]:
        """Return the items by field and age; offset is how many checkpoints come before ours.

        A session that was forked has the items of the one it comes from, which are listed there.
        work has the ids of the checkpoints of the piece of work: what appeared at others is none
        of its words.
        """
        self._timeline.end()
        end = offset + len(self.stops) - 1
        placed: list[tuple[int, TrackedItem]] = []
        for (field, _), history in self._timeline.items.items():
            # Ages count back from the newest checkpoint, places forward from the oldest.
            spans = tuple((end - old, end - new) for new, old in reversed(history.spans))
            age, first, last = history.spans[0][0], spans[0][0], spans[-1][1]
            (place, earliest), (_, item) = history.earliest, history.item
            text, detail, label = _words(item)
            is_older = self.stops[end - first].id not in work
            was_there = is_older and not _is_written_since(earliest, item)
            entry = TrackedItem(
                field=field,
                id=item.id,
                text=text,
                detail=detail,
                label=label,
                by=item.origin.by,
                elsewhere=item.origin.elsewhere,
                first=first,
                last=last,
                removed=last + 1 if age else None,
                with_task=age > 0 and self._tasks[age] != self._tasks[age - 1],
                inherited=was_there,
                spans=spans,
            )
            if not (entry.inherited and entry.id in listed):
                placed.append((place, entry))
        placed.sort(key=lambda pair: (FIELDS.index(pair[1].field), pair[1].first, pair[0]))
        return [entry for _, entry in placed]


def report_of(
    piece: Piece,
    parts: Iterable[SessionPart],
    *,
    overrides: tuple[Override, ...] = (),
    verdicts: tuple[Verdict, ...] = (),
    notes: tuple[str, ...] = (),
) -> Report:
    """Return the report of a piece of work.

    Each session's part goes down to the last checkpoint before the piece began.
    """
    # Of commits that hold work of the same time, that counts which tells the time most closely.
    widest_first = sorted(piece.links, key=lambda link: -len(link.between))
    commit_of = {stop.id: link.commit.id for link in widest_first for stop in link.between}
    work = {c.id for link in piece.links for c in (*link.between, *link.following)}
    stops: list[ReportCheckpoint] = []
    lasts: list[ReportCheckpoint] = []
    entries: list[TrackedItem] = []
    for part in parts:
        oldest_first = [s.replace(commit=commit_of.get(s.id, "")) for s in reversed(part.stops)]
        is_lane = any(stop.writer for stop in oldest_first)
        # What several lanes have is put together at the end, with what any of them removed.
        listed = set() if is_lane else {entry.id for entry in entries}
        entries += part.entries(len(stops), listed, work)
        stops += oldest_first
        lasts += oldest_first[-1:]
    believed = {verdict.label for verdict in verdicts if verdict.is_ours}
    entries = _each_once(entries, stops, believed)
    return Report(
        base=piece.base,
        head=piece.head,
        newest=max(lasts, key=lambda stop: stop.at, default=None),
        commits=piece.commits,
        unlinked=tuple(commit.id for commit in piece.unlinked),
        stops=tuple(stops),
        entries=tuple(entries),
        files=tuple(_files(piece, entries)),
        overrides=overrides,
        redactions=tuple(_redactions(stops, entries)),
        verdicts=verdicts,
        notes=(*_ways_of_links(piece), *piece.notes, *notes),
    )


def _each_once(
    entries: Iterable[TrackedItem],
    stops: Sequence[ReportCheckpoint],
    believed: Container[str],
) -> list[TrackedItem]:
    """Return items without those that another lane has alike, because it was joined there.

    An item stands where it was first written, as far as those tell who are believed. Where others
    say that they wrote the same, they are named as well: nothing shows who copied it. An item
    counts as removed once any lane removed it.
    """

    def is_later(entry: TrackedItem) -> tuple[bool, bool, int, int]:
        stop = stops[entry.first]
        return stop.joins, stop.label not in believed, stop.at, entry.first

    if not any(stop.writer for stop in stops):
        return list(entries)
    alike: dict[tuple[str, ...], list[TrackedItem]] = {}
    for number, entry in enumerate(entries):
        # Anybody may use an id again, so what says something else stands beside it.
        key = (entry.field, entry.id or f"{number}", entry.text, entry.detail)
        alike.setdefault(key, []).append(entry)
    kept = []
    for several in alike.values():
        first = min(several, key=is_later)
        writers = (
            stops[entry.first].writer
            for entry in several
            if not (entry.inherited or stops[entry.first].joins)
        )
        other_writers = dict.fromkeys(
            w for w in writers if w not in ("", stops[first.first].writer)
        )
        first = first.replace(also_by=tuple(other_writers))
        gone = next((entry for entry in several if entry.removed is not None), None)
        if gone is not None and first.removed is None:
            first = first.replace(
                last=gone.last, removed=gone.removed, with_task=gone.with_task, spans=gone.spans
            )
        kept.append(first)
    kept.sort(key=lambda entry: FIELDS.index(entry.field))
    return kept


_TIED_BY = {
    CONTENT: "to the agent's work by the content of a file",
    PATCH: "by a change to a file that is the same",
    LINES: "by lines of the agent's",
}


def _ways_of_links(piece: Piece) -> Iterator[str]:
    """Say how many commits are tied to the agent's work, and by what."""
    surest: dict[str, str] = {}
    for link in piece.links:  # the surest of a commit comes first
        surest.setdefault(link.commit.id, link.certainty)
    for certainty, tied_by in _TIED_BY.items():
        count = sum(value == certainty for value in surest.values())
        if count:
            yield f"{count:,} of {counted(len(piece.commits), 'commit')} tied {tied_by}"


def _is_written_since(before: Item, now: Item) -> bool:
    """Say whether a file that was there before was seen to be written again."""
    if not (isinstance(before, Artifact) and isinstance(now, Artifact)):
        return False
    return now.writes > before.writes


def _words(item: Item) -> tuple[str, str, str]:
    """Return what an item says, the detail of it, and its label."""
    if isinstance(item, Decision):
        return item.what, item.why, item.label
    if isinstance(item, Failure):
        return item.what, item.error, "fixed" if item.fixed_at else ""
    if isinstance(item, Command):
        return item.command, item.ending, item.outcome
    if isinstance(item, Exchange):
        return item.text, item.settles, item.kind
    if isinstance(item, Artifact):
        return item.path, item.description, _author(item)
    return (item.text if isinstance(item, Note) else ""), "", ""


def _author(item: Artifact) -> str:
    if item.origin.by != HOOK:
        return NOTED
    return SHELL if item.by_shell else TOOLS


def _files(piece: Piece, entries: Iterable[TrackedItem]) -> Iterator[ReportedFile]:
    """Yield each file with who changed it.

    Of a file in the commits, their content decides; where that shows nothing and hooks saw the
    agent write, nobody knows. Of others, what hooks saw counts more than what the agent says.
    """
    authors: dict[str, str] = {}
    for entry in entries:
        if entry.field != "artifacts" or entry.inherited:
            continue
        seen_as = authors.get(entry.text, NOTED)
        authors[entry.text] = min(seen_as, entry.label, key=_BY_SIGHT)
    committed = {path.path for commit in piece.commits for path in commit.paths}
    shown: dict[str, str] = {}
    for link in piece.links:
        for file in link.files:
            author = file.author if file.author in AUTHORS else NOTED
            shown[file.path] = min(shown.get(file.path, NOTED), author, key=_BY_SIGHT)
    for path in sorted(committed | authors.keys()):
        author = authors.get(path, OUTSIDE)
        if path in committed:
            is_seen = path in piece.written or author in (TOOLS, SHELL)
            author = shown.get(path, UNKNOWN if is_seen else OUTSIDE)
        yield ReportedFile(path, author, path in committed)


def _redactions(
    stops: Iterable[ReportCheckpoint], entries: Iterable[TrackedItem]
) -> Iterator[Redaction]:
    """Yield what the placeholders in the items say, and what was purged later."""
    places = list(stops)
    for entry in entries:
        for text in (entry.text, entry.detail):
            for begin, end in walls(text):
                rule = text[begin:end].partition(":")[2].rstrip("]")
                field = entry.field.replace("_", " ")
                yield Redaction(rule, f"{field}, {places[entry.first].name}")
    for stop in places:
        if stop.purged and stop.purged != FOLLOWS:
            yield Redaction(stop.purged, f"purged from {stop.name} afterwards")


def without_secrets(part: Any, redact: Callable[[str], str]) -> Any:
    """Return a report, or a part of one, with every text redacted; ids of commits stay."""
    if isinstance(part, str):
        return part if is_object_id(part) else redact(part)
    if isinstance(part, tuple):
        return tuple(without_secrets(inner, redact) for inner in part)
    if isinstance(part, Value):
        names = part.field_names
        return part.replace(**{n: without_secrets(getattr(part, n), redact) for n in names})
    return part


def document_of(report: Report) -> dict[str, Any]:
    """Return the report's values by name, below the name and version of their schema."""
    return {"schema": SCHEMA, "schema_version": VERSION, **_plain(report)}


def _plain(part: Any) -> Any:
    if isinstance(part, Value):
        return {name: _plain(getattr(part, name)) for name in part.field_names}
    return [_plain(inner) for inner in part] if isinstance(part, tuple) else part
