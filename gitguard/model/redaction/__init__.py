"""Secrets: what they look like, and how they are taken out of texts."""
