"""Gemini CLI's chats (recorded with 0.61.0)."""
