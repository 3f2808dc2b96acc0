"""Puts files of the user's in place: one at a time, at once, and never through a link.

A link or a folder may have appeared anywhere in the worktree, also between a look and a write. So
each folder on the way is opened from the one above it, and the name is used in what is open then.
"""

from __future__ import annotations

import os
from contextlib import suppress

from gitguard.store.disk import files

_OPENING = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0)
_PUTTING = ".gitguard-restoring.tmp"
"""Always the same name, so that whoever goes on after a crash replaces what it left."""


class _Below:
    """A context manager: a path below a folder, with the folder it stands in opened.

    Raises `OSError` where something else than a folder stands on the way; with make, folders that
    are missing are made.
    """

    __slots__ = ("_inner", "_make", "_root", "folder", "name")

    def __init__(self, root: str, path: str, *, make: bool = False) -> None:
        self._root, self._make = root, make
        self._inner, _, self.name = path.rpartition("/")
        self.folder: int | None = None

    def __enter__(self) -> _Below:
        handle = os.open(self._root, _OPENING)
        for name in filter(None, self._inner.split("/")):
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

    def settle(self) -> None:
        """Make the names in the folder durable."""
        if self.folder is not None:
            os.fsync(self.folder)


def put(root: str, path: str, data: bytes, mode: int) -> None:
    """Replace a file by its path from a root; a new one gets its mode as the user's umask says."""
    with _Below(root, path, make=True) as at:
        files.replace_at(at, data, mode, None, _PUTTING)
        at.settle()


def put_link(root: str, path: str, target: bytes) -> None:
    """Put a symbolic link in the place of a file."""
    with _Below(root, path, make=True) as at:
        with suppress(FileNotFoundError):
            os.unlink(_PUTTING, dir_fd=at.folder)
        os.symlink(os.fsdecode(target), _PUTTING, dir_fd=at.folder)
        os.replace(_PUTTING, at.name, src_dir_fd=at.folder, dst_dir_fd=at.folder)
        at.settle()


def remove(root: str, path: str) -> None:
    """Remove a file or link, and the folders above it that are empty then."""
    with suppress(FileNotFoundError), _Below(root, path) as at:
        for name in (_PUTTING, at.name):
            with suppress(FileNotFoundError):
                os.unlink(name, dir_fd=at.folder)
        at.settle()
    folder = path.rpartition("/")[0]
    while folder:
        try:
            with _Below(root, folder) as at:
                os.rmdir(at.name, dir_fd=at.folder)
        except OSError:
            return
        folder = folder.rpartition("/")[0]
