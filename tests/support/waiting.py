"""Waiting for what other processes do."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path


def wait_until(
    happened: Callable[[], bool], seconds: float = 15.0, otherwise: str = "it never happened"
) -> None:
    """Return once it happened; the test fails with a word where it does not."""
    deadline = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < deadline, otherwise
        time.sleep(0.02)


def is_alive(pid: int) -> bool:
    """Say whether a process runs; one that has ended and was not waited for does not."""
    try:
        status = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    except FileNotFoundError:
        return False
    return status.rpartition(")")[2].split()[0] != "Z"


def wait_for_next_second() -> None:
    """Wait until what happens next has a later time than what happened, where seconds are told."""
    now = int(time.time())
    wait_until(lambda: int(time.time()) > now)
