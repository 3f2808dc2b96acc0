"""Our blocks of lines in a repository's `info/exclude`, which git reads and never commits."""

from __future__ import annotations

import os

from gitguard.errors import GitguardError
from gitguard.model.codec import sha256
from gitguard.store.disk import files, folders
from gitguard.store.disk.lock import Lock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_LIMIT = 1 << 20
"""Bytes of a file of ignore rules."""
NAME = "info/exclude"
"""Relative to the git directory that all worktrees share."""
INSTALLATION = ("# >>> gitguard >>>", "# <<< gitguard <<<")
HANDOFF = ("# >>> gitguard hand-off >>>", "# <<< gitguard hand-off <<<")
"""The marks around blocks of ours. People who installed nothing may use hand-off files, and
uninstalling must not bring them into view."""


def lock_of(common_dir: str, *, timeout: float, clock: Callable[[], float]) -> Lock:
    """Return the lock of everybody who changes the file, which belongs to all worktrees."""
    # No session's name begins with `_`.
    path = os.path.join(common_dir, "gitguard", "_install.lock")
    if folders.stranger(path)[0]:  # users who share a repository share this file, not our folder
        path = os.path.join(common_dir, "info", "gitguard-install.lock")
    return Lock(path, timeout=timeout, clock=clock)


def lines_of(data: bytes | None, block: tuple[str, str] = INSTALLATION) -> tuple[str, ...]:
    """Return the lines of a block of ours."""
    begin, end = block
    lines = _decoded(data).splitlines()
    if begin not in lines or end not in lines:
        return ()
    return tuple(lines[lines.index(begin) + 1 : lines.index(end)])


def without_block(data: bytes | None, block: tuple[str, str] = INSTALLATION) -> bytes | None:
    """Return the file without a block of ours; None is no file."""
    if data is None:
        return None
    head, begin, after_begin = _decoded(data).partition(block[0] + "\n")
    _, end, tail = after_begin.partition(block[1] + "\n")
    return (head + tail).encode("utf-8", "surrogateescape") if begin and end else data


def with_block(
    data: bytes | None, lines: tuple[str, ...], block: tuple[str, str] = INSTALLATION
) -> bytes:
    """Return the file with a block of ours, once and at its end."""
    before = without_block(data, block) or b""
    gap = b"\n" if before and not before.endswith(b"\n") else b""
    text = "\n".join([block[0], *lines, block[1], ""])
    return before + gap + text.encode("utf-8", "surrogateescape")


def rewrite(
    lock: Lock,
    common_dir: str,
    lines: Callable[[tuple[str, ...]], Iterable[str]],
    block: tuple[str, str] = INSTALLATION,
) -> None:
    """Give a block the lines that are made of those it has; one without lines goes."""
    from gitguard.store.disk.changes import FileEdit, content

    with lock:
        before = content(common_dir, NAME)
        present = lines_of(before, block)
        new_lines = tuple(dict.fromkeys(lines(present)))
        if new_lines == present:
            return
        # git takes a missing file for an empty one, and where there was none we made it.
        after = with_block(before, new_lines, block) if new_lines else without_block(before, block)
        FileEdit(os.path.join(common_dir, NAME), NAME, before, after or None).make()


def rules_outside(common_dir: str, users_file: str) -> str:
    """Return a digest of the ignore rules that stand outside of the worktree, without our own.

    users_file has the user's rules. A file that cannot be read counts as empty.
    """
    of_repository = without_block(_read(os.path.join(common_dir, "info", "exclude"))) or b""
    of_user = _read(users_file) or b""
    return sha256(of_repository + b"\0" + of_user)[:16]


def _read(path: str) -> bytes | None:
    try:
        return files.read_bytes(path, limit=_LIMIT)
    except GitguardError:
        return None


def _decoded(data: bytes | None) -> str:
    return (data or b"").decode("utf-8", "surrogateescape")
