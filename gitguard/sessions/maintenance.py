"""Which sessions are to be put away, and putting them away: idle ones, too many, too large ones.

Of every session, archived ones too, the snapshots of files beyond the limits are forgotten.

The branches are the list of sessions, so there is no index that could differ from them, and nothing
to rotate in it. Nothing is deleted but what a person names.
"""

from __future__ import annotations

import os

from gitguard.errors import GitguardError, InvalidDocument, InvalidInput
from gitguard.model.config.maintenance import ENFORCE
from gitguard.model.text import seconds
from gitguard.model.value import Value
from gitguard.sessions.archiving import archive_of, put_away
from gitguard.sessions.choice import living_owner
from gitguard.sessions.kept_files import forget_old
from gitguard.sessions.maintenance_record import is_to_try, note_maintenance
from gitguard.state.checkpoint import read_checkpoint
from gitguard.store.disk import files
from gitguard.store.git.packing import MANY, loose_objects, pack_checkpoints
from gitguard.store.session.anchor import archived_names
from gitguard.store.session.archive import Archived
from gitguard.store.session.chain import own_sessions
from gitguard.store.session.conversations import all_conversations
from gitguard.store.session.current import current_name
from gitguard.store.session.host_session import read_record
from gitguard.store.session.reading_once import ReadingOnce
from gitguard.store.session.standing import NONE, OURS
from gitguard.store.session.store import SessionStore
from gitguard.store.session.workspace import Session
from gitguard.store.worktree.consolidating import consolidate
from gitguard.store.worktree.file_store import PACKING_LIMIT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from gitguard.store.session.host_session import HostSession
    from gitguard.store.worktree.file_store import FileStore

    Tell = Callable[[int, int], None]

_DAY = 86_400
_MEGABYTE = 1 << 20
RUNNING = _DAY
"""Seconds for which a conversation counts as running after something of it was kept."""
_LOCK_TIMEOUT = 1.0
"""Seconds to wait for a session's lock: one that is in use is no candidate."""
_AT_A_TURNS_END, _IN_A_HURRY = 0.2, 0.05
"""Seconds that the end of a turn waits for maintenance, and maintenance then for a lock."""
_COMMIT_LIMIT = 1 << 16


class OutOfTime(GitguardError):
    """Maintenance did not end in the time that it was given; what it did stays."""


class Examined(Value):
    """One session, and whether it is to be put away."""

    session: Session
    head: str
    used_at: float
    """Unix seconds of the last thing known of it."""
    size: int
    """Bytes of its working files."""
    reasons: tuple[str, ...] = ()
    """Why it is to be put away, empty where it is not."""
    kept: str = ""
    """Why it is not, although it should be."""

    @property
    def is_due(self) -> bool:
        """Whether it would be put away."""
        return bool(self.reasons) and not self.kept


class Deletion(Value):
    """One history that is to be deleted, or was."""

    name: str
    """The session's name."""
    commit: str
    is_due: bool = False
    """Whether it is the session in force, which has to be archived first."""
    refusal: str = ""
    """Why it is still there."""

    @property
    def label(self) -> str:
        """How a person names it."""
        return f"{self.name}@{self.commit[:12]}"


class OldSnapshots(Value):
    """The snapshots of files of one session that are beyond the limits."""

    name: str
    """The session's name."""
    number: int
    is_forgotten: bool = False


class Maintained(Value):
    """What maintenance found, and what it did."""

    sessions: int
    size: int
    """Bytes of all working files."""
    found: tuple[Examined, ...]
    """The sessions that are to be put away, those that cannot be with the reason."""
    archived: tuple[Archived, ...] = ()
    deleted: tuple[Deletion, ...] = ()
    undeleted: tuple[Deletion, ...] = ()
    """What was to be deleted and is still there, each with the reason."""
    snapshots: tuple[OldSnapshots, ...] = ()
    """The snapshots that are to be forgotten, or were."""
    has_packed: bool = False
    """Whether loose objects of checkpoints were packed."""


class Maintenance:
    """The maintenance of one workspace's sessions."""

    def __init__(self, any_store: SessionStore, *, until: float = float("inf")) -> None:
        """Begin with any store of the workspace.

        until is the time in Unix seconds after which nothing more is begun: `OutOfTime` is raised.
        """
        self._own = any_store
        self._until = until
        self._lock_timeout = _LOCK_TIMEOUT if until == float("inf") else _IN_A_HURRY
        self._workspace = any_store.workspace
        self._limits = any_store.config.maintenance
        self._now = any_store.clock()
        self._looked: Maintained | None = None

    def plan(self) -> Maintained:
        """Find what is to be put away, and change nothing; it is looked for once."""
        if self._looked is None:
            with ReadingOnce(self._workspace):
                sessions = self._examine()
                due = tuple(self._judged(session) for session in sessions if session.reasons)
            self._looked = Maintained(len(sessions), sum(session.size for session in sessions), due)
        return self._looked

    def run(
        self, mode: str = "", *, delete: tuple[str, ...] = (), tell: Tell | None = None
    ) -> Maintained:
        """Find what is to be put away, and do so where the mode is `enforce`.

        delete names what to delete, as `to_delete` takes it. tell is called with how many sessions
        are done, of how many.
        """
        deletions = self.to_delete(delete, mode)
        report = self.plan()
        if (mode or self._limits.mode) != ENFORCE:
            return report.replace(snapshots=self._old_snapshots(dry_run=True))
        due = [item for item in report.found if item.is_due]
        archived: list[Archived] = []
        listed = [item for item in report.found if not item.is_due]
        for number, item in enumerate(due, start=1):
            self._require_time()
            try:
                archived.append(self._put_away(item))
            except GitguardError as error:  # the others can be put away all the same
                listed.append(item.replace(kept=error.message))
            if tell is not None:
                tell(number, len(due))
        tried = [self._delete(_once_archived(item, archived, listed)) for item in deletions]
        deleted = tuple(item for item in tried if not item.refusal)
        gone = {item.commit for item in deleted}
        snapshots = self._old_snapshots()
        has_packed = self._pack_checkpoints()
        note_maintenance(self._workspace, is_done=True)
        return report.replace(
            found=tuple(listed),
            archived=tuple(item for item in archived if item.commit not in gone),
            deleted=deleted,
            undeleted=tuple(item for item in tried if item.refusal),
            snapshots=snapshots,
            has_packed=has_packed,
        )

    def _require_time(self) -> None:
        if self._own.clock() > self._until:
            raise OutOfTime("maintenance did not end in time", "Run `gitguard session maintain`")

    @property
    def _seconds_left(self) -> float:
        return self._until - self._own.clock()

    def _old_snapshots(self, *, dry_run: bool = False) -> tuple[OldSnapshots, ...]:
        """Forget the snapshots of files that are beyond the limits, or only count them.

        Those that stay are laid on commits that stay, and packed together.
        """
        file_store = self._own.worktree.file_store
        old = []
        for name in file_store.sessions():
            self._require_time()
            store = self._store(name)
            try:
                with store.lock(self._lock_timeout):
                    number = forget_old(store, store.worktree.retention, dry_run=dry_run)
                    if not dry_run:
                        store.worktree.move_snapshots(self._seconds_left)
            except GitguardError:
                continue  # a session in use forgets by itself, with its next snapshot
            if number:
                old.append(OldSnapshots(name, number, is_forgotten=not dry_run))
        if not dry_run and (old or file_store.young):
            self._pack(file_store)
        return tuple(old)

    def _pack(self, file_store: FileStore) -> None:
        if self._seconds_left == float("inf"):
            consolidate(file_store)
            return
        self._require_time()
        try:
            consolidate(file_store, patience=0, limit=self._seconds_left)
        except GitguardError as error:
            raise OutOfTime("file snapshots were not packed in time", error.hint) from error

    def _pack_checkpoints(self) -> bool:
        repository = self._own.repository()
        if loose_objects(repository) < MANY:
            return False
        self._require_time()
        limit = min(self._seconds_left, PACKING_LIMIT)
        try:
            return pack_checkpoints(repository, self._own.config.store.ref_prefix, limit=limit)
        except GitguardError as error:
            if self._seconds_left == float("inf"):
                raise
            raise OutOfTime("checkpoints were not packed in time", error.hint) from error

    # What there is

    def _examine(self) -> list[Examined]:
        heads = own_sessions(self._own.repository(), self._own.config.store.ref_prefix)
        times = self._times(heads)
        sessions = [
            self._examine_session(name, heads.get(name, ""), times.get(name, 0))
            for name in sorted({*heads, *self._workspace.session_names()})
        ]
        newest = sorted(sessions, key=lambda session: session.used_at, reverse=True)
        return [self._with_reasons(session, rank) for rank, session in enumerate(newest, start=1)]

    def _times(self, heads: Mapping[str, str]) -> dict[str, float]:
        """Return when each session's newest checkpoint was made."""
        with self._own.repository().reader() as reader:
            bodies = reader.read_all(heads.values(), "commit", limit=_COMMIT_LIMIT)
        times = {}
        for name, head in heads.items():
            try:
                body = bodies[head]
                times[name] = read_checkpoint(head, body)[0].at if isinstance(body, bytes) else 0.0
            except InvalidDocument:
                continue  # what is wrong with it, `verify` tells
        return times

    def _examine_session(self, name: str, head: str, committed_at: float) -> Examined:
        self._require_time()
        session = Session(name, name)
        folder = self._workspace.session_folder(session)
        working = (f"{folder}/state.json", f"{folder}/journal.jsonl")
        times = [committed_at, *map(files.changed_at, working)]
        conversations: Mapping[str, HostSession] = {}
        try:
            record = read_record(self._workspace, session)
            session, conversations = session.replace(key=record.key), record.host_sessions
        except GitguardError:
            pass  # its own status tells what is wrong with it
        times += [seconds(conversation.last_use) for conversation in conversations.values()]
        return Examined(session, head, max(times), _size(folder))

    def _with_reasons(self, session: Examined, rank: int) -> Examined:
        limits, reasons = self._limits, []
        idle = self._now - session.used_at
        if idle > limits.idle_days * _DAY:
            reasons.append(f"idle for {idle / _DAY:.0f} days (limit {limits.idle_days})")
        if rank > limits.most_sessions:
            reasons.append(f"number {rank:,} by last use (limit {limits.most_sessions:,})")
        if session.size > limits.largest_megabytes * _MEGABYTE:
            size = session.size / _MEGABYTE
            reasons.append(f"{size:.1f} MB of files (limit {limits.largest_megabytes} MB)")
        return session.replace(reasons=tuple(reasons))

    # What may not be put away

    def _judged(self, session: Examined) -> Examined:
        self._require_time()
        try:
            refusal = self._why_kept(session)
        except GitguardError as error:
            refusal = error.message
        return session.replace(kept=refusal)

    def _why_kept(self, examined: Examined) -> str:
        session, workspace = examined.session, self._workspace
        if session.name in (current_name(workspace), self._own.session.name):
            return "it is the current session"
        owner = living_owner(workspace, session)
        if owner:
            return f"it belongs to the worktree of `{owner}`"
        for key, record in all_conversations(workspace, session).items():
            if record.is_held:
                return f"its conversation {key:.80} is halted, or its halt overridden"
            if self._now - seconds(record.last_use) < RUNNING:
                return f"its conversation {key:.80} may be running"
        return self._why_unsafe(SessionStore(workspace, session, self._own.config))

    def _why_unsafe(self, store: SessionStore) -> str:
        head = store.chain.head()
        if head.standing == NONE:
            return "it has no checkpoint yet"
        if head.standing != OURS:
            return f"its branch is {head.standing}; see `gitguard verify --all`"
        return ""

    # Putting away

    def _put_away(self, session: Examined) -> Archived:
        store = SessionStore(self._workspace, session.session, self._own.config)
        with store.lock(self._lock_timeout):
            refusal = self._why_kept(session)  # it may have been used meanwhile
            if refusal:
                raise GitguardError(refusal)
            return put_away(store, "The session is archived by maintenance.")

    # Deleting

    def to_delete(self, names: tuple[str, ...], mode: str = "") -> tuple[Deletion, ...]:
        """Return the histories that names stand for, and change nothing.

        NAME is the session that is due, or else all that is archived of it; NAME@ID is one of them.
        Raises `InvalidInput` for what may not be deleted.
        """
        if names and (mode or self._limits.mode) != ENFORCE:
            raise InvalidInput("the mode `warn` deletes nothing", "Use --mode enforce")
        deletions = [deletion for name in names for deletion in self._named(name)]
        return tuple({deletion.label: deletion for deletion in deletions}.values())

    def _named(self, label: str) -> list[Deletion]:
        name, at, start = label.partition("@")
        histories = self._due(name)
        if at or not histories:
            histories += self._archived(name)
        chosen = [history for history in histories if history.commit.startswith(start)]
        if not chosen:
            raise InvalidInput(
                f"the session `{label:.80}` is neither due nor archived",
                "Sessions to delete are named as `gitguard session maintain` and `session list` "
                "show them",
            )
        if at and len(chosen) > 1:
            raise InvalidInput(
                f"`{label:.80}` matches several histories",
                f"Name one of {', '.join(history.label for history in chosen)}",
            )
        return chosen

    def _due(self, name: str) -> list[Deletion]:
        due = (
            session
            for session in self.plan().found
            if session.is_due and session.session.name == name
        )
        return [Deletion(name, session.head, is_due=True) for session in due]

    def _archived(self, name: str) -> list[Deletion]:
        if name not in archived_names(self._workspace):
            return []
        return [Deletion(name, history.commit) for history in archive_of(self._store(name)).all()]

    def _delete(self, deletion: Deletion) -> Deletion:
        """Delete an archived history; return it with the reason where that is refused."""
        if deletion.refusal:
            return deletion
        store = self._store(deletion.name)
        try:
            with store.lock(self._lock_timeout):
                archive = archive_of(store)
                histories = [
                    history for history in archive.all() if history.commit == deletion.commit
                ]
                for history in histories:
                    archive.delete(history)
        except GitguardError as error:  # what else was done is told all the same
            return deletion.replace(refusal=error.message)
        return deletion if histories else deletion.replace(refusal="it is no longer archived")

    def _store(self, name: str) -> SessionStore:
        return SessionStore(self._workspace, Session(name, name), self._own.config)


def maintain_at_turns_end(store: SessionStore) -> None:
    """Do what is due, at most once a day, and leave to a person what does not fit in the time."""
    if not is_to_try(store.workspace, store.config):
        return
    note_maintenance(store.workspace, is_done=False)
    try:
        Maintenance(store, until=store.clock() + _AT_A_TURNS_END).run()
    except OutOfTime:
        return  # `status` says that it is due; at the next turn's end it would not fit either


def _once_archived(
    deletion: Deletion, archived: Sequence[Archived], listed: Sequence[Examined]
) -> Deletion:
    """Return what became of a session in force that had to be archived first."""
    if not deletion.is_due:
        return deletion
    for item in archived:
        if item.name == deletion.name:
            return deletion.replace(commit=item.commit)
    refusal = next(item.kept for item in listed if item.session.name == deletion.name)
    return deletion.replace(refusal=refusal)


def _size(folder: str) -> int:
    """Return how many bytes the files in a folder have."""
    size = 0
    for place, _, names in os.walk(folder):
        for name in names:
            try:
                size += os.lstat(os.path.join(place, name)).st_size
            except OSError:
                continue  # removed meanwhile
    return size
