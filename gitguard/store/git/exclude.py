"""Our block of lines in a repository's `info/exclude`, which git reads and never commits."""

from __future__ import annotations

import os

from gitguard.errors import GitguardError
from gitguard.model.digest import sha256
from gitguard.store.disk import files, folders
from gitguard.store.disk.lock import Lock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_LIMIT = 1 << 20
"""Bytes of a file of ignore rules."""
_BEGIN, _END = "# >>> gitguard >>>", "# <<< gitguard <<<"


def lock_of(common_dir: str, *, timeout: float, clock: Callable[[], float]) -> Lock:
    """Return the lock of everybody who changes the file, which belongs to all worktrees."""
    # No session's name begins with `_`.
    path = os.path.join(common_dir, "gitguard", "_install.lock")
    if folders.stranger(path)[0]:  # users who share a repository share this file, not our folder
        path = os.path.join(common_dir, "info", "gitguard-install.lock")
    return Lock(path, timeout=timeout, clock=clock)


def lines_of(data: bytes | None) -> tuple[str, ...]:
    """Return the lines between our marks."""
    lines = _decoded(data).splitlines()
    if _BEGIN not in lines or _END not in lines:
        return ()
    return tuple(lines[lines.index(_BEGIN) + 1 : lines.index(_END)])


def without_block(data: bytes | None) -> bytes | None:
    """Return the file without our block; None is no file."""
    if data is None:
        return None
    head, begin, after_begin = _decoded(data).partition(_BEGIN + "\n")
    _, end, tail = after_begin.partition(_END + "\n")
    return (head + tail).encode("utf-8", "surrogateescape") if begin and end else data


def with_block(data: bytes | None, lines: tuple[str, ...]) -> bytes:
    """Return the file with our block, once and at its end."""
    before = without_block(data) or b""
    gap = b"\n" if before and not before.endswith(b"\n") else b""
    block = "\n".join([_BEGIN, *lines, _END, ""])
    return before + gap + block.encode("utf-8", "surrogateescape")


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
