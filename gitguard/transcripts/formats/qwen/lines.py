"""Who speaks in a line of Qwen Code's chats, and which line is a compression (0.24.4)."""

from __future__ import annotations

from gitguard.transcripts.entries import inner

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_FAILED = 2
"""From this status on, a compression changed nothing."""


def is_compression(line: dict[str, Any]) -> bool:
    """Say whether a line tells of a compression that took place."""
    status = inner(inner(line, "systemPayload"), "info").get("compressionStatus")
    has_failed = isinstance(status, int) and status >= _FAILED
    return line.get("subtype") == "chat_compression" and not has_failed


def texts_in(message: dict[str, Any]) -> list[str]:
    """Return the texts of a message, without thoughts and what hooks added."""
    parts = message.get("parts")
    values = [
        part.get("text")
        for part in (parts if isinstance(parts, list) else ())
        if isinstance(part, dict) and not part.get("thought")
    ]
    return [text for text in values if isinstance(text, str) and text.strip() and not _added(text)]


def _added(text: str) -> bool:
    return text.startswith(("<qwen:", "<system-reminder>"))


def is_by_host(line: dict[str, Any]) -> bool:
    """Say whether the host wrote a line in the user's name, as a sub-agent's report."""
    return line.get("provenance") not in (None, "real_user")


def summary_in(line: dict[str, Any]) -> str:
    """Return the summary with which the history begins that a compression put in place of another.

    It is empty for any other line.
    """
    history = inner(line, "systemPayload").get("compressedHistory")
    first = history[0] if isinstance(history, list) and history else None
    if not is_compression(line) or not isinstance(first, dict):
        return ""
    return "\n".join(texts_in(first))
