"""Which files of a workspace opencode 1.18.33 loads into its context."""

from __future__ import annotations

from gitguard.model.context_files import ContextFiles

LOADED = ContextFiles((("AGENTS.md", "CLAUDE.md"),))
