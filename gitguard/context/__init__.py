"""How full the context is, what may happen next, and what the agent needs for it."""
