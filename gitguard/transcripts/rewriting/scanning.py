"""Looking a transcript's file through for repair: what parses, what does not, what stands where.

Of an entry only that is kept which repairs are decided on, and nothing while all are sound, so that
a large file needs little memory.
"""

from __future__ import annotations

import os
from json import JSONDecoder

from gitguard.model.conversation import (
    AGENT,
    COMPACTION,
    HEADER,
    MESSAGE,
    RESET,
    UNKNOWN,
    TranscriptEntry,
)
from gitguard.model.value import Value
from gitguard.transcripts.entries import (
    OpenTranscript,
    Unread,
    cleaned,
    read_line,
)
from gitguard.transcripts.fast_json import reader
from gitguard.transcripts.rewriting.images import MARK as IMAGE_MARK
from gitguard.transcripts.rewriting.images import LargeImage, large_images
from gitguard.transcripts.rewriting.signatures import MARK as SIGNATURE_MARK
from gitguard.transcripts.rewriting.signatures import refused_at
from gitguard.transcripts.rewriting.soundness import Soundness

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from gitguard.transcripts.rewriting.replacing import FileIdentity
    from gitguard.transcripts.rewriting.tree import Writable

    IsRecord = Callable[[dict[str, Any]], bool]

_BLOCK = 1 << 20
_FORGET_AFTER = 50_000
"""Entries, about a kilobyte each, that are kept although all of them are sound."""
_LONGEST = 1 << 27
"""Bytes beyond which a line is left alone: parsing takes several times its size in memory."""
_TURNS = (COMPACTION, RESET)


class Broken(Value):
    """A line that does not parse."""

    at: int
    size: int
    problem: str


class Split(Value):
    """A line that holds whole records, glued together or to a torn one."""

    at: int
    line: bytes
    """The records, each a line."""
    records: int
    torn: int
    """Bytes that belong to none of them."""


class Scan:
    """What a file holds."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self.lines = 0
        self.entries: list[TranscriptEntry] = []
        """Those that have a place in the tree, or say something to the model; none of them where
        all are sound."""
        self.broken: list[Broken] = []
        self.splits: list[Split] = []
        self.images: list[LargeImage] = []
        self.unsigned: list[tuple[int, tuple[str | int, ...], str]] = []
        """Calls and results whose signature no API takes: entry, place in it, and id."""
        self.cleaned: dict[int, bytes] = {}
        """Lines that parse without the byte-order mark or the NULs around them."""
        self.headers: list[TranscriptEntry] = []
        self.first = -1
        """Where the first entry begins."""
        self.pointers: list[int] = []
        self.has_answer = False
        self.bad_text = 0
        """Lines with bytes that are no UTF-8, which hosts read all the same."""
        self.unjudged = 0
        """Lines too long to be parsed here."""
        self.messages = 0
        """Messages of the conversation's own."""
        self.is_ended = True
        self.is_plain = True
        """Whether all entries are one conversation in their order, as far as it ever went."""


class _Forgotten(Exception):
    """An entry is not sound, and those before it were not kept."""


def scan(
    path: str,
    seen: FileIdentity,
    writable: Writable,
    tell: Callable[[int, int], object] = max,
    *,
    forget_after: int | None = _FORGET_AFTER,
) -> Scan:
    """Read a file as far as it went when it was looked at; tell hears how far that is.

    After so many entries that are all sound none is kept any more, or a long conversation would
    take a kilobyte of memory for each. When one is not sound after all, the file is read again from
    its beginning. With None all are kept, whether they are sound or not.
    """
    with OpenTranscript(path) as handle:
        sketch = writable.sketch_in(path)
        try:
            scanner = _TranscriptScanner(writable, sketch, seen.size, forget_after)
            return scanner.read(_lines(handle, seen.size, tell))
        except _Forgotten:
            scanner = _TranscriptScanner(writable, sketch, seen.size, None)
            return scanner.read(_lines(handle, seen.size, tell))


class _TranscriptScanner:
    def __init__(
        self,
        writable: Writable,
        sketch: Callable[[dict[str, Any]], dict[str, Any]],
        size: int,
        forget_after: int | None,
    ) -> None:
        self._read = reader(size, self._closely)
        self._at = 0
        self._sketch = sketch
        self._is_record = writable.is_record
        self._pointers = writable.POINTERS
        self._scan = Scan()
        self._newest = ""
        self._is_chain = self._is_flat = True
        """Whether each entry follows the one before it, or none says what it follows."""
        self._soundness = None if forget_after is None else Soundness(writable)
        """None once something is not sound."""
        self._forget_after = forget_after or 0
        self._has_forgotten = False

    def read(self, lines: Iterator[tuple[int, int, bytes]]) -> Scan:
        scan, read = self._scan, self._read
        for at, end, raw in lines:
            scan.lines += 1
            self._at = at
            document = read(raw)
            if isinstance(document, dict):  # quicker to ask than whether it is an `Unread`
                self._take(at, end, document)
                if SIGNATURE_MARK in raw:
                    scan.unsigned += [(at, *where) for where in refused_at(document)]
                if IMAGE_MARK in raw:
                    scan.images += large_images(at, document)
            else:
                self._leave(at, end, raw, document)
            scan.is_ended = end > at + len(raw) or raw.isspace()
            del document, raw  # of a long line there are copies enough as it is
        scan.is_plain = scan.is_plain and (self._is_chain or self._is_flat)
        if self._soundness is not None and self._soundness.is_complete:
            scan.entries.clear()
        elif self._has_forgotten:
            raise _Forgotten
        return scan

    def _take(self, at: int, end: int, document: dict[str, Any]) -> None:
        scan = self._scan
        fields = self._sketch(document)
        if scan.first < 0:
            scan.first = at
        kind, id_ = fields["kind"], fields["id"]
        if fields["parent"] == self._newest:
            fields["parent"] = self._newest  # one text instead of two
            if self._newest:
                self._is_flat = False
        elif id_ and kind != HEADER:
            self._is_chain = False
            self._is_flat = self._is_flat and not fields["parent"]
        if kind == HEADER:
            scan.headers.append(TranscriptEntry.of(at, end, b"", fields))
        elif id_ or kind != UNKNOWN or "blocks" in fields:
            self._newest = id_ or self._newest
            if kind in _TURNS or "is_aside" in fields or (self._newest and not id_):
                scan.is_plain = False
            if kind == MESSAGE:
                scan.messages += "is_aside" not in fields
                if not scan.has_answer and fields.get("role") == AGENT:
                    scan.has_answer = True
            if self._soundness is not None:
                self._judge(fields, self._soundness)
            if not self._has_forgotten:
                scan.entries.append(TranscriptEntry.of(at, end, b"", fields))
        if not self._pointers.isdisjoint(document):
            scan.pointers.append(at)

    def _judge(self, fields: dict[str, Any], soundness: Soundness) -> None:
        """Keep all entries from now on if another one is not sound, and none if there are many."""
        is_plain = self._scan.is_plain and (self._is_chain or self._is_flat)
        if not (is_plain and soundness.takes(fields)):
            self._soundness = None
            if self._has_forgotten:
                raise _Forgotten
        elif not self._has_forgotten and len(self._scan.entries) >= self._forget_after:
            self._has_forgotten = True
            self._scan.entries.clear()

    def _closely(self, raw: bytes) -> dict[str, Any] | Unread:
        """Read a line that may be odd, and keep in mind what is odd about it."""
        document = read_line(raw, "surrogateescape")
        if not isinstance(document, Unread):
            if (text := cleaned(raw)) != raw:
                self._scan.cleaned[self._at] = text
            elif not _is_text(raw):
                self._scan.bad_text += 1
        return document

    def _leave(self, at: int, end: int, raw: bytes, why: Unread) -> None:
        if why.problem:
            records = records_in(raw, self._is_record)
            if records:
                self._split(at, raw, records)
            else:
                self._scan.broken.append(Broken(at, end - at, why.problem))
        elif end - at > 1 + len(raw):
            self._scan.unjudged += 1

    def _split(self, at: int, raw: bytes, records: list[bytes]) -> None:
        returned = b"\r" if raw.endswith(b"\r") else b""
        line = (returned + b"\n").join(records) + returned
        self._scan.splits.append(Split(at, line, len(records), remnants(raw, records)))


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


# Records that lost the line end between them: whole ones glued together, or behind a torn one


_BEGIN = '{"'
_AROUND = "\0\ufeff \t\r\n"
_INSIDE = ":,["
"""What stands before an object that is a part of another one."""
_MOST_BY_HAND = 64
"""Objects of one line whose end is looked for bracket by bracket, which is slow."""


def records_in(raw: bytes, is_record: IsRecord) -> list[bytes]:
    """Return the whole records in a line that is no document; what is torn is left out.

    is_record says whether a document is a line of the transcript's format.
    """
    text = raw.decode(errors="surrogateescape")
    records: list[bytes] = []
    ends = _Ends(text)
    position = text.find("{")
    while 0 <= position < len(text):
        end = ends.behind(position)
        record = text[position:end].encode(errors="surrogateescape") if end > 0 else b""
        if record and _is_one(record, is_record) and _stands_alone(text, position, end):
            records.append(record)
            position = end
        else:
            position += 1
        position = text.find(_BEGIN, position)
    return records


def remnants(raw: bytes, records: list[bytes]) -> int:
    """Return how many bytes of a line belong to none of its records."""
    return len(cleaned(raw).strip()) - sum(map(len, records))


def _stands_alone(text: str, begin: int, end: int) -> bool:
    """Say whether an object can be a line's: what goes on behind one is inside of another."""
    before = begin - 1
    while before >= 0 and text[before] in _AROUND:
        before -= 1
    while end < len(text) and text[end] in _AROUND:
        end += 1
    return end == len(text) or text[end] == "{" or before < 0 or text[before] not in _INSIDE


def _is_one(record: bytes, is_record: IsRecord) -> bool:
    document = read_line(record, "surrogateescape")
    return not isinstance(document, Unread) and is_record(document)


class _Ends:
    """Where the objects in a text end."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._decode = JSONDecoder().raw_decode
        self._by_hand = 0

    def behind(self, begin: int) -> int:
        """Return the place behind an object, -1 where it has no end."""
        try:
            return self._decode(self._text, begin)[1]
        except RecursionError:
            return self._by_brackets(begin)
        except ValueError as problem:
            is_long = "integer string conversion" in str(problem)
            return self._by_brackets(begin) if is_long else -1

    def _by_brackets(self, begin: int) -> int:
        from gitguard.transcripts.odd_lines import TOKENS

        self._by_hand += 1
        if self._by_hand > _MOST_BY_HAND:
            return -1
        depth = 0
        for token in TOKENS.finditer(self._text, begin):
            depth += {"{": 1, "[": 1, "}": -1, "]": -1}.get(token[0], 0)
            if depth == 0:
                return token.end()
        return -1
