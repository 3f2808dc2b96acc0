"""What changed in the workspace since a checkpoint, in one line.

A file changed when its content did. What the checkpoint's own look at the worktree saw is not news;
without one, all that can be said is what is different from the commit that was checked out then.
"""

from __future__ import annotations

from gitguard.errors import GitFailed, InvalidDocument
from gitguard.model.commit import parse_commit
from gitguard.model.text import one_line, shorten
from gitguard.model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

    from gitguard.model.redaction.redactor import Redactor
    from gitguard.state.checkpoint import Code
    from gitguard.store.git.differences import Differences
    from gitguard.store.git.repository import Repository

_LINE_LIMIT = 360
_MOST_NAMES = 3
_NAME_LIMIT = 48
_SHORT_ID = 7
_MOST_COMMITS = 50
_COMMIT_LIMIT = 64 * 1024


class Drift(Value):
    """What of the workspace is not as it was at the checkpoint."""

    code: Code
    commits: int = 0
    """How many commits HEAD is ahead of the checkpoint's; 0 if it is not, or too far."""
    changed: tuple[str, ...] = ()
    """Files with another content, new ones too, that no tool call of ours is known to have written.
    """
    gone: tuple[str, ...] = ()
    """Files that are not there any more."""
    different: tuple[str, ...] = ()
    """Files that are not as in the checkpoint's commit, where nobody knows since when."""
    unseen: tuple[str, ...] = ()
    """What could not be compared, in words."""


def changes_since(then: Code, now: Drift, redactor: Redactor) -> str:
    """Return the line, empty when nothing changed; then is what the checkpoint had checked out.

    A file may be named after a secret, so names are redacted before they are cut.
    """
    parts = [
        _moved(then, now),
        f"branch {_branch(then)} → {_branch(now.code)}" if then.branch != now.code.branch else "",
        _files("modified outside the agent's edit tools", now.changed, redactor),
        _files("deleted", now.gone, redactor),
        _files(f"different from commit {_commit(then)}", now.different, redactor),
        f"not compared: {', '.join(now.unseen)}" if now.unseen else "",
    ]
    return shorten("; ".join(part for part in parts if part), _LINE_LIMIT)


def _moved(then: Code, now: Drift) -> str:
    if then.head == now.code.head:
        return ""
    commits = f" ({now.commits} commit{'s' * (now.commits > 1)})" if now.commits else ""
    return f"HEAD {_commit(then)} → {_commit(now.code)}{commits}"


def _commit(code: Code) -> str:
    return code.head[:_SHORT_ID] or "none"


def _branch(code: Code) -> str:
    return shorten(one_line(code.branch), _NAME_LIMIT) or "none"


def _files(what: str, paths: tuple[str, ...], redactor: Redactor) -> str:
    if not paths:
        return ""
    names = [redactor.shorten(one_line(path), _NAME_LIMIT) for path in paths[:_MOST_NAMES]]
    more = len(paths) - len(names)
    return f"{what}: {', '.join(names)}" + (f" and {more:,} more" if more else "")


def drift_since(
    repository: Repository,
    redactor: Redactor,
    then: Code,
    now: Code,
    look_then: Differences | None,
    ours: Collection[str],
) -> Drift:
    """Look what is different from a checkpoint at which then was checked out.

    look_then is what the checkpoint saw of this worktree; ours are files our tools wrote since.
    """
    from gitguard.store.git.differences import WorktreeComparer

    looker = WorktreeComparer(repository, redactor)
    drift = Drift(now, _commits_between(repository, then.head, now.head))
    if look_then is not None and look_then.commit == then.head:
        changes = looker.compare(then.head, also=look_then.new_files).since(look_then)
        return drift.replace(
            changed=tuple(path for path in changes.changed if path not in ours),
            gone=changes.gone,
            unseen=changes.unseen,
        )
    if not then.head:
        return drift
    changes = looker.compare(then.head).changes()
    different = sorted({*changes.changed, *changes.gone} - {*ours})
    return drift.replace(different=tuple(different), unseen=changes.unseen)


def _commits_between(repository: Repository, old: str, new: str) -> int:
    if not old or not new or old == new:
        return 0
    try:
        with repository.reader() as reader:
            for ahead in range(_MOST_COMMITS + 1):
                if new == old:
                    return ahead
                commit = parse_commit(reader.read(new, "commit", limit=_COMMIT_LIMIT))
                new = commit.first("parent")
    except (GitFailed, InvalidDocument):
        return 0  # shallow or unrelated
    return 0
