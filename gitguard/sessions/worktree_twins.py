"""Whether a file of another worktree holds a change that is not in this one."""

from __future__ import annotations

from gitguard.errors import InvalidDocument
from gitguard.store.disk import artifacts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitguard.store.git.repository import Repository


def has_news(ours: Repository, other: Repository, path: str, *, limit: int) -> bool:
    """Say whether the other worktree's file differs from ours, and from what ours came from.

    If it is as the newest commit that both histories have, its change is part of ours, or there is
    none. At most limit bytes of each are read. What cannot be read counts as different.
    """
    try:
        theirs = artifacts.read_start(other.place.worktree, path, limit=limit)
        if theirs == artifacts.read_start(ours.place.worktree, path, limit=limit):
            return False
        return theirs != _common_text(ours, other, path, limit)
    except InvalidDocument:
        return True


def _common_text(ours: Repository, other: Repository, path: str, limit: int) -> str | None:
    """Return what the newest common commit has at a path; None for no file."""
    from gitguard.store.git.commits import CodeCommits
    from gitguard.store.git.trees import Trees, file_at

    base = CodeCommits(ours).merge_base(ours.checked_out_commit(), other.checked_out_commit())
    if not base:
        return None
    with ours.reader() as reader:
        trees = Trees(reader)
        entry = file_at(trees, trees.of_commit(base), path)
        if entry is None:
            return None
        return reader.read(entry.id, "blob", limit=limit)[:limit].decode("utf-8", "replace")
