"""Where git says that files were moved to."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitguard.store.git.repository import Repository

_MOVES = (
    *("--name-status", "-z", "--diff-filter=R", "--find-renames", "-l200"),
    *("--no-ext-diff", "--no-textconv"),
)
"""How git lists the files that were moved, without looking for any among more than 200."""
_MOST_MOVING = 50
"""The newest commits that are asked which files they moved."""


def moved_files(repository: Repository) -> dict[str, str]:
    """Return where files of the worktree were moved to, by the paths that they had.

    The index and the newest commits tell.
    """
    git = repository.git
    staged = git.attempt("diff-index", "--cached", *_MOVES, "HEAD", "--")
    newest = git.attempt("rev-list", f"--max-count={_MOST_MOVING}", "HEAD", "--")
    committed = git.attempt(
        "diff-tree", "--stdin", "-r", "--no-commit-id", *_MOVES, stdin=newest.stdout
    )
    moves: dict[str, str] = {}
    # Each is a mark such as `R100`, the old path and the new one, the newest commit's first.
    records = iter((staged.stdout + committed.stdout).split(b"\0"))
    for mark in records:
        if mark.startswith(b"R"):
            old, new = os.fsdecode(next(records, b"")), os.fsdecode(next(records, b""))
            moves.setdefault(old, moves.get(new, new))
    return moves
