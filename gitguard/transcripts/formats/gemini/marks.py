"""By what Gemini CLI's transcripts are known."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def shows(_path: str, line: dict[str, Any]) -> bool:
    """Say whether a line of a file is Gemini CLI's."""
    return ("projectHash" in line and "sessionId" in line) or isinstance(line.get("$set"), dict)
