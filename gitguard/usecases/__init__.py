"""Use cases that take more than a call: gate, hooks, hand-back, sessions, status, installation."""
