"""End-to-end tests: the real agent host, sealed, against a scripted model on the loopback."""
