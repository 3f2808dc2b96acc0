"""Spawn policy: what goes to a sub-agent, and what the sub-agent must know."""
