"""A folder that is filled once a process, and lies before each test as it was then.

A copy could not take its place: gitguard knows a repository by its path and its inode.
"""

from __future__ import annotations

import copy
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from stat import S_ISDIR, S_ISLNK
from typing import Any, NamedTuple

import pytest

_MADE: dict[Path, object] = {}


class _Entry(NamedTuple):
    """What lay at a path, and the facts that change with it."""

    mode: int
    facts: tuple[int, ...]
    modified: int
    content: bytes


class Stage:
    """The folder, and the function that fills it, again where it cannot be put back."""

    def __init__(self, folder: Path, fill: Callable[[Path], object]) -> None:
        self.folder = folder
        self._fill = fill
        self._entries: dict[str, _Entry] = {}

    def set(self) -> Path:
        """Put everything back as it was when the folder was filled."""
        if not (self._entries and self._put_back()):
            shutil.rmtree(self.folder, ignore_errors=True)
            self.folder.mkdir()
            _MADE[self.folder] = self._fill(self.folder)
            self._entries = {path: _entry(path) for path in _paths(str(self.folder))}
            self._await_the_next_tick()
        return self.folder

    def _await_the_next_tick(self) -> None:
        """Wait until a change of any file gives it another time than the one remembered."""
        newest = max(entry.facts[-1] for entry in self._entries.values())
        probe = self.folder / "probe"
        probe.touch()
        while probe.stat().st_ctime_ns <= newest:
            probe.touch()
        probe.unlink()

    def _put_back(self) -> bool:
        for path in reversed([*_paths(str(self.folder))]):
            if path not in self._entries:
                (os.rmdir if S_ISDIR(os.lstat(path).st_mode) else os.unlink)(path)
        changed = [path for path, entry in self._entries.items() if _facts(path) != entry.facts]
        if any(S_ISDIR(self._entries[path].mode) for path in changed):
            return False
        for path in changed:
            self._write(path)
        for root in self._repositories():
            if any(_is_in_worktree(path, root) for path in changed):
                command = ["git", "update-index", "-q", "--refresh"]
                subprocess.run(command, cwd=root, check=False)
        return True

    def _repositories(self) -> list[str]:
        return [os.path.dirname(path) for path in self._entries if path.endswith("/.git")]

    def _write(self, path: str) -> None:
        entry = self._entries[path]
        if os.path.lexists(path):
            (os.rmdir if S_ISDIR(os.lstat(path).st_mode) else os.unlink)(path)
        if S_ISLNK(entry.mode):
            os.symlink(entry.content, path)
        else:
            Path(path).write_bytes(entry.content)
            os.chmod(path, entry.mode)
            os.utime(path, ns=(entry.modified, entry.modified))
        # Its time may be that of the next change, so it is written each time from now on.
        self._entries[path] = entry._replace(facts=())


def staged(**fills: Callable[..., object]) -> Any:
    """Return a fixture to be called `tmp_path`: a new folder as always, but for some tests a stage.

    Each fixture named here is one whose tests find what the function made of the folder; where the
    fixture has parameters, the function is called with the parameter too. A module that has such a
    fixture of its own, or a `guard`, is staged only by a `tmp_path` of its own.
    """
    stages: dict[tuple[str, object], Stage] = {}

    @pytest.fixture(name="tmp_path")
    def stage(
        request: pytest.FixtureRequest, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
    ) -> Path:
        parameters = request.node.callspec.params if hasattr(request.node, "callspec") else {}
        own = vars(request.module)
        is_own = own.get("tmp_path") is stage
        for name, fill in fills.items():
            is_replaced = not is_own and bool({name, "guard"} & {*own, *parameters})
            if name in request.fixturenames and not is_replaced:
                key = name, parameters.get(name)
                if key not in stages:
                    fill_it = partial(fill, parameter=key[1]) if name in parameters else fill
                    stages[key] = Stage(tmp_path_factory.mktemp("stage"), fill_it)
                return stages[key].set()
        return tmp_path

    return stage


def is_staged(folder: Path) -> bool:
    return folder in _MADE


def made_in(folder: Path) -> Any:
    """Return a copy of what the function that filled a stage returned."""
    return copy.deepcopy(_MADE[folder])


def staged_object(name: str, make: Callable[[Path], object]) -> tuple[Any, Any]:
    """Return the fixtures `tmp_path` and name: a stage, and a copy of what was made in it."""

    @pytest.fixture(name=name)
    def copied(tmp_path: Path) -> object:
        return made_in(tmp_path)

    return staged(**{name: make}), copied


def _paths(folder: str) -> Iterator[str]:
    """Yield what lies in a folder, each folder before what lies in it."""
    with os.scandir(folder) as listing:
        for item in listing:
            yield item.path
            if item.is_dir(follow_symlinks=False):
                yield from _paths(item.path)


def _is_in_worktree(path: str, root: str) -> bool:
    return path.startswith(f"{root}/") and not path.startswith(
        (f"{root}/.git/", f"{root}/.gitguard")
    )


def _facts(path: str) -> tuple[int, ...]:
    try:
        status = os.lstat(path)
    except OSError:
        return (0,)
    if S_ISDIR(status.st_mode):
        return (status.st_mode, status.st_uid, status.st_ino)
    return (status.st_mode, status.st_uid, status.st_ino, status.st_size, status.st_ctime_ns)


def _entry(path: str) -> _Entry:
    status = os.lstat(path)
    content = b""
    if S_ISLNK(status.st_mode):
        content = os.fsencode(os.readlink(path))
    elif not S_ISDIR(status.st_mode):
        content = Path(path).read_bytes()
    return _Entry(status.st_mode, _facts(path), status.st_mtime_ns, content)
