"""Codex: advice."""
