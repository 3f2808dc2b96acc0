"""Adding to the end of a transcript, so that a host that reads it finds all of it or nothing.

First a blank line is appended, as hosts append theirs, so that nothing of anybody else's is ever
overwritten; what is written then lies within it. It is one line that nobody can read, because the
brace that closes the first document is missing; two bytes at the end put that right, and make two
lines of two that only make sense together. A crash before that leaves a line that is skipped. (Two
whole documents on a line would not do: a host reads the first.)
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence

from gitguard.errors import GitguardError, InvalidDocument, Locked, NotWritable
from gitguard.store.disk import files
from gitguard.transcripts.rewriting.replacing import FileIdentity, identity_of, refuse_changed

_SECTOR = 512
"""Bytes that a disk writes at once."""


def append(
    path: str,
    lines: Sequence[bytes],
    seen: FileIdentity,
    *,
    at_step: Callable[[str], object] = str,
    still_ours: Callable[[], object] = bool,
) -> None:
    """Add one line or two to a file that is still as it was seen, durable or not at all.

    A blank line is all that is left where somebody else wrote in the same moment.

    still_ours is called right before the first byte and raises where a lock ran out.
    """
    first, *following = lines
    if len(following) > 1:
        raise InvalidDocument("only two lines can be made one another's")
    refuse_changed(path, seen)
    still_ours()
    handle = _open(path)
    try:
        begin = _whole(handle, seen.size)
        if following:
            first = _padded(first, seen.size + len(begin))
        last = len(begin) + len(first) - 1
        whole = begin + b"\n".join([first, *following]) + b"\n"
        joined = whole[:last] + (b"  " if following else b" \n") + whole[last + 2 :]
        blank = begin + b" " * (len(whole) - len(begin) - 1) + b"\n"
        at_step("transcript-opened")
        _reserve(path, handle, blank, seen)
        at_step("transcript-ended")
        _fill(path, handle, joined, blank=blank, size=seen.size, at_step=at_step)
        os.pwrite(handle, whole[last : last + 2], seen.size + last)
        os.fsync(handle)
        at_step("transcript-parted")
        if not _is_all_behind(path, handle, whole, seen.size):
            raise _meddled(path, "Look at its end with `gitguard transcript show`")
    except OSError as error:
        raise files.refused(path, error) from error
    finally:
        os.close(handle)


def _padded(line: bytes, at: int) -> bytes:
    """Return a line whose last byte and the line end behind it lie in one sector of the disk."""
    last = at + len(line) - 1
    return line[:-1] + b" " + line[-1:] if last % _SECTOR == _SECTOR - 1 else line


def _open(path: str, flags: int = os.O_RDWR) -> int:
    try:
        return os.open(path, flags | files.NO_FOLLOW)
    except OSError as error:
        raise files.refused(path, error) from error


def _whole(handle: int, size: int) -> bytes:
    """Return the line end that the last line lacks."""
    return b"\n" if size and os.pread(handle, 1, size - 1) != b"\n" else b""


def _reserve(path: str, handle: int, blank: bytes, seen: FileIdentity) -> None:
    """Append a blank line, which harms nobody wherever it comes to stand; raise where it is amiss.

    Should we die in the midst of it, what the host adds next is a line all the same.
    """
    status = os.fstat(handle)
    if (status.st_ino, status.st_size) != (seen.inode, seen.size):
        raise _meddled(path)
    end = _open(path, os.O_WRONLY | os.O_APPEND)
    try:
        if os.fstat(end).st_ino != seen.inode:
            raise _meddled(path)
        written = os.write(end, blank)
        behind = os.lseek(end, 0, os.SEEK_CUR)
    finally:
        os.close(end)
    if written != len(blank):
        if os.fstat(handle).st_size == behind:  # where there is no room nobody else adds any
            os.ftruncate(handle, behind - written)
        raise NotWritable(f"cannot write `{path}`: there was room for {written:,} bytes only")
    if behind != seen.size + len(blank):
        raise _meddled(path)


def _fill(
    path: str, handle: int, joined: bytes, blank: bytes, size: int, at_step: Callable[[str], object]
) -> None:
    """Write into the blank line what nobody can read yet, or make it blank again."""
    try:
        written = os.pwrite(handle, joined, size)
        if written != len(joined):
            raise NotWritable(f"cannot write `{path}`: there was room for {written:,} bytes only")
        os.fsync(handle)
        at_step("transcript-joined")
        if not _is_all_behind(path, handle, joined, size):
            raise _meddled(path)
    except (OSError, GitguardError, KeyboardInterrupt, SystemExit):
        if os.pread(handle, len(joined), size) == joined:
            os.pwrite(handle, blank, size)
        raise


def _is_all_behind(path: str, handle: int, expected: bytes, size: int) -> bool:
    """Say whether that and nothing else stands behind what there was."""
    appended = os.pread(handle, len(expected) + 1, size)
    return appended == expected and identity_of(path).inode == os.fstat(handle).st_ino


def _meddled(path: str, hint: str = "") -> Locked:
    return Locked(
        f"`{path}` was written to while the compaction was added",
        hint or "Nothing was added; run the command again when the host is idle",
    )
