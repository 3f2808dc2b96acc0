"""Which files of a workspace Gemini CLI 0.61.0 loads into its context."""

from __future__ import annotations

from gitguard.model.context_files import ContextFiles

LOADED = ContextFiles((("GEMINI.md",),))
