"""How full the context is: readings, windows, and what they add up to."""
