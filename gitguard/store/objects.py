"""New loose objects, each durable before it gets its name.

GitPython's own store neither syncs nor replaces: an object that a power cut left empty under its
final name would stay broken for ever. So every object is written aside, synced, and put in place
over whatever is there.
"""

from __future__ import annotations

import os

from gitguard.errors import GitFailed
from gitguard.store import files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_PREFIX = "gitguard-new-"
"""Not `tmp_`, which somebody's `git prune` takes while we write."""
_AHEAD = 3600
"""Seconds by which our objects are newer than now: `git gc --prune=now` of somebody else must not
take them before a ref leads to them."""


class ObjectsGone(GitFailed):
    """Somebody removed objects while we wrote them; writing them again may work."""


class LooseObjects:
    """Writes loose objects.

    Their names become durable with the ref that leads to them: its folder is synced after it moved,
    and a journaling file system keeps that order.
    """

    def __init__(
        self,
        common_dir: str,
        encode: Callable[[str, bytes], tuple[str, bytes]],
        clock: Callable[[], float],
    ) -> None:
        """Write for a repository; encode turns kind and content into id and file."""
        self._objects = os.path.join(common_dir, "objects")
        self._encode = encode
        self._clock = clock
        self._sweep()

    def write(self, kind: str, data: bytes) -> str:
        """Store an object of a kind; return its id."""
        name, content = self._encode(kind, data)
        folder = os.path.join(self._objects, name[:2])
        aside = os.path.join(self._objects, f"{_PREFIX}{os.getpid()}-{name}")
        try:
            self._write_aside(aside, content)
            self._make_fanout(folder)
            os.replace(aside, os.path.join(folder, name[2:]))
        except FileNotFoundError as error:
            raise ObjectsGone(f"somebody removed `{aside}` while we wrote it") from error
        except OSError as error:
            files.remove(aside)
            raise files.refused(self._objects, error) from error
        return name

    def _write_aside(self, path: str, content: bytes) -> None:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | files.NO_FOLLOW, 0o444)
        try:
            files.write_all(handle, content)
            os.fchmod(handle, 0o444)
            os.utime(handle, (self._clock() + _AHEAD,) * 2)
            os.fsync(handle)
        finally:
            os.close(handle)

    def _make_fanout(self, folder: str) -> None:
        # In a shared repository the others write there too; their permissions are the parent's.
        try:
            os.mkdir(folder)
        except FileExistsError:
            return
        os.chmod(folder, os.stat(self._objects).st_mode & 0o7777)

    def _sweep(self) -> None:
        """Remove what processes that died while they wrote objects have left."""
        for name in os.listdir(self._objects):
            path = os.path.join(self._objects, name)
            if name.startswith(_PREFIX) and files.is_left_over(path, self._clock()):
                files.remove(path)
