"""Conversations as hosts keep them: one model, and one module a format."""

from __future__ import annotations

from gitguard.transcripts import claude_code

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from gitguard.transcripts.usage import Usage

USAGE_READERS: dict[str, Callable[[str], Usage]] = {
    "claude-code": claude_code.read_usage,
}
"""By the format's name, the function that finds the newest usage in a transcript."""
