"""By what Qwen Code's transcripts are known."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def shows(_path: str, line: dict[str, Any]) -> bool:
    """Say whether a line of a file is Qwen's: Claude's envelope around Gemini's parts."""
    message = line.get("message")
    has_parts = isinstance(message, dict) and isinstance(message.get("parts"), list)
    return "sessionId" in line and "uuid" in line and (has_parts or "systemPayload" in line)
