"""Keeps what a change of settings puts into a project out of `git status`, as long as it is there.

Only lines that the change itself brought into `info/exclude` go again, and only when they hide
nothing in any worktree of the repository.
"""

from __future__ import annotations

import os

from gitguard.settings.install_plan import EXCLUDE
from gitguard.store.disk import files
from gitguard.store.disk.changes import FileEdit, content
from gitguard.store.git import exclude
from gitguard.store.git.place import worktree_roots

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from gitguard.settings.changes_file import MadeChange

_BESIDE = ".gitguard-"
_LOCK_TIMEOUT = 10.0


def lines_to_hide(common_dir: str, planned: MadeChange) -> tuple[str, ...]:
    """Return the lines that a change has to bring; common_dir is its project's git directory."""
    if not planned.project:
        return ()
    name = os.path.relpath(planned.file, planned.project)
    present = exclude.lines_of(content(common_dir, EXCLUDE))
    needed = [f"/{name}{_BESIDE}*", *([] if planned.backup else [f"/{name}"])]
    return tuple(line for line in needed if line not in present)


def hide(common_dir: str, planned: MadeChange, clock: Callable[[], float]) -> None:
    """Write the lines of a change."""
    if planned.hidden:
        with exclude.lock_of(common_dir, timeout=_LOCK_TIMEOUT, clock=clock):
            before = content(common_dir, EXCLUDE)
            lines = dict.fromkeys((*exclude.lines_of(before), *planned.hidden))
            _write(common_dir, before, tuple(lines))


def unhide(common_dir: str, change: MadeChange, clock: Callable[[], float]) -> None:
    """Take the lines of a change away that hide nothing any more."""
    if not change.hidden:
        return
    roots = worktree_roots(common_dir) | {change.project}
    with exclude.lock_of(common_dir, timeout=_LOCK_TIMEOUT, clock=clock):
        before = content(common_dir, EXCLUDE)
        present = exclude.lines_of(before)
        left = tuple(n for n in present if n not in change.hidden or _hides_any(roots, n))
        if left != present:
            _write(common_dir, before, left)


def _hides_any(roots: frozenset[str], line: str) -> bool:
    return any(_hides(root + line) for root in roots)


def _hides(path: str) -> bool:
    if not path.endswith("*"):
        return os.path.lexists(path)
    folder, begins = os.path.split(path[:-1])
    return any(name.startswith(begins) for name in files.names_in(folder))


def _write(common_dir: str, before: bytes | None, lines: tuple[str, ...]) -> None:
    after = exclude.with_block(before, lines) if lines else exclude.without_block(before) or None
    FileEdit(os.path.join(common_dir, EXCLUDE), EXCLUDE, before, after).make()
