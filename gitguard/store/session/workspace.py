"""The workspace: the working files of its sessions, and which session is current.

Nothing here starts git, so that hooks below every threshold never have to.
"""

from __future__ import annotations

import os
import stat

from gitguard.errors import (
    EditedState,
    InvalidDocument,
    InvalidInput,
    NewerFormat,
    NotInitialised,
)
from gitguard.model.codec import check_format, dump_json, load_json
from gitguard.model.digest import sha256
from gitguard.model.redaction.redactor import Redactor
from gitguard.model.text import one_line, shorten, timestamp
from gitguard.model.value import Value
from gitguard.store.disk import files, folders
from gitguard.store.disk.lock import Lock
from gitguard.store.git.place import Place, locate
from gitguard.store.session import holds
from gitguard.store.session.host_session import Hold, HostSession, SessionRecord
from gitguard.store.session.journal import OwnJournal
from gitguard.store.session.naming import Session, is_session_name
from gitguard.store.session.seal import Seal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from gitguard.store.session.moment import Moment

FORMAT = 1
LIMIT = 1 << 20
THIS_SESSION = "this-session"
"""The conversation of programs that no host runs: the session itself."""
_MOST_HOST_SESSIONS = 50
_MOST_HELD = 500
"""So many halted or overridden conversations are kept besides; more would outgrow the file."""


class Places(Value):
    """Where the caller's environment puts things; the library never looks it up itself."""

    state_home: str
    """gitguard's folder in the user's state directory."""
    config_home: str
    """gitguard's folder in the user's configuration directory."""
    session: str = ""
    """A session key that overrides the workspace's current session."""
    environment: Mapping[str, str] = {}
    """Of which the door to git passes on a few names."""
    home: str = ""
    """The user's home folder, where hosts keep settings of their own."""
    program: str = ""
    """The path of our own command; empty where nothing tells."""
    at_step: Callable[[str], object] = str
    """Told of each step of writing and repairing, where tests crash; `str` does nothing."""


class Workspace:
    """One git worktree and the gitguard folder in it."""

    def __init__(
        self, place: Place, places: Places, directory: str, clock: Callable[[], float]
    ) -> None:
        """Describe the workspace; nothing is read or written yet."""
        self.place = place
        self.places = places
        self.clock = clock
        self.at_step = places.at_step
        self._directory = directory
        self.folder = os.path.join(place.worktree, directory)
        self._root = place.worktree
        # Where users share a repository, each of them reads the ignore file and the identity.
        mode = folders.READABLE if _is_shared(place.common_dir) else folders.PRIVATE
        folders.claim(self.folder, place.worktree, mode)
        folders.claim(os.path.join(place.common_dir, "gitguard"), place.common_dir, mode)
        folders.claim(places.state_home, places.state_home)
        self.redactor = Redactor()
        self._seal: Seal | None = None
        self._moments: dict[str, Moment] = {}

    @classmethod
    def at(
        cls, start: str, places: Places, directory: str, clock: Callable[[], float]
    ) -> Workspace:
        """Find the workspace that start lies in."""
        return cls(locate(start), places, directory, clock)

    def naming(self, key: str) -> Workspace:
        """Return the same workspace at work on a session of its own, which stays in force."""
        named = Workspace(self.place, self.places.replace(session=key), self._directory, self.clock)
        named.redactor = self.redactor
        return named

    def apart(self) -> Workspace:
        """Return the same workspace with working files in the state directory.

        There is kept what is captured while nothing on this machine vouches for those here.
        """
        other = self.naming(self.places.session)
        other._root = self.state_folder
        other.folder = os.path.join(self.state_folder, "_untrusted")
        return other

    @property
    def _works_apart(self) -> bool:
        """Whether hooks found that nothing on this machine vouches for the working files."""
        return not self.is_recorded and os.path.isdir(self.apart().folder)

    # Folders

    @property
    def state_folder(self) -> str:
        """This repository's folder in the state directory, by its common git directory's path."""
        digest = sha256(os.fsencode(self.place.common_dir))[:16]
        return os.path.join(self.places.state_home, digest)

    @property
    def is_recorded(self) -> bool:
        """Whether the state directory has a record of the repository at this path."""
        return os.path.exists(os.path.join(self.state_folder, "_repository.json"))

    def find_record(self, ref_prefix: str) -> None:
        """Find the record of a repository that was moved or copied to this path."""
        if self.is_recorded:
            return
        traces = (
            os.path.join(self.folder, "current"),
            os.path.join(self.place.common_dir, "gitguard", "identity"),
        )
        if any(map(os.path.lexists, traces)):
            from gitguard.store.session import moves

            moves.follow(self, ref_prefix)

    def forget_seal(self) -> None:
        """Read the key of the seals again, because another folder is in force now."""
        self._seal = None

    @property
    def seal(self) -> Seal:
        """The seal on working files that are read back."""
        if self._seal is None:
            self._seal = Seal(self.state_folder)
        return self._seal

    @property
    def is_initialised(self) -> bool:
        """Whether gitguard was ever set up for this repository, here or in another worktree.

        Our folder alone says nothing: a clone may bring one with a `config.yaml`.
        """
        return os.path.isfile(os.path.join(self.folder, "current")) or os.path.isdir(
            self.state_folder
        )

    def session_folder(self, session: Session) -> str:
        """Return the folder of a session's working files."""
        return os.path.join(self.folder, "sessions", session.name)

    def working_file(self, session: Session, name: str) -> str:
        """Return the path of a working file."""
        return os.path.join(self.session_folder(session), name)

    def anchor_folder(self, session: Session) -> str:
        """Return the session's folder in the state directory."""
        return os.path.join(self.state_folder, session.name)

    def make_folders(self, session: Session) -> None:
        """Create the working folders, with the ignore file that hides them from git."""
        self.refuse_links(session)
        files.make_folder(self.session_folder(session))
        if self.seal.make():
            self._seal_records()
        ignore = os.path.join(self.folder, ".gitignore")
        if not os.path.exists(ignore):
            files.write_bytes(ignore, b"*\n", mode=0o644)
        # Begun here, because noting it elsewhere would cost a calm hook too much.
        self.journal(session).begin()

    def _seal_records(self) -> None:
        """Take what was recorded before there was a key for ours, once, as it was until then."""
        for session in (Session(name, name) for name in self.session_names()):
            if not os.path.islink(self.session_folder(session)):
                for name in ("session.json", "pending.json"):
                    path = self.working_file(session, name)
                    self.seal.put_on_file(path, f"{name} {session.name}", limit=LIMIT)

    def _refuse_secret_key(self, session: Session) -> None:
        found = self.redactor.find(session.key, "session_id")
        if found:  # it would stand in the name of a ref and in every commit
            raise InvalidInput(
                f"the session key looks like a secret ({found[0].rule})", "Use another session key"
            )

    def set_aside(self, path: str) -> str:
        """Move a bad file of ours out of the way; return where it is kept, empty if none is."""
        if not os.path.lexists(path):
            return ""
        kept = files.free_name(f"{path}.bad-{self.clock():.0f}")
        try:
            files.rename(path, kept)
        except OSError as error:
            raise files.refused(kept, error) from error
        return kept

    def keep_beside(self, path: str) -> str:
        """Give a bad file of ours a second name under which it is kept when it is replaced.

        Where the file system has no second names it is moved there.
        """
        kept = files.free_name(f"{path}.bad-{self.clock():.0f}")
        try:
            files.link(path, kept)
        except FileNotFoundError:
            return ""
        except OSError:
            return self.set_aside(path)
        return kept

    def refuse_links(self, session: Session | None = None) -> None:
        """Refuse folders of ours that lead out of the workspace."""
        folder = self.session_folder(session) if session else self.folder
        while len(folder) > len(self._root):
            files.refuse_link(folder)
            folder = os.path.dirname(folder)

    # Sessions

    def current(self) -> Session:
        """Return the session that work in this workspace belongs to."""
        if self.places.session:
            return Session.of(self.places.session)
        name = self.current_name()
        if not name:
            raise NotInitialised(
                f"`{self.place.worktree}` has no gitguard session",
                "Run `gitguard ensure`, or `gitguard init` to set up a host as well",
            )
        return Session(self._key_of(Session(name, name)), name)

    def _key_of(self, session: Session) -> str:
        """Return a session's key, also where `session.json` is damaged or gone."""
        try:
            record = self.read_record(session)
        except NewerFormat:
            raise
        except InvalidDocument:
            record = SessionRecord(format=FORMAT, key=session.key)
        if record.owner:
            return record.key
        from gitguard.store.session import owners

        return owners.read(self, session).key or record.key

    def current_name(self) -> str:
        """Return the name in `current`, or where that is gone what it said; empty without both."""
        data = files.read_bytes(os.path.join(self.folder, "current"), limit=4096)
        if data is None:
            from gitguard.store.session.anchor import CurrentFile

            return CurrentFile(self.state_folder, self.place.git_dir).read()
        name = data.decode("utf-8", "replace").strip()
        if name and not is_session_name(name):
            raise InvalidDocument(
                f"`{self.folder}/current` names the session `{shorten(one_line(name), 80)}`",
                "Run `gitguard session use KEY`",
            )
        return name

    def use(self, session: Session) -> None:
        """Make a session the current one."""
        path, wanted = os.path.join(self.folder, "current"), f"{session.name}\n".encode()
        if files.read_bytes(path, limit=4096) != wanted:
            files.write_bytes(path, wanted)
        from gitguard.store.session.anchor import CurrentFile

        CurrentFile(self.state_folder, self.place.git_dir).write(session.name)

    def leave(self) -> None:
        """Work at no session from now on."""
        from gitguard.store.session.anchor import CurrentFile

        CurrentFile(self.state_folder, self.place.git_dir).forget()
        files.remove(os.path.join(self.folder, "current"))

    def session_names(self) -> list[str]:
        """List the sessions that have working files."""
        names = files.names_in(os.path.join(self.folder, "sessions"))
        return sorted(name for name in names if is_session_name(name))

    def lock(self, session: Session, *, timeout: float) -> Lock:
        """Return the session's lock, where every worktree of the repository sees it.

        Where the git directory cannot be written, as in an agent's sandbox, and nobody made the
        lock yet, it lies beside the working files.
        """
        # Nothing of a session is written without its lock, so what stands in the way is said here.
        self.refuse_links(session)
        self._refuse_secret_key(session)
        self.seal.check()
        shared, own = self._lock_paths(session)
        folder = os.path.dirname(shared)
        path = shared if files.is_writable(folder) or os.path.exists(shared) else own
        return Lock(path, timeout=timeout, clock=self.clock, at_step=self.at_step)

    def _lock_paths(self, session: Session) -> tuple[str, str]:
        shared = os.path.join(self.place.common_dir, "gitguard", f"{session.name}.lock")
        return shared, self.working_file(session, "lock")

    def moment(self, session: Session) -> Moment:
        """Return what lets somebody without the session's lock read its files."""
        if session.name not in self._moments:
            from gitguard.store.session.moment import PATIENCE, Moment

            working = ("state.json", "summary.md", "pending.json", "journal.jsonl")
            kept = ("anchor.json", "state.json", "journals.json", "archive")
            anchors = self.anchor_folder(session)
            self._moments[session.name] = Moment(
                lambda: self.lock(session, timeout=PATIENCE),
                self._lock_paths(session),
                [self.working_file(session, name) for name in working]
                + [os.path.join(anchors, name) for name in kept],
            )
        return self._moments[session.name]

    def journal(self, session: Session) -> OwnJournal:
        """Return the session's journal."""
        return OwnJournal(self, session)

    # session.json

    def read_record(self, session: Session) -> SessionRecord:
        """Read `session.json`; one that is missing or somebody else's is empty.

        Raises `InvalidDocument` where it is damaged.
        """
        path = self.working_file(session, "session.json")
        data = files.read_bytes(path, limit=LIMIT)
        if data is None:
            return self._recalled(session.key, session)
        record = decode_record(data, path)
        if not self.seal.holds(data, _record_place(session)):
            moment = self.moment(session)
            if not moment.is_settled:  # somebody may be sealing it for the first time
                return moment.settled(lambda: self.read_record(session))
            if not self._works_apart:
                foreign = EditedState(f"`{path}` was not written by gitguard")
                self.note_fault("reading the conversations", foreign)
            # Of a session known by its name alone, only a key that fits the name can be the key.
            known = session.is_known_as(record.key)
            return self._recalled(record.key if known else session.key, session)
        if session.key != session.name and record.key not in (session.key, session.name):
            # A name holds 32 bits of its key's hash; somebody may have looked for the same ones.
            raise InvalidInput(
                f"the session key `{shorten(one_line(session.key), 80)}` has the same name as "
                f"`{shorten(one_line(record.key), 80)}`, `{session.name}`",
                "Use another session key",
            )
        return record

    def _recalled(self, key: str, session: Session) -> SessionRecord:
        from gitguard.store.session import conversations

        return SessionRecord(FORMAT, key, host_sessions=conversations.recall(self, session))

    def new_record(self, session: Session, branch: str = "") -> SessionRecord:
        """Return the record of a session that this worktree works at from now on."""
        return SessionRecord(FORMAT, session.key, branch, self.place.git_dir)

    def write_record(self, session: Session, record: SessionRecord) -> None:
        """Replace `session.json`, but never by what could not be read back."""
        hosts = {key: item.to_document() for key, item in record.host_sessions.items()}
        document, _ = self.redactor.document({**record.to_document(), "host_sessions": hosts})
        data = dump_json(document)
        path = self.working_file(session, "session.json")
        decode_record(data, path)
        files.write_bytes(path, self.seal.put_on(data, _record_place(session)))

    def host_session(self, session: Session, key: str, host: str = "") -> HostSession:
        """Return a conversation's record, a new one if it is not known, with what holds it."""
        return self.held(session, key, self.read_record(session).host_sessions.get(key), host)

    def held(
        self, session: Session, key: str, known: HostSession | None, host: str = ""
    ) -> HostSession:
        """Return a conversation's record with the halt or override that is in force."""
        known = known or HostSession(started_at=timestamp(self.clock()))
        host = host or known.host or self._host_of(key)
        confirmed: HostSession | None = known
        if known.override is not None and os.path.isdir(self.state_folder):
            from gitguard.store.session import conversations

            # Only versions before this one kept overrides in the session's copy alone.
            confirmed = None if known.host else conversations.recall(self, session).get(key)
        hold = holds.read(self.hold_path(session, key, host))
        return holds.in_force(known, hold, confirmed).replace(host=host)

    def _host_of(self, key: str) -> str:
        """Return the host that a conversation was halted at, for programs that name its id alone.

        A session that is its own conversation has none.
        """
        if key == THIS_SESSION:
            return ""
        every = holds.all_in(self.places.state_home)
        return next((hold.host for hold in every if hold.conversation == key), "")

    def hold_path(self, session: Session, key: str, host: str) -> str:
        """Return where it is kept what holds a conversation.

        That of a host belongs to no repository; that of a bare shell is the session itself.
        """
        if key == THIS_SESSION and not host:
            return os.path.join(self.anchor_folder(session), "hold.json")
        return holds.path_of(self.places.state_home, host, key)

    def conversations(self, session: Session) -> dict[str, HostSession]:
        """Return a session's conversations by their ids, with what holds them."""
        hosts = self.read_record(session).host_sessions
        return {key: self.held(session, key, known) for key, known in hosts.items()}

    def conversations_here(self, session: Session) -> dict[str, HostSession]:
        """Return a session's conversations, and those of this worktree that are held besides.

        A conversation may have been halted at another session, or its record be gone since.
        """
        every = self.conversations(session)
        for hold in holds.all_in(self.places.state_home):
            key = hold.conversation
            if key and key not in every and hold.worktree == self.place.worktree:
                every[key] = self.held(session, key, None, hold.host)
        return every

    def keep_host_session(
        self, session: Session, key: str, host_session: HostSession, *, used_at: str = ""
    ) -> None:
        """Store a conversation's record; the caller holds the lock.

        It counts as used now and by its hooks, but where used_at says when an imported one was.
        """
        record = self.read_record(session)
        imported = host_session.imported and bool(used_at)
        used = host_session.replace(used_at=used_at or timestamp(self.clock()), imported=imported)
        others = {name: item for name, item in record.host_sessions.items() if name != key}
        hosts = {**_newest(others), key: used}
        if used.halt is not None:
            self.keep_hold(session, key, used)  # first: no failure further on lifts a halt
        self.write_record(session, record.replace(host_sessions=hosts))
        before = record.host_sessions.get(key)
        was = (before.halt, before.override) if before else (None, None)
        if was != (used.halt, used.override):
            from gitguard.store.session import conversations

            conversations.remember(self, session, hosts)
        if used.halt is None:
            self.keep_hold(session, key, used)

    def keep_hold(self, session: Session, key: str, known: HostSession) -> bool:
        """Keep out of an agent's reach what holds a conversation; say whether that could be."""
        hold = Hold(
            known.host, key, known.halt, known.override, worktree=self.place.worktree
        ).redacted(self.redactor)[0]
        return holds.keep(self.hold_path(session, key, known.host), hold, self.clock())

    def carry_conversations(self, source: Session, target: Session) -> None:
        """Let halts and all else that belongs to conversations follow them to another session."""
        from gitguard.store.session import conversations

        conversations.carry(self, source, target)

    # Faults

    def note_fault(self, doing: str, error: BaseException) -> None:
        """Leave a loud mark of a fault of ours, for `status` to show first."""
        from gitguard.store.session import faults

        said = self.redactor.text(one_line(f"{type(error).__name__}: {error}"))
        faults.note(self._fault_folders(), timestamp(self.clock()), doing, said)

    def faults(self) -> list[dict[str, Any]]:
        """Return the marks that were left, each once, oldest first."""
        from gitguard.store.session import faults

        return faults.read(self._fault_folders())

    def forget_faults(self) -> None:
        """Remove the marks."""
        from gitguard.store.session import faults

        faults.forget(self._fault_folders())

    def _fault_folders(self) -> list[str]:
        if self._root != self.place.worktree:
            return [self.state_folder]
        try:
            self.refuse_links()
        except InvalidDocument:
            return [self.state_folder]
        return [self.folder, self.state_folder]


def _is_shared(common_dir: str) -> bool:
    """Say whether `core.sharedRepository` is set, by the mode that git gives its folders then."""
    try:
        return bool(os.stat(common_dir).st_mode & stat.S_ISGID)
    except OSError:
        return False


def _record_place(session: Session) -> str:
    return f"session.json {session.name}"


def _newest(conversations: Mapping[str, HostSession]) -> dict[str, HostSession]:
    """Leave out the conversations that were not used for longest, halted ones last."""
    by_use = sorted(conversations.items(), key=lambda item: item[1].last_use, reverse=True)
    held = [item for item in by_use if item[1].is_held]
    others = [item for item in by_use if not item[1].is_held]
    return dict(held[:_MOST_HELD] + others[: max(_MOST_HOST_SESSIONS - 1 - len(held), 0)])


def decode_record(data: bytes, path: str) -> SessionRecord:
    """Read `session.json`, or its copy."""
    try:
        document = load_json(data, what=f"`{path}`", limit=LIMIT)
    except InvalidDocument as error:
        raise InvalidDocument(error.message, "Run `gitguard repair --local`") from error
    check_format(document, FORMAT, what=f"`{path}`")
    document.pop("seal", None)
    hosts = document.pop("host_sessions", {})
    try:
        record = SessionRecord.from_document(document)
        sessions = {key: HostSession.from_document(item) for key, item in hosts.items()}
    except (InvalidInput, AttributeError) as error:
        raise InvalidDocument(
            f"`{path}` is damaged: {error}", "Run `gitguard repair --local`"
        ) from error
    return record.replace(host_sessions=sessions)
