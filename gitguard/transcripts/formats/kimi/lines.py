"""When an event of Kimi Code's logs was written, and whose words it holds (protocol 1.5)."""

from __future__ import annotations

from gitguard.transcripts.entries import COMPACTION, RESET, added, unix_seconds

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

KINDS = {"context.apply_compaction": COMPACTION, "context.clear": RESET}
"""The turning points of a conversation."""


def time_in(line: dict[str, Any]) -> float:
    """Return when an event was written, in Unix seconds; 0 if it does not tell."""
    return unix_seconds(added(line, ("time",)) or added(line, ("created_at",)))


def is_users(origin: object) -> bool:
    """Say whether a message in the user's name is theirs, or a sub-agent's task."""
    if not isinstance(origin, dict):
        return False
    is_task = origin.get("kind") == "system_trigger" and origin.get("name") == "subagent"
    return origin.get("kind") == "user" or is_task
