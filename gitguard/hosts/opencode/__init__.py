"""opencode: advice."""
