"""By what OpenClaw's transcripts are known."""

from __future__ import annotations

import os

from gitguard.transcripts.formats.pi.marks import shows as shows_pi

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def shows(path: str, line: dict[str, Any]) -> bool:
    """Say whether a line of a file is OpenClaw's: pi's, in `agents/<name>/sessions/`."""
    folder, sessions = os.path.split(os.path.dirname(path))
    is_agents = sessions == "sessions" and os.path.basename(os.path.dirname(folder)) == "agents"
    return is_agents and shows_pi(path, line)
