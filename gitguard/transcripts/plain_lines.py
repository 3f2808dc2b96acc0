"""Transcripts that are not plain lines: compressed ones, and chats of one JSON document.

They are read as lines all the same, from a file of our own that is there for as long as it is read.
"""

from __future__ import annotations

import os

from gitguard.errors import InvalidDocument
from gitguard.model.text import shell_word
from gitguard.store.disk.files import write_all
from gitguard.transcripts.entries import Unread, bytes_at, cleaned, open_file, read_line, unreadable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from tempfile import TemporaryDirectory
    from typing import Any

_ZSTD = b"\x28\xb5\x2f\xfd"
_AT_ONCE = 1 << 20
_LARGEST = 1 << 32
"""Bytes that are unpacked at most; nobody has a conversation so long."""
_LARGEST_DOCUMENT = 1 << 27
_HEAD = 1 << 12
_HEADER = ("sessionId", "projectHash", "startTime", "lastUpdated")
"""The members of a chat that lines tell first."""


def is_compressed(path: str) -> bool:
    """Say whether a file is compressed with zstd."""
    return bytes_at(path, 0, _HEAD).startswith(_ZSTD)


class as_lines:  # noqa: N801 - used as a function
    """A context manager that yields the path of a transcript's lines.

    That is the file itself, or one that is gone when the context ends. Raises `InvalidDocument` for
    a compressed file that does not unpack.
    """

    # A class, because hooks load this module and `contextmanager` brings contextlib along.

    def __init__(self, path: str) -> None:
        self._path = path
        self._folder: TemporaryDirectory[str] | None = None

    def __enter__(self) -> str:
        head = bytes_at(self._path, 0, _HEAD)
        if head.startswith(_ZSTD):
            return self._plain(_unpacked(self._path))
        chat = _chat(self._path, head)
        return self._path if chat is None else self._plain(_lines_of(chat))

    def _plain(self, pieces: Iterator[bytes]) -> str:
        from tempfile import TemporaryDirectory

        self._folder = TemporaryDirectory(prefix="gitguard-lines-")
        plain = os.path.join(self._folder.name, "lines")
        try:
            handle = os.open(plain, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
            try:
                for piece in pieces:
                    write_all(handle, piece)
            finally:
                os.close(handle)
        except BaseException:
            self._folder.cleanup()
            raise
        return plain

    def __exit__(self, *_error: object) -> None:
        if self._folder is not None:
            self._folder.cleanup()


def zstd_module() -> Any:
    """Return the module that reads zstd, None where this Python has none."""
    try:
        from compression import zstd  # type: ignore[import-not-found]  # since Python 3.14
    except ImportError:
        try:
            from backports import zstd
        except ImportError:
            return None
    return zstd


def _unpacked(path: str) -> Iterator[bytes]:
    zstd = zstd_module()
    if zstd is None:
        raise InvalidDocument(
            f"`{path}` is compressed, and this Python lacks `backports.zstd` to read it",
            f"Unpack it: `zstd -d {shell_word(path)}`",
        )
    size = 0
    try:
        with zstd.ZstdFile(path) as packed:
            while data := packed.read(_AT_ONCE):
                size += len(data)
                if size > _LARGEST:
                    raise unreadable(path, f"it has more than {_LARGEST:,} bytes when unpacked")
                yield data
    except (zstd.ZstdError, EOFError) as error:
        raise unreadable(path, "it is compressed, and does not unpack") from error


# Chats of one JSON document, as Gemini CLI wrote them before 0.40


def _chat(path: str, head: bytes) -> dict[str, Any] | None:
    """Return the chat that a whole file is, None for a file of lines."""
    begin = cleaned(head).lstrip()
    if not begin.startswith(b"{") or os.path.getsize(path) > _LARGEST_DOCUMENT:
        return None
    first, end, _ = begin.partition(b"\n")
    if end and first.rstrip().endswith(b"}") and b'"messages"' not in first:
        return None  # its first line is a whole one; a hook asks, so the file is not read for it
    if b'"sessionId"' not in begin and b'"projectHash"' not in begin:
        return None
    document = read_line(_whole(path))
    if isinstance(document, Unread) or "projectHash" not in document:
        return None
    return document if isinstance(document.get("messages"), list) else None


def _whole(path: str) -> bytes:
    try:
        with open(open_file(path), "rb") as file:
            return file.read(_LARGEST_DOCUMENT)
    except OSError as error:
        raise unreadable(path, error) from error


def _lines_of(chat: dict[str, Any]) -> Iterator[bytes]:
    from gitguard.transcripts.fast_json import writer

    line = writer(0)
    yield line({name: chat[name] for name in _HEADER if name in chat})
    for message in chat["messages"]:
        if isinstance(message, dict):
            yield line({**message, "results": _results(message)})


def _results(message: dict[str, Any]) -> list[Any]:
    """Return what the tools answered to a message's calls: it stands in no message of its own."""
    calls = message.get("toolCalls")
    calls = calls if isinstance(calls, list) else []
    results = (call.get("result") for call in calls if isinstance(call, dict))
    return [part for result in results if isinstance(result, list) for part in result]
