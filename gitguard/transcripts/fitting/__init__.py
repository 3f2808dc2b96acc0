"""Deciding what of a conversation fits a model's window, and saying the rest in few words."""
