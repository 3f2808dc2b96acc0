"""By what pi's transcripts are known."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

KINDS = frozenset(
    (
        *("message", "compaction", "branch_summary", "custom", "custom_message", "reset", "leaf"),
        *("model_change", "thinking_level_change", "label", "session_info"),
    )
)


def shows(_path: str, line: dict[str, Any]) -> bool:
    """Say whether a line of a file is pi's, or of a host that writes the same lines."""
    kind, members = line.get("type"), line.keys()
    if kind == "session":  # the header of version 1 names no version
        return "version" in members or {"id", "timestamp", "cwd"} <= members
    return kind in KINDS and {"id", "parentId"} <= members
