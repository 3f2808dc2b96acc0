"""Adding to the end of a transcript, so that a host that reads it finds all of it or nothing.

Two lines that only make sense together are written as one line that nobody can read, because the
brace that closes the first is missing; two bytes at the end make two of it. A crash before that
leaves a line that is skipped. (Two whole documents on a line would not do: a host reads the first.)
"""

from __future__ import annotations

import os

from gitguard.errors import InvalidDocument, Locked, NotWritable
from gitguard.store import files
from gitguard.transcripts.replacing import Standing, look, refuse_changed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_PARTED = b"}\n"
_SECTOR = 512
"""Bytes that a disk writes at once."""


def append(
    path: str,
    lines: Sequence[bytes],
    seen: Standing,
    *,
    at_step: Callable[[str], object] = str,
    still_ours: Callable[[], object] = bool,
) -> None:
    """Add one line or two to a file that is still as it was seen, durable or not at all.

    still_ours is called right before the first byte and raises where a lock ran out.
    """
    first, *rest = lines
    if len(rest) > 1:
        raise InvalidDocument("only two lines can be made one another's")
    refuse_changed(path, seen)
    still_ours()
    handle = _open(path)
    try:
        begin = _whole(handle, seen.size)
        if rest:
            first = _padded(first, seen.size + len(begin))
        end = len(begin) + len(first)
        whole = begin + b"\n".join([first, *rest]) + b"\n"
        at_step("transcript-opened")
        joined = whole[: end - 1] + b"  " + whole[end + 1 :] if rest else whole
        _write(path, handle, joined, seen.size, at_step)
        at_step("transcript-joined")
        if rest:
            os.pwrite(handle, _PARTED, seen.size + end - 1)
            os.fsync(handle)
            at_step("transcript-parted")
        _verify(path, handle, seen.size, whole)
    except OSError as error:
        raise files.refused(path, error) from error
    finally:
        os.close(handle)


def _padded(line: bytes, at: int) -> bytes:
    """Return a line whose last byte and the line end behind it lie in one sector of the disk."""
    last = at + len(line) - 1
    return line[:-1] + b" " + line[-1:] if last % _SECTOR == _SECTOR - 1 else line


def _open(path: str) -> int:
    try:
        return os.open(path, os.O_RDWR | files.NO_FOLLOW)
    except OSError as error:
        raise files.refused(path, error) from error


def _whole(handle: int, size: int) -> bytes:
    """Return the line end that the last line lacks."""
    return b"\n" if size and os.pread(handle, 1, size - 1) != b"\n" else b""


def _write(
    path: str, handle: int, data: bytes, size: int, at_step: Callable[[str], object]
) -> None:
    """Write all of it behind what there is, or take back what was written.

    The line's end comes first: should we die in between, what the host adds later is a line of its
    own all the same.
    """
    try:
        os.pwrite(handle, data[-1:], size + len(data) - 1)
        at_step("transcript-ended")
        done = os.pwrite(handle, data[:-1], size)
        if done != len(data) - 1:
            raise NotWritable(f"cannot write `{path}`: there was room for {done:,} bytes only")
        os.fsync(handle)
    except (OSError, NotWritable, KeyboardInterrupt, SystemExit):
        if os.fstat(handle).st_size == size + len(data):
            os.ftruncate(handle, size)
        raise


def _verify(path: str, handle: int, size: int, wanted: bytes) -> None:
    if (
        os.pread(handle, len(wanted) + 1, size) != wanted
        or look(path).inode != os.fstat(handle).st_ino
    ):
        raise Locked(
            f"`{path}` was written to while the compaction was added",
            "Look at its end with `gitguard transcript show`, and repair it if need be",
        )
