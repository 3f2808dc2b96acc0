"""Conversations as hosts keep them: one model, and one module a format."""

from __future__ import annotations

from gitguard.transcripts import claude_code

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from gitguard.model.events import Reading

NEWEST_READING: dict[str, Callable[[str], Reading | None]] = {
    "claude-code": claude_code.newest_reading,
}
"""By the format's name, the function that finds the newest usage in a transcript."""
