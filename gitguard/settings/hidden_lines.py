"""Keeps what gitguard puts into a project out of `git status`, by lines in `info/exclude`.

An installation brings the names of the files that it made, a change on advice those of its backup
and of a file that it made. The lines of an installation go with it; those of a change go once they
hide nothing in any worktree of the repository.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable

from gitguard.hosts.base import WHOLE
from gitguard.settings.changes_file import MadeChange
from gitguard.store.disk import files
from gitguard.store.disk.changes import content
from gitguard.store.git import exclude
from gitguard.store.git.place import worktree_roots
from gitguard.store.session.install_ledger import EditedFile

_BESIDE = ".gitguard-"
_LOCK_TIMEOUT = 10.0


def with_lines(
    before: bytes | None, lines: tuple[str, ...], entry: EditedFile | None = None
) -> tuple[bytes | None, EditedFile | None]:
    """Return the exclude file with our lines, and what the ledger remembers of it.

    entry is what the ledger remembers so far. Without lines the file is given back.
    """
    if entry is not None and before is not None and entry.is_unchanged(before):
        original = entry.original
    else:
        original = exclude.without_block(before)
    if not lines:
        return original, None
    after = before if lines == exclude.lines_of(before) else exclude.with_block(before, lines)
    return after, None if after is None else EditedFile(original, after, WHOLE)


def changed_settings(changes: Iterable[MadeChange], removed: frozenset[str]) -> frozenset[str]:
    """Return the lines that hide settings changed on advice, of files that are not to go."""
    return frozenset(
        f"/{os.path.relpath(change.file, change.project)}"
        for change in changes
        if change.file not in removed and os.path.lexists(change.file)
    )


def lines_to_hide(common_dir: str, planned: MadeChange) -> tuple[str, ...]:
    """Return the lines that a change has to bring; common_dir is its project's git directory."""
    if not planned.project:
        return ()
    name = os.path.relpath(planned.file, planned.project)
    present = exclude.lines_of(content(common_dir, exclude.NAME))
    needed = [f"/{name}{_BESIDE}*", *([] if planned.backup else [f"/{name}"])]
    return tuple(line for line in needed if line not in present)


def hide(common_dir: str, planned: MadeChange, clock: Callable[[], float]) -> None:
    """Write the lines of a change."""
    if planned.hidden:
        lock = exclude.lock_of(common_dir, timeout=_LOCK_TIMEOUT, clock=clock)
        exclude.rewrite(lock, common_dir, lambda present: (*present, *planned.hidden))


def unhide(common_dir: str, change: MadeChange, clock: Callable[[], float]) -> None:
    """Take the lines of a change away that hide nothing any more."""
    if not change.hidden:
        return
    roots = worktree_roots(common_dir) | {change.project}
    lock = exclude.lock_of(common_dir, timeout=_LOCK_TIMEOUT, clock=clock)
    exclude.rewrite(
        lock,
        common_dir,
        lambda present: (n for n in present if n not in change.hidden or _hides_any(roots, n)),
    )


def _hides_any(roots: frozenset[str], line: str) -> bool:
    return any(_hides(root + line) for root in roots)


def _hides(path: str) -> bool:
    if not path.endswith("*"):
        return os.path.lexists(path)
    folder, begins = os.path.split(path[:-1])
    return any(name.startswith(begins) for name in files.names_in(folder))
