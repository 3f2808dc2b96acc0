"""Which files of a workspace pi 0.73.1 loads into its context."""

from __future__ import annotations

from gitguard.model.context_files import ContextFiles

LOADED = ContextFiles((("AGENTS.md", "CLAUDE.md"),))
