"""A snapshot of the worktree's files, as a tree in the user's object store.

It is the checked-out commit's tree with the contents that are different in the worktree: tracked
and untracked files, without what git ignores. Files are stored as they lie there, byte by byte.
What may not be kept, or costs too much, is left out and named in the manifest beside the tree.
"""

from __future__ import annotations

from gitguard.errors import GitguardError, InvalidDocument
from gitguard.model.redaction.file_names import is_secret_file
from gitguard.model.value import Value
from gitguard.store.git.trees import FOLDER, LINK, PLAIN, PROGRAM, SUBMODULE, TreeEntry, Trees
from gitguard.store.git.worktree_files import FileContent, ReadLimits, WorktreeFiles
from gitguard.store.worktree.manifest import (
    NOBODY,
    Authors,
    Manifest,
    SkippedFile,
    dump_manifest,
    escaped,
    read_manifest,
)
from gitguard.store.worktree.secret_search import SecretSearch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from gitguard.model.redaction.redactor import Redactor
    from gitguard.store.git.differences import ChangedFile, Differences
    from gitguard.store.git.reader import ObjectReader
    from gitguard.store.git.repository import ObjectWriter, Repository
    from gitguard.store.git.trees import Write
    from gitguard.store.worktree.searched import Searched
    from gitguard.store.worktree.secret_search import SearchVerdict

FILES, MANIFEST = "files", "manifest.json"
_MANIFEST_LIMIT = 8 << 20
_MOST_NEW = 20_000
_MEGABYTE = 1 << 20


class SnapshotLimits(Value):
    """How much one snapshot may cost."""

    file: int = 20 * _MEGABYTE
    """Bytes of one file."""
    bytes: int = 200 * _MEGABYTE
    """Bytes of new content, all files together."""
    seconds: float = 2.0

    @property
    def of_look(self) -> ReadLimits:
        """The limits of the look that a snapshot is taken from."""
        return ReadLimits(
            index=64 * _MEGABYTE, new=_MOST_NEW, files=_MOST_NEW, file=self.file, bytes=self.bytes
        )


class Snapshot(Value):
    """A snapshot as it is stored."""

    id: str
    """The tree that holds the files and the manifest."""
    tree: str
    """The tree of the files."""
    manifest: Manifest


class Taken(Value):
    """A snapshot that was taken just now."""

    id: str
    new_bytes: int
    """Bytes of the contents that were stored for it."""
    was_cut_off: bool = False
    """Whether time ran out before it had every file."""
    searched: tuple[Searched, ...] = ()
    """What the search for secrets came to in large files."""


def read_snapshot(reader: ObjectReader, snapshot: str) -> Snapshot:
    """Read a snapshot's manifest, verified; raise `InvalidDocument` where it does not read."""
    entries = Trees(reader).entries(snapshot)
    tree, manifest = entries.get(FILES), entries.get(MANIFEST)
    if tree is None or manifest is None or tree.mode != FOLDER or manifest.mode != PLAIN:
        raise InvalidDocument(f"tree {snapshot} is no snapshot of files")
    data = reader.read(manifest.id, "blob", limit=_MANIFEST_LIMIT)
    return Snapshot(snapshot, tree.id, read_manifest(data))


def without(reader: ObjectReader, snapshot: str, paths: Iterable[str], write: Write) -> str:
    """Write a snapshot anew that lacks some paths; return its id."""
    trees = Trees(reader)
    entries = dict(trees.entries(snapshot))
    tree = trees.changed(entries[FILES].id, dict.fromkeys(paths), write)
    return trees.changed(snapshot, {FILES: TreeEntry(FOLDER, tree)}, write)


class Earlier(Value):
    """A snapshot that was taken before, and the look it was taken from."""

    snapshot: str
    look: Differences
    searched: tuple[Searched, ...] = ()
    """What the search for secrets came to in large files."""


def take(
    repository: Repository,
    redactor: Redactor,
    look: Differences,
    limits: SnapshotLimits,
    clock: Callable[[], float],
    writer: ObjectWriter,
    earlier: Earlier | None = None,
    authors: Authors = NOBODY,
) -> Taken:
    """Store what a look at the worktree saw; what did not change since an earlier look is reused.

    authors says who changed files since that look. The objects are durable when the writer is done.
    Raises `GitguardError` where they cannot be written, and where the tracked files could not be
    compared.
    """
    if look.tracked_unseen:
        raise GitguardError(f"not looked at: {look.tracked_unseen}")
    with repository.reader() as reader:
        trees = Trees(reader)
        searched = earlier.searched if earlier is not None else ()
        search = SecretSearch(redactor, clock, limits.seconds, searched)
        taking = _Taking(repository, search, limits, writer.write, len(look.commit) or 40)
        taking.reuse(trees, earlier, reader)
        # Small files first: one that takes long may use what time is left then.
        files = sorted(look.files, key=taking.size)
        changes = {file.path: taking.entry(file) for file in files}
        base = trees.of_commit(look.commit) if look.commit else ""
        # Of a path that was left out the snapshot says nothing, not even what the commit has.
        tree = trees.changed(base, changes, writer.write)
        manifest = taking.manifest(look, authors)
        blob = writer.write("blob", dump_manifest(manifest))
        entries = {FILES: TreeEntry(FOLDER, tree), MANIFEST: TreeEntry(PLAIN, blob)}
        snapshot = trees.changed("", entries, writer.write)
    return Taken(snapshot, taking.new_bytes, taking.was_cut_off, tuple(search.searched))


class _Taking:
    """One snapshot while it is taken."""

    def __init__(
        self,
        repository: Repository,
        search: SecretSearch,
        limits: SnapshotLimits,
        write: Write,
        id_length: int,
    ) -> None:
        self.new_bytes = 0
        self.was_cut_off = False
        self._search = search
        self._limits = limits
        self._write = write
        self._files = WorktreeFiles(repository.place.worktree, id_length, limits.of_look)
        self._seen_before: dict[str, ChangedFile] = {}
        """How files lay there when an earlier snapshot was taken."""
        self._kept_before: Callable[[str], TreeEntry | None] = lambda _: None
        """Returns what that snapshot has at a path."""
        self._reasons: dict[str, str] = {}
        self._raw: list[str] = []

    def reuse(self, trees: Trees, earlier: Earlier | None, reader: ObjectReader) -> None:
        """Take over what an earlier snapshot holds of files that did not change since."""
        if earlier is None:
            return
        try:
            snapshot = read_snapshot(reader, earlier.snapshot)
        except InvalidDocument:
            return
        # What was left out may fit by now; what is raw is told apart by its bytes.
        unlike = snapshot.manifest.skipped_paths | snapshot.manifest.raw_paths
        self._seen_before = {
            file.path: file
            for file in earlier.look.files
            if file.is_known and file.path.rstrip("/") not in unlike
        }
        self._kept_before = lambda path: trees.at(snapshot.tree, path)

    def size(self, file: ChangedFile) -> int:
        """Return how many bytes have to be searched and written of a file, if it is kept."""
        return 0 if self._is_as_before(file) else self._files.size(file.path)

    def _is_as_before(self, file: ChangedFile) -> bool:
        return self._seen_before.get(file.path) == file

    def entry(self, file: ChangedFile) -> TreeEntry | None:
        """Store what lies at a path; None for nothing, and where it is left out."""
        if file.mode == 0:
            return None  # also where the earlier snapshot has a folder in its place
        if self._is_as_before(file):
            self._search.remember_unchanged(file.path)
            return self._kept_before(file.path)
        if file.mode == SUBMODULE and file.id.strip("0"):
            return TreeEntry(SUBMODULE, file.id)
        reason = self._refusal_unread(file.path)
        content = FileContent() if reason else self._files.content(file.path)
        reason = reason or self._refusal(file.path, content)
        if reason:
            self._reasons[file.path.rstrip("/")] = reason
        if reason or content.data is None:
            return None
        self.new_bytes += len(content.data)
        blob = self._write("blob", content.data)
        # A link is one where git would have written a file, too.
        if file.is_raw or content.mode == LINK or (file.id and blob != file.id):
            self._raw.append(file.path)
        # The mode is git's, which ignores one that the file system makes up.
        return TreeEntry(LINK if content.mode == LINK else file.mode, blob)

    def _refusal_unread(self, path: str) -> str:
        """Say why a file is left out without a look into it; empty where nothing says so."""
        if path.endswith("/"):
            return "a repository of its own"
        if is_secret_file(path):
            return "its name says that it holds secrets"
        return self._reason(self._search.out_of_time) if self._search.is_over else ""

    def _refusal(self, path: str, content: FileContent) -> str:
        """Say why a content is left out; empty where it is not, or where nothing lies there."""
        if content.mode == 0:
            return ""  # it went away since the look
        if content.mode not in (PLAIN, PROGRAM, LINK):
            return "no plain file"
        if content.data is None:
            return self._why_unread(content)
        return self._reason(self._search.verdict(path, content.data))

    def _reason(self, verdict: SearchVerdict) -> str:
        """Return why a file is left out; a verdict that is not final is worth another snapshot."""
        self.was_cut_off = self.was_cut_off or not verdict.is_final
        return verdict.reason

    def _why_unread(self, content: FileContent) -> str:
        if content.size > self._limits.file:
            return f"larger than {self._limits.file // _MEGABYTE} MB"
        return "beyond what a day's snapshots may hold" if content.size else "it cannot be read"

    def manifest(self, look: Differences, authors: Authors) -> Manifest:
        """Return what the snapshot says of itself."""
        skipped = (SkippedFile(escaped(p), self._reasons[p]) for p in sorted(self._reasons))
        return Manifest(
            look.commit,
            tuple(skipped),
            raw=tuple(map(escaped, sorted(self._raw))),
            unseen=(look.new_unseen,) if look.new_unseen else (),
            ignore_rules=look.ignore_rules,
            by_shell=tuple(map(escaped, sorted(authors.shell)[:_MOST_NEW])),
            by_restore=tuple(map(escaped, sorted(authors.restore)[:_MOST_NEW])),
        )
