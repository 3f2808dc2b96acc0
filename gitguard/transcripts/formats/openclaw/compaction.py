"""How a summary is added to a session of OpenClaw."""

from __future__ import annotations

from gitguard.transcripts.formats.pi.compaction import folder, lines, refuse_unfit

__all__ = ["folder", "lines", "refuse_unfit"]
