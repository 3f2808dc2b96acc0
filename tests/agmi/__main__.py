"""Prints the scorecard."""

from __future__ import annotations

from .scorecard import table

print(table(), end="")
