"""Keeps files of ours at a worktree's root out of `git status`, through `info/exclude`.

The lines stand in a block of their own, beside the one of an installation, because people who
installed nothing may use the files, and uninstalling must not bring them into view.
"""

from __future__ import annotations

import os

from gitguard.errors import InvalidDocument
from gitguard.store.disk.changes import FileEdit, content
from gitguard.store.git import exclude
from gitguard.store.git.place import worktree_roots

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitguard.store.disk.lock import Lock
    from gitguard.store.git.worktree import Worktree
    from gitguard.store.session.workspace import Workspace

_EXCLUDE = "info/exclude"
_BEGIN, _END = "# >>> gitguard hand-off >>>\n", "# <<< gitguard hand-off <<<\n"
_LOCK_TIMEOUT = 2.0


def refuse_tracked(workspace: Workspace, names: tuple[str, ...]) -> None:
    """Raise `InvalidDocument` if git tracks one of the names.

    A clone brings a tracked file along, so it says nothing of this machine's work; and changing it
    would show in `git status`.
    """
    tracked = sorted(_worktree(workspace).tracked(names))
    if tracked:
        raise InvalidDocument(
            f"git tracks `{tracked[0]}`, so it belongs to the repository",
            f"Take it out with `git rm --cached {tracked[0]}`, or set another name in your "
            "config.yaml under `handoff`",
        )


def hide(workspace: Workspace, names: tuple[str, ...]) -> None:
    """Let git ignore the names, unless it does already; raise `NotWritable` where it cannot be."""
    common = workspace.place.common_dir
    missing = _missing(content(common, _EXCLUDE), names)
    missing -= _worktree(workspace).ignored(tuple(missing)) if missing else set()
    if not missing:
        return
    with _lock(workspace):
        before = content(common, _EXCLUDE)
        added = sorted(_missing(before, tuple(missing)))
        lines = (*_lines_of(before), *(f"/{name}\n" for name in added))
        _write(common, before, _with_block(before, lines))


def show_again(workspace: Workspace) -> None:
    """Take our lines out, unless another worktree of the repository has such files."""
    common = workspace.place.common_dir
    if not _lines_of(content(common, _EXCLUDE)):
        return
    with _lock(workspace):
        before = content(common, _EXCLUDE)
        names = [line.strip().lstrip("/") for line in _lines_of(before)]
        roots = worktree_roots(common) - {workspace.place.worktree}
        if not any(os.path.lexists(os.path.join(root, name)) for root in roots for name in names):
            _write(common, before, _without_block(before))


def _worktree(workspace: Workspace) -> Worktree:
    from gitguard.store.git.worktree import Worktree

    return Worktree(workspace.place, workspace.places.environment, workspace.clock)


def _lock(workspace: Workspace) -> Lock:
    return exclude.lock_of(workspace.place.common_dir, timeout=_LOCK_TIMEOUT, clock=workspace.clock)


# The block


def _split(data: bytes | None) -> tuple[str, str, str]:
    """Return what stands before our block, its lines, and what stands behind it."""
    text = (data or b"").decode("utf-8", "surrogateescape")
    head, begin, after_begin = text.partition(_BEGIN)
    lines, end, tail = after_begin.partition(_END)
    return (head, lines, tail) if begin and end else (text, "", "")


def _lines_of(data: bytes | None) -> tuple[str, ...]:
    return tuple(_split(data)[1].splitlines(keepends=True))


def _missing(data: bytes | None, names: tuple[str, ...]) -> set[str]:
    return set(names) - {line.strip().lstrip("/") for line in _lines_of(data)}


def _with_block(data: bytes | None, lines: tuple[str, ...]) -> bytes:
    head, _, tail = _split(data)
    before = head + tail
    gap = "\n" if before and not before.endswith("\n") else ""
    return "".join((before, gap, _BEGIN, *lines, _END)).encode("utf-8", "surrogateescape")


def _without_block(data: bytes | None) -> bytes | None:
    head, _, tail = _split(data)
    # git takes a missing file for an empty one, and where there was none we made it.
    return (head + tail).encode("utf-8", "surrogateescape") or None


def _write(common: str, before: bytes | None, after: bytes | None) -> None:
    FileEdit(os.path.join(common, _EXCLUDE), _EXCLUDE, before, after).make()
