"""Reads the files of a worktree: never through a link, never a pipe, and within bounds."""

from __future__ import annotations

import os
import stat

from gitguard.model.value import Value
from gitguard.store.git.objects import id_of
from gitguard.store.git.trees import FOLDER, LINK, PLAIN, PROGRAM, is_plain_name

_READING = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
"""A named pipe that took a file's place must not make us wait."""


class ReadLimits(Value):
    """How much of a worktree is looked at."""

    index: int = 4 << 20
    """Bytes of the largest index whose files are compared: about 40,000 of them."""
    new: int = 1_000
    """Untracked files."""
    files: int = 2_000
    """Files that are read."""
    file: int = 16 << 20
    """Bytes of one file."""
    bytes: int = 64 << 20
    """Bytes of all files."""


LARGEST = 1 << 31
"""Bytes of a file beyond which none is read."""
UNLIMITED = ReadLimits(index=1 << 40, new=1 << 40, files=1 << 40, file=LARGEST, bytes=1 << 50)
"""For a person, who waits for what is asked."""


class FileContent(Value):
    """What lies at a path of the worktree."""

    mode: int = 0
    """As git has modes; 0 for nothing there, and that of the system for what git has none for."""
    data: bytes | None = None
    """Of a file its bytes, of a link its target; None where that was not read."""
    permissions: int = 0
    """Of a file, as the system has them; 0 for none."""
    size: int = 0
    """Bytes of a file, also of one that has too many; 0 for one that cannot be read."""


class FileReading(Value):
    """What lies at a path of the worktree, by its ids."""

    mode: int = 0
    id: str = ""
    unix_id: str = ""
    """The id with LF as the line ending, where it is text with CRLF."""


class WorktreeFiles:
    """The files below one folder, of which so much is read and no more."""

    def __init__(self, root: str, id_length: int, limits: ReadLimits) -> None:
        """Describe the folder; id_length is that of the repository's object ids."""
        self._root = root
        self._id_length = id_length
        self._limits = limits
        self._room = limits.bytes
        self._count = 0
        self._folders = {"": True}

    def read(self, path: str) -> FileReading:
        """Return the ids of what lies at a path; none where it could not be read."""
        content = self.content(path)
        data = content.data
        if data is None:
            return FileReading(content.mode)
        is_text = content.mode != LINK and b"\r\n" in data and b"\0" not in data
        unix_id = self.id_of(data.replace(b"\r\n", b"\n")) if is_text else ""
        return FileReading(content.mode, self.id_of(data), unix_id)

    def content(self, path: str) -> FileContent:
        """Return what lies at a path, with its bytes where they could be read."""
        folder, _, name = path.rpartition("/")
        if not name or not self._is_folder(folder):
            return FileContent(FOLDER if not name else 0)
        full = os.path.join(self._root, path)
        try:
            facts = os.lstat(full)
            if stat.S_ISLNK(facts.st_mode):
                return FileContent(LINK, os.fsencode(os.readlink(full)))
            if not stat.S_ISREG(facts.st_mode):
                # A folder in a file's place: what is in it is listed by itself.
                return FileContent(0 if stat.S_ISDIR(facts.st_mode) else stat.S_IFMT(facts.st_mode))
            mode = PROGRAM if facts.st_mode & stat.S_IXUSR else PLAIN
            data = self._bytes(full)
            return FileContent(mode, data, stat.S_IMODE(facts.st_mode), facts.st_size)
        except (FileNotFoundError, NotADirectoryError):
            return FileContent()
        except (OSError, ValueError):
            return FileContent(PLAIN)

    def size(self, path: str) -> int:
        """Return the bytes that lie at a path; 0 where nothing can be asked."""
        try:
            return os.lstat(os.path.join(self._root, path)).st_size
        except (OSError, ValueError):
            return 0

    def id_of(self, data: bytes) -> str:
        """Return the id that git gives a content."""
        return id_of("blob", data, self._id_length)

    def _is_folder(self, folder: str) -> bool:
        """Say whether a path is below the root by folders alone, without a link."""
        unknown = []
        while folder not in self._folders:
            unknown.append(folder)
            folder = folder.rpartition("/")[0]
        is_folder = self._folders[folder]
        for folder in reversed(unknown):
            is_folder = is_folder and is_plain_name(folder.rpartition("/")[2])
            try:
                mode = os.lstat(os.path.join(self._root, folder)).st_mode if is_folder else 0
            except (OSError, ValueError):
                mode = 0
            self._folders[folder] = is_folder = stat.S_ISDIR(mode)
        return is_folder

    def _bytes(self, full: str) -> bytes | None:
        """Return the bytes of a file, None where there are too many of them."""
        self._count += 1
        if self._count > self._limits.files:
            return None
        handle = os.open(full, _READING)
        try:
            facts = os.fstat(handle)
            room = min(self._limits.file, self._room)
            if not stat.S_ISREG(facts.st_mode) or facts.st_size > room:
                return None
            with open(handle, "rb", closefd=False) as file:
                # A file that grows meanwhile gets an id that is not the commit's: it did change.
                data = file.read(facts.st_size + 1)
        finally:
            os.close(handle)
        self._room -= len(data)
        return data
