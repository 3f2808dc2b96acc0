"""Claude Code's JSONL transcript (recorded with 2.1.330).

One API message is written as several lines with the same id and usage, so usages are never added
up. Sub-agents' lines are marked as side chains and say nothing about the main conversation.
"""

from __future__ import annotations

import json

from gitguard.errors import InvalidDocument
from gitguard.model.events import Reading
from gitguard.model.text import seconds
from gitguard.store.files import lines_backwards

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_USAGE, _BOUNDARY = b'"usage"', b'"compact_boundary"'
_COUNTED = (
    "input_tokens",
    "cache_read_input_tokens",
    "cache_creation_input_tokens",
    "output_tokens",
)


def newest_reading(path: str) -> Reading | None:
    """Find the newest usage since the last compaction, from the end backwards.

    None when nothing was measured since; raises `InvalidDocument` when the file does not read.
    """
    try:
        for line in lines_backwards(path):
            if _BOUNDARY in line and (boundary := _entry(line, "system", "compact_boundary")):
                return _after_compaction(boundary)
            if _USAGE in line and (answer := _entry(line, "assistant")):
                reading = _reading(answer)
                if reading is not None:
                    return reading
    except OSError as error:
        raise InvalidDocument(f"cannot read the transcript `{path}`: {error.strerror}") from error
    return None


def _entry(line: bytes, kind: str, subtype: str | None = None) -> dict[str, Any] | None:
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        return None  # a torn line; an older one may still tell
    right = isinstance(entry, dict) and entry.get("type") == kind
    return entry if right and entry.get("subtype") == subtype else None


def _after_compaction(entry: dict[str, Any]) -> Reading | None:
    try:
        tokens = entry["compactMetadata"]["postTokens"]
        at = seconds(entry["timestamp"])
        return Reading("transcript", at, tokens=int(tokens), after_compaction=True)
    except (KeyError, TypeError, ValueError):
        return None


def _reading(entry: dict[str, Any]) -> Reading | None:
    if entry.get("isSidechain"):
        return None
    try:
        message = entry["message"]
        tokens = _tokens(message["usage"])
        at = seconds(entry["timestamp"])
        return Reading("transcript", at, tokens=tokens, model=str(message.get("model", "")))
    except (KeyError, TypeError, ValueError, AttributeError):
        return None


def _tokens(usage: dict[str, Any]) -> int:
    return sum(int(usage.get(name) or 0) for name in _COUNTED)
