"""Looking a transcript's file through for repair: what parses, what does not, what stands where.

One pass in which each line is parsed once. Of an entry only that is kept which repairs are decided
on, so that a large file needs little memory.
"""

from __future__ import annotations

import os

from gitguard.model.conversation import (
    AGENT,
    COMPACTION,
    HEADER,
    RESET,
    UNKNOWN,
    Entry,
)
from gitguard.model.value import Value
from gitguard.transcripts.entries import Unread, cleaned, open_file, read_line, unreadable
from gitguard.transcripts.fast_json import reader

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from gitguard.transcripts.rewriting.replacing import Standing
    from gitguard.transcripts.rewriting.tree import Writable

_BLOCK = 1 << 20
_LONGEST = 1 << 27
"""Bytes beyond which a line is left alone: parsing takes several times its size in memory."""
_TURNS = (COMPACTION, RESET)


class Broken(Value):
    """A line that does not parse."""

    at: int
    size: int
    problem: str


class Scan:
    """What a file holds."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self.lines = 0
        self.entries: list[Entry] = []
        """Those that have a place in the tree, or say something to the model."""
        self.broken: list[Broken] = []
        self.cleaned: dict[int, bytes] = {}
        """Lines that parse without the byte-order mark or the NULs around them."""
        self.headers: list[Entry] = []
        self.first = -1
        """Where the first entry begins."""
        self.pointers: list[int] = []
        self.has_answer = False
        self.bad_text = 0
        """Lines with bytes that are no UTF-8, which hosts read all the same."""
        self.unjudged = 0
        """Lines too long or too deep to be parsed here."""
        self.is_ended = True
        self.is_plain = True
        """Whether all entries are one conversation in their order, as far as it ever went."""


def scan(
    path: str, seen: Standing, writable: Writable, tell: Callable[[int, int], object] = max
) -> Scan:
    """Read a file once, as far as it went when it was looked at; tell hears how far that is."""
    try:
        handle = open_file(path)
    except OSError as error:
        raise unreadable(path, error) from error
    try:
        scanner = _Scanner(writable, seen.size)
        return scanner.read(_lines(handle, seen.size, tell))
    except OSError as error:
        raise unreadable(path, error) from error
    finally:
        os.close(handle)


class _Scanner:
    def __init__(self, writable: Writable, size: int) -> None:
        self._read = reader(size, self._closely)
        self._at = 0
        self._sketch: Callable[[dict[str, Any]], dict[str, Any]] = writable.sketch
        self._pointers = writable.POINTERS
        self._found = Scan()
        self._newest = ""
        self._is_chain = self._is_flat = True
        """Whether each entry follows the one before it, or none says what it follows."""

    def read(self, lines: Iterator[tuple[int, int, bytes]]) -> Scan:
        found, read = self._found, self._read
        for at, end, raw in lines:
            found.lines += 1
            self._at = at
            document = read(raw)
            if isinstance(document, dict):  # quicker to ask than whether it is an `Unread`
                self._take(at, end, document)
            else:
                self._leave(at, end, raw, document)
            found.is_ended = end > at + len(raw) or raw.isspace()
            del document, raw  # of a long line there are copies enough as it is
        found.is_plain = found.is_plain and (self._is_chain or self._is_flat)
        return found

    def _take(self, at: int, end: int, document: dict[str, Any]) -> None:
        found = self._found
        fields = self._sketch(document)
        if found.first < 0:
            found.first = at
        kind, own = fields["kind"], fields["id"]
        if fields["parent"] == self._newest:
            fields["parent"] = self._newest  # one text instead of two
            self._is_flat = self._is_flat and not self._newest
        elif own and kind != HEADER:
            self._is_chain = False
            self._is_flat = self._is_flat and not fields["parent"]
        if kind == HEADER:
            found.headers.append(Entry.of(at, end, b"", fields))
        elif own or kind != UNKNOWN:
            found.entries.append(Entry.of(at, end, b"", fields))
            self._newest = own or self._newest
            if kind in _TURNS or "is_aside" in fields or (self._newest and not own):
                found.is_plain = False
            if not found.has_answer and fields.get("role") == AGENT:
                found.has_answer = True
        if not self._pointers.isdisjoint(document):
            found.pointers.append(at)

    def _closely(self, raw: bytes) -> dict[str, Any] | Unread:
        """Read a line that may be odd, and keep in mind what is odd about it."""
        document = read_line(raw, "surrogateescape")
        if not isinstance(document, Unread):
            if (text := cleaned(raw)) != raw:
                self._found.cleaned[self._at] = text
            elif not _is_text(raw):
                self._found.bad_text += 1
        return document

    def _leave(self, at: int, end: int, raw: bytes, why: Unread) -> None:
        if why.problem and not why.is_readable:
            self._found.broken.append(Broken(at, end - at, why.problem))
        elif why.problem or end - at > 1 + len(raw):
            self._found.unjudged += 1


def _is_text(raw: bytes) -> bool:
    try:
        raw.decode()
    except UnicodeDecodeError:
        return False
    return True


def _lines(
    handle: int, size: int, tell: Callable[[int, int], object]
) -> Iterator[tuple[int, int, bytes]]:
    """Yield each line's offset, the one behind its end, and the line; too long a one is empty."""
    at, position = 0, 0
    parts: list[bytes] = []
    """The beginning of a line of which the end was not read yet."""
    while position < size:
        data = os.pread(handle, min(_BLOCK, size - position), position)
        if not data:
            raise OSError(0, "it became shorter while it was read")
        tell(position, size)
        first, *lines = data.split(b"\n")
        parts.append(first)
        position += len(data)
        if position - at > _LONGEST + len(data):
            parts.clear()
        if not lines:
            continue
        whole = [b"".join(parts)]
        parts.clear()
        end = position - len(data) + len(first) + 1
        yield at, end, whole.pop()  # nobody here keeps a long one
        at = end
        parts = [lines.pop()]
        for line in lines:
            end = at + len(line) + 1
            yield at, end, line
            at = end
    if position > at:
        yield at, position, b"".join(parts)
