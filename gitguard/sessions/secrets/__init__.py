"""Secrets that were written already: found, and taken out of a history and its files."""
