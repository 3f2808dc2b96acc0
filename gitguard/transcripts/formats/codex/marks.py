"""By what Codex's transcripts are known."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


_KINDS = frozenset(
    (
        *("session_meta", "response_item", "event_msg", "turn_context", "compacted"),
        *("token_usage_record", "world_state"),
    )
)


def shows(_path: str, line: dict[str, Any]) -> bool:
    """Say whether a line of a file is Codex's."""
    return line.get("type") in _KINDS and isinstance(line.get("payload"), dict)
