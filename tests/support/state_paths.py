"""The path of a session's state file."""

from __future__ import annotations

from pathlib import Path

from gitguard.guard import Guard


def state_file(guard: Guard) -> Path:
    return Path(guard.store().states.path)
