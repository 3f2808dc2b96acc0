"""Syncs sessions with a git remote: lanes are fetched, verified, joined, and ours are pushed.

Nothing on the remote is forced or deleted, so whatever happens there, no writer loses anything.
What cannot be done now is queued, and the next sync does it.
"""

from __future__ import annotations

from typing import TypeVar

from gitguard.errors import GitFailed, GitguardError, InvalidInput, Locked, SecretsFound
from gitguard.model.codec import sha256
from gitguard.model.config.redaction import redactor_of
from gitguard.model.text import counted, one_line, timestamp
from gitguard.model.value import Value
from gitguard.sessions.belief import belief_of, check_heads, lane_gone_back, other_lanes
from gitguard.sessions.lane_join import Joined, join_into, look_at_changes
from gitguard.sessions.secrets.leaks import clean_checkpoint
from gitguard.sessions.status import keys_of
from gitguard.sessions.sync_record import (
    OtherLane,
    RemoteRecord,
    SyncFile,
    SyncRecord,
)
from gitguard.sessions.sync_target import default_remotes, targets
from gitguard.store.disk.lock import Lock
from gitguard.store.git.packing import MANY, loose_objects, pack_checkpoints
from gitguard.store.git.remote import LaneRemote, RefUpdate, Remote
from gitguard.store.session.anchor import archived_names
from gitguard.store.session.lanes import (
    ARCHIVED,
    FETCHED,
    LANES,
    MOST_LANES,
    Extended,
    Lane,
    OwnLane,
    WriterFile,
    fold_lane,
    kept_lanes,
    lanes_of,
    lanes_of_others,
    newest_of,
    seen_by,
    writers_here,
)
from gitguard.store.session.standing import OURS, Head
from gitguard.store.session.workspace import Session

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from gitguard.sessions.sync_record import LaneGoneBack
    from gitguard.sessions.workspace_sessions import WorkspaceSessions
    from gitguard.state.checkpoint import Checkpoint
    from gitguard.store.session.store import SessionStore

T = TypeVar("T")
A = TypeVar("A")

TIME_LIMIT = 10.0
"""Seconds for all that one sync does with a remote."""
_LOCK_TIMEOUT = 10.0
_SHORT = 12
_MOST_ASKED = 5
"""New writers up to which a person is asked about each."""


class SyncRequest(Value):
    """What a sync is to do."""

    remote: str = ""
    """Its name or address; empty for the one that is set, or else that of the current branch."""
    session: str = ""
    """The key of the only session; empty for all of this worktree."""
    fetches: bool = True
    pushes: bool = True
    dry_run: bool = False


class LeavingSession(Value):
    """What of a session leaves this machine."""

    session: str
    checkpoints: int
    size: int
    """Bytes of them, compressed; in a dry run of their files, each content counted once."""
    messages: int
    """How many messages of the conversation its newest state holds."""


class Leaving(Value):
    """What leaves this machine for a remote."""

    remote: str
    address: str
    is_first: bool
    """Whether nobody agreed yet that sessions go there."""
    sessions: tuple[LeavingSession, ...]
    machine: str = ""
    """What the lanes call this machine."""


class Synced(Value):
    """What a sync did, and what it left for the next one."""

    remote: str
    address: str
    fetched: int = 0
    joined: tuple[Joined, ...] = ()
    leaving: Leaving | None = None
    pushed: tuple[str, ...] = ()
    """The refs that arrived, read back."""
    restored: tuple[str, ...] = ()
    """The refs of others that the remote had lost."""
    colleagues: tuple[OtherLane, ...] = ()
    """The lanes that are kept and not joined."""
    not_begun: tuple[OtherLane, ...] = ()
    """The lanes of sessions that this worktree does not have, which are joined as they begin."""
    branch: str = ""
    """The branch that is checked out here; empty for none."""
    problems: tuple[str, ...] = ()
    is_declined: bool = False
    """Whether a person said no to what would have left, so that nothing waits."""
    is_fetch_only: bool = False
    """Whether the user's settings let nothing leave."""
    queued: str = ""
    """Why something waits for the next sync; empty if nothing does."""


def nobody_says(_: tuple[OtherLane, ...]) -> None:
    """Say of a new writer that there is nobody to ask."""


def sync(
    sessions: WorkspaceSessions,
    request: SyncRequest,
    may_leave: Callable[[Leaving], bool | None],
    tell: Callable[[str], object] = str,
    may_join: Callable[[tuple[OtherLane, ...]], bool | None] = nobody_says,
) -> Synced:
    """Sync with a remote; what cannot be done now is queued.

    may_leave is asked before sessions go to a remote for the first time. may_join is asked once
    about each new writer, with its lanes. Both return None where there is nobody to ask. tell is
    called with what is done next. Raises `InvalidInput` for a remote that is not there, and
    `InvalidConfig` where the repository's own configuration would decide how a remote is reached.
    """
    if request.pushes and not (request.fetches or sessions.config.sync.push):
        raise InvalidInput(
            "`sync.push` in your config.yaml is false, so nothing is pushed",
            "Leave out --push, or remove the setting",
        )
    synced = []
    for remote, session in targets(sessions, request.remote, request.session):
        remote_request = request.replace(remote=remote, session=session)
        synced.append(_sync_one(sessions, remote_request, may_leave, tell=tell, may_join=may_join))
    return _together(synced)


def _sync_one(
    sessions: WorkspaceSessions,
    request: SyncRequest,
    may_leave: Callable[[Leaving], bool | None],
    *,
    tell: Callable[[str], object],
    may_join: Callable[[tuple[OtherLane, ...]], bool | None],
) -> Synced:
    remote = Remote(sessions.repository().git, request.remote, may_be_address=True)
    run = _Sync(sessions, request, remote, tell)
    try:
        with Lock(sessions.workspace.lanes_lock, timeout=_LOCK_TIMEOUT, clock=sessions.clock):
            return run.run(may_leave, may_join)
    except Locked as error:
        return Synced(remote.name, remote.address, queued=error.message)


def _together(synced: list[Synced]) -> Synced:
    """Return what was done with several remotes as one; what each kept is the last one's."""
    if len(synced) < 2:
        return synced[0]
    leaving = [each.leaving for each in synced if each.leaving is not None]
    return synced[-1].replace(
        remote=", ".join(dict.fromkeys(each.remote for each in synced)),
        address=", ".join(dict.fromkeys(each.address for each in synced)),
        fetched=sum(each.fetched for each in synced),
        joined=tuple(joined for each in synced for joined in each.joined),
        leaving=leaving[-1].replace(
            is_first=any(each.is_first for each in leaving),
            sessions=tuple(session for each in leaving for session in each.sessions),
        )
        if leaving
        else None,
        pushed=tuple(ref for each in synced for ref in each.pushed),
        restored=tuple(ref for each in synced for ref in each.restored),
        problems=tuple(dict.fromkeys(problem for each in synced for problem in each.problems)),
        is_declined=any(each.is_declined for each in synced),
        queued="; ".join(dict.fromkeys(each.queued for each in synced if each.queued)),
    )


class _Sync:
    """One sync with one remote."""

    def __init__(
        self,
        sessions: WorkspaceSessions,
        request: SyncRequest,
        remote: Remote,
        tell: Callable[[str], object],
    ) -> None:
        self._sessions = sessions
        self._request = request
        self._remote = remote
        self._tell = tell
        self._workspace = sessions.workspace
        self._repository = sessions.repository()
        self._deadline = sessions.clock() + TIME_LIMIT
        self._lanes: LaneRemote = remote.for_lanes(self._remaining)
        self._file = SyncFile(self._workspace)
        self._writers = WriterFile(self._workspace)
        self._problems: list[str] = []
        self._gone_back: dict[str, LaneGoneBack] = {}
        """By ref, the lanes that do not continue what this machine has of them."""
        self._closed: dict[str, Lane] = {}
        """Lanes that we keep and that their writers have archived."""
        self._fetched_prefix = f"{FETCHED}{sha256(remote.address.encode())[:_SHORT]}/lanes/"
        """Where lanes lie as this remote has them."""

    def _remaining(self) -> float:
        return min(TIME_LIMIT, self._deadline - self._sessions.clock())

    def run(
        self,
        may_leave: Callable[[Leaving], bool | None],
        may_join: Callable[[tuple[OtherLane, ...]], bool | None],
    ) -> Synced:
        """Do all of it; what fails is queued."""
        record = self._file.read()
        remote_record = record.of(self._remote.address, self._remote.name)
        synced = Synced(self._remote.name, self._remote.address)
        try:
            self._tell("asking the remote")
            remote_refs = self._ask_for_dry_run() if self._request.dry_run else self._ask_remote()
            if not self._request.dry_run:
                fetched = self._fetch(remote_refs, record) if self._request.fetches else 0
                if self._request.fetches:
                    remote_record = remote_record.replace(gone_back=())  # it is looked for anew
                record = self._check_signatures(record)
                record = self._meet(record, may_join)
                joined = tuple(self._join(remote_refs, record))
                self._fold_theirs(record)
                synced = synced.replace(fetched=fetched, joined=joined)
                self._pack()
            if self._request.pushes and self._sessions.config.sync.push:
                synced, remote_record = self._give(synced, remote_refs, remote_record, may_leave)
        except (GitFailed, SecretsFound, Locked) as error:
            synced = synced.replace(queued=error.message)
        others = other_lanes(self._workspace, self._repository)
        own_sessions = self._workspace.session_names()
        synced = synced.replace(
            colleagues=tuple(lane for lane in others if not lane.is_trusted),
            not_begun=tuple(
                lane for lane in others if lane.is_trusted and lane.session not in own_sessions
            ),
            branch=self._repository.checked_out().removeprefix("refs/heads/"),
            problems=tuple(self._problems),
            is_fetch_only=self._request.pushes and not self._sessions.config.sync.push,
        )
        if not self._request.dry_run:
            self._note(remote_record, synced.queued)
        return synced

    def _pack(self) -> None:
        """Pack what would be read object by object, where nobody runs `git gc`."""
        if loose_objects(self._repository) < MANY:
            return
        self._tell("packing checkpoints")
        prefix = self._sessions.config.store.ref_prefix
        pack_checkpoints(
            self._repository, prefix, limit=TIME_LIMIT, at_step=self._workspace.at_step
        )

    def _note(self, remote_record: RemoteRecord, queued: str) -> None:
        since = (remote_record.queued_at or timestamp(self._sessions.clock())) if queued else ""
        reason = self._workspace.redactor.text(one_line(queued))
        defaults = default_remotes(self._sessions)
        remote_record = remote_record.replace(
            queued_at=since, reason=reason, is_named_once=self._remote.name not in defaults
        )
        if self._gone_back:
            remote_record = remote_record.replace(gone_back=tuple(self._gone_back.values()))
        record = self._file.read().having(remote_record)
        self._file.write(record if queued else record.after_sync(remote_record.name, defaults))

    def _ask_remote(self) -> dict[str, str]:
        """Ask the remote for its lanes; of those that we keep, also where they were archived."""
        refs = self._lanes.refs(f"{LANES}*", f"{ARCHIVED}*")
        remote_refs = {name: commit for name, commit in refs.items() if name.startswith(LANES)}
        own = writers_here(self._workspace)
        kept = {lane.ref for lane in kept_lanes(self._repository) if lane.writer not in own}
        closed = [x for x in lanes_of(refs, ARCHIVED) if x.ref in kept and x.ref not in remote_refs]
        self._closed = {lane.ref: lane for lane in closed}
        return {**remote_refs, **{lane.ref: lane.commit for lane in closed}}

    def _ask_for_dry_run(self) -> dict[str, str]:
        """Ask the remote for its lanes; where it does not answer, count what it may have as new."""
        try:
            return self._ask_remote()
        except GitFailed as error:
            self._problems.append(f"{error.message}; what it may have already is counted as new")
            return {}

    # Theirs

    def _fetch(self, remote_refs: Mapping[str, str], record: SyncRecord) -> int:
        """Fetch and keep what is new of others' lanes; return how many were kept."""
        kept = {lane.ref: lane.commit for lane in kept_lanes(self._repository)}
        own = writers_here(self._workspace)
        lanes = [lane for lane in lanes_of(remote_refs) if lane.writer not in own]
        new = [lane for lane in self._first_of(lanes, record) if kept.get(lane.ref) != lane.commit]
        if new:
            self._tell(f"fetching {counted(len(new), 'lane')}")
            sources = {x: x.archived_ref if x.ref in self._closed else x.ref for x in new}
            self._lanes.fetch({sources[lane]: self._fetched(lane) for lane in new})
            self._workspace.at_step("lanes-fetched")
        new = [x.replace(commit=self._repository.ref_id(self._fetched(x))) for x in new]
        readable = newest_of(self._repository, new)
        self._problems += (
            f"`{lane.ref}` holds no lane of its writer" for lane in new if lane.ref not in readable
        )
        new = [lane for lane in new if lane.ref in readable]
        return sum(self._keep(lane, kept.get(lane.ref, "")) for lane in new)

    def _first_of(self, lanes: list[Lane], record: SyncRecord) -> list[Lane]:
        """Return as many lanes as are looked at, those that may be joined first."""
        names = set(self._workspace.session_names())
        signers = {head.ref.rpartition("/")[2] for head in record.signed if head.is_good}
        trusted = signers.union(record.trusted)
        lanes.sort(key=lambda lane: (lane.writer not in trusted, lane.session not in names))
        if len(lanes) > MOST_LANES:
            self._problems.append(
                f"the remote has {len(lanes):,} lanes; {MOST_LANES:,} were looked at"
            )
        return lanes[:MOST_LANES]

    def _fetched(self, lane: Lane) -> str:
        return f"{self._fetched_prefix}{lane.session}/{lane.writer}"

    def _keep(self, lane: Lane, kept: str) -> bool:
        """Keep a lane that was fetched, if it goes on from what is kept of it."""
        if kept and not self._repository.is_ancestor(kept, lane.commit):
            gone_back = lane_gone_back(self._workspace, self._repository, lane, kept)
            self._gone_back[lane.ref] = gone_back
            self._problems.append(gone_back.sentence(self._remote.name))
            return False
        if lane.commit != kept:
            old = kept or "0" * len(lane.commit)
            self._repository.move_ref(lane.ref, lane.commit, old, "gitguard: lane fetched")
            self._workspace.at_step("lane-kept")
        return True

    def _kept_of_others(self, record: SyncRecord) -> list[Lane]:
        return lanes_of_others(self._workspace, kept_lanes(self._repository), record.trusted)

    def _check_signatures(self, record: SyncRecord) -> SyncRecord:
        """Check what is signed anew of others' lanes; return what is believed then."""
        belief = belief_of(self._workspace, record)
        if belief.problem:
            self._problems.append(f"no lane is believed for its key: {belief.problem}")
        lanes = self._kept_of_others(record)
        names = set(self._workspace.session_names())
        lanes.sort(key=lambda lane: lane.session not in names)
        heads = check_heads(self._workspace, self._repository, lanes, belief)
        if heads != record.signed:
            record = self._file.read().replace(signed=heads)
            self._file.write(record)
        return record

    def _meet(
        self,
        record: SyncRecord,
        may_join: Callable[[tuple[OtherLane, ...]], bool | None],
    ) -> SyncRecord:
        """Ask about each new writer, unless there are many; return what is believed then."""
        new: dict[str, list[OtherLane]] = {}
        for lane in other_lanes(self._workspace, self._repository):
            if not lane.is_trusted and lane.writer not in record.asked:
                new.setdefault(lane.writer, []).append(lane)
        if len(new) > _MOST_ASKED:
            return record
        for writer, lanes in new.items():
            answer = self._answer(may_join, tuple(lanes))
            if answer is None:
                continue
            record = self._file.read()
            record = record.replace(asked=(*record.asked, writer))
            record = record.trusting(writer) if answer else record
            self._file.write(record)
        return record

    def _answer(self, ask: Callable[[T], A], about: T) -> A:
        """Return what a person answers, whose time is none of the remote's."""
        self._tell("")  # a question begins on a line of its own
        asked_at = self._sessions.clock()
        answer = ask(about)
        self._deadline += self._sessions.clock() - asked_at
        return answer

    def _join(self, remote_refs: Mapping[str, str], record: SyncRecord) -> Iterator[Joined]:
        belief = belief_of(self._workspace, record)
        kept = [lane for lane in self._kept_of_others(record) if belief.holds_for(lane)]
        for store in self._stores():
            lanes = [lane for lane in kept if lane.session == store.session.name]
            try:
                writer = OwnLane(store, self._writers, remote_refs).writer()
                with store.lock():
                    is_at_work = store.session.name == self._sessions.current_name()
                    look = look_at_changes(store) if is_at_work else None
                    joined = join_into(store, lanes, writer, look)
            except GitguardError as error:
                name = one_line(store.session.key)
                self._problems.append(f"`{name}` is not synced: {error.message}")
                continue
            self._problems += joined.problems
            for lane, held in joined.gone_back:
                gone_back = lane_gone_back(self._workspace, self._repository, lane, held)
                self._gone_back.setdefault(lane.ref, gone_back)
            if joined.writers:
                yield joined
            elif joined.saved.pending:
                name, pending = one_line(store.session.key), joined.saved.pending
                self._problems.append(f"`{name}` has no checkpoint that could leave: {pending}")

    def _fold_theirs(self, record: SyncRecord) -> None:
        """Put lanes away whose writers closed the session, once all that they hold is joined."""
        seen = (
            {store.session.name: seen_by(store) for store in self._stores()} if self._closed else {}
        )
        for lane in kept_lanes(self._repository):
            closed = self._closed.get(lane.ref)
            if closed is None or lane.commit != closed.commit:
                continue
            joins = lane.writer in record.trusted and lane.session in seen
            if not joins or seen[lane.session].get(lane.writer) == lane.commit:
                fold_lane(self._repository, lane)
                self._workspace.at_step("lane-folded")

    def _stores(self) -> Iterator[SessionStore]:
        """Yield the sessions of this worktree that are synced."""
        for name, key in sorted(keys_of(self._workspace).items()):
            if self._request.session in ("", key, name):
                yield self._sessions.store(Session(key, name))

    # Ours

    def _give(
        self,
        synced: Synced,
        remote_refs: Mapping[str, str],
        remote_record: RemoteRecord,
        may_leave: Callable[[Leaving], bool | None],
    ) -> tuple[Synced, RemoteRecord]:
        extended = list(self._extended(remote_refs))
        leaving = Leaving(
            self._remote.name,
            self._remote.address,
            not remote_record.is_agreed,
            tuple(leaving for _, leaving in extended if leaving.checkpoints),
            machine=self._workspace.places.machine,
        )
        lanes = [lane for lane, _ in extended]
        ours = [RefUpdate(x.ref, x.commit) for x in lanes if x.commit != remote_refs.get(x.ref, "")]
        lost = list(self._lost(remote_refs))
        synced = synced.replace(leaving=leaving)
        closing = list(self._closing(remote_refs)) if remote_record.is_agreed else []
        # Where the server removes nothing, the lane stays, and has to be whole as well.
        ours += [RefUpdate(ref, x.commit) for x in closing for ref in (x.ref, x.archived_ref)]
        if self._request.dry_run or not (ours or lost):
            return synced, remote_record
        if not remote_record.is_agreed:
            answer = self._answer(may_leave, leaving)
            if not answer:
                why = "nobody agreed yet that sessions go there" if answer is None else ""
                return synced.replace(is_declined=answer is not None, queued=why), remote_record
            remote_record = remote_record.replace(is_agreed=True)
            self._note(remote_record, "the first push has not ended")
        self._tell(f"pushing {counted(len(ours) + len(lost), 'lane')}")
        refused = self._lanes.push([*ours, *lost])
        self._workspace.at_step("lanes-pushed")
        arrived = self._lanes.refs(f"{LANES}*", f"{ARCHIVED}*")
        for lane in closing:
            if arrived.get(lane.archived_ref) == lane.commit:
                self._fold(lane, arrived.get(lane.ref, ""))
        missing = [ref for ref in (*ours, *lost) if not self._has(arrived, ref)]
        for ref in missing:
            why = refused.get(ref.name, "it said that it took it, and it is not there")
            self._problems.append(f"`{ref.name}` did not arrive: {why}")
        queued = f"{counted(len(missing), 'lane')} did not arrive" if missing else ""
        return synced.replace(
            pushed=tuple(ref.name for ref in ours if ref not in missing),
            restored=tuple(ref.name for ref in lost if ref not in missing),
            queued=queued,
        ), remote_record

    def _closing(self, remote_refs: Mapping[str, str]) -> Iterator[Lane]:
        """Yield our lanes of closed sessions, up to the last checkpoint."""
        if self._request.dry_run:
            return
        own_sessions, own = self._workspace.session_names(), self._writers.read().id
        archived = set(archived_names(self._workspace)).difference(own_sessions)
        for lane in kept_lanes(self._repository):
            if lane.writer != own or lane.session not in archived:
                continue
            store = self._sessions.store(Session(lane.session, lane.session))
            try:
                anchor = store.chain.archived()[-1]
                head = Head(OURS, anchor.committed, anchor)
                extended = OwnLane(store, self._writers, remote_refs).extend(
                    self._refuse_secrets, head=head
                )
            except (GitguardError, IndexError) as error:
                self._problems.append(f"`{lane.ref}` is not archived: {error}")
                continue
            if extended is not None and extended.lane.ref == lane.ref:
                yield extended.lane

    def _fold(self, lane: Lane, remote_commit: str) -> None:
        """Put our lane away that arrived among those of closed sessions, here and there."""
        if remote_commit:
            self._lanes.remove(RefUpdate(lane.ref, "", old=remote_commit))
        fold_lane(self._repository, lane)
        self._workspace.at_step("lane-folded")

    @staticmethod
    def _has(arrived: Mapping[str, str], ref: RefUpdate) -> bool:
        return arrived.get(ref.name) == ref.commit

    def _extended(self, remote_refs: Mapping[str, str]) -> Iterator[tuple[Lane, LeavingSession]]:
        """Yield our lanes with all our checkpoints, and what of each the remote lacks."""
        for store in self._stores():
            lane = OwnLane(store, self._writers, remote_refs)
            try:
                extended = lane.extend(self._refuse_secrets, dry_run=self._request.dry_run)
                if extended is not None:
                    if extended.unsigned:
                        self._problems.append(f"`{extended.lane.ref}`: {extended.unsigned}")
                    yield extended.lane, self._leaving(store, extended, remote_refs)
            except GitguardError as error:
                self._problems.append(f"`{one_line(store.session.key)}` stays: {error.message}")

    def _refuse_secrets(
        self, checkpoint: Checkpoint, contents: Mapping[str, bytes], message: str
    ) -> None:
        redactor = redactor_of(self._sessions.config.redaction)
        matches = clean_checkpoint(contents, message, redactor).findings
        if matches:
            raise SecretsFound(
                f"{checkpoint.name} holds what looks like a secret ({matches[0].rule} in "
                f"{matches[0].path}); remove it with `gitguard purge {checkpoint.name}`"
            )

    def _leaving(
        self, store: SessionStore, extended: Extended, remote_refs: Mapping[str, str]
    ) -> LeavingSession:
        lane = extended.lane
        exclusions = [f"^{remote_refs[lane.ref]}"] if lane.ref in remote_refs else []
        count, size = 0, 0
        if lane.commit:
            git = self._repository.git
            count = int(git.run("rev-list", "--count", lane.commit, *exclusions))
            size = int(git.run("rev-list", "--disk-usage", "--objects", lane.commit, *exclusions))
        return LeavingSession(
            store.session.key,
            count + extended.lacking,
            size + extended.size,
            extended.messages,
        )

    def _lost(self, remote_refs: Mapping[str, str]) -> Iterator[RefUpdate]:
        """Yield what the remote had of others, and has no more or has less of."""
        had = self._repository.refs(self._fetched_prefix.rstrip("/"))
        own = writers_here(self._workspace)
        for lane in kept_lanes(self._repository):
            now = remote_refs.get(lane.ref, "")
            if lane.writer in own or self._fetched(lane) not in had or now == lane.commit:
                continue
            if not now or self._repository.is_ancestor(now, lane.commit):
                yield RefUpdate(lane.ref, lane.commit)
