"""Snapshots as they are stored: what is not as in a commit of the user's, laid on that commit.

A snapshot is a tree in the store of file snapshots, with the files that differ and a manifest. What
it has at all other paths is what the commit has, which stays in the user's repository. Read, both
become one tree in memory. Where the user gives a commit up, what the snapshot needs of it is stored
as well, and the snapshot is laid on another commit; the tree that was stored first stays in it.
"""

from __future__ import annotations

from gitguard.errors import InvalidDocument
from gitguard.model.value import Value
from gitguard.store.git.objects import id_of
from gitguard.store.git.reader import ObjectReader
from gitguard.store.git.trees import FOLDER, PLAIN, SUBMODULE, TreeEntry, Trees, file_at
from gitguard.store.worktree.kept import KeptSnapshot, KeptSnapshots
from gitguard.store.worktree.manifest import (
    Manifest,
    dump_manifest,
    escaped,
    read_manifest,
    unescaped,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from gitguard.store.git.repository import Repository
    from gitguard.store.git.trees import Write
    from gitguard.store.worktree.file_store import FileStore

    Entries = Mapping[str, TreeEntry]

_FILES, _MANIFEST, _FIRST = "files", "manifest.json", "first"
"""What stands in a snapshot's tree; the last one where it was laid on another commit."""
_MANIFEST_LIMIT = 64 << 20
_OBJECT_LIMIT = 1 << 30


class StoredSnapshot(Value):
    """A snapshot as it is read."""

    id: str
    """By which a checkpoint names it: the tree that was stored for it first."""
    tree: str
    """The tree of all its files, in memory."""
    manifest: Manifest
    root: str
    """The commit in the store by which it is read."""
    base: str
    """The user's commit that it is laid on; empty for none."""
    overlay: Entries
    """What is stored of it, by path."""
    committed: frozenset[str] = frozenset()
    """The paths of the overlay that were as in a commit, and hold what git stores of them."""
    removed_beneath: tuple[str, ...] = ()
    """The paths that the commit has and the one that it was laid on first had not."""
    is_base_lost: bool = False
    """Whether that commit is gone; then `tree` has what HEAD has where nothing is stored."""

    @property
    def raw_paths(self) -> frozenset[str]:
        """The paths whose bytes are stored as they lay there."""
        return frozenset(self.overlay) - self.committed

    def source(self, path: str) -> tuple[str, bool]:
        """Return what `git restore --source` takes for a path, and whether the store has it."""
        if path not in self.overlay:
            return self.base, False
        return f"{self.root if path in self.committed else self.id}:{_FILES}", True


class _Stored(Value):
    """One tree of a snapshot, as it is stored."""

    manifest: Manifest
    files: Entries
    first: str = ""
    """The tree that was stored first, where this one lays it on another commit."""
    is_sealed: bool = False
    """Whether this machine laid it on another commit."""


class SnapshotReader(ObjectReader):
    """Reads snapshots, their contents, and the user's commits that they are laid on."""

    def __init__(self, repository: Repository, store: FileStore, session_name: str) -> None:
        """Describe what is read; the session is the one whose list is looked at first."""
        super().__init__(repository.place.common_dir, repository.git, repository.disguises())
        self._repository = repository
        self._store = store
        self.seal = store.seal
        self._session_name = session_name
        self._stored = store.reader() if store.is_there else None
        self._id_length = 40
        self._trees: dict[str, bytes] = {}
        """Trees that are nowhere but in memory, by id."""
        self._merging = Trees(self)
        self._snapshots: dict[str, StoredSnapshot] = {}
        self._lists: dict[str, dict[str, KeptSnapshot]] = {}

    def __exit__(self, *exception: object) -> None:
        super().__exit__(*exception)
        if self._stored is not None:
            self._stored.__exit__(*exception)

    def read(self, object_id: str, kind: str, *, limit: int) -> bytes:
        """Return an object's content, wherever it is; raise as for the user's repository."""
        if object_id in self._trees:
            return self._trees[object_id]
        if self._stored is not None and kind == "blob":  # most are not committed
            try:
                return self._stored.read(object_id, kind, limit=limit)
            except InvalidDocument:
                return super().read(object_id, kind, limit=limit)
        return super().read(object_id, kind, limit=limit)

    def snapshot(self, snapshot_id: str) -> StoredSnapshot:
        """Return a snapshot; raise `InvalidDocument` where it is not kept, or is damaged."""
        if snapshot_id not in self._snapshots:
            self._snapshots[snapshot_id] = self._read_snapshot(snapshot_id)
        return self._snapshots[snapshot_id]

    def _read_snapshot(self, snapshot_id: str) -> StoredSnapshot:
        listed = self._listed(snapshot_id)
        if listed is None:
            raise InvalidDocument(f"the snapshot {snapshot_id} is not kept")
        return self.of_root(snapshot_id, listed.root)

    def of_root(self, snapshot_id: str, root: str) -> StoredSnapshot:
        """Return a snapshot by its root, also one that is not kept any more; raise the same."""
        if self._stored is None:
            raise InvalidDocument(f"the snapshot {snapshot_id} is not kept")
        self._id_length = len(snapshot_id)
        trees = Trees(self._stored)
        stored = self._read_tree(self._stored, trees.of_commit(root), snapshot_id)
        if not stored.first:
            return self._laid_on_base(snapshot_id, root, stored, stored)
        if stored.first != snapshot_id:
            raise InvalidDocument(f"commit {root} is not a root of the snapshot {snapshot_id}")
        first = self._read_tree(self._stored, stored.first, snapshot_id)
        # A checkpoint vouches for the tree that was stored first, and our seal for another one.
        return self._laid_on_base(snapshot_id, root, first, stored if stored.is_sealed else first)

    def _listed(self, snapshot_id: str) -> KeptSnapshot | None:
        # A session that was forked from another one names its snapshots, too.
        names = (self._session_name, *self._store.sessions())
        for name in dict.fromkeys(names):
            if name not in self._lists:
                listed = KeptSnapshots(self._store, name).list()
                self._lists[name] = {snapshot.id: snapshot for snapshot in listed}
            if snapshot_id in self._lists[name]:
                return self._lists[name][snapshot_id]
        return None

    def _read_tree(self, reader: ObjectReader, tree: str, snapshot_id: str) -> _Stored:
        trees = Trees(reader)
        entries = trees.entries(tree)
        files, manifest, first = (entries.get(name) for name in (_FILES, _MANIFEST, _FIRST))
        is_first = first is None and tree == snapshot_id
        is_whole = files is not None and manifest is not None and files.mode == FOLDER
        if files is None or manifest is None or not is_whole or not (is_first or first):
            raise InvalidDocument(f"tree {tree} is not a snapshot of files")
        data = reader.read(manifest.id, "blob", limit=_MANIFEST_LIMIT)
        stored_files = dict(trees.files(files.id))
        if first is None:
            return _Stored(read_manifest(data), stored_files)
        is_sealed = self.seal.holds(data, _place(files.id, first.id))
        return _Stored(read_manifest(data), stored_files, first.id, is_sealed)

    def _laid_on_base(
        self, snapshot_id: str, root: str, first: _Stored, stored: _Stored
    ) -> StoredSnapshot:
        base, removed, committed = stored.manifest.commit, stored.manifest.removed_paths, {}
        if stored.first:
            committed = {p: e for p, e in stored.files.items() if p not in first.files}
        absent = (*removed, *first.manifest.removed_paths, *first.manifest.skipped_paths)
        overlay = {**committed, **first.files}
        changes = {**dict.fromkeys(absent), **overlay}
        try:
            tree, is_lost = self._merged(base, changes), False
        except InvalidDocument:
            tree, is_lost = self._merged(self._repository.head_commit(), changes), True
        return StoredSnapshot(
            snapshot_id,
            tree,
            first.manifest,
            root=root,
            base=base,
            overlay=overlay,
            committed=frozenset(committed),
            removed_beneath=stored.manifest.removed if stored.first else (),
            is_base_lost=is_lost,
        )

    def _merged(self, commit: str, changes: Mapping[str, TreeEntry | None]) -> str:
        """Return the tree of a commit with changes, which is kept in memory."""
        tree = self._merging.of_commit(commit) if commit else ""
        return self._merging.changed(tree, changes, self._keep_tree)

    def _keep_tree(self, kind: str, data: bytes) -> str:
        tree = id_of(kind, data, self._id_length)
        self._trees[tree] = data
        return tree


def write_overlay(entries: Entries, manifest: Manifest, write: Write) -> str:
    """Write the tree of a snapshot with its files; return its id."""
    files = Trees(None).changed("", entries, write)
    return _write_tree(files, dump_manifest(manifest), write)


def _write_tree(files: str, manifest: bytes, write: Write, first: str = "") -> str:
    parts = {_FILES: TreeEntry(FOLDER, files), _MANIFEST: TreeEntry(PLAIN, write("blob", manifest))}
    if first:
        parts[_FIRST] = TreeEntry(FOLDER, first)
    return Trees(None).changed("", parts, write)


def _place(files: str, first: str) -> str:
    """Return what the seal of a manifest is good for: files laid beneath one snapshot."""
    return f"snapshot {first} on {files}"


def without(snapshot: StoredSnapshot, paths: Iterable[str], write: Write) -> str:
    """Write a snapshot anew that lacks some paths; return its id."""
    lacking = frozenset(paths)
    entries = {path: entry for path, entry in snapshot.overlay.items() if path not in lacking}
    raw = tuple(name for name in snapshot.manifest.raw if unescaped(name) not in lacking)
    return write_overlay(entries, snapshot.manifest.replace(raw=raw), write)


def on_another_base(
    reader: SnapshotReader, snapshot: StoredSnapshot, base: str, write: Write
) -> str:
    """Write a snapshot laid on another commit, with what it needs of its own; return the tree's id.

    Raises `InvalidDocument` where something of its own commit is gone.
    """
    trees = Trees(reader)
    manifest = snapshot.manifest
    stored = frozenset(snapshot.overlay) - snapshot.committed
    absent = manifest.removed_paths | manifest.skipped_paths
    committed = {path: snapshot.overlay[path] for path in snapshot.committed}
    removed = []
    for path in trees.differences(trees.of_commit(base) if base else "", snapshot.tree):
        entry = file_at(trees, snapshot.tree, path)
        if entry is None and path not in absent:
            removed.append(escaped(path))
        elif entry is not None and path not in stored and path not in committed:
            if entry.mode != SUBMODULE:
                write("blob", reader.read(entry.id, "blob", limit=_OBJECT_LIMIT))
            committed[path] = entry
    beneath = Manifest(base, removed=tuple(sorted(removed)))
    files = trees.changed("", committed, write)
    sealed = reader.seal.put_on(dump_manifest(beneath), _place(files, snapshot.id))
    return _write_tree(files, sealed, write, snapshot.id)
