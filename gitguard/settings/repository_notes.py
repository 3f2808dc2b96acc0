"""What installing and uninstalling check and say about a repository, whatever the host."""

from __future__ import annotations

import os

from gitguard.errors import GitFailed
from gitguard.model.config.config import Config
from gitguard.model.config.redaction import redactor_of
from gitguard.model.text import shell_word
from gitguard.store.git.worktree import Worktree
from gitguard.store.session.workspace import Workspace
from gitguard.store.worktree.file_store import NAME

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
    """Warn where a push of all branches, or of all refs, would publish the checkpoints."""
    remotes = worktree.remotes()
    if not remotes:
        return ()
    name = redactor_of(config.redaction).text(remotes[0])
    if not config.store.ref_prefix.startswith("refs/heads/"):
        return (
            f"`git push --mirror` would publish the checkpoints to `{name}`, and no git setting "
            "prevents that; `git push` and `git push --all` leave them out",
        )
    return (
        f"`git push --all` and `git push --mirror` would publish the `gitguard/*` branches to "
        f"`{name}`; to keep them out of `--all`, set `store.ref_prefix: refs/gitguard/` in your "
        "config.yaml",
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
    snapshots = os.path.join(workspace.place.common_dir, NAME)
    if os.path.isdir(snapshots):
        command = f"rm -rf {shell_word(snapshots)}"
        notes.append(f"the snapshots of your files are kept; delete them with `{command}`")
    if os.path.isdir(workspace.folder):
        notes.append(f"the working files are kept; delete them with `rm -r {shell_word(folder)}`")
    if os.path.isdir(workspace.state_folder):
        state = shell_word(workspace.state_folder)
        notes.append(f"this machine's records of them are kept; delete them with `rm -r {state}`")
    return tuple(notes)
