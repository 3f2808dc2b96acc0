"""The workspace: where the working files of its sessions lie, and what locks and seals them.

A session's key may be anything that a host or a branch is called. Its name has to be safe as a
folder, as a part of a ref and in a terminal, and two keys must never share one.

Nothing here starts git but `repository`, so that hooks below every threshold never have to.
"""

from __future__ import annotations

import errno
import os
import stat

from gitguard.errors import InvalidInput, MissingState, NotARepository
from gitguard.model.codec import sha256
from gitguard.model.redaction.redactor import Redactor
from gitguard.model.text import encodable, one_line, timestamp
from gitguard.model.value import Value
from gitguard.store.disk import files, folders
from gitguard.store.disk.lock import Lock
from gitguard.store.disk.seal import Seal
from gitguard.store.git.place import Place, locate

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from gitguard.store.git.repository import Repository
    from gitguard.store.session.moment import ConsistentRead
    from gitguard.store.worktree.file_store import FileStore

_HEX = frozenset("0123456789abcdef")
_ENDS = frozenset("abcdefghijklmnopqrstuvwxyz0123456789")
_LETTERS = _ENDS | frozenset("._-")
_LONGEST = 64
_DEVICES = {"con", "prn", "aux", "nul"} | {f"{d}{n}" for d in ("com", "lpt") for n in range(1, 10)}
_KEY_LIMIT = 1024
_RESERVED = frozenset({"archive", "archived-lanes", "lanes", "published", "remotes"})
"""Folders of refs that lie beside the sessions with the prefix `refs/gitguard/`."""


class Session(Value):
    """One line of work: the key as it was given, and its name in refs and folders."""

    key: str
    name: str

    @classmethod
    def of(cls, key: str) -> Session:
        """Name the session of a key (references/design/formats.md, "Branch and commits")."""
        key = encodable(key)
        if not key or len(key) > _KEY_LIMIT:
            raise InvalidInput(
                f"the session key has {len(key)} characters; it needs 1 to {_KEY_LIMIT}"
            )
        return cls(key, key if _is_plain(key) else _slug(key))

    def is_known_as(self, key: str) -> bool:
        """Say whether a key is this session's; of one known by its name only, whether it fits."""
        return key == self.key or (self.key == self.name and _fits(key, self.name))


def _fits(key: str, name: str) -> bool:
    try:
        return Session.of(key).name == name
    except InvalidInput:
        return False


def _is_plain(key: str) -> bool:
    return (
        is_session_name(key)
        and key.split(".")[0] not in _DEVICES
        and key not in _RESERVED
        and not (key[-9:-8] == "-" and _HEX.issuperset(key[-8:]))
    )


def _slug(key: str) -> str:
    from gitguard.model.codec import sha256

    digest = sha256(key.encode("utf-8", "surrogatepass"))[:8]
    letters = "".join(c if c in _ENDS or c == "-" else "_" for c in key.lower())
    stem = letters.strip("-_")[:48] or "session"
    return f"{stem}-{digest}"


def is_session_name(name: str) -> bool:
    """Say whether a folder or ref component can be a session's name."""
    return (
        0 < len(name) <= _LONGEST
        and _LETTERS.issuperset(name)
        and name[0] in _ENDS
        and name[-1] in _ENDS
        and ".." not in name
        and not name.endswith(".lock")
    )


LIMIT = 1 << 20
"""Bytes of a working file of ours that is read back."""


class UserDirs(Value):
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
    machine: str = ""
    """What the user calls this machine; empty where nothing tells."""
    caller: int = 0
    """The number of the process that started ours; 0 where nothing tells."""
    at_step: Callable[[str], object] = str
    """Told of each step of writing and repairing, where tests crash; `str` does nothing."""


class Workspace:
    """One git worktree and the gitguard folder in it."""

    def __init__(
        self, place: Place, places: UserDirs, directory: str, clock: Callable[[], float]
    ) -> None:
        """Describe the workspace; nothing is read or written yet."""
        self.place = place
        self.places = places
        self.clock = clock
        self.at_step = places.at_step
        self._directory = directory
        self.folder = os.path.join(place.worktree, directory)
        self._root = place.worktree
        self.state_folder = os.path.join(
            places.state_home, sha256(os.fsencode(place.common_dir))[:16]
        )
        """This repository's folder in the state directory, by its common git directory's path."""
        # Where users share a repository, each of them reads the ignore file and the identity. Git
        # gives its folders another mode then (`core.sharedRepository`).
        try:
            is_shared = os.stat(place.common_dir).st_mode & stat.S_ISGID
        except OSError:
            is_shared = 0
        mode = folders.READABLE if is_shared else folders.PRIVATE
        folders.claim(self.folder, place.worktree, mode)
        folders.claim(os.path.join(place.common_dir, "gitguard"), place.common_dir, mode)
        folders.claim(places.state_home, places.state_home)
        self.redactor = Redactor()
        self._seal: Seal | None = None
        self._moments: dict[str, ConsistentRead] = {}
        self.read_once: Repository | None = None
        """The door to git during a look at many sessions (`ReadingOnce`)."""

    @classmethod
    def at(
        cls, start: str, places: UserDirs, directory: str, clock: Callable[[], float]
    ) -> Workspace:
        """Find the workspace that start lies in."""
        return cls(locate(start), places, directory, clock)

    def naming(self, key: str) -> Workspace:
        """Return the same workspace at work on a session of its own, which stays in force."""
        named = Workspace(self.place, self.places.replace(session=key), self._directory, self.clock)
        named.redactor = self.redactor
        return named

    def in_worktree(self, root: str) -> Workspace:
        """Return the workspace of a worktree of the same repository, which may be this one.

        Raises `NotARepository` where none of this repository has that root.
        """
        place = self.place if root == self.place.worktree else locate(root)
        if (place.worktree, place.common_dir) != (root, self.place.common_dir):
            raise NotARepository(f"`{root}` is not a worktree of `{self.place.common_dir}`")
        workspace = Workspace(place, self.places.replace(session=""), self._directory, self.clock)
        workspace.redactor = self.redactor
        return workspace

    def apart(self) -> Workspace:
        """Return the same workspace with working files in the state directory.

        There is kept what is captured while nothing on this machine vouches for those here.
        """
        other = self.naming(self.places.session)
        other._root = self.state_folder
        other.folder = os.path.join(self.state_folder, "_untrusted")
        return other

    @property
    def works_apart(self) -> bool:
        """Whether hooks found that nothing on this machine vouches for the working files."""
        return not self.is_recorded and os.path.isdir(self.apart().folder)

    def repository(self, *, signs: bool = False) -> Repository:
        """Return the door to git; signs is whether commits are signed with the user's key."""
        if self.read_once is not None:
            return self.read_once
        # Imported here, because hooks below every threshold never start git.
        from gitguard.store.git.repository import Repository

        return Repository(self.place, self.places.environment, self.clock, signs=signs)

    def file_store(self, repository: Repository) -> FileStore:
        """Return the store of file snapshots."""
        from gitguard.store.worktree.file_store import FileStore

        return FileStore(self.place, repository.git, self.clock, self.at_step, seal=self.seal)

    # Folders

    @property
    def sync_path(self) -> str:
        """Where is kept what this machine knows of syncing; most repositories have none."""
        return os.path.join(self.state_folder, "_sync.json")

    @property
    def lanes_lock(self) -> str:
        """The lock that whoever writes lanes, or gives versions to a state, holds."""
        return os.path.join(self.place.common_dir, "gitguard", "_sync.lock")

    @property
    def is_recorded(self) -> bool:
        """Whether the state directory has a record of the repository at this path."""
        return os.path.exists(os.path.join(self.state_folder, "_repository.json"))

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

    def refuse_other_users_folder(self) -> None:
        """Raise `OtherUser` where our folder is another user's, who lets nobody look into it.

        Whether gitguard was set up here cannot be seen then.
        """
        if os.path.isdir(self.folder) and not os.access(self.folder, os.X_OK):
            path = os.path.join(self.folder, "current")
            raise files.refused(path, PermissionError(errno.EACCES, "permission denied"))

    def session_folder(self, session: Session) -> str:
        """Return the folder of a session's working files."""
        return os.path.join(self.folder, "sessions", session.name)

    def working_file(self, session: Session, name: str) -> str:
        """Return the path of a working file."""
        return os.path.join(self.session_folder(session), name)

    def anchor_folder(self, session: Session) -> str:
        """Return the session's folder in the state directory."""
        return os.path.join(self.state_folder, session.name)

    def has_record_of(self, session: Session) -> bool:
        """Say whether this machine wrote checkpoints or working files of a session."""
        folders = (self.anchor_folder(session), self.session_folder(session))
        return any(map(os.path.isdir, folders))

    def recorded_names(self) -> set[str]:
        """Return the names of the sessions of which this machine wrote something."""
        return {*files.names_in(self.state_folder), *self.session_names()}

    def make_folders(self, session: Session) -> None:
        """Create the working folders, with the ignore file that hides them from git."""
        self.refuse_links(session)
        files.make_folder(self.session_folder(session))
        if self.seal.make():
            self._seal_records()
        ignore = os.path.join(self.folder, ".gitignore")
        if not os.path.exists(ignore):
            files.write_bytes(ignore, b"*\n", mode=0o644)

    def _seal_records(self) -> None:
        """Take what was recorded before there was a key for ours, once, as it was until then."""
        for session in (Session(name, name) for name in self.session_names()):
            if not os.path.islink(self.session_folder(session)):
                for name in ("session.json", "pending.json"):
                    path = self.working_file(session, name)
                    self.seal.put_on_file(path, f"{name} {session.name}", limit=LIMIT)

    def _refuse_secret_key(self, session: Session) -> None:
        matches = self.redactor.find(session.key, "session_id")
        if matches:  # it would stand in the name of a ref and in every commit
            raise InvalidInput(
                f"the session key looks like a secret ({matches[0].rule})",
                "Use another session key",
            )

    def set_aside(self, path: str) -> str:
        """Move a bad file of ours out of the way; return where it is kept, empty if none is."""
        if not os.path.lexists(path):
            return ""
        bad_path = files.free_name(f"{path}.bad-{self.clock():.0f}")
        try:
            files.rename(path, bad_path)
        except OSError as error:
            raise files.refused(bad_path, error) from error
        return bad_path

    def keep_beside(self, path: str) -> str:
        """Give a bad file of ours a second name under which it is kept when it is replaced.

        Where the file system has no second names it is moved there.
        """
        bad_path = files.free_name(f"{path}.bad-{self.clock():.0f}")
        try:
            files.link(path, bad_path)
        except FileNotFoundError:
            return ""
        except OSError:
            return self.set_aside(path)
        return bad_path

    def refuse_links(self, session: Session | None = None) -> None:
        """Refuse what lies in the place of our folders: links out of the workspace, and files.

        Raises `MissingState`: nothing durable can be read or kept there.
        """
        folder = self.session_folder(session) if session else self.folder
        while len(folder) > len(self._root):
            try:
                mode = os.lstat(folder).st_mode
            except OSError:
                mode = stat.S_IFDIR  # nothing is there, or what lies above it is said next
            if not stat.S_ISDIR(mode):
                is_link = stat.S_ISLNK(mode)
                what = "a symbolic link, which is refused" if is_link else "not a folder"
                raise MissingState(
                    f"the durable state cannot be reached: `{folder}` is {what}",
                    "Move it away, then run `gitguard ensure`",
                )
            folder = os.path.dirname(folder)

    # Sessions

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
        if not os.path.isdir(self.session_folder(session)):
            self._refuse_secret_key(session)
        self.seal.check()
        shared, beside_files = self._lock_paths(session)
        folder = os.path.dirname(shared)
        path = shared if files.is_writable(folder) or os.path.exists(shared) else beside_files
        return Lock(path, timeout=timeout, clock=self.clock, at_step=self.at_step)

    def _lock_paths(self, session: Session) -> tuple[str, str]:
        shared = os.path.join(self.place.common_dir, "gitguard", f"{session.name}.lock")
        return shared, self.working_file(session, "lock")

    def moment(self, session: Session) -> ConsistentRead:
        """Return what lets somebody without the session's lock read its files."""
        if session.name not in self._moments:
            from gitguard.store.session.moment import PATIENCE, ConsistentRead

            working = ("state.json", "summary.md", "pending.json", "journal.jsonl")
            in_state_folder = ("anchor.json", "state.json", "journals.json", "archive")
            anchors = self.anchor_folder(session)
            self._moments[session.name] = ConsistentRead(
                lambda: self.lock(session, timeout=PATIENCE),
                self._lock_paths(session),
                [self.working_file(session, name) for name in working]
                + [os.path.join(anchors, name) for name in in_state_folder],
            )
        return self._moments[session.name]

    # Faults

    def note_fault(self, doing: str, error: BaseException) -> None:
        """Leave a loud mark of a fault of ours, for `status` to show first."""
        from gitguard.store.session import faults

        text = self.redactor.text(one_line(f"{type(error).__name__}: {error}"))
        faults.note(self._fault_folders(), timestamp(self.clock()), doing, text)

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
        except MissingState:
            return [self.state_folder]
        return [self.folder, self.state_folder]
