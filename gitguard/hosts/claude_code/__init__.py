"""Claude Code: hooks, installation, advice."""
