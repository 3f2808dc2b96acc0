"""Keeps what a change of settings puts into a project out of `git status`, as long as it is there.

Only lines that the change itself brought into `info/exclude` go again: others may be in use.
"""

from __future__ import annotations

import os

from gitguard.store import exclude, files
from gitguard.store.disk import FileChange, content
from gitguard.usecases.planning import EXCLUDE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitguard.store.settings_changes import MadeChange

_BESIDE = ".gitguard-"


def lines_to_hide(common_dir: str, planned: MadeChange) -> tuple[str, ...]:
    """Return the lines that a change has to bring; common_dir is its project's git directory."""
    if not planned.project:
        return ()
    name = os.path.relpath(planned.file, planned.project)
    known = exclude.lines_of(content(common_dir, EXCLUDE))
    wanted = [f"/{name}{_BESIDE}*", *([] if planned.backup else [f"/{name}"])]
    return tuple(line for line in wanted if line not in known)


def hide(common_dir: str, planned: MadeChange) -> None:
    """Write the lines of a change."""
    if planned.hidden:
        before = content(common_dir, EXCLUDE)
        _write(common_dir, before, (*exclude.lines_of(before), *planned.hidden))


def unhide(common_dir: str, made: MadeChange) -> None:
    """Take the lines of a change away that hide nothing any more."""
    if not made.hidden:
        return
    before = content(common_dir, EXCLUDE)
    known = exclude.lines_of(before)
    left = tuple(line for line in known if line not in made.hidden or _hides(made, line))
    if left != known:
        _write(common_dir, before, left)


def _hides(made: MadeChange, line: str) -> bool:
    if not line.endswith("*"):
        return os.path.lexists(made.file)
    begins = os.path.basename(made.file) + _BESIDE
    return any(name.startswith(begins) for name in files.names_in(os.path.dirname(made.file)))


def _write(common_dir: str, before: bytes | None, lines: tuple[str, ...]) -> None:
    after = exclude.with_block(before, lines) if lines else exclude.without_block(before) or None
    FileChange(os.path.join(common_dir, EXCLUDE), EXCLUDE, before, after).make()
