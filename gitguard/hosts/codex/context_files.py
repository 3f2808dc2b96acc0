"""Which files of a workspace Codex 0.169.0 loads into its context."""

from __future__ import annotations

from gitguard.model.context_files import ContextFiles

LOADED = ContextFiles((("AGENTS.md",),), (), 32_768, 32_768, in_each_folder=True)
