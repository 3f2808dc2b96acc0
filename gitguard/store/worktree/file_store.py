"""The store of file snapshots: a git directory of our own, beside the user's objects and refs.

No git command of the user's looks into it, so none carries a file away that was never committed. It
has no refs and no alternates. Each snapshot is a pack of its own that is named for the session and
for the commit in it by which the snapshot is read (`kept`); they are packed together later
(`consolidating`). So is each summary of a host (`summaries`), which stays in its pack. Who writes
shares a lock, and who removes packs holds it alone.
"""

from __future__ import annotations

import os
from contextlib import suppress

from gitguard.errors import GitFailed, GitguardError
from gitguard.model.commit import is_object_id
from gitguard.store.disk import files
from gitguard.store.disk.lock import Lock
from gitguard.store.git.objects import Pack, is_index, is_pack, only_blob
from gitguard.store.git.packing import write_pack

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from gitguard.store.disk.seal import Seal
    from gitguard.store.git.place import Place
    from gitguard.store.git.plumbing import Plumbing
    from gitguard.store.git.reader import ObjectReader

NAME = os.path.join("gitguard", "files.git")
"""Where it lies in the common git directory."""
_PATIENCE = 2.0
"""Seconds that a snapshot waits for whoever removes packs."""
_CONFIG = (
    "[core]\n\trepositoryformatversion = 1\n\tbare = true\n[extensions]\n\tobjectFormat = %s\n"
)
_HEAD = "ref: refs/heads/none\n"
_PACK, _INDEX = ".pack", ".idx"
_LIST = ".list"
_JOINT = "~"
"""Between the name of a session, which has none, and the root of a snapshot."""
_TOGETHER = "pack-"
"""How the name of a pack begins in which git put several snapshots."""
_SUMMARY = "summary-"
"""What stands behind the joint in the name of a pack with a host's summary."""
_LARGEST_PACK = 64 << 20
"""Bytes of objects that are held in memory; those beyond go into another pack."""
_INDEX_LIMIT = 1 << 30
_PACK_LIMIT = 1 << 40
MANY = 50
"""Packs of one snapshot that are too many."""
PACKING_LIMIT = 600.0
"""Seconds for packing everything together, where a person waits for it."""


class FileStore:
    """The file snapshots of all sessions of one repository."""

    def __init__(
        self,
        place: Place,
        git: Plumbing,
        clock: Callable[[], float],
        at_step: Callable[[str], object] = str,
        *,
        seal: Seal,
    ) -> None:
        """Describe the store of a repository, to which git leads; nothing is made yet.

        at_step is told of each step, where tests crash. seal vouches for what this machine laid on
        another commit.
        """
        self.folder = os.path.join(place.common_dir, NAME)
        self.objects = os.path.join(self.folder, "objects")
        self._lists = os.path.join(self.folder, "kept")
        self.seal = seal
        self.at_step = at_step
        self._packs = os.path.join(self.objects, "pack")
        self._git = git.of_store(self.folder)
        self._clock = clock

    def shared(self) -> Lock:
        """Return the lock under which packs and lists are written."""
        return self._lock(_PATIENCE, is_shared=True)

    def alone(self, timeout: float) -> Lock:
        """Return the lock under which packs are removed."""
        return self._lock(timeout, is_shared=False)

    def _lock(self, timeout: float, *, is_shared: bool) -> Lock:
        path = os.path.join(self.folder, "lock")
        return Lock(path, timeout=timeout, clock=self._clock, is_shared=is_shared)

    @property
    def is_there(self) -> bool:
        """Whether there is a store."""
        return os.path.isfile(os.path.join(self.folder, "HEAD"))

    def make(self, id_length: int) -> None:
        """Make what there is not of the store, for ids of a length."""
        folders = (self.folder, self.objects, self._packs, self._lists)
        for folder in (*folders, os.path.join(self.folder, "refs")):
            files.make_folder(folder)  # and private again, where somebody changed its mode
        for folder in (self.folder, self._lists):
            files.sweep(folder, self._clock())
        if self.is_there:
            return
        config = _CONFIG % ("sha1" if id_length == 40 else "sha256")
        files.write_bytes(os.path.join(self.folder, "config"), config.encode())
        # By this file git knows that a folder is a git directory, so it comes last.
        files.write_bytes(os.path.join(self.folder, "HEAD"), _HEAD.encode())

    def writer(self, session_name: str, id_length: int) -> SnapshotWriter:
        """Return what writes a snapshot of a session; the caller holds the lock."""
        self.make(id_length)
        return SnapshotWriter(self._packs, session_name, id_length, self.at_step)

    # Reading

    def reader(self) -> ObjectReader:
        """Return a context manager that reads the store's objects and hashes each again."""
        from gitguard.store.git.reader import Disguises, ObjectReader

        self.index_packs()
        return ObjectReader(self.folder, self._git, Disguises(self.folder, self._git))

    def commits(self) -> tuple[str, ...]:
        """Return the ids of all commits in the store, each the root of a snapshot."""
        self.index_packs()
        question = ("cat-file", "--batch-all-objects", "--batch-check", "--unordered")
        rows = (row.split() for row in self._git.run(*question).decode("ascii").splitlines())
        return tuple(object_id for object_id, kind, _ in rows if kind == "commit")

    def roots(self, session_name: str) -> tuple[str, ...]:
        """Return the roots of a session's snapshots that have a pack of their own."""
        begins = f"{session_name}{_JOINT}"
        names = (p.removeprefix(begins) for p in self.packs() if p.startswith(begins))
        return tuple(filter(is_object_id, names))

    def sessions(self) -> tuple[str, ...]:
        """Return the names of the sessions that have a list, or a pack."""
        names = {name.partition(_JOINT)[0] for name in self.packs() if _JOINT in name}
        listed = (n for n in files.names_in(self._lists) if n.endswith(_LIST))
        names.update(name.removesuffix(_LIST) for name in listed)
        return tuple(sorted(filter(None, names)))

    def list_path(self, session_name: str) -> str:
        """Return where the list of a session's snapshots is."""
        return os.path.join(self._lists, session_name + _LIST)

    def packs(self) -> frozenset[str]:
        """Return the names of all packs, without their ending."""
        return frozenset(self._names(_PACK))

    def summaries(self) -> tuple[str, ...]:
        """Return the names of the packs with hosts' summaries, of all sessions."""
        return tuple(name for name in self.packs() if _JOINT + _SUMMARY in name)

    def summaries_of(self, session_name: str) -> tuple[str, ...]:
        """Return those of one session, oldest first."""
        begins = f"{session_name}{_JOINT}"
        return tuple(sorted(name for name in self.summaries() if name.startswith(begins)))

    @property
    def young(self) -> int:
        """How many packs hold one snapshot."""
        return sum(_JOINT in name for name in self.packs()) - len(self.summaries())

    def _names(self, ending: str) -> Iterable[str]:
        names = files.names_in(self._packs)
        return (name.removesuffix(ending) for name in names if name.endswith(ending))

    def _path(self, name: str) -> str:
        return os.path.join(self._packs, name)

    # Mending

    def index_packs(self) -> frozenset[str]:
        """Write the index of each pack that has no sound one; return the packs that cannot have it.

        A snapshot's index is not synced, and a pack that somebody writes at the moment has none.
        """
        indexed = set(self._names(_INDEX))
        unsound = set()
        for name in self.packs():
            if name in indexed and self._is_indexed(name):
                continue
            if not self._is_written_again(name):
                unsound.add(name)
        return frozenset(unsound)

    def _is_indexed(self, name: str) -> bool:
        """Say whether a pack has a whole index, and that of no other pack."""
        width = _id_length(name) // 2
        try:
            data = files.read_bytes(self._path(name + _INDEX), limit=_INDEX_LIMIT) or b""
            ending = self._ending(name, width)
        except (OSError, GitguardError):
            return False
        return is_index(data, 2 * width) and data[-2 * width : -width] == ending

    def _ending(self, name: str, width: int) -> bytes:
        """Return the last bytes of a pack, which are its checksum."""
        handle = os.open(self._path(name + _PACK), os.O_RDONLY | os.O_NONBLOCK)
        try:
            os.lseek(handle, -width, os.SEEK_END)
            return os.read(handle, width)
        finally:
            os.close(handle)

    def is_whole(self, name: str) -> bool:
        """Say whether a pack is as it was written, by the checksum that ends it."""
        data = files.read_bytes(self._path(name + _PACK), limit=_PACK_LIMIT) or b""
        return is_pack(data, _id_length(name))

    def _is_written_again(self, name: str) -> bool:
        """Let git write the index of a pack; say whether it did."""
        aside = self._path(f"{name}.{os.getpid()}.tmp")
        outcome = self._git.attempt("index-pack", "-o", aside, self._path(name + _PACK))
        if outcome.returncode:
            files.remove(aside)
            return False
        with suppress(OSError):
            files.rename(aside, self._path(name + _INDEX))
        return True

    def sweep(self) -> None:
        """Remove what processes that died left unfinished."""
        now = self._clock()
        files.sweep(self._lists, now)
        files.sweep(self._packs, now, ends="", is_ours=_is_unfinished)

    # Packing together, by whoever holds the lock alone

    def pack(self, roots: Iterable[str], limit: float) -> str:
        """Write one pack with all that some roots lead to, durable; return its name.

        limit is in seconds. Raises `GitFailed` where something is missing, or time runs out.
        """
        try:
            name = write_pack(self._git, self._packs, roots, limit)
        except GitFailed:
            # Where the disk is full, git leaves what it wrote, and the next try leaves more.
            for left in files.names_in(self._packs):
                if left.startswith("tmp_pack_"):
                    files.remove(self._path(left))
            raise
        return _TOGETHER + name

    def remove(self, packs: Iterable[str]) -> None:
        """Remove packs, and whatever processes that died left beside packs."""
        for name in packs:
            self.remove_pack(name)
        current = {name + ending for name in self.packs() for ending in (_PACK, _INDEX)}
        for name in files.names_in(self._packs):
            if name not in current and not os.path.isdir(self._path(name)):
                files.remove_for_sure(self._path(name))

    def remove_pack(self, name: str) -> None:
        """Remove one pack, and nothing beside it."""
        # The index first: without it, git does not see the pack.
        files.remove_for_sure(self._path(name + _INDEX))
        files.remove_for_sure(self._path(name + _PACK))
        self.at_step("pack-removed")

    # Summaries

    def write_summary(self, session_name: str, at: int, data: bytes, id_length: int) -> str:
        """Write a host's summary into a pack of its own, durable; return its id.

        The caller holds the lock. The pack's name ends with the id.
        """
        self.make(id_length)
        pack = Pack(id_length)
        blob = pack.write("blob", data)
        path = self._path(f"{session_name}{_JOINT}{_SUMMARY}{at:010d}-{blob}")
        _write_pack(path, *pack.contents(), self.at_step)
        return blob

    def read_summary(self, name: str, limit: int) -> bytes:
        """Return the summary that a pack holds; raise where it is not what its name says."""
        data = files.read_bytes(self._path(name + _PACK), limit=limit) or b""
        return only_blob(data, name.rpartition("-")[2])


def _id_length(name: str) -> int:
    """Return how long the ids of a pack's objects are; one ends its name."""
    return len(name.rpartition(_JOINT)[2].rpartition("-")[2])


def _write_pack(path: str, pack: bytes, index: bytes, at_step: Callable[[str], object]) -> None:
    """Write a pack, durable, and its index; their paths are given without an ending."""
    # Without an index git does not see it, so it may lie there half.
    files.write_in_place(path + _PACK, pack)
    at_step("pack-written")
    files.write_bytes(path + _INDEX, index, settled=False, synced=False)
    at_step("pack-indexed")


def _is_unfinished(name: str) -> bool:
    """Say whether a name is one under which we, or git, write what is not whole."""
    return name.startswith("tmp_") or name.endswith(".tmp")


class SnapshotWriter:
    """Writes the objects of one snapshot; nothing is there before `keep`."""

    def __init__(
        self, packs: str, session_name: str, id_length: int, at_step: Callable[[str], object]
    ) -> None:
        """Write for a session into the folder of packs."""
        self._packs = packs
        self._session_name = session_name
        self._at_step = at_step
        self._id_length = id_length
        self._pack = Pack(id_length)

    def write(self, kind: str, data: bytes) -> str:
        """Take an object of a kind; return its id."""
        object_id = self._pack.write(kind, data)
        if self._pack.size > _LARGEST_PACK:
            self._flush("")
        return object_id

    def keep(self, commit: bytes) -> str:
        """Write what was taken with the root of the snapshot, durable; return the root's id."""
        root = self._pack.write("commit", commit)
        self._flush(root)
        return root

    def _flush(self, root: str) -> None:
        pack, index = self._pack.contents()
        # Without a root it is a part of a snapshot, named for its content.
        checksum = pack[-self._id_length // 2 :].hex()
        name = f"{self._session_name}{_JOINT}{root}" if root else _JOINT + checksum
        _write_pack(os.path.join(self._packs, name), pack, index, self._at_step)
        self._pack = Pack(self._id_length)
