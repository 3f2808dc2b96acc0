"""UserDirs that cannot be written: folders that are read-only, and disks that are full.

A read-only place is a read-only bind mount where the tests may mount, and a folder without write
permission where they may not.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.faults.sandbox import sealed
from tests.support.needed import cannot_run


def _mount(*arguments: str) -> bool:
    return subprocess.run(["mount", *arguments], capture_output=True, check=False).returncode == 0


@contextmanager
def read_only(folder: Path) -> Iterator[None]:
    """Make a folder and everything in it read-only."""
    if os.geteuid() != 0:
        with sealed(folder):
            yield
        return
    if not _mount("--bind", str(folder), str(folder)):
        cannot_run("root that may not mount cannot make a folder read-only for itself")
    try:
        assert _mount("-o", "remount,ro,bind", str(folder))
        yield
    finally:
        subprocess.run(["umount", str(folder)], check=True)


@contextmanager
def small_disk(folder: Path, size: str) -> Iterator[Path]:
    """Mount a file system of a size in a folder, and yield the folder."""
    folder.mkdir()
    if not _mount("-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)):
        cannot_run("a small file system needs the right to mount one")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def fill(path: Path, leave: int) -> None:
    """Take all room on a file system but the given number of bytes."""
    found = os.statvfs(path.parent)
    with path.open("wb") as file:
        file.write(b"\0" * max(found.f_bavail * found.f_frsize - leave, 0))
