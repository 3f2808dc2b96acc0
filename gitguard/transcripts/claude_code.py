"""Claude Code's JSONL transcript (recorded with 2.1.330).

One API message is written as several lines with the same id and usage, so usages are never added
up. Sub-agents' lines are marked as side chains and say nothing about the main conversation.
"""

from __future__ import annotations

import json

from gitguard.errors import InvalidDocument
from gitguard.model.text import seconds
from gitguard.store.files import lines_backwards
from gitguard.transcripts.usage import Usage

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_MARKS = (b'"usage"', b'"compact_boundary"')
_COUNTED = (
    "input_tokens",
    "cache_read_input_tokens",
    "cache_creation_input_tokens",
    "output_tokens",
)


def read_usage(path: str) -> Usage:
    """Find the newest usage, from the end backwards; raise `InvalidDocument` if unreadable."""
    try:
        for line in lines_backwards(path):
            if any(mark in line for mark in _MARKS):
                usage = _usage(line)
                if usage is not None:
                    return usage
    except OSError as error:
        raise InvalidDocument(f"cannot read the transcript `{path}`: {error.strerror}") from error
    return Usage(None, 0.0)


def _usage(line: bytes) -> Usage | None:
    try:
        entry = json.loads(line)
        at = seconds(entry["timestamp"])
        if entry.get("subtype") == "compact_boundary":
            tokens = entry.get("compactMetadata", {}).get("postTokens")
            return Usage(tokens if isinstance(tokens, int) else None, at, after_compaction=True)
        if entry.get("type") != "assistant" or entry.get("isSidechain"):
            return None
        message = entry["message"]
        return Usage(_tokens(message["usage"]), at, str(message.get("model", "")))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None  # a torn or foreign line; an older one may still tell


def _tokens(usage: dict[str, Any]) -> int:
    return sum(int(usage.get(name) or 0) for name in _COUNTED)
