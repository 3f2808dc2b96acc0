"""OpenClaw's sessions (recorded with 2026.3.13 and 2026.9.6)."""
