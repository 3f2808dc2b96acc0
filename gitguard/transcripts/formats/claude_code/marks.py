"""By what Claude Code's transcripts are known."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_MEMBERS = {"uuid", "leafUuid", "snapshot", "sessionId"}


def shows(_path: str, line: dict[str, Any]) -> bool:
    """Say whether a line of a file is Claude Code's."""
    return "type" in line and bool(line.keys() & _MEMBERS)
