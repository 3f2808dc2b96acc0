"""What lines of Copilot CLI's event logs tell of compactions (recorded with 1.0.102)."""

from __future__ import annotations

from gitguard.transcripts.entries import inner

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def is_compaction(line: dict[str, Any]) -> bool:
    """Say whether a line tells the end of a compaction of the main conversation that succeeded."""
    is_end = line.get("type") == "session.compaction_complete" and not line.get("agentId")
    return is_end and inner(line, "data").get("success") is not False
