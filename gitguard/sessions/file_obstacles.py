"""Why files may not be put back right now: git is in the middle of something, or somebody writes.

Only what can be seen is said: git's own files, who has a file open for writing, and whether the
program that a conversation's last hook belongs to still lives.
"""

from __future__ import annotations

import os

from gitguard.errors import GitguardError
from gitguard.model.value import Value
from gitguard.store.disk import processes
from gitguard.store.session.host_process import described, is_running
from gitguard.store.session.naming import Session
from gitguard.store.session.session_record import read_record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from gitguard.store.session.workspace import Workspace

_UNFINISHED_STATES = {
    "MERGE_HEAD": "a merge",
    "rebase-merge": "a rebase",
    "rebase-apply/applying": "a `git am`",
    "rebase-apply": "a rebase",
    "CHERRY_PICK_HEAD": "a cherry-pick",
    "REVERT_HEAD": "a revert",
    "BISECT_LOG": "a bisect",
}
"""Files of git's in a worktree's git directory, and what goes on while they are there."""
_NAMED = 3
_FORCE = "--force puts files back all the same"


class Obstacle(Value):
    """Why nothing is put back now, and what to do about it."""

    reason: str
    way_out: str


def obstacle_to(workspace: Workspace, paths: Sequence[str]) -> Obstacle | None:
    """Return what stands in the way of writing these files of the worktree, None for nothing."""
    return (
        _by_git(workspace.place.git_dir)
        or _by_agents(workspace)
        or _by_writers(workspace.place.worktree, paths)
    )


def _by_git(git_dir: str) -> Obstacle | None:
    for name, what in _UNFINISHED_STATES.items():
        if os.path.exists(os.path.join(git_dir, name)):
            way_out = f"Finish or abort it first, as `git status` says; {_FORCE}"
            return Obstacle(f"{what} goes on in this worktree", way_out)
    lock = os.path.join(git_dir, "index.lock")
    if os.path.lexists(lock):
        way_out = f"Wait until it has ended, and if no git runs, remove `{lock}`; {_FORCE}"
        return Obstacle("git is at work in this worktree", way_out)
    return None


def _by_agents(workspace: Workspace) -> Obstacle | None:
    for name in workspace.session_names():
        try:
            conversations = read_record(workspace, Session(name, name)).host_sessions
        except GitguardError:
            continue  # its own status tells what is wrong with it
        for conversation in conversations.values():
            process = conversation.process
            if conversation.is_in_turn and is_running(process):
                reason = f"an agent's turn has not ended in this worktree: {described(process)}"
                way_out = f"Let it end its turn, or end it; if it only waits for you, {_FORCE}"
                return Obstacle(reason, way_out)
    return None


def _by_writers(root: str, paths: Sequence[str]) -> Obstacle | None:
    writers = processes.writers_of(*(os.path.join(root, path) for path in paths))
    if not writers:
        return None
    named = ", ".join(
        f"{os.path.relpath(path, root)} by process {pids[0]} ({processes.name_of(pids[0])})"
        for path, pids in sorted(writers.items())[:_NAMED]
    )
    return Obstacle(
        f"files are open for writing: {named}", f"Close them or end the program first; {_FORCE}"
    )
