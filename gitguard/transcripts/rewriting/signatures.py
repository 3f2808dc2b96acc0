"""Signatures that no API takes: of thinking, which is refused with them, and of calls and results.

All are base64, but for the encrypted reasoning of OpenRouter, which pi keeps as JSON at its call. A
proxy of another model, or an answer that was cut off, leaves what is none of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gitguard.model.codec import parse_json
from gitguard.transcripts.rewriting.images import replaced_at
from gitguard.transcripts.session_entries import OPENCLAW

MARK = b"ignature"
"""What a line holds that has a signature."""
_MEMBERS = ("signature", "thoughtSignature", "thought_signature")
_OF_THINKING = {"thinking": "signature", "redacted_thinking": "data"}
_PAIRED = frozenset(("tool_use", "tool_result", *OPENCLAW.calls))
"""Blocks that are calls or results; of others nobody here knows what signs them."""
_NO_LETTERS = str.maketrans("", "", "+/=-_")


def is_signature(value: Any) -> bool:
    """Say whether a value is base64, of either alphabet, and not empty."""
    return isinstance(value, str) and value.isascii() and value.translate(_NO_LETTERS).isalnum()


def _is_taken(value: Any) -> bool:
    """Say whether an API takes a value as the signature of a call or a result."""
    return is_signature(value) or (isinstance(value, str) and _is_reasoning(value))


def _is_reasoning(text: str) -> bool:
    """Say whether a text is a detail of the reasoning that OpenRouter wants back with the call."""
    if not text.startswith("{"):
        return False
    try:
        detail = parse_json(text)
    except (ValueError, RecursionError):
        return False
    kind = detail.get("type")
    return isinstance(kind, str) and kind.startswith("reasoning.") and "data" in detail


def is_signed(block: dict[str, Any]) -> bool:
    """Say whether a block of thinking has a signature; other blocks need none."""
    member = _OF_THINKING.get(str(block.get("type")))
    return member is None or is_signature(block.get(member))


def refused_at(document: dict[str, Any]) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Yield where calls and results stand whose signature no API takes, with the id of each."""
    message = document.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    for at, block in enumerate(content if isinstance(content, list) else ()):
        if isinstance(block, dict) and block.get("type") in _PAIRED:
            members = (block[name] for name in _MEMBERS if name in block)
            if not all(map(_is_taken, members)):
                call_id = block.get("id") or block.get("tool_use_id")
                yield ("message", "content", at), str(call_id or "")


def unsigned(document: dict[str, Any], path: tuple[str | int, ...]) -> dict[str, Any]:
    """Return a document in which the block at a place has no refused signature."""
    block: Any = document
    for name in path:
        block = block[name]
    members = {k: v for k, v in block.items() if k not in _MEMBERS or _is_taken(v)}
    changed: dict[str, Any] = replaced_at(document, path, members)
    return changed
