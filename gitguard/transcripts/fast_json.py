"""JSON for whole transcripts: orjson where a file is large enough to earn its import.

Importing it takes as long as Python's own functions need for four megabytes. What it refuses and
they read (such as half a surrogate pair) is left to them, and so are the reasons for what neither
reads.
"""

from __future__ import annotations

from math import isfinite

from gitguard.model.codec import json_encoder
from gitguard.transcripts.entries import SHALLOW, Unread, is_deep, read_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Read = Callable[[bytes], dict[str, Any] | Unread]

_EARNS_IT = 4 << 20
"""Bytes from which on it is faster with its import than without."""
_write = json_encoder(members=",", colon=":", allow_nan=False)


def reader(size: int, closely: Read = read_line) -> Read:
    """Return what reads one line of a file of that many bytes, as `entries.read_line` does.

    closely is asked for every line that is not plainly a document, as in a small file for all.
    """
    if size < _EARNS_IT:
        return closely
    from orjson import loads

    def read(raw: bytes) -> dict[str, Any] | Unread:
        try:
            document = loads(raw)
        except ValueError:
            return closely(raw)
        # orjson reads more levels than later steps, which recurse, can deal with.
        if type(document) is dict and (len(raw) <= SHALLOW or not is_deep(raw, document)):
            return document
        return closely(raw)

    return read


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
    return None if isinstance(value, float) and not isfinite(value) else value
