"""What all formats share: reading one line, adding up its tokens, counting compactions."""

from __future__ import annotations

import gc
import os
import stat

from gitguard.errors import GitguardError, InvalidDocument, NotPermitted
from gitguard.model.codec import json_decoder
from gitguard.model.events import MOST_TOKENS
from gitguard.model.text import seconds
from gitguard.model.value import Value
from gitguard.store.disk.files import lines_backwards, read_bytes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

    from gitguard.model.transcript import Compactions

COMPACTION, RESET = "compaction", "reset"
"""The turning points of a conversation."""
# The newest answer is part of the next context, so its output counts. What Claude's interface names
# input leaves out what came from or went into the cache.
_CLAUDES = (
    "input_tokens",
    "cache_read_input_tokens",
    "cache_creation_input_tokens",
    "output_tokens",
)
_PIS = ("input", "cacheRead", "cacheWrite", "output")
_MOST_ROWS_BACK = 200
"""Rows at the end among which a compaction's is that has just ended."""
_CLOCKS_DIFFER = 1.0
"""Seconds by which a row's time may be before ours."""
_NO_YEAR = 253_402_300_800
"""Unix seconds of the first moment whose year has more than four digits."""
_LARGEST_SETTINGS = 1 << 22
"""Bytes of a settings file beyond which it is not read: nobody wrote so much by hand."""
_NO_WAIT = getattr(os, "O_NONBLOCK", 0)
_MARK = b"\xef\xbb\xbf"
_BLANKS = b" \t\r\n"
_AROUND = b"\0" + _BLANKS
"""What crashes and other programs leave around a line; hosts read it all the same."""
_DEEPEST = 300
"""Levels of nesting beyond which a text stands for what is there. Python's own limit is no measure:
it depends on the caller, and later steps need more levels than parsing does."""
SHALLOW = 2 * _DEEPEST
"""Bytes up to which a line cannot have too many levels: each takes two brackets."""
_DIGITS = "integer string conversion"
"""What Python's error says of a number too long for it, which other programs may well read."""


class no_collections:  # noqa: N801 - used as a function
    """Switch off Python's cycle collector: it is slow with many entries, which form no cycles."""

    # A class, because a calm hook loads this module and `contextmanager` brings contextlib along.

    def __enter__(self) -> None:
        self._was_on = gc.isenabled()
        gc.disable()

    def __exit__(self, *_error: object) -> None:
        if self._was_on:
            gc.enable()


class Unread(Value):
    """Why a line holds no document."""

    problem: str = ""
    """Empty for a blank line, which says nothing."""


def open_file(path: str) -> int:
    """Open a regular file for reading; raise what `unreadable` returns for anything else."""
    # Without `_NO_WAIT`, opening a named pipe would wait for ever for somebody to write to it.
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | _NO_WAIT)
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise unreadable(path, "it is not a regular file")
    return handle


class OpenTranscript:
    """A regular file while it is read: gives its handle, and raises what `unreadable` returns."""

    def __init__(self, path: str) -> None:
        self._path = path

    def __enter__(self) -> int:
        try:
            self._handle = open_file(self._path)
        except OSError as error:
            raise unreadable(self._path, error) from error
        return self._handle

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        os.close(self._handle)
        if isinstance(error, OSError):
            raise unreadable(self._path, error) from error


def bytes_at(path: str, offset: int, length: int) -> bytes:
    """Return so many bytes of a file, as far as it has them; raise why it cannot be read."""
    with OpenTranscript(path) as handle:
        return os.pread(handle, length, offset)


def backwards(path: str) -> Iterator[bytes]:
    """Yield the lines from the last to the first; the last may be torn."""
    try:
        os.close(open_file(path))
        yield from lines_backwards(path)
    except OSError as error:
        raise unreadable(path, error) from error


def documents_backwards(path: str, marks: tuple[bytes, ...]) -> Iterator[dict[str, Any]]:
    """Yield the documents of the lines that contain a mark, from the last to the first."""
    for line in backwards(path):
        if any(mark in line for mark in marks):
            yield parse(line)


def read_line(
    raw: bytes, errors: str = "replace", *, to_write: bool = False
) -> dict[str, Any] | Unread:
    """Return the document that a line holds, or why it holds none; every line is read here.

    A byte-order mark and NULs around the document are ignored. Bytes that are not UTF-8 are read as
    U+FFFD, as hosts do. What is nested too deeply, and a number that is too long, are texts that
    say so. To write the line again without loss, pass `surrogateescape` for errors and to_write.
    """
    is_bare = raw[:1] == b"{" and raw[-1:] == b"}"
    text = raw if is_bare else cleaned(raw)
    if not text and not raw.strip(_BLANKS):
        return Unread()
    decode = _decoder_to_write() if to_write else _decode
    try:
        document = decode(text.decode(errors=errors))
    except RecursionError:
        return _read_oddly(text, errors, to_write=to_write)
    except ValueError as problem:
        if _DIGITS in str(problem):
            return _read_oddly(text, errors, to_write=to_write)
        return Unread(str(problem)[:200])
    if not isinstance(document, dict):
        return Unread(f"it holds no object, but a {type(document).__name__}")
    if len(raw) > SHALLOW and is_deep(raw, document):
        return _read_oddly(text, errors, to_write=to_write)
    return document


def _read_oddly(text: bytes, errors: str, *, to_write: bool) -> dict[str, Any] | Unread:
    from gitguard.transcripts.odd_lines import described, held, shortened

    decode = _decoder_to_write() if to_write else _decode
    try:
        short = shortened(text.decode(errors=errors), _DEEPEST, held if to_write else described)
        document = decode(short)
    except RecursionError:
        return Unread("it is nested too deeply")
    except ValueError as problem:
        return Unread(str(problem)[:200])
    if not isinstance(document, dict):
        return Unread(f"it holds no object, but a {type(document).__name__}")
    return document


def _decoder_to_write() -> Callable[[str], Any]:
    from gitguard.transcripts.odd_lines import decode_to_write

    return decode_to_write


def cleaned(raw: bytes) -> bytes:
    """Return a line without the byte-order mark and the NULs around it; blanks stay."""
    text = raw.strip(_AROUND).removeprefix(_MARK).strip(_AROUND)
    if not text or len(text) == len(raw):
        return text
    before, _, behind = raw.partition(text)
    before = before.replace(_MARK, b"").replace(b"\0", b"")
    return before + text + behind.replace(b"\0", b"")


def is_deep(raw: bytes, document: dict[str, Any]) -> bool:
    """Say whether a line's document has more levels than are dealt with."""
    # Every level takes two bytes, and one bracket that opens it.
    if len(raw) <= SHALLOW or raw.count(b"{") + raw.count(b"[") <= _DEEPEST:
        return False
    # Level by level and not by recursion, whose own bound is what this is to keep away from.
    level: list[Any] = [document]
    for _ in range(_DEEPEST):
        if not level:
            return False
        level = [
            inside
            for item in level
            for inside in (item.values() if isinstance(item, dict) else item)
            if isinstance(inside, (dict, list))
        ]
    return bool(level)


def _refuse(constant: str) -> Any:
    raise ValueError(f"`{constant}` is nothing that JSON has")


_decode = json_decoder(constant=_refuse)


def parse(text: bytes) -> dict[str, Any]:
    """Parse one entry; a torn or foreign one is empty."""
    document = read_line(text)
    return {} if isinstance(document, Unread) else document


def inner(entry: dict[str, Any], name: str) -> dict[str, Any]:
    """Return the object that an entry has under a name; empty if there is none."""
    value = entry.get(name)
    return value if isinstance(value, dict) else {}


def time_of(entry: dict[str, Any]) -> float:
    """Return an entry's `timestamp` in Unix seconds; 0 if it is missing or malformed."""
    stamp = entry.get("timestamp")
    try:
        return seconds(stamp) if isinstance(stamp, str) else 0
    except ValueError:
        return 0


def unix_seconds(milliseconds: float) -> float:
    """Return a host's milliseconds as Unix seconds, 0 where they are no moment that has a date."""
    return milliseconds / 1000 if 0 < milliseconds < _NO_YEAR * 1000 else 0


def texts(content: Any) -> list[str]:
    """Return the text blocks of a message's content, which may also be one plain text."""
    if isinstance(content, str):
        return [content]
    blocks = [b for b in content if isinstance(b, dict)] if isinstance(content, list) else []
    values = [block.get("text") for block in blocks if block.get("type") == "text"]
    return [text for text in values if isinstance(text, str)]


def tokens(usage: Any, counted: tuple[str, ...]) -> int:
    """Add up the named numbers of a usage; at most `MOST_TOKENS`, 0 if one is not a number."""
    return min(max(added(usage, counted), 0), MOST_TOKENS)


def added(usage: Any, counted: tuple[str, ...]) -> int:
    """Add up the named numbers, however large; 0 if one is not a number."""
    if not isinstance(usage, dict):
        return 0
    try:  # a number such as 1e999 is read as infinity, which no integer is
        return sum([int(usage.get(name) or 0) for name in counted])
    except (TypeError, ValueError, OverflowError):
        return 0


def claudes_tokens(usage: Any) -> int:
    """Return the tokens in the context by an answer's usage, with the names of Claude's API."""
    return tokens(usage, _CLAUDES)


def pis_tokens(usage: Any) -> int:
    """Return the same with the names of pi and OpenClaw; newer versions give the sum itself."""
    context_usage = usage.get("contextUsage") if isinstance(usage, dict) else None
    return tokens(context_usage, ("totalTokens",)) or tokens(usage, _PIS)


def summary_since(
    rows: Iterable[bytes],
    mark: bytes,
    since: float,
    summary_of: Callable[[dict[str, Any]], str],
    moment_of: Callable[[dict[str, Any]], float] = time_of,
) -> str:
    """Return the summary of a compaction since a time, empty if none is among the newest rows.

    Rows come newest first; since is in Unix seconds. Only rows with the mark are parsed, and
    summary_of returns an empty text for one that is no compaction.
    """
    for _, row in zip(range(_MOST_ROWS_BACK), rows, strict=False):
        if mark in row and (summary := summary_of(entry := parse(row))):
            return summary if moment_of(entry) >= since - _CLOCKS_DIFFER else ""
    return ""


def settings_in(path: str) -> dict[str, Any]:
    """Return a host's settings file; empty if it is missing or cannot be read."""
    try:  # people keep their settings elsewhere and link to them
        return parse(read_bytes(os.path.realpath(path), limit=_LARGEST_SETTINGS) or b"")
    except GitguardError:
        return {}


def unreadable(path: str, reason: object) -> InvalidDocument:
    """Return the error for a transcript that is damaged, or that we are not allowed to read."""
    if isinstance(reason, PermissionError):
        return NotPermitted(f"cannot read the transcript `{path}`: {reason.strerror}")
    explanation = reason.strerror if isinstance(reason, OSError) else reason
    return InvalidDocument(f"cannot read the transcript `{path}`: {explanation}")


def count(turning_points: Iterable[tuple[int, str, float]], begin: int) -> Compactions:
    """Count compactions from a cursor on; a reset starts the count again.

    A turning point is the position behind it, `COMPACTION` or `RESET`, and its time in Unix
    seconds. An empty name only says how far the search got, so that the cursor can advance.
    """
    from gitguard.model.transcript import Compactions

    compactions = Compactions(upto=begin, anew=not begin)
    for behind, kind, at in turning_points:
        if kind == RESET:
            compactions = Compactions()
        elif kind == COMPACTION:
            compactions = compactions.replace(count=compactions.count + 1, newest_at=at)
        compactions = compactions.replace(upto=behind)
    return compactions
