"""Lists checkpoints as `log` shows them: of one session or all, and only those asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from heapq import merge
from itertools import islice, takewhile

from gitguard.errors import GitguardError
from gitguard.model.text import counted
from gitguard.model.triggers import MANUAL
from gitguard.model.value import Value
from gitguard.sessions.archiving import archive_of, histories_if_archived
from gitguard.sessions.lane_reading import NO_LANES, ReadableLanes, lane_label
from gitguard.state.checkpoint import Checkpoint
from gitguard.store.session.archive import Archived
from gitguard.store.session.lane_store import LaneStore
from gitguard.store.session.standing import reading_problem
from gitguard.store.session.store import SessionStore

_FEW = 200
"""Checkpoints up to which reading one by one costs less than asking git for the ids of all."""
_CLOCKS_DIFFER = 86_400
"""Seconds by which clocks of machines that share a session are expected to differ at most."""


class Query(Value):
    """Which checkpoints are asked for."""

    most: int
    since: float | None = None
    """Unix seconds; None for the whole history."""
    matches: Callable[[str], bool] | None = None
    """Whether a subject, or what a person said with -m, is looked for; None for every one."""

    @property
    def is_filtered(self) -> bool:
        """Whether only some of a history's checkpoints are asked for, besides the newest."""
        return self.since is not None or self.matches is not None

    def takes(self, checkpoint: Checkpoint) -> bool:
        """Return whether a checkpoint is asked for."""
        if self.since is not None and checkpoint.at < self.since:
            return False
        matches = self.matches
        if matches is None or matches(checkpoint.subject):
            return True
        return checkpoint.trigger == MANUAL and matches(checkpoint.why)


class History(Value):
    """One history of a session, which may be archived."""

    store: SessionStore
    commit: str
    is_archived: bool = False
    doubt: str = ""
    """Why it is not known to be ours; empty if it is."""

    @property
    def writer(self) -> str:
        """The writer of the lane that it is; empty for a session of this machine."""
        return self.store.lane.writer if isinstance(self.store, LaneStore) else ""


class LogEntry(Value):
    """One checkpoint of a list, and of which session it is."""

    checkpoint: Checkpoint
    session: str
    """The session's name."""
    is_archived: bool = False
    is_ours: bool = True
    writer: str = ""
    """The writer of the lane that has it; empty for this machine's."""

    @property
    def label(self) -> str:
        """How a list names the session, or the lane."""
        return lane_label(self.session, self.writer)


class Log(Value):
    """Checkpoints, newest first, and what is not among them."""

    entries: tuple[LogEntry, ...]
    more: int = 0
    """How many others are asked for and not listed."""
    left_out: Mapping[str, str] = {}
    """Why a session is not listed, by its name."""
    doubts: Mapping[str, str] = {}
    """Why a session that is listed is not known to be ours, by its name."""
    shallow: Mapping[str, str] = {}
    """The last checkpoint that a shallow clone has of a session, by the session's name."""
    notes: tuple[str, ...] = ()
    """Sentences on lanes that were not looked at."""
    has_hidden_lanes: bool = False
    """Whether lanes are left out because nobody here trusts their writers."""


def log_of(store: SessionStore, query: Query, *, untrusted: bool = False) -> Log:
    """List one session's checkpoints, of an archived one all that it archived.

    Raises why the branch is not ours, unless an untrusted one is asked for.
    """
    archived = histories_if_archived(store)
    if archived:
        return _log(_archived(store, archived), query, {})

    def read() -> Log:
        return _log([_in_force(store, untrusted=untrusted)], query, {})

    return store.at_one_moment(read)


def log_of_all(
    stores: Iterable[SessionStore],
    query: Query,
    *,
    untrusted: bool = False,
    lanes: ReadableLanes = NO_LANES,
) -> Log:
    """List the checkpoints of sessions, of their archived histories and of lanes, newest first.

    A session whose branch is not ours is left out, unless untrusted ones are asked for; so is one
    that cannot be read, and a lane whose writer nobody here trusts.
    """
    histories: list[History] = []
    left_out: dict[str, str] = {}
    for store in stores:
        name = store.session.name
        try:
            history = _in_force(store, untrusted=untrusted)
            histories += [history] if history.commit else []
        except GitguardError as error:
            left_out[name] = error.message
        archived = archive_of(store).all()
        histories += _archived(store, [each for each in archived if not each.problem])
        damaged = [f"{each.commit[:12]}: {each.problem}" for each in archived if each.problem]
        left_out.update({name: "; ".join(damaged)} if damaged else {})
    listed = [store for store in lanes.stores if store.is_trusted or untrusted]
    # What is newest in a lane stands at its head, so no other lane has any of the newest.
    newest = sorted(listed, key=lambda store: -store.newest.at)
    newest = newest if query.is_filtered else newest[: query.most]
    histories += [_in_force(store, untrusted=untrusted) for store in newest]
    notes = list(lanes.notes)
    more = sum(store.newest.sequence for store in listed) - sum(
        store.newest.sequence for store in newest
    )
    hidden = len(lanes.stores) - len(listed)
    if hidden:
        notes.append(f"Left out {counted(hidden, 'lane')} of writers whom nobody here trusts.")
    log = _log(histories, query, left_out)
    return log.replace(more=log.more + more, notes=tuple(notes), has_hidden_lanes=bool(hidden))


def _in_force(store: SessionStore, *, untrusted: bool) -> History:
    head = store.chain.head()
    refusal = reading_problem(head, store.chain.ref)
    if refusal is not None and not untrusted:
        raise refusal
    return History(store, head.id, doubt=refusal.message if refusal else "")


def _archived(store: SessionStore, archived: Iterable[Archived]) -> list[History]:
    # The anchor names the commit, so that what it leads to is what this machine wrote.
    return [History(store, each.commit, is_archived=True) for each in archived]


def _log(histories: list[History], query: Query, left_out: dict[str, str]) -> Log:
    parts: list[list[LogEntry]] = []
    more = 0
    doubts, shallow = {}, {}
    for history in histories:
        writer = history.writer
        name = lane_label(history.store.session.name, writer)
        try:
            checkpoints, others = _listed(history, query)
        except GitguardError as error:
            if len(histories) == 1:
                raise
            left_out = {**left_out, name: error.message}
            continue
        more += others
        doubts.update({name: history.doubt} if history.doubt else {})
        if 0 < len(checkpoints) < query.most and not others and not query.is_filtered:
            last = checkpoints[-1]
            shallow.update({name: last.name} if last.parent else {})
        is_ours = not history.doubt
        session = history.store.session.name
        parts.append(
            [
                LogEntry(c, session, history.is_archived, is_ours=is_ours, writer=writer)
                for c in checkpoints
            ]
        )
    entries = list(merge(*parts, key=lambda entry: -entry.checkpoint.at))
    more += max(len(entries) - query.most, 0)
    return Log(
        entries=tuple(entries[: query.most]),
        more=more,
        left_out=left_out,
        doubts=doubts,
        shallow=shallow,
    )


def _listed(history: History, query: Query) -> tuple[list[Checkpoint], int]:
    """Return a history's newest checkpoints that are asked for, and how many others are."""
    if not query.is_filtered:
        # Numbers count from the first checkpoint on, so those before need not be read.
        walk = history.store.chain.history(history.commit, whole=query.most > _FEW)
        newest = list(islice(walk, query.most))
        # Where a shallow clone ends there are earlier ones, which no number lists.
        has_more = len(newest) == query.most and bool(newest[-1].parent)
        return newest, newest[-1].sequence - 1 if has_more else 0
    matching = list(filter(query.takes, _walked(history, query.since)))
    return matching[: query.most], max(len(matching) - query.most, 0)


def _walked(history: History, since: float | None) -> Iterator[Checkpoint]:
    walk = history.store.chain.history(history.commit, whole=True)
    if since is None:
        return walk
    # Clocks differ, so the first checkpoint that is older need not be the last one asked for.
    return takewhile(lambda checkpoint: checkpoint.at >= since - _CLOCKS_DIFFER, walk)
