"""A share of the window as an option: 0.6, or 60% as policy files write it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Callable


def share_up_to(most: float) -> Callable[[object], float]:
    """Return what reads a share of at most so much, as the type of an option."""

    def read_share(text: object) -> float:
        share = _number(str(text).strip())
        if not 0 <= share <= most:
            raise click.BadParameter(f"'{text}' is not a share of the window: write 0.6 or 60%")
        return share

    return read_share


def _number(text: str) -> float:
    try:
        return float(text[:-1]) / 100 if text.endswith("%") else float(text)
    except ValueError:
        return math.nan
