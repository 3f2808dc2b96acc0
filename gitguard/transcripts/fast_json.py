"""JSON for whole transcripts: orjson where a file is large enough to earn its import.

Importing it takes as long as Python's own functions need for four megabytes. What it refuses and
they read (such as NaN, or half a surrogate pair) is left to them, and so are the reasons for what
neither reads.
"""

from __future__ import annotations

from gitguard.model import json_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_EARNS_IT = 4 << 20
"""Bytes from which on it is faster with its import than without."""
_AROUND = b"\0 \t\r"
"""What crashes and other programs leave around a line; hosts read it all the same."""
_MARK = b"\xef\xbb\xbf"
_write = json_text.encoder(members=",", colon=":", allow_nan=False)


def _refuse(constant: str) -> Any:
    raise ValueError(f"`{constant}` is nothing that JSON has")


exact = json_text.decoder(constant=_refuse)
"""Reads one text, and refuses what only Python reads."""


def reader(size: int) -> Callable[[bytes], Any]:
    """Return a function that reads one line of a file of that many bytes.

    It raises `ValueError` or `RecursionError` for what is no JSON. Bytes that are no UTF-8 are read
    as U+FFFD, as hosts do, and so is a line behind a byte-order mark or between NULs.
    """
    if size < _EARNS_IT:
        return _read
    from orjson import loads

    def read(raw: bytes) -> Any:
        try:
            return loads(raw)
        except ValueError:
            return _read(raw)

    return read


def strict(size: int) -> Callable[[bytes], Any]:
    """Return a function that reads one line as it stands; what it refuses may be JSON all the same.

    It raises `ValueError` or `RecursionError`.
    """
    if size < _EARNS_IT:
        return lambda raw: exact(raw.decode())
    from orjson import loads

    return loads


def writer(size: int) -> Callable[[Any], bytes]:
    """Return a function that writes a value as one line, for about that many bytes in all."""
    if size < _EARNS_IT:
        return _written
    from orjson import OPT_APPEND_NEWLINE, dumps

    def write(value: Any) -> bytes:
        try:
            return dumps(value, None, OPT_APPEND_NEWLINE)
        except TypeError:
            return _written(value)

    return write


def _read(raw: bytes) -> Any:
    text = raw.strip(_AROUND).removeprefix(_MARK).decode(errors="replace")
    return json_text.decode(text)


def _written(value: Any) -> bytes:
    try:
        text = _write(value)
    except ValueError:
        text = _write(_finite(value))
    return f"{text}\n".encode(errors="backslashreplace")


def _finite(value: Any) -> Any:
    """Return a value with null in place of numbers that JSON does not have, as orjson does."""
    if isinstance(value, dict):
        return {name: _finite(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and value - value != 0 else value
