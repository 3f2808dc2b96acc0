"""Kimi Code's wire logs (recorded with 2.1.0, protocol 1.5)."""
