"""Trees with folders: what stands at a path, and a tree written anew where paths changed."""

from __future__ import annotations

import os

from gitguard.errors import InvalidDocument
from gitguard.model.commit import parse_commit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from gitguard.store.git.reader import ObjectReader

    Changes = Mapping[str, "TreeEntry | None"]
    Write = Callable[[str, bytes], str]
    """Stores an object of a kind and returns its id."""

FOLDER, LINK, PLAIN, PROGRAM, SUBMODULE = 0o040000, 0o120000, 0o100644, 0o100755, 0o160000
_TREE_LIMIT = 64 << 20
_COMMIT_LIMIT = 1 << 20
_IGNORED_BY_HFS = frozenset(
    "\u200c\u200d\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u206a\u206b\u206c\u206d\u206e\u206f\ufeff"
)
_MOST_DEEP = 2_048
"""Folders in one another; a path that a system opens has fewer."""


class TreeEntry(tuple[int, str]):
    """What stands at a path: its mode, as git has modes, and its id.

    A plain tuple, because a tree of thousands of names is read for a few of them.
    """

    __slots__ = ()

    def __new__(cls, mode: int, object_id: str) -> TreeEntry:  # noqa: D102
        return tuple.__new__(cls, (mode, object_id))

    @property
    def mode(self) -> int:
        """As git has modes."""
        return self[0]

    @property
    def id(self) -> str:
        """The object."""
        return self[1]


class Trees:
    """The trees of one repository, each read once and hashed again."""

    def __init__(self, reader: ObjectReader | None) -> None:
        """Read with an open reader; without one only new trees can be written."""
        self._reader = reader
        self._read: dict[str, dict[str, TreeEntry]] = {}

    def of_commit(self, commit: str) -> str:
        """Return the tree of a commit; raise `InvalidDocument` for one that cannot be read."""
        tree = parse_commit(self._object(commit, "commit", _COMMIT_LIMIT)).first("tree")
        if not tree:
            raise InvalidDocument(f"commit {commit} names no tree")
        return tree

    def entries(self, tree: str) -> dict[str, TreeEntry]:
        """Return what stands in one folder, by name; an empty id is an empty folder."""
        if tree and tree not in self._read:
            data = self._object(tree, "tree", _TREE_LIMIT)
            self._read[tree] = dict(_parsed(tree, data))
        return self._read[tree] if tree else {}

    def _object(self, object_id: str, kind: str, limit: int) -> bytes:
        if self._reader is None:
            raise InvalidDocument(f"object {object_id} is not read")
        return self._reader.read(object_id, kind, limit=limit)

    def at(self, tree: str, path: str) -> TreeEntry | None:
        """Return what stands at a path of a tree, None for nothing."""
        *folders, name = path.split("/")
        for folder in folders:
            entry = self.entries(tree).get(folder)
            if entry is None or entry.mode != FOLDER:
                return None
            tree = entry.id
        return self.entries(tree).get(name)

    # None of these calls itself: folders in one another are more than a program may have calls.

    def files(self, tree: str) -> Iterator[tuple[str, TreeEntry]]:
        """Yield all that stands in a tree and its folders, by path."""
        unread = list(reversed(self.entries(tree).items()))
        while unread:
            path, entry = unread.pop()
            if entry.mode != FOLDER:
                yield path, entry
                continue
            if path.count("/") >= _MOST_DEEP:
                raise InvalidDocument(f"tree {tree} has folders more than {_MOST_DEEP:,} deep")
            inner = reversed(self.entries(entry.id).items())
            unread.extend((f"{path}/{name}", below) for name, below in inner)

    def differences(self, old: str, new: str) -> Iterator[str]:
        """Yield the paths at which two trees differ."""
        unread = [("", old, new)] if old != new else []
        while unread:
            folder, older, newer = unread.pop()
            before, after = self.entries(older), self.entries(newer)
            for name in {**before, **after}:
                sides = before.get(name), after.get(name)
                if sides[0] == sides[1]:
                    continue
                folders = [e.id if e is not None and e.mode == FOLDER else "" for e in sides]
                if any(folders):
                    unread.append((f"{folder}{name}/", folders[0], folders[1]))
                if any(e is not None and e.mode != FOLDER for e in sides):
                    yield f"{folder}{name}"

    def changed(self, tree: str, changes: Changes, write: Write) -> str:
        """Write a tree with other contents at some paths, None for nothing there; return its id."""
        by_folder: dict[str, dict[str, TreeEntry | None]] = {"": {}}
        for path, entry in changes.items():
            folder, _, name = path.rpartition("/")
            by_folder.setdefault(folder, {})[name] = entry
            while folder and (folder := folder.rpartition("/")[0]) not in by_folder:
                by_folder[folder] = {}
        # A folder is read before what is in it, and written after that.
        folders = sorted(filter(None, by_folder), key=lambda folder: folder.count("/"))
        present = {"": tree}
        for folder in folders:
            above, _, name = folder.rpartition("/")
            before = self.entries(present[above]).get(name)
            present[folder] = before.id if before is not None and before.mode == FOLDER else ""
        inner: dict[str, dict[str, str]] = {folder: {} for folder in by_folder}
        for folder in reversed(folders):
            above, _, name = folder.rpartition("/")
            below = inner.pop(folder)
            inner[above][name] = self._folder(present[folder], by_folder[folder], below, write)
        return self._folder(tree, by_folder[""], inner[""], write) or write("tree", b"")

    def _folder(self, tree: str, changes: Changes, inner: Mapping[str, str], write: Write) -> str:
        """Write one folder with changes in it and the ids of the folders in it that changed.

        An empty id is a folder in which nothing is left.
        """
        entries = dict(self.entries(tree))
        for name, entry in changes.items():
            if entry is None and name in entries and entries[name].mode != FOLDER:
                del entries[name]
        for name, folder_id in inner.items():
            entries.pop(name, None)
            if folder_id:
                entries[name] = TreeEntry(FOLDER, folder_id)
        # A file that took the place of a folder comes last: what was in the folder is gone by now.
        entries.update({name: entry for name, entry in changes.items() if entry is not None})
        if entries == self.entries(tree):
            return tree
        # Sorted as git does, by bytes and folders as if `/` followed.
        rows = []
        for name, entry in entries.items():
            spelled = os.fsencode(name)
            order = spelled + b"/" if entry.mode == FOLDER else spelled
            rows.append((order, b"%o %s\0" % (entry.mode, spelled) + bytes.fromhex(entry.id)))
        return write("tree", b"".join(row for _, row in sorted(rows))) if rows else ""


def file_at(trees: Trees, tree: str, path: str) -> TreeEntry | None:
    """Return what a tree has at a path, None where it has a folder there, or nothing."""
    entry = trees.at(tree, path)
    return None if entry is None or entry.mode == FOLDER else entry


def is_plain_name(name: str) -> bool:
    """Say whether a name can stand in a folder of a worktree, as git has it too.

    Whoever wrote a commit chose the names in it: none may lead elsewhere, or into git's own folder
    by any of the spellings that some file system takes for `.git`.
    """
    if not name or name in (".", "..") or "/" in name or "\0" in name:
        return False
    if name.isascii() and name[0] not in ".gG" and os.sep == "/":
        return True  # most names, of which a tree may have thousands
    folded = "".join(c for c in name if c not in _IGNORED_BY_HFS).lower()
    if "\\" in name and os.sep == "\\":
        return False  # elsewhere it is a letter like others
    return folded.rstrip(" .").partition(":")[0] not in (".git", "git~1")


def _parsed(tree: str, data: bytes) -> Iterator[tuple[str, TreeEntry]]:
    width, start = len(tree) // 2, 0
    while start < len(data):
        end = data.find(b"\0", start)
        mode, _, name = data[start:end].partition(b" ")
        start = end + 1 + width
        if end < 0 or start > len(data) or not mode.isdigit():
            raise InvalidDocument(f"tree {tree} cannot be read")
        if not is_plain_name(os.fsdecode(name)):
            raise InvalidDocument(f"tree {tree} has an entry that no worktree may have")
        yield os.fsdecode(name), TreeEntry(int(mode, 8), data[end + 1 : start].hex())
