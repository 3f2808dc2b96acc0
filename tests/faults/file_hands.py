"""The hands that change files in a random sequence: the agent's tools, its shell, and others."""

from __future__ import annotations

import os
import random
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from gitguard.store.session import shell_edits
from tests.conftest import Clock, Git
from tests.faults.file_model import SECRET, Span

NAMES = (
    *("a", "b", "c.py", "d e", "größe", "x", "x/a", "x/b", "x/y/c", "z/ä", "100%"),
    *("w.crlf", "x/w.crlf"),
)
IGNORED = ("kept.log", "x/inner.log", "a/deep/out.log", "build/out")
CONTENTS = (
    *(b"", b"one\n", b"two\r\n", b"one\r\ntwo\n", b"\0\xff", b"\0\r\n\xfe\n", b"3" * 999),
    "größe\r\n".encode(),
)
_Facts = dict[str, tuple[int, int, int]]


class Dated:
    """The time of a sequence, in which each hand works in a second of its own.

    The file system dates a change by the machine's clock; it is read as the sequence's time.
    """

    def __init__(self, clock: Clock, probe: Path) -> None:
        self.clock = clock
        self._probe = probe
        self._ages: list[tuple[float, float]] = [(0.0, clock() - time.time())]

    def next_second(self, seconds: float = 1) -> None:
        """Let time pass, also for the file system."""
        self.clock.advance(seconds)
        self._ages.append((time.time(), self.clock() - time.time()))
        self.catch_up()

    def catch_up(self) -> None:
        """Wait until the file system dates a change as late as now: it lags by milliseconds."""
        now = time.time()
        self._probe.touch()
        while self._probe.stat().st_ctime < now:
            time.sleep(0.001)
            self._probe.touch()

    def moment(self, dated: float) -> float:
        """Return in the sequence's time what the file system dated."""
        return dated + next(offset for start, offset in reversed(self._ages) if start <= dated)

    @contextmanager
    def in_force(self) -> Iterator[None]:
        """Let gitguard read the dates of files in the sequence's time."""
        original = shell_edits._times_of

        def times_of(root: str, path: str, *, is_gone: bool) -> tuple[float, float]:
            changed, written = original(root, path, is_gone=is_gone)
            return self.moment(changed), self.moment(written) if written else 0

        shell_edits._times_of = times_of
        try:
            yield
        finally:
            shell_edits._times_of = original


class Hands:
    """Changes files at random, and notes who touched what."""

    def __init__(self, root: Path, chance: random.Random) -> None:
        self.root = root
        self._chance = chance
        self._writes = 0
        self._dated_by_agent: set[tuple[int, int, int]] = set()

    def unique(self) -> bytes:
        """Return a content that no file had before."""
        self._writes += 1
        return f"written {self._writes}\n".encode()

    def content(self) -> bytes:
        return self._chance.choice((self.unique(), *CONTENTS))

    def change(self) -> None:
        """Change something at a random path, whatever stands in the way."""
        kinds = ("write", "write", "delete", "link", "program", "folder", "chmod", "rename")
        kind = self._chance.choice((*kinds, "rename-folder", "ignored", "secret"))
        name = self._chance.choice(NAMES)
        if kind == "chmod":
            self._turn_mode(name)
        elif kind == "rename":
            self._rename(name, self._chance.choice(NAMES))
        elif kind == "rename-folder":
            self._rename(self._chance.choice(("x", "z", "x/y")), self._chance.choice(NAMES))
        elif kind == "ignored":
            self._write(self._make_way(self._chance.choice(IGNORED)))
        elif kind == "secret":
            (self.root / SECRET).write_bytes(b"TOKEN=" + self.unique())
        else:
            self._put(kind, self._make_way(name))

    def _make_way(self, name: str) -> Path:
        """Remove what stands at a path or above it, and make its folders."""
        path = self.root / name
        for above in path.parents:
            if above == self.root:
                break
            if above.is_file() or above.is_symlink():
                above.unlink()
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        path.unlink(missing_ok=True)
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def _put(self, kind: str, path: Path) -> None:
        if kind == "link":
            path.symlink_to(self._chance.choice(("a", "nowhere", "x")))
        elif kind == "folder":
            path.mkdir()
            (path / "inner").write_bytes(b"inner")
        elif kind != "delete":
            self._write(path, 0o755 if kind == "program" else 0o644)

    def _write(self, path: Path, permissions: int = 0o644) -> None:
        path.write_bytes(self.content())
        path.chmod(permissions)

    def _turn_mode(self, name: str) -> None:
        path = self.root / name
        if path.is_file() and not path.is_symlink():
            path.chmod(0o644 if os.access(path, os.X_OK) else 0o755)

    def _rename(self, old: str, new: str) -> None:
        source = self.root / old
        is_inside = f"{new}/".startswith(f"{old}/") or f"{old}/".startswith(f"{new}/")
        if is_inside or not os.path.lexists(source) or self._is_through_a_link(old):
            return
        target = self._make_way(new)
        if os.path.lexists(source):
            source.rename(target)

    def _is_through_a_link(self, name: str) -> bool:
        return any((self.root / above).is_symlink() for above in _parents(name))

    def tool_target(self) -> Path | None:
        """Return a path at which an edit tool can write a file, None where there is none."""
        path = self.root / self._chance.choice(NAMES)
        above = path.parent
        while not os.path.lexists(above):
            above = above.parent
        is_free = not path.is_symlink() and not path.is_dir()
        inside = str(path.relative_to(self.root))
        can = is_free and above.is_dir() and not self._is_through_a_link(inside)
        return path if can else None

    def some_names(self) -> tuple[str, ...]:
        return tuple(self._chance.sample(NAMES, 3))

    def destroy(self, line: str, git: Git) -> None:
        """Do what a destructive command does."""
        program, *words = line.split()
        if program == "git":
            git(*words)
            return
        for word in words[1:]:
            path = self.root / word
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink(missing_ok=True)

    # Who touched what

    @contextmanager
    def touching(self, span: Span, *, by_agent: bool) -> Iterator[None]:
        """Note in a span which paths somebody touches."""
        before = _facts(self.root)
        yield
        after = _facts(self.root)
        earlier = {facts for path, facts in before.items() if after.get(path) != facts}
        contents = {facts[:2] for facts in before.values()}
        touched = span.by_agent if by_agent else span.by_others
        for path in before.keys() | after.keys():
            if before.get(path) == after.get(path):
                continue
            if path not in after or after[path] not in earlier:
                touched.add(path)
                if by_agent and path in after:
                    self._dated_by_agent.add(after[path])
                    if after[path][:2] in contents:  # renamed, or with another mode
                        span.by_others.add(path)
                continue
            # A file in a renamed folder keeps its date, by which gitguard knows who wrote it.
            span.by_others.add(path)
            if after[path] in self._dated_by_agent:
                span.unclear.add(path)


def _parents(name: str) -> list[str]:
    return [str(path) for path in Path(name).parents if str(path) != "."]


def _facts(root: Path) -> _Facts:
    facts: _Facts = {}
    for folder, names, file_names in os.walk(root):
        names[:] = [name for name in names if name not in (".git", ".gitguard")]
        links = [name for name in names if os.path.islink(os.path.join(folder, name))]
        for name in (*file_names, *links):
            path = os.path.join(folder, name)
            there = os.lstat(path)
            facts[os.path.relpath(path, root)] = (
                there.st_ino,
                there.st_mtime_ns,
                there.st_ctime_ns,
            )
    return facts


Act = Callable[[], None]
