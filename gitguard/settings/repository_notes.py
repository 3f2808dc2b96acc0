"""What installing and uninstalling check and say about a repository, whatever the host."""

from __future__ import annotations

import os

from gitguard.errors import GitFailed
from gitguard.model.config.redaction import redactor_of
from gitguard.store.worktree.kept import FOLDER_OF_REFS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitguard.model.config.config import Config
    from gitguard.store.git.worktree import Worktree
    from gitguard.store.session.workspace import Workspace

_MOST_REFS = 5
"""Branches that are named; a host with a session for each of its users has many."""


def refuse_blocking_branch(worktree: Worktree, config: Config) -> None:
    """Raise `GitFailed` where a branch has the name of the folder of our branches."""
    blocking = config.store.ref_prefix.rstrip("/")
    if blocking in worktree.refs(blocking):
        raise GitFailed(
            f"the branch `{blocking.removeprefix('refs/heads/')}` is in the way of "
            "gitguard's branches",
            "Rename the branch, or set `store.ref_prefix: refs/gitguard/` in your config.yaml",
        )


def push_warnings(worktree: Worktree, config: Config) -> tuple[str, ...]:
    """Warn where a push of all branches would publish the checkpoints."""
    remotes = worktree.remotes()
    if not remotes or not config.store.ref_prefix.startswith("refs/heads/"):
        return ()
    name = redactor_of(config.redaction).text(remotes[0])
    return (
        f"`git push --all` would publish the `gitguard/*` branches to `{name}`; to prevent that, "
        "set `store.ref_prefix: refs/gitguard/` in your config.yaml",
    )


def remains(workspace: Workspace, worktree: Worktree, config: Config) -> tuple[str, ...]:
    """Say what uninstalling leaves alone, and how to remove it."""
    folder = os.path.relpath(workspace.folder, workspace.place.worktree)
    notes = []
    refs = list(worktree.refs(config.store.ref_prefix[:-1]))
    if refs:
        shown = ", ".join(f"`{ref}`" for ref in refs[:_MOST_REFS])
        more = f" and {len(refs) - _MOST_REFS} more" * (len(refs) > _MOST_REFS)
        notes.append(
            f"the checkpoints are kept on {shown}{more}; delete all of a session with "
            f"`git update-ref -d {refs[0] if len(refs) == 1 else 'REF'}`"
        )
    snapshots = list(worktree.refs(FOLDER_OF_REFS))
    if snapshots:
        notes.append(
            f"the snapshots of your files are kept on `{FOLDER_OF_REFS}/`; delete those of a "
            f"session with `git update-ref -d {snapshots[0]}`, and `git gc` gives the disk back"
        )
    if os.path.isdir(workspace.folder):
        notes.append(f"the working files are kept; delete them with `rm -r {folder}`")
    if os.path.isdir(workspace.state_folder):
        state = workspace.state_folder
        notes.append(f"this machine's records of them are kept; delete them with `rm -r {state}`")
    return tuple(notes)
