"""By what Kimi Code's transcripts are known."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def shows(_path: str, line: dict[str, Any]) -> bool:
    """Say whether a line of a file is Kimi's: an event whose name has a dot, without data."""
    kind = line.get("type")
    if not isinstance(kind, str) or "data" in line:
        return False
    is_event = "." in kind and ("agentId" in line or "time" in line)
    return is_event or (kind == "metadata" and "protocol_version" in line)
