"""Waiting for what other processes do."""

from __future__ import annotations

import time
from collections.abc import Callable


def wait_until(
    happened: Callable[[], bool], seconds: float = 15.0, otherwise: str = "it never happened"
) -> None:
    """Return once it happened; the test fails with a word where it does not."""
    deadline = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < deadline, otherwise
        time.sleep(0.02)
