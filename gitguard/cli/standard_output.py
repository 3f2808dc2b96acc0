"""Standard output that may refuse: a full disk is an error of its place, a reader may go away."""

from __future__ import annotations

import io
import os
import sys
from typing import TYPE_CHECKING

from gitguard.errors import NotWritable

if TYPE_CHECKING:
    from typing import Any


class ReaderGone(Exception):  # noqa: N818 - nobody did anything wrong
    """Whoever read our output closed it; no `OSError`, which would be taken for a file's."""


class _StandardOutput(io.FileIO):
    def write(self, data: Any, /) -> int:
        try:
            return super().write(data)
        except BrokenPipeError:
            raise ReaderGone from None
        except OSError as error:
            raise NotWritable(
                f"cannot write to standard output: {error.strerror}",
                "Make room, or let it go to another file",
            ) from None


def watch_standard_output() -> None:
    """Tell what standard output refuses apart from what files do; what cannot be encoded is `?`."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    stream = sys.stdout
    # Within another program it may be no file at all.
    if isinstance(stream, io.TextIOWrapper) and isinstance(
        stream.buffer, io.BufferedWriter | io.FileIO
    ):
        raw = _StandardOutput(stream.fileno(), "wb", closefd=False)
        sys.stdout = io.TextIOWrapper(
            io.BufferedWriter(raw),
            encoding=stream.encoding,
            errors="replace",
            line_buffering=stream.line_buffering,
        )


def leave(code: int) -> None:
    """End the process with a code, also where what is still to be printed is refused."""
    try:
        if sys.stdout:
            sys.stdout.flush()
    except (NotWritable, ReaderGone):
        os._exit(code)
    sys.exit(code)
