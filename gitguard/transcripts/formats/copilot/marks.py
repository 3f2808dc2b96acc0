"""By what Copilot CLI's transcripts are known."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def shows(_path: str, line: dict[str, Any]) -> bool:
    """Say whether a line of a file is Copilot's: an event whose name has a dot, with its data."""
    kind = line.get("type")
    is_event = isinstance(kind, str) and "." in kind and isinstance(line.get("data"), dict)
    return is_event and "parentId" in line
