"""The paths of a session's files, here and in the state directory."""

from __future__ import annotations

from pathlib import Path

from gitguard.guard import Guard
from gitguard.store.session.current import current_session


def session_file(guard: Guard, name: str) -> Path:
    """Return the path of a working file of the current session."""
    return Path(guard.workspace.working_file(current_session(guard.workspace), name))


def own_file(guard: Guard, name: str) -> Path:
    """Return the path of a file in the state directory."""
    return Path(guard.workspace.anchor_folder(current_session(guard.workspace)), name)
