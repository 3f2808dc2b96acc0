"""By what pi's transcripts are known."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def shows(_path: str, line: dict[str, Any]) -> bool:
    """Say whether a line of a file is pi's, or of a host that writes the same lines."""
    is_header = line.get("type") == "session" and "version" in line
    return is_header or {"id", "parentId"} <= line.keys()
