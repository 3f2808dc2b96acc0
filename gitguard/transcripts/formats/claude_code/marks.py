"""By what Claude Code's transcripts are known."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_ROLES = ("user", "assistant")
_OF_THE_HOST = frozenset(
    (
        *("summary", "file-history-snapshot", "queue-operation", "last-prompt", "mode"),
        *("custom-title", "ai-title", "agent-name", "permission-mode", "cost-state", "tools-used"),
    )
)
"""Lines that say nothing to the model; other hosts have none of these names."""


def shows(_path: str, line: dict[str, Any]) -> bool:
    """Say whether a line of a file is Claude Code's."""
    kind, message = line.get("type"), line.get("message")
    if not isinstance(kind, str):
        return False
    if isinstance(line.get("isSidechain"), bool):
        return True
    if kind in _ROLES and ("uuid" in line or "sessionId" in line):
        return isinstance(message, dict) and "content" in message
    return kind in _OF_THE_HOST and not line.keys().isdisjoint(
        ("sessionId", "leafUuid", "snapshot")
    )
