"""Which files of a workspace were changed a short while ago, found by a bounded walk.

The walk is by breadth, so that what lies near the root is seen before the bound is reached.
"""

from __future__ import annotations

import os
from itertools import islice

from gitguard.model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

MOST_ENTRIES = 10_000
"""So many entries of folders are looked at; it takes some 50 ms."""
_NEVER = frozenset({"node_modules"})


class RecentFiles(Value):
    """What the walk found, and what it did not see."""

    names: tuple[str, ...] = ()
    """Relative to the root, sorted."""
    unseen_folders: int = 0
    """Folders that could not be read, or that the bound kept from being read whole."""


def find_recent(
    root: str,
    *,
    since: float,
    until: float,
    depth: int,
    without: Collection[str] = (),
    most_entries: int = MOST_ENTRIES,
) -> RecentFiles:
    """Return the regular files that were modified after since and not after until.

    Times are Unix seconds. Files with more than depth folders above them, dot files and folders,
    `node_modules`, symbolic links, and the names in without are left out.
    """
    found: list[str] = []
    folders = [("", 0)]
    unseen = 0
    for folder, level in folders:
        entries, is_whole = _entries(os.path.join(root, folder), most_entries)
        most_entries -= len(entries)
        unseen += not is_whole
        for entry in entries:
            name = f"{folder}/{entry.name}" if folder else entry.name
            if entry.name.startswith(".") or entry.name in _NEVER or name in without:
                continue
            if _is_folder(entry):
                folders += [(name, level + 1)] if level < depth else []
            elif _is_recent(entry, since, until):
                found.append(name)
    return RecentFiles(tuple(sorted(found)), unseen)


def _entries(path: str, most: int) -> tuple[list[os.DirEntry[str]], bool]:
    """Return at most so many entries of a folder, sorted, and whether these are all."""
    try:
        with os.scandir(path) as entries:
            listed = list(islice(entries, most))
            is_whole = next(entries, None) is None
    except OSError:
        return [], False
    return sorted(listed, key=lambda entry: entry.name), is_whole


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir(follow_symlinks=False)
    except OSError:
        return False


def _is_recent(entry: os.DirEntry[str], since: float, until: float) -> bool:
    try:
        regular = entry.is_file(follow_symlinks=False)
        return regular and since < entry.stat(follow_symlinks=False).st_mtime <= until
    except OSError:
        return False
