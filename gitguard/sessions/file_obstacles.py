"""Why files may not be put back right now: git is in the middle of something, or somebody writes.

Only what can be seen is said: git's own files, who has a file open for writing, and whether the
program that a conversation's last hook belongs to still lives.
"""

from __future__ import annotations

import os

from gitguard.errors import GitguardError
from gitguard.model.value import Value
from gitguard.sessions.stopped_calls import is_turn_stopped
from gitguard.store.disk import processes
from gitguard.store.disk.processes import described
from gitguard.store.session.at_work import BUSY, at_work_beside
from gitguard.store.session.host_session import read_record
from gitguard.store.session.workspace import Session

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from gitguard.store.git.place import Place
    from gitguard.store.git.repository import Repository
    from gitguard.store.session.workspace import Workspace

_NAMED = 3
_FORCE = "--force puts files back all the same"


class Obstacle(Value):
    """Why nothing is put back now, and what to do about it."""

    reason: str
    way_out: str


def obstacle_to(
    workspace: Workspace, repository: Repository, paths: Sequence[str]
) -> Obstacle | None:
    """Return what stands in the way of writing these files of the worktree, None for nothing."""
    return (
        _by_git(workspace.place, repository)
        or _by_agents(workspace)
        or _by_writers(workspace.place.worktree, paths)
    )


def _by_git(place: Place, repository: Repository) -> Obstacle | None:
    if place.operation:
        way_out = f"Finish or abort it first, as `git status` says; {_FORCE}"
        return Obstacle(f"{place.operation} is in progress in this worktree", way_out)
    lock = os.path.join(place.git_dir, "index.lock")
    if os.path.lexists(lock):
        way_out = f"Wait until it has ended, and if no git runs, remove `{lock}`; {_FORCE}"
        return Obstacle("git is at work in this worktree", way_out)
    # `git stash pop` and `git checkout --merge` leave conflicts, and nothing else to see them by.
    unmerged = repository.unmerged()
    if unmerged:
        way_out = f"Resolve the conflicts first, as `git status` says; {_FORCE}"
        return Obstacle(f"git has left conflicts in {_listed(unmerged)}", way_out)
    return None


def _by_agents(workspace: Workspace) -> Obstacle | None:
    for name in workspace.session_names():
        try:
            conversations = read_record(workspace, Session(name, name)).host_sessions
        except GitguardError:
            continue  # its own status tells what is wrong with it
        now = workspace.clock()
        beside = at_work_beside(conversations, "", now, is_stopped=is_turn_stopped)
        for key, work in beside.items():
            if work.standing == BUSY:
                process = conversations[key].process or conversations[key].last_process
                reason = f"an agent's turn has not ended in this worktree: {described(process)}"
                way_out = f"Let it end its turn, or end it; if it only waits for you, {_FORCE}"
                return Obstacle(reason, way_out)
    return None


def _by_writers(root: str, paths: Sequence[str]) -> Obstacle | None:
    writers = processes.writers_of(*(os.path.join(root, path) for path in paths))
    if not writers:
        return None
    named = [
        f"{os.path.relpath(path, root)} by process {pids[0]} ({processes.name_of(pids[0])})"
        for path, pids in sorted(writers.items())
    ]
    return Obstacle(
        f"files are open for writing: {_listed(named)}",
        f"Close them or end the program first; {_FORCE}",
    )


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:_NAMED]) + (", …" if len(names) > _NAMED else "")
