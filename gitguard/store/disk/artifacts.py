"""Files that agents and people keep in the workspace: read no further than a limit.

They may be anything. A symbolic link is followed within the workspace and nowhere else.
"""

from __future__ import annotations

import os
import stat

from gitguard.errors import InvalidDocument
from gitguard.store.disk.files import NO_FOLLOW

_NO_WAIT = getattr(os, "O_NONBLOCK", 0)


def read_start(root: str, name: str, *, limit: int) -> str | None:
    """Return how a file begins, None where there is none."""
    return _read(root, name, limit, from_end=False)


def read_end(root: str, name: str, *, limit: int) -> str | None:
    """Return how a file ends, None where there is none."""
    return _read(root, name, limit, from_end=True)


def changed_at(root: str, name: str) -> float | None:
    """Return when a regular file was modified, in Unix seconds; None where there is none."""
    try:
        facts = os.lstat(_resolved(root, name))
    except (OSError, InvalidDocument):
        return None
    return facts.st_mtime if stat.S_ISREG(facts.st_mode) else None


def own_path(root: str, name: str) -> str:
    """Return the path of a file of ours; raise where its folder leads out of the workspace."""
    folder, _, last = name.rpartition("/")
    return os.path.join(_resolved(root, folder) if folder else root, last)


def _resolved(root: str, name: str) -> str:
    path = os.path.realpath(os.path.join(root, name))
    if os.path.commonpath((root, path)) != root:
        raise InvalidDocument(f"`{name}` leads out of the workspace, which is refused")
    return path


def _read(root: str, name: str, limit: int, *, from_end: bool) -> str | None:
    try:
        handle = os.open(_resolved(root, name), os.O_RDONLY | NO_FOLLOW | _NO_WAIT)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise InvalidDocument(f"cannot read `{name}`: {error.strerror}") from error
    try:
        facts = os.fstat(handle)
        if not stat.S_ISREG(facts.st_mode):
            raise InvalidDocument(f"`{name}` is not a regular file")
        start = max(facts.st_size - limit, 0) if from_end else 0
        return os.pread(handle, limit, start).decode("utf-8", "replace")
    except OSError as error:
        raise InvalidDocument(f"cannot read `{name}`: {error.strerror}") from error
    finally:
        os.close(handle)
