"""Which hosts gitguard was removed from in a worktree, though the user's other projects have it.

Hooks that stand in a file of the user run in every project. So where they were installed and then
removed, a mark outside the repository keeps them quiet.
"""

from __future__ import annotations

import os

from gitguard.store.disk import files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitguard.store.session.workspace import Workspace

_FOLDER = "_removed"
_NAME_SIZE = 12
"""Bytes of the digest by which a worktree is known."""


def is_removed(workspace: Workspace, host: str) -> bool:
    """Say whether gitguard was removed from a host in this worktree."""
    folder = os.path.join(workspace.state_folder, _FOLDER)
    return os.path.isdir(folder) and os.path.exists(_mark(workspace, host))


def note_removal(workspace: Workspace, host: str) -> None:
    """Keep the hooks of a host quiet in this worktree."""
    path = _mark(workspace, host)
    files.make_folder(os.path.dirname(path))
    files.write_bytes(path, b"")


def forget_removal(workspace: Workspace, host: str) -> None:
    """Let the hooks of a host work in this worktree."""
    files.remove(_mark(workspace, host))


def _mark(workspace: Workspace, host: str) -> str:
    from _blake2 import blake2b

    worktree = os.fsencode(workspace.place.worktree)
    name = f"{host}-{blake2b(worktree, digest_size=_NAME_SIZE).hexdigest()}"
    return os.path.join(workspace.state_folder, _FOLDER, name)
