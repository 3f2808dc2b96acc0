"""Keeps hand-off files at a worktree's root out of `git status`, through `info/exclude`."""

from __future__ import annotations

import os

from gitguard.errors import InvalidDocument
from gitguard.store.disk.changes import content
from gitguard.store.git import exclude
from gitguard.store.git.place import worktree_roots

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitguard.store.disk.lock import Lock
    from gitguard.store.git.worktree import Worktree
    from gitguard.store.session.workspace import Workspace

_LOCK_TIMEOUT = 2.0


def refuse_tracked(workspace: Workspace, names: tuple[str, ...]) -> None:
    """Raise `InvalidDocument` if git tracks one of the names.

    A clone brings a tracked file along, so it says nothing of this machine's work; and changing it
    would show in `git status`.
    """
    tracked = sorted(_worktree(workspace).tracked(names))
    if tracked:
        raise InvalidDocument(
            f"git tracks `{tracked[0]}`, so it belongs to the repository",
            f"Take it out with `git rm --cached {tracked[0]}`, or set another name in your "
            "config.yaml under `handoff`",
        )


def hide(workspace: Workspace, names: tuple[str, ...]) -> None:
    """Let git ignore the names, unless it does already; raise `NotWritable` where it cannot be."""
    common = workspace.place.common_dir
    present = exclude.lines_of(content(common, exclude.NAME), exclude.HANDOFF)
    missing = tuple(name for name in names if f"/{name}" not in present)
    ignored = _worktree(workspace).ignored(missing) if missing else ()
    lines = sorted(f"/{name}" for name in missing if name not in ignored)
    if lines:
        exclude.rewrite(_lock(workspace), common, lambda now: (*now, *lines), exclude.HANDOFF)


def show_again(workspace: Workspace) -> None:
    """Take our lines out, unless another worktree of the repository has such files."""
    common = workspace.place.common_dir
    if not exclude.lines_of(content(common, exclude.NAME), exclude.HANDOFF):
        return
    roots = worktree_roots(common) - {workspace.place.worktree}

    def still_needed(lines: tuple[str, ...]) -> tuple[str, ...]:
        are_there = any(os.path.lexists(root + line) for root in roots for line in lines)
        return lines if are_there else ()

    exclude.rewrite(_lock(workspace), common, still_needed, exclude.HANDOFF)


def _worktree(workspace: Workspace) -> Worktree:
    from gitguard.store.git.worktree import Worktree

    return Worktree(workspace.place, workspace.places.environment, workspace.clock)


def _lock(workspace: Workspace) -> Lock:
    return exclude.lock_of(workspace.place.common_dir, timeout=_LOCK_TIMEOUT, clock=workspace.clock)
