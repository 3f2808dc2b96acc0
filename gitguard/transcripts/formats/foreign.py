"""Lines of hosts whose transcripts nobody here reads, so that they are never taken for another's.

Recorded with Copilot CLI 1.0.102, Qwen Code 0.24.4, Droid and Kimi CLI.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_KINDS = frozenset(("session_start", "compaction_state", "agent_turn_outcome"))
"""Kinds of Droid's lines that no host has besides."""
_BLOCKS = ("tool_use", "tool_result")
"""Blocks that Droid has in messages with an id; pi's are named otherwise."""


def is_foreign(line: dict[str, Any]) -> bool:
    """Say whether a line is that of a host whose transcripts nobody here reads."""
    kind, message = line.get("type"), line.get("message")
    if not isinstance(kind, str):
        return False
    if kind in _KINDS or "protocol_version" in line or "systemPayload" in line:
        return True
    if "." in kind and ("data" in line or "agentId" in line or "time" in line):
        return True
    if not isinstance(message, dict):
        return False
    if isinstance(message.get("parts"), list) or "visibility" in message:
        return True
    content = message.get("content")
    blocks = content if kind == "message" and isinstance(content, list) else ()
    return any(isinstance(block, dict) and block.get("type") in _BLOCKS for block in blocks)
