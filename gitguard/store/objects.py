"""New objects, written aside and published durable.

GitPython's store neither syncs nor replaces; an object that a power cut left empty under its final
name would stay broken for ever. So each file is synced before it gets that name.
"""

from __future__ import annotations

import os
from contextlib import suppress

from gitguard.errors import GitFailed, GitguardError
from gitguard.store import files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType
    from typing import Self

_PREFIX = "tmp_gitguard-"
_AHEAD = 3600
"""Seconds by which our objects are newer than now: `git gc --prune=now` of somebody else must not
take them before a ref leads to them."""


class ObjectsGone(GitFailed):
    """Somebody removed objects while we wrote them; writing them again may work."""


class Quarantine:
    """Writes loose objects into a folder of their own, then moves them in place."""

    def __init__(
        self,
        common_dir: str,
        store: Callable[[str, str, bytes], str],
        clock: Callable[[], float],
    ) -> None:
        """Write for a repository; store puts an object of a kind into a folder, returns its id."""
        self._objects = os.path.join(common_dir, "objects")
        unique = f"{_PREFIX}{os.getpid()}-{os.urandom(4).hex()}"
        self._folder = os.path.join(self._objects, unique)
        self._store = store
        self._clock = clock

    def __enter__(self) -> Self:
        try:
            self._sweep()
        except OSError as error:
            raise files.refused(self._objects, error) from error
        files.make_folder(self._folder)
        return self

    def write(self, kind: str, data: bytes) -> str:
        """Store an object of a kind; return its id."""
        return self._store(self._folder, kind, data)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            if error is None:
                self._publish()
        except OSError as failure:
            raise self._refused(failure) from failure
        finally:
            _remove_tree(self._folder)
        if isinstance(error, OSError):
            raise self._refused(error) from error

    def _refused(self, error: OSError) -> GitguardError:
        if isinstance(error, FileNotFoundError):
            return ObjectsGone(f"somebody removed `{self._folder}` while we wrote there")
        return files.refused(self._objects, error)

    def _publish(self) -> None:
        ahead = self._clock() + _AHEAD
        touched = {self._objects}
        for fanout in os.listdir(self._folder):
            target = os.path.join(self._objects, fanout)
            for name in os.listdir(os.path.join(self._folder, fanout)):
                source = os.path.join(self._folder, fanout, name)
                os.utime(source, (ahead, ahead))
                files.sync_file(source)
                self._make_fanout(target)
                os.replace(source, os.path.join(target, name))
            touched.add(target)
        for folder in touched:
            files.sync_folder(folder)

    def _make_fanout(self, target: str) -> None:
        # In a shared repository the others write there too; their permissions are the parent's.
        try:
            os.mkdir(target)
        except FileExistsError:
            return
        os.chmod(target, os.stat(self._objects).st_mode & 0o7777)

    def _sweep(self) -> None:
        """Remove what processes that died while they wrote objects have left."""
        for name in os.listdir(self._objects):
            path = os.path.join(self._objects, name)
            if name.startswith(_PREFIX) and files.is_left_over(path, self._clock()):
                _remove_tree(path)


def _remove_tree(path: str) -> None:
    for folder, _, names in os.walk(path, topdown=False):
        for name in names:
            files.remove(os.path.join(folder, name))
        with suppress(OSError):
            os.rmdir(folder)
