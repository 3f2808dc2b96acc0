"""Putting a new file in the place of a transcript, so that nothing is ever lost.

The new one is written beside it and made durable; the original gets a second name, which it keeps;
then the new one takes its place. A crash leaves the old file or the new one, and both are whole.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from typing import Any

from gitguard.errors import InvalidDocument, Locked
from gitguard.model.value import Value
from gitguard.store.disk import files
from gitguard.transcripts.entries import unreadable
from gitguard.transcripts.rewriting.locks import refuse_written


class FileIdentity(Value):
    """What a file was when it was looked at; while that stays, so does its content."""

    device: int
    inode: int
    size: int
    changed: int
    """Nanoseconds."""


def identity_of(path: str) -> FileIdentity:
    """Return how a transcript's file stands, before it is read; refuses a symbolic link."""
    if os.path.islink(path):
        raise InvalidDocument(
            f"`{path}` is a symbolic link, which is not rewritten",
            f"Name the file itself: `{os.path.realpath(path)}`",
        )
    try:
        status = os.lstat(path)
    except OSError as error:
        raise unreadable(path, error) from error
    if not stat.S_ISREG(status.st_mode):
        raise unreadable(path, "it is not a regular file")
    return _identity_of(status)


def _identity_of(status: os.stat_result) -> FileIdentity:
    return FileIdentity(status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)


def refuse_changed(path: str, seen: FileIdentity) -> None:
    """Raise `Locked` when a file is no longer what it was, or is about to be written to."""
    refuse_written(path)  # takes milliseconds, in which the file may change
    _refuse_other(path, seen)


def _refuse_other(path: str, seen: FileIdentity) -> None:
    if identity_of(path) != seen:
        raise Locked(
            f"`{path}` changed while it was read; nothing was written",
            "End the host's session, or wait until it is idle, and run the command again",
        )


class Replacing:
    """A context manager: what is written in it takes the place of a file when it ends well."""

    def __init__(
        self,
        path: str,
        seen: FileIdentity,
        *,
        now: float,
        at_step: Callable[[str], object] = str,
        still_ours: Callable[[], object] = bool,
        keep: bool = True,
    ) -> None:
        """Replace the file at path, seen so; at_step is told of each step.

        still_ours is called before what others can see, and raises where a lock ran out.
        """
        self.backup = ""
        self._path, self._seen, self._now, self._keep = path, seen, now, keep
        self._at_step, self._still_ours = at_step, still_ours
        self._temporary = f"{path}.{os.getpid()}.tmp"
        self._handle = self._original = -1
        self._carried = 0

    def __enter__(self) -> Replacing:
        try:
            self._original = os.open(self._path, os.O_RDONLY | files.NO_FOLLOW)
            status = os.fstat(self._original)
            files.remove(self._temporary)
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | files.NO_FOLLOW
            self._handle = os.open(self._temporary, flags, 0o600)
            files.permit_as(self._handle, status)
        except OSError as error:
            self._discard()
            raise files.refused(self._path, error) from error
        self._step("transcript-begun")
        return self

    def _step(self, name: str) -> None:
        try:
            self._at_step(name)
        except BaseException:
            self._discard()
            raise

    def write(self, data: bytes) -> None:
        """Write more of the new file."""
        try:
            files.write_all(self._handle, data)
        except OSError as error:
            raise files.refused(self._path, error) from error

    def copy(self, source: int, begin: int, end: int) -> int:
        """Write a part of another file as it is, as far as there is one; return how much."""
        position = begin
        try:
            while position < end:
                count = files.copy_part(source, self._handle, position, end - position)
                if not count:
                    break
                position += count
        except OSError as error:
            raise files.refused(self._path, error) from error
        return position - begin

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: Any) -> None:
        if kind is not None:
            self._discard()
            return
        try:
            self._settle()
        except OSError as problem:
            raise files.refused(self._path, problem) from problem
        finally:
            self._discard()

    def _settle(self) -> None:
        os.fsync(self._handle)
        self._at_step("transcript-written")
        self._still_ours()
        _refuse_other(self._path, self._seen)
        try:
            if self._keep:
                self._keep_original()
                self._at_step("transcript-kept")
            self._still_ours()
            refuse_changed(self._path, self._seen)
            os.replace(self._temporary, self._path)
        except BaseException:
            if self._is_in_place():  # an interrupt may arrive when all is done already
                self._forget_backup()
            raise
        self._at_step("transcript-replaced")
        self._carry_over()
        files.sync_folder(os.path.dirname(self._path) or ".")
        self._carry_over()
        self._at_step("transcript-settled")

    def _keep_original(self) -> None:
        backup = files.free_name(f"{self._path}.bak-{os.getpid()}-{int(self._now)}")
        try:
            os.link(self._path, backup)
        except OSError as error:
            if error.errno not in files.NO_LINKS:
                raise
            files.copy(self._path, backup)
        self.backup = backup
        files.sync_folder(os.path.dirname(self._path) or ".")

    def _is_in_place(self) -> bool:
        """Say whether the path still names the original, which the backup is but a name of."""
        try:
            status = os.lstat(self._path)
        except OSError:
            return False
        return (status.st_dev, status.st_ino) == (self._seen.device, self._seen.inode)

    def _forget_backup(self) -> None:
        if self.backup:
            files.remove(self.backup)
            self.backup = ""

    def _carry_over(self) -> None:
        """Add what somebody wrote to the old file in the moment when it was replaced."""
        while late := os.pread(self._original, 1 << 20, self._seen.size + self._carried):
            handle = os.open(self._path, os.O_WRONLY | os.O_APPEND | files.NO_FOLLOW)
            try:
                files.write_all(handle, late)
                os.fsync(handle)
            finally:
                os.close(handle)
            self._carried += len(late)

    def _discard(self) -> None:
        for handle in (self._handle, self._original):
            if handle >= 0:
                os.close(handle)
        self._handle = self._original = -1
        files.remove(self._temporary)
