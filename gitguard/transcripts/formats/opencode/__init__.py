"""opencode's sessions (recorded with 1.18.33)."""
