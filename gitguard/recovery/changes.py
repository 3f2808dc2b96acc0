"""What changed in the workspace since a checkpoint, in one line.

Looking costs the listing of the index and a look at each file's time; no file is opened and no git
command runs that would start the repository's filters, drivers or hooks.
"""

from __future__ import annotations

import os
import stat

from gitguard.errors import GitFailed, InvalidDocument
from gitguard.model.text import one_line, shorten, shorten_clean
from gitguard.model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitguard.model.checkpoint import Checkpoint, Code
    from gitguard.model.redaction import Redactor
    from gitguard.store.repository import Repository

_LINE_LIMIT = 360
_MOST_NAMES = 3
_NAME_LIMIT = 48
_SHORT_ID = 7
_MOST_COMMITS = 50
_COMMIT_LIMIT = 64 * 1024
_INDEX_LIMIT = 1 << 20
"""The largest index, in bytes, whose files are looked at: about ten thousand of them."""


class Drift(Value):
    """What of the workspace is not as it was at the checkpoint."""

    code: Code
    commits: int = 0
    """How many commits HEAD is ahead of the checkpoint's; 0 if it is not, or too far."""
    changed: tuple[str, ...] = ()
    """Files that no tool call of ours is known to have changed."""
    gone: tuple[str, ...] = ()
    """Files of the task that are not there any more."""


def changes_since(then: Code, now: Drift, redactor: Redactor) -> str:
    """Return the line, empty when nothing changed; then is what the checkpoint had checked out.

    A file may be named after a secret, so names are redacted before they are cut.
    """
    parts = [
        _moved(then, now),
        f"branch {_branch(then)} → {_branch(now.code)}" if then.branch != now.code.branch else "",
        _files("changed by others or by commands", now.changed, redactor),
        _files("gone", now.gone, redactor),
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
    names = [shorten_clean(one_line(path), _NAME_LIMIT, redactor) for path in paths[:_MOST_NAMES]]
    more = len(paths) - len(names)
    return f"{what}: {', '.join(names)}" + (f" and {more:,} more" if more else "")


def look_around(
    repository: Repository, checkpoint: Checkpoint, now: Code, task_files: set[str], ours: set[str]
) -> Drift:
    """Look what is different from the checkpoint; ours are the files our tools wrote since.

    Beside the task's own files the tracked ones are looked at, unless the index is large. What
    cannot be looked at counts as unchanged.
    """
    root = repository.place.worktree
    times = {path: _modified(os.path.join(root, path)) for path in sorted(task_files)}
    others = {path: _modified(os.path.join(root, path)) for path in _tracked(repository)}
    # A time of the checkpoint's own second says nothing, for commits carry no fractions.
    since = checkpoint.at + 1
    newer = (path for path, at in {**others, **times}.items() if at is not None and at >= since)
    return Drift(
        code=now,
        commits=_commits_between(repository, checkpoint.code.head, now.head),
        changed=tuple(sorted(path for path in newer if path not in ours)),
        gone=tuple(path for path, at in times.items() if at is None),
    )


def _modified(path: str) -> float | None:
    """Return when a file was changed, None if it is gone, 0 if that cannot be said."""
    try:
        found = os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError):
        return 0
    return 0 if stat.S_ISDIR(found.st_mode) else found.st_mtime


def _tracked(repository: Repository) -> list[str]:
    try:
        if os.path.getsize(os.path.join(repository.place.git_dir, "index")) > _INDEX_LIMIT:
            return []
        return repository.tracked_under(".")
    except (OSError, GitFailed):
        return []


def _commits_between(repository: Repository, old: str, new: str) -> int:
    if not old or not new or old == new:
        return 0
    try:
        with repository.reader() as reader:
            for ahead in range(_MOST_COMMITS + 1):
                if new == old:
                    return ahead
                new = _first_parent(reader.read(new, "commit", limit=_COMMIT_LIMIT))
    except (GitFailed, InvalidDocument):
        return 0  # shallow or unrelated
    return 0


def _first_parent(commit: bytes) -> str:
    head = commit.partition(b"\n\n")[0].decode("utf-8", "replace")
    parents = (line.removeprefix("parent ") for line in head.split("\n") if line[:7] == "parent ")
    return next(parents, "")
