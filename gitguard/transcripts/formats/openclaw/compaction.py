"""How a summary is added to a session of OpenClaw."""

from __future__ import annotations

from gitguard.transcripts.formats.pi.compaction import folder, lines

__all__ = ["folder", "lines"]
