"""Where a worktree and its git folders are, found without starting git.

Hooks below every threshold need no more of git than this.
"""

from __future__ import annotations

import os

from gitguard.errors import NotARepository
from gitguard.model.text import encodable
from gitguard.model.value import Value
from gitguard.store.disk import files

_OPERATIONS = {
    "MERGE_HEAD": "a merge",
    "rebase-merge": "a rebase",
    "rebase-apply/applying": "a `git am`",
    "rebase-apply": "a rebase",
    "CHERRY_PICK_HEAD": "a cherry-pick",
    "REVERT_HEAD": "a revert",
    "BISECT_LOG": "a bisect",
}
"""What git keeps in a worktree's git directory while it is in the middle of something."""


class Place(Value):
    """Where a worktree and its git folders are; every path is absolute and real."""

    worktree: str
    git_dir: str
    common_dir: str

    @property
    def ignores_case(self) -> bool:
        """Whether the file system takes names for one that differ in capital letters alone."""
        # As `git init` finds it out: this file is there under its usual spelling.
        return os.path.lexists(os.path.join(self.common_dir, "CoNfIg"))

    @property
    def operation(self) -> str:
        """What git is in the middle of in this worktree, such as `a rebase`; empty for nothing."""
        for name, operation in _OPERATIONS.items():
            if os.path.lexists(os.path.join(self.git_dir, name)):
                return operation
        return ""

    def relative(self, path: str) -> str:
        """Return a path as the state names it: relative inside the worktree, absolute outside."""
        whole = os.path.normpath(os.path.join(self.worktree, path))
        return whole.removeprefix(self.worktree + os.sep)


def locate(start: str) -> Place:
    """Find the worktree that start lies in by its `.git`, without starting git."""
    folder = os.path.realpath(start)
    while True:
        git_dir = _git_dir_of(folder)
        if git_dir:
            place = Place(folder, git_dir, _common_dir_of(git_dir))
            for path in (place.worktree, place.common_dir):
                spelled = encodable(path)
                if spelled != path:  # records name it as text
                    raise NotARepository(
                        f"gitguard cannot work in `{spelled}`: the path is not UTF-8",
                        "Rename the folder, or move the repository to another one",
                    )
            return place
        parent = os.path.dirname(folder)
        if parent == folder:
            raise _not_found(start)
        folder = parent


def _not_found(start: str) -> NotARepository:
    go_to_one = "Go to one, or name it with --root or GITGUARD_ROOT"
    if not os.path.isdir(start):
        return NotARepository(f"there is no folder `{start}`", "Name a git worktree")
    if all(os.path.exists(os.path.join(start, name)) for name in ("HEAD", "objects", "refs")):
        return NotARepository(
            f"`{start}` is a bare repository, and gitguard works in a worktree", go_to_one
        )
    return NotARepository(
        f"`{start}` is not inside a git worktree", f"{go_to_one}, or make one with `git init`"
    )


def worktree_roots(common_dir: str) -> frozenset[str]:
    """Return the roots of a repository's worktrees, as far as git's own files tell."""
    linked = os.path.join(common_dir, "worktrees")
    roots = {os.path.realpath(os.path.dirname(common_dir))}
    for name in files.names_in(linked):
        gitdir = files.read_bytes(os.path.join(linked, name, "gitdir"), limit=4096)
        if gitdir:
            dot_git = os.path.join(linked, name, os.fsdecode(gitdir).strip())
            roots.add(os.path.realpath(os.path.dirname(dot_git)))
    return frozenset(roots)


def git_dirs_of(common_dir: str) -> list[str]:
    """Return the git directories of a repository's worktrees, the main one first."""
    linked = os.path.join(common_dir, "worktrees")
    return [common_dir, *(os.path.join(linked, name) for name in sorted(files.names_in(linked)))]


def _git_dir_of(folder: str) -> str:
    path = os.path.join(folder, ".git")
    if os.path.isfile(os.path.join(path, "HEAD")):
        return os.path.realpath(path)
    if not os.path.isfile(path):
        return ""
    target = (files.read_bytes(path, limit=4096) or b"").decode("utf-8", "surrogateescape")
    git_dir = os.path.join(folder, target.removeprefix("gitdir:").strip())
    return os.path.realpath(git_dir) if os.path.isfile(os.path.join(git_dir, "HEAD")) else ""


def _common_dir_of(git_dir: str) -> str:
    data = files.read_bytes(os.path.join(git_dir, "commondir"), limit=4096)
    if data is None:
        return git_dir
    pointer = data.decode("utf-8", "surrogateescape").strip()
    # A path with a NUL raises `ValueError` in most calls, which nobody here expects.
    common_dir = os.path.realpath(os.path.join(git_dir, pointer)) if "\0" not in pointer else ""
    if not os.path.isdir(common_dir):
        raise NotARepository(f"`{git_dir}/commondir` names no folder", "Look at it; git wrote it")
    return common_dir
