"""Puts files of the user's in place: one at a time, at once, and never through a link.

A link or a folder may have appeared anywhere in the worktree, also between a look and a write. So
each folder on the way is opened from the one above it, and the name is used in what is open then.
"""

from __future__ import annotations

import os
import stat
from contextlib import suppress

from gitguard.store.disk import files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

_OPENING = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0)
_EXECUTABLE = 0o111
_TEMPORARY = (".gitguard-", ".tmp")
"""How the name of a file begins and ends that is not in its place yet."""


class _Below:
    """A context manager: a path below a folder, with the folder it stands in opened.

    Raises `OSError` where something else than a folder stands on the way, and where a name leads
    out of the folder; with make, folders that are missing are made.
    """

    __slots__ = ("_make", "_names", "_root", "folder", "name")

    def __init__(self, root: str, path: str, *, make: bool = False) -> None:
        self._root, self._make = root, make
        *self._names, self.name = path.split("/")
        self.folder: int | None = None

    def __enter__(self) -> _Below:
        for name in (*self._names, self.name):
            if name in ("", ".", "..") or name.lower() == ".git":
                raise OSError(f"`{name}` is not a name of a file in a worktree")
        handle = os.open(self._root, _OPENING)
        for name in self._names:
            above = handle
            try:
                if self._make:
                    with suppress(FileExistsError):
                        os.mkdir(name, dir_fd=above)
                handle = os.open(name, _OPENING | files.NO_FOLLOW, dir_fd=above)
            finally:
                os.close(above)
        self.folder = handle
        return self

    def __exit__(self, *_: object) -> None:
        if self.folder is not None:
            os.close(self.folder)

    def facts(self) -> os.stat_result | None:
        """Return what is known of the regular file that lies there, None where none does."""
        try:
            facts = os.stat(self.name, dir_fd=self.folder, follow_symlinks=False)
        except FileNotFoundError:
            return None
        return facts if stat.S_ISREG(facts.st_mode) else None

    def is_current_folder(self) -> bool:
        """Say whether the folder that lies there is the one in which this process runs."""
        try:
            current = os.stat(os.curdir)
        except FileNotFoundError:
            return False
        facts = os.stat(self.name, dir_fd=self.folder, follow_symlinks=False)
        return os.path.samestat(current, facts)

    def is_folder_of_its_own(self) -> bool:
        """Say whether a new folder in its place would have another owner or other permissions."""
        above = os.stat(self.folder if self.folder is not None else os.curdir)
        facts = os.stat(self.name, dir_fd=self.folder, follow_symlinks=False)
        mask = os.umask(0o077)
        os.umask(mask)
        # A new folder takes over which group its files are to have.
        usual = 0o777 & ~mask | above.st_mode & stat.S_ISGID
        return stat.S_IMODE(facts.st_mode) != usual or facts.st_uid != os.geteuid()

    def clear(self) -> None:
        """Remove a folder that holds no file, however deep, from the place of a file.

        Git lists no such folder, so nobody else removes it.
        """
        # `fwalk` opens what it is told to walk, also a link, which may lead to itself.
        if self._is_folder() and not _holds_files(self.name, self.folder):
            for _, names, _, handle in os.fwalk(self.name, topdown=False, dir_fd=self.folder):
                for name in names:
                    os.rmdir(name, dir_fd=handle)
            os.rmdir(self.name, dir_fd=self.folder)

    def _is_folder(self) -> bool:
        try:
            facts = os.stat(self.name, dir_fd=self.folder, follow_symlinks=False)
        except FileNotFoundError:
            return False
        return stat.S_ISDIR(facts.st_mode)


def _holds_files(name: str, folder: int | None) -> bool:
    """Say whether anything but folders lies in one; a link is never followed."""
    for _, names, others, handle in os.fwalk(name, dir_fd=folder):
        links = (n for n in names if stat.S_ISLNK(os.lstat(n, dir_fd=handle).st_mode))
        if others or any(links):
            return True
    return False


def make_folder(path: str) -> None:
    """Make a folder of the user's and those above it, with the permissions their umask says."""
    os.makedirs(path, exist_ok=True)


def temporary_name(suffix: str) -> str:
    """Return the name of a file that is not in its place yet."""
    return f"{_TEMPORARY[0]}{suffix}{_TEMPORARY[1]}"


def is_temporary(path: str) -> bool:
    """Say whether a file has a name such as a restore gives one that is not in its place yet."""
    begins, ends = _TEMPORARY
    name = path.rpartition("/")[2]
    return name.startswith(begins) and name.endswith(ends)


def put(
    root: str, path: str, data: bytes, permissions: int, temporary: str, *, is_exact: bool = False
) -> None:
    """Replace a file by its path from a root.

    One that is replaced keeps its permissions, but for who may run it, unless they are exact; a new
    one gets what the user's umask leaves of them. temporary is a name that nobody else uses.
    """
    with _Below(root, path, make=True) as at:
        before = at.facts()
        if before is not None and not is_exact:
            readable = stat.S_IMODE(before.st_mode) & ~_EXECUTABLE
            # Whoever may read it may run it, as git does it.
            permissions = readable | ((readable & 0o444) >> 2 if permissions & _EXECUTABLE else 0)
        at.clear()
        files.replace_at(at, data, permissions, owner=before, temporary=temporary)


def put_link(root: str, path: str, target: bytes, temporary: str) -> None:
    """Put a symbolic link in the place of a file."""
    with _Below(root, path, make=True) as at:
        with suppress(FileNotFoundError):
            os.unlink(temporary, dir_fd=at.folder)
        at.clear()
        os.symlink(os.fsdecode(target), temporary, dir_fd=at.folder)
        try:
            os.replace(temporary, at.name, src_dir_fd=at.folder, dst_dir_fd=at.folder)
        except OSError:
            os.unlink(temporary, dir_fd=at.folder)
            raise


def remove(root: str, path: str, temporary: str) -> None:
    """Remove a file or link, and the folders above it that are empty then.

    The folder in which this process runs stays, as with git: a shell would be left nowhere. So does
    one with an owner or permissions of its own, which no undo would bring back.
    """
    with suppress(FileNotFoundError), _Below(root, path) as at:
        for name in (temporary, at.name):
            with suppress(FileNotFoundError):
                os.unlink(name, dir_fd=at.folder)
    folder = path.rpartition("/")[0]
    while folder:
        try:
            with _Below(root, folder) as at:
                if at.is_current_folder() or at.is_folder_of_its_own():
                    return
                os.rmdir(at.name, dir_fd=at.folder)
        except OSError:
            return
        folder = folder.rpartition("/")[0]


def remove_unfinished(root: str, paths: Iterable[str], temporary: str) -> None:
    """Remove what a process that died left of files that it was about to put at some paths."""
    for folder in {path.rpartition("/")[0] for path in paths}:
        with suppress(OSError), _Below(root, f"{folder}/-".lstrip("/")) as at:
            os.unlink(temporary, dir_fd=at.folder)


def settle(root: str, paths: Iterable[str]) -> None:
    """Make durable what was put or removed at some paths."""
    for folder in {path.rpartition("/")[0] for path in paths}:
        # A folder may be gone, or a file may stand in its place: then the one above was changed.
        gone = suppress(FileNotFoundError, NotADirectoryError)
        with gone, _Below(root, f"{folder}/-".lstrip("/")) as at:
            if at.folder is not None:
                os.fsync(at.folder)
