"""Which sessions are to be put away, and putting them away: idle ones, too many, too large ones.

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
from gitguard.store.disk import files
from gitguard.store.session.archive import Archived, archived_names
from gitguard.store.session.chain import own_sessions
from gitguard.store.session.checkpoint import parse_commit
from gitguard.store.session.conversations import all_conversations
from gitguard.store.session.current import current_name
from gitguard.store.session.naming import Session
from gitguard.store.session.session_record import read_record
from gitguard.store.session.standing import NONE, OURS
from gitguard.store.session.store import SessionStore

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from gitguard.store.session.host_session import HostSession

    Tell = Callable[[int, int], None]

_DAY = 86_400
_MEGABYTE = 1 << 20
RUNNING = _DAY
"""Seconds for which a conversation counts as running after something of it was kept."""
_LOCK_TIMEOUT = 1.0
"""Seconds to wait for a session's lock: one that is in use is no candidate."""
_COMMIT_LIMIT = 1 << 16


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


class Maintenance:
    """The maintenance of one workspace's sessions."""

    def __init__(self, own: SessionStore) -> None:
        """Begin with any store of the workspace."""
        self._own = own
        self._workspace = own.workspace
        self._limits = own.config.maintenance
        self._now = own.clock()
        self._looked: Maintained | None = None

    def look(self) -> Maintained:
        """Find what is to be put away, and change nothing; it is looked for once."""
        if self._looked is None:
            every = self._examine()
            found = tuple(self._judged(one) for one in every if one.reasons)
            self._looked = Maintained(len(every), sum(one.size for one in every), found)
        return self._looked

    def run(
        self, mode: str = "", *, delete: tuple[str, ...] = (), tell: Tell | None = None
    ) -> Maintained:
        """Find what is to be put away, and do so where the mode is `enforce`.

        delete names what to delete, as `to_delete` takes it. tell is called with how many sessions
        are done, of how many.
        """
        doomed = self.to_delete(delete, mode)
        done = self.look()
        if (mode or self._limits.mode) != ENFORCE:
            return done
        due = [one for one in done.found if one.is_due]
        archived: list[Archived] = []
        found = [one for one in done.found if not one.is_due]
        for number, one in enumerate(due, start=1):
            try:
                archived.append(self._put_away(one))
            except GitguardError as error:  # the others can be put away all the same
                found.append(one.replace(kept=error.message))
            if tell is not None:
                tell(number, len(due))
        tried = [self._delete(_once_archived(one, archived, found)) for one in doomed]
        deleted = tuple(one for one in tried if not one.refusal)
        gone = {one.commit for one in deleted}
        return done.replace(
            found=tuple(found),
            archived=tuple(one for one in archived if one.commit not in gone),
            deleted=deleted,
            undeleted=tuple(one for one in tried if one.refusal),
        )

    # What there is

    def _examine(self) -> list[Examined]:
        heads = own_sessions(self._own.repository(), self._own.config.store.ref_prefix)
        times = self._times(heads)
        every = [
            self._look_at(name, heads.get(name, ""), times.get(name, 0))
            for name in sorted({*heads, *self._workspace.session_names()})
        ]
        newest = sorted(every, key=lambda one: one.used_at, reverse=True)
        return [self._with_reasons(one, rank) for rank, one in enumerate(newest, start=1)]

    def _times(self, heads: Mapping[str, str]) -> dict[str, float]:
        """Return when each session's newest checkpoint was made."""
        with self._own.repository().reader() as reader:
            bodies = reader.read_all(heads.values(), "commit", limit=_COMMIT_LIMIT)
        times = {}
        for name, head in heads.items():
            try:
                body = bodies[head]
                times[name] = parse_commit(head, body)[0].at if isinstance(body, bytes) else 0.0
            except InvalidDocument:
                continue  # what is wrong with it, `verify` tells
        return times

    def _look_at(self, name: str, head: str, committed_at: float) -> Examined:
        session = Session(name, name)
        folder = self._workspace.session_folder(session)
        working = (f"{folder}/state.json", f"{folder}/journal.jsonl")
        used = [committed_at, *map(files.changed_at, working)]
        conversations: Mapping[str, HostSession] = {}
        try:
            record = read_record(self._workspace, session)
            session, conversations = session.replace(key=record.key), record.host_sessions
        except GitguardError:
            pass  # its own status tells what is wrong with it
        used += [seconds(known.last_use) for known in conversations.values()]
        return Examined(session, head, max(used), _size(folder))

    def _with_reasons(self, one: Examined, rank: int) -> Examined:
        limits, reasons = self._limits, []
        idle = self._now - one.used_at
        if idle > limits.idle_days * _DAY:
            reasons.append(f"idle for {idle / _DAY:.0f} days (limit {limits.idle_days})")
        if rank > limits.most_sessions:
            reasons.append(f"number {rank:,} by last use (limit {limits.most_sessions:,})")
        if one.size > limits.largest_megabytes * _MEGABYTE:
            size = one.size / _MEGABYTE
            reasons.append(f"{size:.1f} MB of files (limit {limits.largest_megabytes} MB)")
        return one.replace(reasons=tuple(reasons))

    # What may not be put away

    def _judged(self, one: Examined) -> Examined:
        try:
            kept = self._why_kept(one)
        except GitguardError as error:
            kept = error.message
        return one.replace(kept=kept)

    def _why_kept(self, one: Examined) -> str:
        session, workspace = one.session, self._workspace
        if session.name in (current_name(workspace), self._own.session.name):
            return "it is the current session"
        owner = living_owner(workspace, session)
        if owner:
            return f"it belongs to the worktree of `{owner}`"
        for key, known in all_conversations(workspace, session).items():
            if known.is_held:
                return f"its conversation {key:.80} is halted, or its halt overridden"
            if self._now - seconds(known.last_use) < RUNNING:
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

    def _put_away(self, one: Examined) -> Archived:
        store = SessionStore(self._workspace, one.session, self._own.config)
        with store.lock(_LOCK_TIMEOUT):
            kept = self._why_kept(one)  # it may have been used meanwhile
            if kept:
                raise GitguardError(kept)
            return put_away(store, "The session is archived by maintenance.")

    # Deleting

    def to_delete(self, names: tuple[str, ...], mode: str = "") -> tuple[Deletion, ...]:
        """Return the histories that names stand for, and change nothing.

        NAME is the session that is due, or else all that is archived of it; NAME@ID is one of them.
        Raises `InvalidInput` for what may not be deleted.
        """
        if names and (mode or self._limits.mode) != ENFORCE:
            raise InvalidInput("the mode `warn` deletes nothing", "Use --mode enforce")
        found = [one for wanted in names for one in self._named(wanted)]
        return tuple({one.label: one for one in found}.values())

    def _named(self, wanted: str) -> list[Deletion]:
        name, at, start = wanted.partition("@")
        every = self._due(name)
        if at or not every:
            every += self._archived(name)
        chosen = [one for one in every if one.commit.startswith(start)]
        if not chosen:
            raise InvalidInput(
                f"the session `{wanted:.80}` is neither due nor archived",
                "Sessions to delete are named as `gitguard session maintain` and `session list` "
                "show them",
            )
        if at and len(chosen) > 1:
            raise InvalidInput(
                f"`{wanted:.80}` matches several histories",
                f"Name one of {', '.join(one.label for one in chosen)}",
            )
        return chosen

    def _due(self, name: str) -> list[Deletion]:
        due = (one for one in self.look().found if one.is_due and one.session.name == name)
        return [Deletion(name, one.head, is_due=True) for one in due]

    def _archived(self, name: str) -> list[Deletion]:
        if name not in archived_names(self._workspace):
            return []
        return [Deletion(name, one.commit) for one in archive_of(self._store(name)).all()]

    def _delete(self, wanted: Deletion) -> Deletion:
        """Delete an archived history; return it with the reason where that is refused."""
        if wanted.refusal:
            return wanted
        store = self._store(wanted.name)
        try:
            with store.lock(_LOCK_TIMEOUT):
                archive = archive_of(store)
                there = [one for one in archive.all() if one.commit == wanted.commit]
                for one in there:
                    archive.delete(one)
        except GitguardError as error:  # what else was done is told all the same
            return wanted.replace(refusal=error.message)
        return wanted if there else wanted.replace(refusal="it is no longer archived")

    def _store(self, name: str) -> SessionStore:
        return SessionStore(self._workspace, Session(name, name), self._own.config)


def _once_archived(
    wanted: Deletion, archived: Sequence[Archived], found: Sequence[Examined]
) -> Deletion:
    """Return what became of a session in force that had to be archived first."""
    if not wanted.is_due:
        return wanted
    for one in archived:
        if one.name == wanted.name:
            return wanted.replace(commit=one.commit)
    kept = next(one.kept for one in found if one.session.name == wanted.name)
    return wanted.replace(refusal=kept)


def _size(folder: str) -> int:
    """Return how many bytes the files in a folder have."""
    found = 0
    for place, _, names in os.walk(folder):
        for name in names:
            try:
                found += os.lstat(os.path.join(place, name)).st_size
            except OSError:
                continue  # removed meanwhile
    return found
