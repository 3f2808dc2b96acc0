"""Qwen Code's chats (recorded with 0.24.4)."""
