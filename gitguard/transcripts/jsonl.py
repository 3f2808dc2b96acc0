"""Transcripts of one JSON document a line, which a host appends to while we read.

Lines are read in large blocks, and only those that contain a marker need be parsed. A line is
whole when its line end is there; the last one may still be being written.
"""

from __future__ import annotations

import os
from itertools import islice

from gitguard.model.conversation import BROKEN, MESSAGE, UNKNOWN, TranscriptEntry
from gitguard.transcripts.entries import OpenTranscript, Unread, bytes_at, count, parse, unreadable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from gitguard.model.transcript import Compactions

    Tell = Callable[[str], object]

_BLOCK, _LONGEST = 1 << 20, 1 << 26
"""Bytes read at once, and those after which a line is skipped, so that memory stays bounded."""
_FIRST_LINES, _FIRST_LINES_END = 1_000, 1 << 20
"""First lines that a file is known by, and where the last of them begins; each may be long."""
_FIRST, _LAST = 1 << 18, 3 << 20
"""Bytes that are read of a conversation's beginning and end: all would take a prompt seconds."""
_SHORTEST = 16
"""Bytes below which a line says nothing; there may be millions of blank ones."""
COUNTED_AT_ONCE, PARSED_AT_ONCE = 1 << 27, 1 << 12
"""Bytes searched for turning points in one event, and lines parsed; the next continues there."""


def forwards(path: str, since: int = 0, tell: Tell | None = None) -> Iterator[bytes]:
    """Yield the whole lines from an offset on; of very many, only the first and the last ones.

    If lines are skipped, tell is called with a sentence that says so.
    """
    for stretch in stretches(path, since, tell):
        yield from stretch


def stretches(path: str, since: int = 0, tell: Tell | None = None) -> Iterator[Iterator[bytes]]:
    """Yield the same lines as one stretch, or as two if the middle is skipped.

    Read each stretch to its end before you take the next.
    """
    size, upto = _size(path), since
    most = _FIRST if size - since > _FIRST + _LAST else None

    def first_ones() -> Iterator[bytes]:
        nonlocal upto
        for block, upto in _blocks(path, since, most):  # noqa: B007 - how far it got
            yield from _long_enough(block)

    yield first_ones()
    if most is None:
        return
    begin = max(size - _LAST, upto)
    if tell is not None and begin > upto:
        tell(
            f"the transcript has {_megabytes(size)}; its first {_megabytes(upto)} and its last "
            f"{_megabytes(size - begin)} were read"
        )
    # The line in which the last ones begin is torn, and its rest is no entry.
    yield (line for block, _ in _blocks(path, begin) for line in _long_enough(block))


def _long_enough(block: bytes) -> list[bytes]:
    return [line for line in block.split(b"\n") if len(line) >= _SHORTEST]


def _megabytes(size: int) -> str:
    return f"{size / (1 << 20):,.1f} MB"


def marked(
    path: str, markers: tuple[bytes, ...], since: int, *, most: int | None = None
) -> Iterator[tuple[int, bytes]]:
    """Yield the whole lines from an offset on that contain a marker, with the offset behind each.

    An empty line only says how far reading got. At most `most` bytes are read.
    """
    for data, whole, upto in _read(path, since, most):
        begin = upto - whole
        for start, end in _lines_with(data, whole, markers):
            yield begin + end + 1, data[start:end]
        yield upto, b""


def turning_points(
    path: str,
    since: int,
    markers: tuple[bytes, ...],
    describe: Callable[[bytes], tuple[str, str, float]],
) -> Iterator[tuple[int, str, float]]:
    """Yield what `entries.count` counts from an offset on; a repeated one counts once.

    describe returns the kind of a line with a marker, its id and its time. At most
    `COUNTED_AT_ONCE` bytes are searched and `PARSED_AT_ONCE` lines parsed; the next count continues
    behind them.
    """
    # Where one turning point was written twice, the first of the two may lie before the offset.
    # None means that nobody has looked there yet.
    before = None if since else ""
    parsed = 0
    for behind, line in marked(path, markers, since, most=COUNTED_AT_ONCE):
        if parsed == PARSED_AT_ONCE:
            return
        parsed += bool(line)
        kind, name, at = describe(line) if line else ("", "", 0.0)
        if kind:
            if before is None:
                before = _newest_id_before(path, since, markers, describe)
            is_again, before = bool(name) and name == before, name
            kind = "" if is_again else kind
        yield behind, kind, at


def count_compactions(
    path: str,
    since: int,
    markers: tuple[bytes, ...],
    describe: Callable[[bytes], tuple[str, str, float]],
) -> Compactions:
    """Count the turning points behind an offset, or all where the file is shorter than that."""
    begin = cursor(path, since)
    return count(turning_points(path, begin, markers, describe), begin)


def _newest_id_before(
    path: str,
    upto: int,
    markers: tuple[bytes, ...],
    describe: Callable[[bytes], tuple[str, str, float]],
) -> str:
    """Return the id of the newest turning point that lies close before an offset."""
    begin = max(upto - _BLOCK, 0)
    for line in reversed(bytes_at(path, begin, upto - begin).split(b"\n")):
        kind, name, _ = describe(line) if any(mark in line for mark in markers) else ("", "", 0)
        if kind:
            return name
    return ""


def entries(
    path: str, since: int, translate: Callable[[dict[str, Any]], dict[str, Any]]
) -> Iterator[TranscriptEntry]:
    """Yield all lines from an offset on as entries; translate returns the fields of one.

    A last line without a line end is an entry if it parses, and BROKEN otherwise.
    """
    from gitguard.transcripts.fast_json import reader

    read = reader(_size(path) - since)
    upto, make = since, TranscriptEntry.of
    # As `lines` does, but without a generator in between, which would take a tenth of the time.
    for block, behind in _blocks(path, since):
        if not block.endswith(b"\n"):
            yield entry_of(upto, behind, block, read=read, translate=translate)
            block = b""  # it is long, and not to be held while the next one is read
        at = upto
        for raw in block.split(b"\n")[:-1]:
            end = at + len(raw) + 1
            document = read(raw)
            if isinstance(document, dict):  # quicker to ask than whether it is an `Unread`
                yield make(at, end, raw, translate(document))
            else:
                yield _without_document(at, end, raw, document)
            at = end
        upto = behind
    for at, end, raw in _torn_end(path, upto):
        yield entry_of(at, end, raw, read=read, translate=translate)


def documents(path: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the offset and the document of every line that has one."""
    from gitguard.transcripts.fast_json import reader

    read = reader(_size(path))
    for at, _, raw in lines(path):
        document = read(raw)
        if not isinstance(document, Unread):
            yield at, document


def first_documents(path: str) -> Iterator[dict[str, Any]]:
    """Yield the documents of the first lines, by which a file is known."""
    for at, _, line in islice(lines(path), _FIRST_LINES):
        document = parse(line)
        del line  # which may be long, as the document, and is not to be held while more is read
        if document:
            yield document
        del document
        if at > _FIRST_LINES_END:
            return


def entry_at(
    path: str, at: int, end: int, translate: Callable[[dict[str, Any]], dict[str, Any]]
) -> TranscriptEntry:
    """Return the entry of one line by its offset and the one behind its end."""
    from gitguard.transcripts.fast_json import reader

    raw = bytes_at(path, at, end - at).removesuffix(b"\n")
    return entry_of(at, end, raw, read=reader(_size(path)), translate=translate)


def entry_of(
    at: int,
    end: int,
    raw: bytes,
    read: Callable[[bytes], dict[str, Any] | Unread],
    translate: Callable[[dict[str, Any]], dict[str, Any]],
) -> TranscriptEntry:
    """Return the entry of one line; translate returns its fields.

    A blank line is UNKNOWN. A line too long to be read comes without its text, and is BROKEN.
    """
    document = read(raw)
    if isinstance(document, Unread):
        return _without_document(at, end, raw, document)
    return TranscriptEntry.of(at, end, raw, translate(document))


def _without_document(at: int, end: int, raw: bytes, why: Unread) -> TranscriptEntry:
    problem = why.problem
    if not problem and end - at > len(raw) + 1:
        problem = f"it has {end - at:,} bytes, which is more than is read at once"
    return TranscriptEntry(at, end, raw, kind=BROKEN if problem else UNKNOWN, problem=problem)


def withdrawn(entry: TranscriptEntry) -> TranscriptEntry:
    """Return an entry that was taken back: the model does not see it, nor do its tokens count."""
    if entry.kind not in (MESSAGE, UNKNOWN):
        return entry
    return entry.replace(kind=UNKNOWN, role="", blocks=(), tokens=0)


def lines(path: str, since: int = 0) -> Iterator[tuple[int, int, bytes]]:
    """Yield each line's offset, the offset behind its end, and the line; a long one is empty."""
    upto = since
    for block, behind in _blocks(path, since):
        if not block.endswith(b"\n"):
            yield upto, behind, block
            block = b""  # it is long, and not to be held while the next one is read
        at = upto
        for line in block.split(b"\n")[:-1]:
            end = at + len(line) + 1
            yield at, end, line
            at = end
        upto = behind
    yield from _torn_end(path, upto)


def _torn_end(path: str, since: int) -> Iterator[tuple[int, int, bytes]]:
    """Yield what lies behind the last line end; empty if it is too long to be read.

    This is most often one torn line. A host may have ended it since, and written more.
    """
    size = _size(path)
    if size < since:
        raise unreadable(path, "it became shorter while it was read")
    if size == since:
        return
    # The blocks end at the last line end that was there when they were read, so look again.
    torn = bytes_at(path, since, _LONGEST) if size - since < _LONGEST else b""
    if not torn:
        yield since, size, b""
    at = since
    for line in torn.split(b"\n"):
        end = min(at + len(line) + 1, since + len(torn))
        if end > at:
            yield at, end, line
        at = end


def cursor(path: str, since: int) -> int:
    """Return the offset to continue from: since, or 0 if the file is now shorter."""
    return since if since <= _size(path) else 0


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size
    except OSError as error:
        raise unreadable(path, error) from error


def _lines_with(data: bytes, whole: int, markers: tuple[bytes, ...]) -> list[tuple[int, int]]:
    """Return where the whole lines that contain a marker begin and end, in order."""
    lines = set()  # a line with two markers counts once
    for marker in markers:
        at = data.find(marker, 0, whole)
        while 0 <= at < whole:
            end = data.find(b"\n", at)
            if end < 0:  # a long line comes alone and without its end
                end = len(data)
            lines.add((data.rfind(b"\n", 0, at) + 1, end))
            at = data.find(marker, end + 1, whole)
    return sorted(lines)


def _blocks(path: str, since: int, most: int | None = None) -> Iterator[tuple[bytes, int]]:
    """Yield blocks of whole lines, with the offset behind each block.

    A line longer than a block comes alone and without its line end; one too long to be read comes
    as an empty block.
    """
    for data, whole, upto in _read(path, since, most):
        yield data[:whole], upto
        del data


def _read(path: str, since: int, most: int | None = None) -> Iterator[tuple[bytes, int, int]]:
    """Yield the bytes of one read, how many of them are whole lines, and the offset behind those.

    A line longer than a block comes alone and without its line end, so that nobody has to copy it.
    Reading ends behind the line that reaches `most` bytes, or inside it if it is too long.
    """
    end = None if most is None else since + most
    with OpenTranscript(path) as handle:
        at_once = _BLOCK if most is None else min(_BLOCK, most)
        position, size = since, at_once
        while data := os.pread(handle, size, position):
            whole = data.rfind(b"\n") + 1
            if not whole and len(data) == size < _LONGEST:
                size *= 2  # the line is longer than what was read: read it again with room
                continue
            if not whole and len(data) < size:
                return  # the file ends in a line that may still be being written
            if whole and size > _BLOCK:
                whole = data.find(b"\n") + 1
                data = b""  # of a long line there are copies enough as it is
                data = os.pread(handle, whole - 1, position)
            if whole:
                position += whole
            else:  # even `_LONGEST` bytes have no line end: skip the line
                position = _next_line(handle, position + size, end)
            if position < 0:
                return
            yield data, whole, position
            data = b""
            if end is not None and position >= end:
                return
            size = at_once


def _next_line(handle: int, position: int, end: int | None) -> int:
    """Return the offset behind the next line end, -1 if there is none; stop searching at end."""
    while data := os.pread(handle, _BLOCK, position):
        length = data.find(b"\n") + 1
        if length:
            return position + length
        position += len(data)
        if end is not None and position >= end:
            return position
    return -1
