"""Claude Code's transcript (recorded with 2.1.330)."""
