"""Signatures that no API takes: of thinking, which is refused with them, and of calls and results.

All are base64. A proxy of another model, or an answer that was cut off, leaves what is none.
"""

from __future__ import annotations

from gitguard.transcripts.rewriting.images import replaced_at

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

MARK = b"ignature"
"""What a line holds that has a signature."""
_MEMBERS = ("signature", "thoughtSignature", "thought_signature")
_OF_THINKING = {"thinking": "signature", "redacted_thinking": "data"}
_NO_LETTERS = str.maketrans("", "", "+/=-_")


def is_signature(value: Any) -> bool:
    """Say whether a value is base64, of either alphabet, and not empty."""
    return isinstance(value, str) and value.isascii() and value.translate(_NO_LETTERS).isalnum()


def is_signed(block: dict[str, Any]) -> bool:
    """Say whether a block of thinking has a signature; other blocks need none."""
    member = _OF_THINKING.get(str(block.get("type")))
    return member is None or is_signature(block.get(member))


def refused_at(document: dict[str, Any]) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Yield where calls and results stand whose signature no API takes, with the id of each."""
    message = document.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    for at, block in enumerate(content if isinstance(content, list) else ()):
        if isinstance(block, dict) and block.get("type") not in (*_OF_THINKING, "text"):
            members = (block[name] for name in _MEMBERS if name in block)
            if not all(map(is_signature, members)):
                call_id = block.get("id") or block.get("tool_use_id")
                yield ("message", "content", at), str(call_id or "")


def unsigned(document: dict[str, Any], path: tuple[str | int, ...]) -> dict[str, Any]:
    """Return a document in which the block at a place has no refused signature."""
    block: Any = document
    for name in path:
        block = block[name]
    members = {k: v for k, v in block.items() if k not in _MEMBERS or is_signature(v)}
    changed: dict[str, Any] = replaced_at(document, path, members)
    return changed
