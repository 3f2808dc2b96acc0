"""Takes a snapshot of the worktree's files.

It has what is different from the checked-out commit: tracked and untracked files, without what git
ignores. Files are stored as they lie there, byte by byte. What may not be kept, or costs too much,
is left out and named in the manifest (`overlays`).
"""

from __future__ import annotations

from gitguard.errors import GitguardError
from gitguard.model.redaction.names import is_secret_file
from gitguard.model.value import Value
from gitguard.store.git.trees import LINK, PLAIN, PROGRAM, SUBMODULE, TreeEntry
from gitguard.store.git.worktree_files import FileContent, ReadLimits, WorktreeFiles
from gitguard.store.worktree.manifest import (
    NOBODY,
    REPOSITORY,
    Authors,
    Manifest,
    SkippedFile,
    escaped,
)
from gitguard.store.worktree.overlays import write_overlay
from gitguard.store.worktree.secret_search import SearchVerdict, SecretSearch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from gitguard.model.redaction.redactor import Redactor
    from gitguard.store.git.differences import ChangedFile, Differences
    from gitguard.store.git.repository import Repository
    from gitguard.store.git.trees import Write
    from gitguard.store.worktree.searched import Searched

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


class Taken(Value):
    """A snapshot that was taken just now."""

    id: str
    new_bytes: int
    """Bytes of the contents that were stored for it."""
    looked_at_again: frozenset[str] = frozenset()
    """The paths that the next snapshot takes anew, also where they lie there as before."""
    was_cut_off: bool = False
    """Whether time ran out before it had every file."""
    searched: tuple[Searched, ...] = ()
    """What the search for secrets came to in large files."""


class EarlierSnapshot(Value):
    """A snapshot that was taken before and is kept, and the look it was taken from."""

    look: Differences
    looked_at_again: frozenset[str]
    """As in `Taken`."""
    searched: tuple[Searched, ...] = ()
    """What the search for secrets came to in large files."""

    def unchanged(self) -> dict[str, ChangedFile]:
        """Return the files whose contents are stored, as they lay there."""
        return {
            file.path: file
            for file in self.look.files
            if file.id and file.path.rstrip("/") not in self.looked_at_again
        }


def take(
    repository: Repository,
    redactor: Redactor,
    look: Differences,
    limits: SnapshotLimits,
    clock: Callable[[], float],
    write: Write,
    earlier: EarlierSnapshot | None = None,
    authors: Authors = NOBODY,
) -> Taken:
    """Store what a look at the worktree saw; what did not change since an earlier look is reused.

    authors says who changed files since that look. Raises `GitguardError` where the tracked files
    could not be compared.
    """
    if look.tracked_unseen:
        raise GitguardError(f"not looked at: {look.tracked_unseen}")
    searched = earlier.searched if earlier is not None else ()
    search = SecretSearch(redactor, clock, limits.seconds, searched)
    id_length = repository.id_length(look.commit)
    taking = _Taking(repository, search, limits, write=write, id_length=id_length)
    if earlier is not None:
        taking.reuse(earlier)
    # Small files first: one that takes long may use what time is left then.
    entries = {file.path: taking.entry(file) for file in sorted(look.files, key=taking.size)}
    # Of a path that was left out the snapshot says nothing, not even what the commit has.
    removed = tuple(path.rstrip("/") for path, entry in entries.items() if entry is None)
    stored = {path: entry for path, entry in entries.items() if entry is not None}
    snapshot = write_overlay(stored, taking.manifest(look, authors, removed), write)
    return Taken(
        snapshot,
        taking.new_bytes,
        taking.looked_at_again,
        was_cut_off=taking.was_cut_off,
        searched=tuple(search.searched),
    )


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
        """How files lay there whose contents an earlier snapshot has."""
        self._reasons: dict[str, str] = {}
        self._raw: list[str] = []

    def reuse(self, earlier: EarlierSnapshot) -> None:
        """Take over what an earlier snapshot holds of files that did not change since."""
        self._seen_before = earlier.unchanged()

    @property
    def looked_at_again(self) -> frozenset[str]:
        """What was left out may fit by now; what is raw is told apart by its bytes."""
        return frozenset((*self._reasons, *self._raw))

    def size(self, file: ChangedFile) -> int:
        """Return how many bytes have to be searched and written of a file, if it is kept."""
        return 0 if self._is_as_before(file) else self._files.size(file.path)

    def _is_as_before(self, file: ChangedFile) -> bool:
        return self._seen_before.get(file.path) == file

    def entry(self, file: ChangedFile) -> TreeEntry | None:
        """Store what lies at a path; None for nothing, and where it is left out."""
        if file.mode == 0:
            return None  # also where the earlier snapshot has a folder in its place
        if file.mode == SUBMODULE and file.id.strip("0"):
            return TreeEntry(SUBMODULE, file.id)
        if self._is_as_before(file):
            self._search.remember_unchanged(file.path)
            return TreeEntry(file.mode, file.id)
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
            return REPOSITORY
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

    def manifest(self, look: Differences, authors: Authors, removed: tuple[str, ...]) -> Manifest:
        """Return what the snapshot says of itself."""
        skipped = (SkippedFile(escaped(p), self._reasons[p]) for p in sorted(self._reasons))
        return Manifest(
            look.commit,
            tuple(map(escaped, sorted(set(removed) - self._reasons.keys()))),
            tuple(skipped),
            raw=tuple(map(escaped, sorted(self._raw))),
            unseen=(look.new_unseen,) if look.new_unseen else (),
            ignore_rules=look.ignore_rules,
            by_shell=tuple(map(escaped, sorted(authors.shell)[:_MOST_NEW])),
            by_restore=tuple(map(escaped, sorted(authors.restore)[:_MOST_NEW])),
        )
