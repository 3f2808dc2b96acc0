"""Codex's rollouts (recorded with 0.169.0)."""
