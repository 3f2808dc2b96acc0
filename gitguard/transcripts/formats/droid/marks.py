"""By what Factory Droid's transcripts are known."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_KINDS = frozenset(("session_start", "compaction_state", "agent_turn_outcome", "todo_state"))
_OF_MESSAGES = frozenset(("visibility", "interactionMode", "openaiMessageId", "modelId"))
_BLOCKS = ("tool_use", "tool_result")


def shows(_path: str, line: dict[str, Any]) -> bool:
    """Say whether a line of a file is Droid's: pi's envelope around the blocks of Claude's API."""
    kind, message = line.get("type"), line.get("message")
    if kind != "message" or not isinstance(message, dict):
        return kind in _KINDS and "payload" not in line
    content = message.get("content")
    blocks = content if isinstance(content, list) else ()
    return not message.keys().isdisjoint(_OF_MESSAGES) or any(
        isinstance(block, dict) and block.get("type") in _BLOCKS for block in blocks
    )
