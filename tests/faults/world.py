"""A world to break: a repository, gitguard's folders around it, and the way back to the start."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from gitguard.guard import Guard
from gitguard.store.session.workspace import UserDirs
from tests.conftest import Clock, Git

BRANCH = "refs/heads/gitguard/main"
_OURS = (
    "objects",
    "gitguard",
    "refs/heads/gitguard",
    "refs/gitguard",
    "logs/refs/heads/gitguard",
    "logs/refs/gitguard",
)
_UNFINISHED = ("tmp_", "gitguard-new-")


class _Kept(NamedTuple):
    mode: int
    data: bytes
    seen: os.stat_result | None


class World:
    """A repository with gitguard in it, which can be put back as it was.

    Putting back keeps the folders themselves: the anchor knows the git directory by its inode.
    """

    def __init__(self, base: Path, state_home: Path | None = None) -> None:
        self.base = base
        self.root = base / "repo"
        self.state_home = state_home or base / "state"
        self.talk = base / "talks" / "talk.jsonl"
        """The file of a conversation, where a scenario is about one."""
        self.clock = Clock()
        self.path = os.environ["PATH"]
        self.at_step: Callable[[str], object] = str
        self._images: list[dict[Path, _Kept]] = [{}]
        self._trees = [base] if state_home is None else [base, state_home]
        base.mkdir(parents=True, exist_ok=True)
        self.root.mkdir()
        self.git = Git(self.root)
        self.git.start()

    @property
    def places(self) -> UserDirs:
        """Where gitguard's files are in this world."""
        return UserDirs(
            str(self.state_home),
            str(self.base / "config"),
            environment={**os.environ, "PATH": self.path},
            at_step=self.at_step,
        )

    def guard(self, root: Path | None = None, **changes: object) -> Guard:
        """Open gitguard as a new command would."""
        return Guard(str(root or self.root), self.places.replace(**changes), self.clock)

    # Back to the start

    def keep(self) -> None:
        """Remember everything as it is now."""
        self._images[-1] = {path: _keep(path) for path in self._walk()}

    @contextmanager
    def as_it_is(self) -> Iterator[None]:
        """Let everything be put back as it is now, until the end of the context."""
        self._images.append({})
        self.keep()
        try:
            yield
        finally:
            self._images.pop()

    def put_back(self) -> None:
        """Make everything as it was when it was kept."""
        self.clock = Clock()
        image = self._images[-1]
        for path in sorted(self._walk(), reverse=True):
            if path not in image:
                path.rmdir() if path.is_dir() and not path.is_symlink() else path.unlink()
        for path, kept in image.items():
            if stat.S_ISDIR(kept.mode):
                path.mkdir(exist_ok=True)
            elif not _is_same(path, kept.seen):
                path.unlink(missing_ok=True)
                path.write_bytes(kept.data)
                path.chmod(stat.S_IMODE(kept.mode))
                image[path] = kept._replace(seen=path.lstat())

    def files(self) -> dict[Path, bytes | None]:
        """Return the content of every file; a folder has none."""
        return {path: None if path.is_dir() else path.read_bytes() for path in self._walk()}

    def kept_files(self) -> dict[Path, bytes | None]:
        """Return the same of what was kept."""
        kept = self._images[-1].items()
        return {path: None if stat.S_ISDIR(k.mode) else k.data for path, k in kept}

    def become(self, tree: dict[Path, bytes | None]) -> None:
        """Make everything as a tree says; files that differ from it are made anew."""
        now = self.files()
        for path in sorted(now, reverse=True):
            if path not in tree:
                path.rmdir() if path.is_dir() else path.unlink()
        for path in sorted(tree):
            data = tree[path]
            if data is None:
                path.mkdir(exist_ok=True)
            elif now.get(path) != data:
                path.unlink(missing_ok=True)
                path.write_bytes(data)

    def _walk(self) -> list[Path]:
        found = []
        for tree in self._trees:
            for folder, folders, names in os.walk(tree):
                found += [Path(folder, name) for name in (*folders, *names)]
        return found

    def remove(self) -> None:
        """Remove everything."""
        for tree in self._trees:
            shutil.rmtree(tree, ignore_errors=True)

    # What must not change, and what must not stay

    def user_files(self) -> dict[str, bytes]:
        """Return what is the user's: worktrees, index, HEAD, other refs, configuration, reflogs."""
        found = {}
        git_dir = self.root / ".git"
        ours = tuple(str(git_dir / name) for name in _OURS)
        for path in self._walk():
            name = str(path)
            foreign = name.startswith((*ours, str(self.talk))) or f"{os.sep}.gitguard" in name
            if path.is_file() and not foreign and not path.is_relative_to(self.state_home):
                found[name] = path.read_bytes()
        return found

    def left_over(self) -> list[Path]:
        """Return what unfinished writes left behind."""
        locks = self.root / ".git" / "gitguard"
        return [p for p in self._walk() if _is_left_over(p.name) and p.parent != locks]


def _is_left_over(name: str) -> bool:
    return (
        name.endswith((".tmp", ".lock", "-lock"))
        or name.startswith(_UNFINISHED)
        or name == "starting"
    )


def _keep(path: Path) -> _Kept:
    found = path.lstat()
    data = path.read_bytes() if stat.S_ISREG(found.st_mode) else b""
    return _Kept(found.st_mode, data, found)


def _is_same(path: Path, seen: os.stat_result | None) -> bool:
    try:
        now = path.lstat()
    except FileNotFoundError:
        return False
    return seen is not None and _mark(now) == _mark(seen)


def _mark(found: os.stat_result) -> tuple[int, int, int, int]:
    return found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns
