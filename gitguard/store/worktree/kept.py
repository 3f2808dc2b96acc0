"""Which snapshots of a session are kept: a list in the store of file snapshots.

Each snapshot adds a line, which is not synced: what a power cut takes of it is read again from the
snapshot's own pack. Who forgets or pins writes the list anew, durable. Each line ends with a
checksum, so that half a line counts for nothing.
"""

from __future__ import annotations

import os

from gitguard.errors import InvalidDocument
from gitguard.model.commit import Stamp, is_object_id, parse_commit
from gitguard.model.value import Value
from gitguard.store.disk import files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from gitguard.store.disk.lock import Lock
    from gitguard.store.git.reader import ObjectReader
    from gitguard.store.worktree.file_store import FileStore, SnapshotWriter

DAY = 86_400
_KEPT, _FORGOTTEN = "kept", "forgotten"
_NOTHING = "-"
_LIST_LIMIT = 64 << 20
_ROOT_LIMIT = 1 << 16


class Retention(Value):
    """How long snapshots are kept."""

    most: int = 200
    days: int = 30


class KeptSnapshot(Value):
    """One snapshot of the list."""

    at: int
    """Unix seconds."""
    new_bytes: int
    """Bytes that were stored for it."""
    id: str
    """By which a checkpoint names it."""
    base: str = ""
    """The user's commit that it is laid on; empty for none."""
    root: str = ""
    """The commit in the store by which it is read; empty before it is written."""
    pinned_by: str = ""
    """The name of the checkpoint for which a person keeps it for good; empty where none does."""

    @property
    def name(self) -> str:
        """How messages call it."""
        pin = f"-{self.pinned_by}" if self.pinned_by else ""
        return f"{self.at:010d}-{self.new_bytes}-{self.id[:12]}{pin}"


class KeptSnapshots:
    """The list of one session's snapshots."""

    def __init__(self, store: FileStore, session_name: str) -> None:
        """Describe the list; nothing is read yet."""
        self.store = store
        self.session_name = session_name
        self._path = store.list_path(session_name)

    def list(self) -> tuple[KeptSnapshot, ...]:
        """Return the snapshots that are kept, oldest first."""
        by_root, forgotten, is_whole = self._read()
        roots = set(self.store.roots(self.session_name)) if self.store.is_there else set()
        if not is_whole and self.store.packs():
            roots.update(self.store.commits())
        unlisted = roots - by_root.keys() - forgotten
        if unlisted:
            by_root.update(self._read_roots(unlisted))
        return tuple(sorted(by_root.values(), key=lambda snapshot: snapshot.at))

    def forgotten(self) -> tuple[KeptSnapshot, ...]:
        """Return the session's snapshots that are not kept any more, and still on the disk."""
        if not self.store.is_there:
            return ()
        listed = {snapshot.root for snapshot in self.list()}
        unlisted = (root for root in self.store.commits() if root not in listed)
        return tuple(snapshot for _, snapshot in self._read_roots(unlisted))

    def lock(self) -> Lock:
        """Return the lock under which the list and what it names are written."""
        return self.store.shared()

    def writer(self, id_length: int) -> SnapshotWriter:
        """Return what writes a snapshot; the caller holds the lock."""
        return self.store.writer(self.session_name, id_length)

    def keep(self, new: KeptSnapshot, writer: SnapshotWriter, tree: str = "") -> KeptSnapshot:
        """Write a snapshot whose objects the writer has; return it with its root.

        tree is the one that is stored for it by now, by default the one that names it.
        """
        commit = _root(self.session_name, new, tree or new.id)
        return new.replace(root=writer.keep(commit))

    def add(self, before: Sequence[KeptSnapshot], after: Sequence[KeptSnapshot]) -> None:
        """Add to the list what came, and that others are forgotten; the caller holds the lock."""
        by_root = {snapshot.root: snapshot for snapshot in before}
        gone = by_root.keys() - {snapshot.root for snapshot in after}
        # The same object, because hundreds of equal ones would be compared field by field.
        came = [_kept_line(new) for new in after if by_root.get(new.root) is not new]
        lines = [*came, *(_line(_FORGOTTEN, root) for root in sorted(gone))]
        if lines:
            files.append(self._path, b"".join(lines))

    def put(self, kept: Sequence[KeptSnapshot]) -> None:
        """Make these the snapshots that are kept, durable."""
        with self.lock():
            self.write(kept)

    def write(self, kept: Sequence[KeptSnapshot]) -> None:
        """Do the same for a caller who holds the lock."""
        roots = {snapshot.root for snapshot in kept}
        unlisted = (root for root in self.store.roots(self.session_name) if root not in roots)
        lines = [*map(_kept_line, kept), *(_line(_FORGOTTEN, root) for root in unlisted)]
        if lines or os.path.exists(self._path):
            files.make_folder(os.path.dirname(self._path))
            # An empty list still says that nothing is to be looked for in packs.
            files.write_bytes(self._path, b"".join(lines) or _line(_FORGOTTEN, _NOTHING))

    def drop(self) -> None:
        """Remove a list of which no pack has a snapshot any more."""
        files.remove_for_sure(self._path)

    def _read(self) -> tuple[dict[str, KeptSnapshot], set[str], bool]:
        """Return what the list has by root, what is forgotten, and whether there is a list."""
        data = files.read_bytes(self._path, limit=_LIST_LIMIT) or b""
        by_root: dict[str, KeptSnapshot] = {}
        forgotten: set[str] = set()
        is_whole = False
        for line in data.splitlines():
            words = _words(line)
            if words[:1] == [_FORGOTTEN] and len(words) == 2:
                by_root.pop(words[1], None)
                forgotten.add(words[1])
            elif words:
                snapshot = _parsed(words)
                by_root.pop(snapshot.root, None)  # the last line has to be the newest
                by_root[snapshot.root] = snapshot
                forgotten.discard(snapshot.root)
            is_whole = is_whole or bool(words)
        return by_root, forgotten, is_whole

    def _read_roots(self, roots: Iterable[str]) -> Iterator[tuple[str, KeptSnapshot]]:
        with self.store.reader() as reader:
            for root in roots:
                try:
                    session_name, snapshot = _read_root(reader, root)
                except InvalidDocument:
                    continue  # a pack that was cut off while it was written, and never counted
                if session_name == self.session_name:
                    yield root, snapshot


def session_names(store: FileStore) -> set[str]:
    """Return the sessions that have snapshots in the store, also where their lists are lost."""
    names = set(store.sessions())
    with store.reader() as reader:
        for root in store.commits():
            try:
                name, _ = _read_root(reader, root)
            except InvalidDocument:
                continue  # it is no root of ours
            if name and os.path.basename(name) == name:
                names.add(name)
    return names


def with_newest(kept: Iterable[KeptSnapshot], new: KeptSnapshot) -> tuple[KeptSnapshot, ...]:
    """Return the snapshots with another one; one of the same files only gets a later time.

    The same files may have been kept before, at a checkpoint to which they were put back.
    """
    others = []
    for snapshot in kept:
        if snapshot.id == new.id:
            new = snapshot.replace(at=new.at, new_bytes=new.new_bytes)
        else:
            others.append(snapshot)
    return (*others, new)


def retained(
    kept: Iterable[KeptSnapshot], retention: Retention, now: float
) -> tuple[KeptSnapshot, ...]:
    """Return the snapshots that stay, oldest first: never without the newest and what is pinned.

    Of those that were taken in one second, the last one given is the newest.
    """
    oldest_first = sorted(kept, key=lambda snapshot: snapshot.at)
    oldest = now - retention.days * DAY
    stays, unpinned = [], 0
    for place, snapshot in enumerate(reversed(oldest_first)):
        is_within = unpinned < retention.most and snapshot.at >= oldest
        if place == 0 or snapshot.pinned_by or is_within:
            stays.append(snapshot)
        if not snapshot.pinned_by:
            unpinned += 1
    return tuple(reversed(stays))


def bytes_of_day(kept: Iterable[KeptSnapshot], now: float) -> int:
    """Return how many bytes were stored within the last 24 hours."""
    return sum(snapshot.new_bytes for snapshot in kept if snapshot.at > now - DAY)


# Lines


def _kept_line(snapshot: KeptSnapshot) -> bytes:
    numbers = (str(snapshot.at), str(snapshot.new_bytes))
    optional = (snapshot.base or _NOTHING, snapshot.pinned_by or _NOTHING)
    return _line(_KEPT, *numbers, snapshot.id, snapshot.root, *optional)


def _line(*words: str) -> bytes:
    text = " ".join(words).encode()
    return b"%s %08x\n" % (text, _checksum(text))


def _words(line: bytes) -> list[str]:
    """Return the words of a line, none where its checksum is of another one."""
    text, _, checksum = line.rpartition(b" ")
    if checksum != b"%08x" % _checksum(text):
        return []
    return text.decode("ascii", "replace").split(" ")


def _checksum(text: bytes) -> int:
    from zlib import crc32

    return crc32(text)


def _parsed(words: Sequence[str]) -> KeptSnapshot:
    are_ids = all(map(is_object_id, (*words[3:5], *(w for w in words[5:6] if w != _NOTHING))))
    if len(words) != 7 or not are_ids or not (words[1] + words[2]).isdigit():
        raise InvalidDocument(f"the list of file snapshots has a line `{' '.join(words):.80}`")
    base, pin = (word.removeprefix(_NOTHING) for word in words[5:])
    return KeptSnapshot(
        int(words[1]), int(words[2]), words[3], base=base, root=words[4], pinned_by=pin
    )


# Roots


def _root(session_name: str, snapshot: KeptSnapshot, tree: str) -> bytes:
    """Return the commit by which a snapshot is read, and its line of the list made again."""
    stamp = Stamp("gitguard", "gitguard@localhost", snapshot.at)
    # Random, because the same files may be kept again while an older pack of them is removed.
    words = (str(snapshot.new_bytes), snapshot.id, snapshot.base or _NOTHING, os.urandom(8).hex())
    lines = (f"tree {tree}", f"author {stamp}", f"committer {stamp}", "", session_name)
    return "\n".join((*lines, " ".join(words), "")).encode()


def _read_root(reader: ObjectReader, root: str) -> tuple[str, KeptSnapshot]:
    """Return the session of a root, and its snapshot."""
    commit = parse_commit(reader.read(root, "commit", limit=_ROOT_LIMIT))
    at = commit.first("committer").rpartition("> ")[2].split(" ")[0]
    session_name, words, *_ = [*commit.message.split("\n"), ""]
    new_bytes, snapshot_id, base, *_ = [*words.split(" "), "", "", ""]
    if not (at + new_bytes).isdigit() or not is_object_id(snapshot_id):
        raise InvalidDocument(f"commit {root} is not a root of a snapshot")
    base = base.removeprefix(_NOTHING)
    return session_name, KeptSnapshot(int(at), int(new_bytes), snapshot_id, base=base, root=root)
