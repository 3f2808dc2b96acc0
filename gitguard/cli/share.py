"""A share of the window as an option: 0.6, or 60% as policy files write it."""

from __future__ import annotations

import math

import click

_MOST = 1.5
"""A conversation may be beyond its window; what is more are percent without their sign."""


def read_share(text: object) -> float:
    """Return the share, or raise `click.BadParameter` where the text is none."""
    found = _number(str(text).strip())
    if not 0 <= found <= _MOST:
        raise click.BadParameter(f"'{text}' is not a share of the window: write 0.6 or 60%")
    return found


def _number(text: str) -> float:
    try:
        return float(text[:-1]) / 100 if text.endswith("%") else float(text)
    except ValueError:
        return math.nan
