"""OpenClaw: hooks, installation, advice."""
