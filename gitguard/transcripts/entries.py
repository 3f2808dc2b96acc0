"""What the formats have in common: finding the newest entry, reading one, and counting."""

from __future__ import annotations

import os
import stat

from gitguard.errors import GitguardError, InvalidDocument
from gitguard.model import json_text
from gitguard.model.text import seconds
from gitguard.store.files import lines_backwards, read_bytes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from gitguard.model.transcript import Compactions

COMPACTION, RESET = "compaction", "reset"
"""The turning points of a conversation."""
_CLAUDES = (
    "input_tokens",
    "cache_read_input_tokens",
    "cache_creation_input_tokens",
    "output_tokens",
)
_PIS = ("input", "cacheRead", "cacheWrite", "output")
_LARGEST_SETTINGS = 1 << 22
"""Bytes beyond which nobody wrote it by hand."""
_NO_WAIT = getattr(os, "O_NONBLOCK", 0)


def open_file(path: str) -> int:
    """Open a regular file for reading; raise what `unreadable` returns for anything else."""
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | _NO_WAIT)
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise unreadable(path, "it is not a regular file")
    return handle


def backwards(path: str) -> Iterator[bytes]:
    """Yield the lines from the last to the first; the last may be torn."""
    try:
        os.close(open_file(path))
        yield from lines_backwards(path)
    except OSError as error:
        raise unreadable(path, error.strerror) from error


def parse(text: bytes) -> dict[str, Any]:
    """Parse one entry; a torn or foreign one is empty."""
    try:
        found = json_text.decode(text.decode())
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def inner(entry: dict[str, Any], name: str) -> dict[str, Any]:
    """Return the object that an entry has under a name, empty where it has none."""
    found = entry.get(name)
    return found if isinstance(found, dict) else {}


def time_of(entry: dict[str, Any]) -> float:
    """Return the Unix seconds of an entry's `timestamp`, 0 if it has none that reads."""
    stamp = entry.get("timestamp")
    try:
        return seconds(stamp) if isinstance(stamp, str) else 0
    except ValueError:
        return 0


def texts(content: Any) -> list[str]:
    """Return the text blocks of a message's content, which may also be one plain text."""
    if isinstance(content, str):
        return [content]
    blocks = [b for b in content if isinstance(b, dict)] if isinstance(content, list) else []
    found = [block.get("text") for block in blocks if block.get("type") == "text"]
    return [text for text in found if isinstance(text, str)]


def tokens(usage: Any, counted: tuple[str, ...]) -> int:
    """Add up the named numbers of a usage; 0 where one of them is none."""
    if not isinstance(usage, dict):
        return 0
    try:
        return sum([int(usage.get(name) or 0) for name in counted])
    except (TypeError, ValueError, OverflowError):
        return 0


def claudes_tokens(usage: Any) -> int:
    """Return the tokens of a context by an answer's usage, as Claude's interface names them."""
    return tokens(usage, _CLAUDES)


def pis_tokens(usage: Any) -> int:
    """Return the same as pi and OpenClaw name them; newer ones tell the sum themselves."""
    told = usage.get("contextUsage") if isinstance(usage, dict) else None
    return tokens(told, ("totalTokens",)) or tokens(usage, _PIS)


def settings_in(path: str) -> dict[str, Any]:
    """Return what a host's settings file says, nothing where it is missing or does not read."""
    try:  # people keep their settings elsewhere and link to them
        return parse(read_bytes(os.path.realpath(path), limit=_LARGEST_SETTINGS) or b"")
    except GitguardError:
        return {}


def unreadable(path: str, reason: object) -> InvalidDocument:
    """Return the error for a transcript that does not read."""
    return InvalidDocument(f"cannot read the transcript `{path}`: {reason}")


def count(turning_points: Iterable[tuple[int, str, float]], begin: int) -> Compactions:
    """Count from a cursor on: each turning point is the position behind it, its name, its time.

    One without a name tells only how far looking has got.
    """
    from gitguard.model.transcript import Compactions

    found = Compactions(upto=begin, anew=not begin)
    for behind, kind, at in turning_points:
        if kind == RESET:
            found = Compactions()
        elif kind == COMPACTION:
            found = found.replace(count=found.count + 1, newest_at=at)
        found = found.replace(upto=behind)
    return found
