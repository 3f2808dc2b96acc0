"""pi's session files (recorded with 0.73.1)."""
