"""Answers to the events of hosts."""
