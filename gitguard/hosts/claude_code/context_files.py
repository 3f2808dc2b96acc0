"""Which files of a workspace Claude Code 2.1.330 loads into its context."""

from __future__ import annotations

from gitguard.model.context_files import ContextFiles

LOADED = ContextFiles((("CLAUDE.md", "AGENTS.md"),), imports=("AGENTS.md",))
