"""What a reviewer should know of a piece of work, from its commits and the states around them.

Everything here is a pure function of values. Each item is followed by its id from checkpoint to
checkpoint: where it appeared, whether it is still there, and who it comes from.
"""

from __future__ import annotations

from gitguard.model.redaction.rules import walls
from gitguard.model.text import counted
from gitguard.model.triggers import COMPACTION, HALT
from gitguard.model.value import Value
from gitguard.review.piece import LIKELY, PATCH, SQUASHED, TRAILER
from gitguard.state.checkpoint import FOLLOWS
from gitguard.state.items import (
    FAILED,
    HOOK,
    Artifact,
    Command,
    Decision,
    Exchange,
    Failure,
    Note,
)
from gitguard.store.git.objects import is_object_id

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from typing import Any

    from gitguard.review.piece import CodeChange, Piece
    from gitguard.state.checkpoint import Checkpoint
    from gitguard.state.items import Item

FIELDS = (
    *("decisions", "failed_attempts", "constraints", "invariants", "pending_assumptions"),
    *("open_issues", "blockers", "completed_steps", "learnings", "exchanges", "commands"),
    "artifacts",
)
"""The lists of a state that a report follows, in the order in which it shows them."""
LIMITS = ("constraints", "invariants")
TOOLS, SHELL, NOTED, OUTSIDE = AUTHORS = ("tools", "shell", "noted", "outside")
"""Who changed a file: the agent's edit tools or a shell command, as a hook saw; the agent says so;
nobody whom a hook saw."""


class Moment(Value):
    """A checkpoint with what its state says."""

    checkpoint: Checkpoint
    task_id: str
    goal: str
    goal_by: str
    status: str
    phase: str
    next_action: str
    confidence: float
    items: Mapping[str, tuple[Item, ...]]
    """By field."""


class Stop(Value):
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


class Entry(Value):
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


class ChangedFile(Value):
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
    notes: tuple[str, ...] = ()


class Report(Value):
    """One piece of work for its reviewer."""

    base: str
    head: str
    newest: Stop | None
    """How the work stands; None without a checkpoint."""
    commits: tuple[CodeChange, ...]
    unlinked: tuple[str, ...]
    """Ids of the commits that no checkpoint is tied to."""
    stops: tuple[Stop, ...]
    """The checkpoints, oldest first; the first of a session shows what was there before."""
    entries: tuple[Entry, ...]
    files: tuple[ChangedFile, ...]
    overrides: tuple[Override, ...]
    redactions: tuple[Redaction, ...]
    verdicts: tuple[Verdict, ...]
    notes: tuple[str, ...]

    def of(self, *fields: str) -> tuple[Entry, ...]:
        """Return the entries of some fields."""
        return tuple(entry for entry in self.entries if entry.field in fields)

    def triggered(self, trigger: str) -> tuple[Stop, ...]:
        """Return the checkpoints that were taken for something."""
        return tuple(stop for stop in self.stops if stop.trigger == trigger)

    @property
    def removed_limits(self) -> tuple[Entry, ...]:
        """The constraints and invariants that are no longer there."""
        return tuple(entry for entry in self.of(*LIMITS) if entry.removed is not None)

    @property
    def limits(self) -> tuple[Entry, ...]:
        """The constraints and invariants that hold."""
        return tuple(entry for entry in self.of(*LIMITS) if entry.removed is None)

    @property
    def unchecked(self) -> tuple[Entry, ...]:
        """The assumptions that nobody checked."""
        return _lasting(self.of("pending_assumptions"))

    @property
    def blockers(self) -> tuple[Entry, ...]:
        """What stops the work."""
        return _lasting(self.of("blockers"))

    @property
    def issues(self) -> tuple[Entry, ...]:
        """What still has to be solved."""
        return _lasting(self.of("open_issues"))

    @property
    def decisions(self) -> tuple[Entry, ...]:
        """The decisions of this piece of work."""
        return tuple(entry for entry in self.of("decisions") if not entry.inherited)

    @property
    def given_up(self) -> tuple[Entry, ...]:
        """The attempts of this piece of work that failed for good."""
        failures = self.of("failed_attempts")
        return tuple(entry for entry in failures if not (entry.label or entry.inherited))

    @property
    def overcome(self) -> tuple[Entry, ...]:
        """The attempts that failed at first and succeeded later."""
        failures = self.of("failed_attempts")
        return tuple(entry for entry in failures if entry.label and not entry.inherited)

    @property
    def failing(self) -> tuple[Entry, ...]:
        """The checks that failed when they were last run."""
        return tuple(entry for entry in _lasting(self.of("commands")) if entry.label == FAILED)

    @property
    def halts(self) -> tuple[Stop, ...]:
        """The checkpoints at which the agent was halted."""
        return self.triggered(HALT)

    @property
    def compactions(self) -> tuple[Stop, ...]:
        """The checkpoints before a compaction."""
        return self.triggered(COMPACTION)

    @property
    def peak(self) -> Stop | None:
        """The checkpoint with the highest pressure."""
        measured = [stop for stop in self.stops if stop.pressure is not None]
        return max(measured, key=lambda stop: stop.pressure or 0, default=None)


def _lasting(entries: Iterable[Entry]) -> tuple[Entry, ...]:
    return tuple(entry for entry in entries if entry.removed is None)


def report_of(
    piece: Piece,
    sessions: Iterable[Iterable[Moment]],
    *,
    overrides: tuple[Override, ...] = (),
    verdicts: tuple[Verdict, ...] = (),
    notes: Callable[[], tuple[str, ...]] = lambda: (),
) -> Report:
    """Return the report of a piece of work.

    Each session's moments come newest first, down to the last one before the piece began; they are
    read once, and notes are asked for when all are read.
    """
    commit_of = {stop.id: link.commit.id for link in piece.links for stop in link.between}
    starts = {link.before.id for link in piece.links if link.before is not None}
    # What a cut history begins with may have been there long before the piece of work.
    starts |= {link.between[0].id for link in piece.links if link.is_cut}
    stops: list[Stop] = []
    lasts: list[Stop] = []
    entries: list[Entry] = []
    for moments in sessions:
        followed = _Followed(moments, commit_of, starts)
        entries += followed.entries(len(stops), {entry.id for entry in entries})
        stops += followed.stops
        lasts += followed.stops[-1:]
    newest = max(lasts, key=lambda stop: stop.at, default=None)
    return Report(
        piece.base,
        piece.head,
        newest,
        piece.commits,
        tuple(commit.id for commit in piece.unlinked),
        tuple(stops),
        tuple(entries),
        tuple(_files(piece, entries)),
        overrides,
        tuple(_redactions(stops, entries)),
        verdicts,
        (*_doubtful_links(piece), *piece.notes, *notes()),
    )


_DOUBTS = {
    PATCH: "by a commit with the same changes, as after a rebase",
    TRAILER: "by the trailer in their own message",
    SQUASHED: "by the commits that were squashed into them",
    LIKELY: "by files and times only, which is likely and not certain",
}


def _doubtful_links(piece: Piece) -> Iterator[str]:
    """Say how many commits no checkpoint names, and by what these are tied."""
    surest: dict[str, str] = {}
    for link in piece.links:  # the surest of a commit comes first
        surest.setdefault(link.commit.id, link.certainty)
    for certainty, tied_by in _DOUBTS.items():
        count = sum(value == certainty for value in surest.values())
        if count:
            yield f"{count:,} of {counted(len(piece.commits), 'commit')} tied {tied_by}"


class _Followed:
    """The items of one session, followed back from its newest checkpoint."""

    def __init__(
        self, moments: Iterable[Moment], commit_of: Mapping[str, str], starts: set[str]
    ) -> None:
        """Read the moments once, newest first."""
        self.stops: list[Stop] = []
        self._spans: dict[tuple[str, str], list[list[int]]] = {}
        self._newest: dict[tuple[str, str], Item] = {}
        self._oldest: dict[tuple[str, str], Item] = {}
        self._order: dict[tuple[str, str], int] = {}
        """Where an item stood in its list when it appeared."""
        self._tasks: list[str] = []
        self._has_start = False
        for age, moment in enumerate(moments):
            self.stops.append(_stop(moment, commit_of))
            self._tasks.append(moment.task_id)
            self._has_start = moment.checkpoint.id in starts
            for field, items in moment.items.items():
                for place, item in enumerate(items):
                    key = (field, item.id or _words(item)[0])
                    self._follow(key, item, age)
                    self._order[key] = place
        self.stops.reverse()

    def _follow(self, key: tuple[str, str], item: Item, age: int) -> None:
        spans = self._spans.get(key)
        if spans is None:
            self._spans[key] = [[age, age]]
            self._newest[key] = item
        elif age - spans[-1][1] <= 1:
            spans[-1][1] = age
        else:
            spans.append([age, age])
        self._oldest[key] = item

    def entries(self, offset: int, listed: set[str]) -> list[Entry]:
        """Return the items by field and age; offset is how many checkpoints come before ours.

        A session that was forked has the items of the one it comes from, which are listed there.
        """
        end = offset + len(self.stops) - 1
        placed: list[tuple[int, Entry]] = []
        for key, spans in self._spans.items():
            # Ages count back from the newest checkpoint, places forward from the oldest.
            places = tuple((end - old, end - new) for new, old in reversed(spans))
            entry = self._entry(key, places, offset)
            if not (entry.inherited and entry.id in listed):
                placed.append((self._order[key], entry))
        placed.sort(key=lambda pair: (FIELDS.index(pair[1].field), pair[1].first, pair[0]))
        return [entry for _, entry in placed]

    def _entry(
        self, key: tuple[str, str], spans: tuple[tuple[int, int], ...], offset: int
    ) -> Entry:
        first, last = spans[0][0], spans[-1][1]
        is_gone = last - offset < len(self.stops) - 1
        item = self._newest[key]
        text, detail, label = _words(item)
        has_new_task = False
        if is_gone:
            tasks = self._tasks[::-1]
            has_new_task = tasks[last - offset] != tasks[last - offset + 1]
        return Entry(
            key[0],
            item.id,
            text,
            detail,
            label,
            item.origin.by,
            item.origin.elsewhere,
            first,
            last,
            last + 1 if is_gone else None,
            has_new_task,
            self._has_start and first == offset and not _is_written_since(self._oldest[key], item),
            spans,
        )


def _is_written_since(before: Item, now: Item) -> bool:
    """Say whether a file that was there before was seen to be written again."""
    if not (isinstance(before, Artifact) and isinstance(now, Artifact)):
        return False
    return now.writes > before.writes


def _stop(moment: Moment, commit_of: Mapping[str, str]) -> Stop:
    checkpoint = moment.checkpoint
    return Stop(
        checkpoint.name,
        checkpoint.id,
        checkpoint.session_key,
        checkpoint.at,
        checkpoint.trigger,
        checkpoint.pressure,
        checkpoint.code.head,
        commit_of.get(checkpoint.id, ""),
        checkpoint.why,
        checkpoint.purged,
        moment.goal,
        moment.goal_by,
        moment.status,
        moment.phase,
        moment.next_action,
        moment.confidence,
    )


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


def _files(piece: Piece, entries: Iterable[Entry]) -> Iterator[ChangedFile]:
    """Yield each file with who changed it; what hooks saw counts more than what the agent says."""
    committed = {path.path for commit in piece.commits for path in commit.paths}
    authors: dict[str, str] = {}
    for entry in entries:
        if entry.field != "artifacts" or entry.inherited:
            continue
        seen_as = authors.get(entry.text, NOTED)
        authors[entry.text] = min(seen_as, entry.label, key=(SHELL, TOOLS, NOTED).index)
    for path in sorted(committed | authors.keys()):
        yield ChangedFile(path, authors.get(path, OUTSIDE), path in committed)


def _redactions(stops: Iterable[Stop], entries: Iterable[Entry]) -> Iterator[Redaction]:
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


def without_secrets(report: Report, redact: Callable[[str], str]) -> Report:
    """Return the report with every text redacted once more; ids of commits stay as they are."""
    clean: Report = _cleaned(report, redact)
    return clean


def _cleaned(part: Any, redact: Callable[[str], str]) -> Any:
    if isinstance(part, str):
        return part if is_object_id(part) else redact(part)
    if isinstance(part, tuple):
        return tuple(_cleaned(inner, redact) for inner in part)
    if isinstance(part, Value):
        return part.replace(**{n: _cleaned(getattr(part, n), redact) for n in part.field_names})
    return part
