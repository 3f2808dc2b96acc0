"""Gemini CLI: advice."""
