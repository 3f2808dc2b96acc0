"""Crash safety, shown by faults: every kind of them at every point, and one proof after each.

`python -m tests.faults` tries all points and prints a table (references/design/faults.md says
how it works and what it assumes).
"""
