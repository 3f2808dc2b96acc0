"""What the snapshots of a day take on the disk: rows of `make bench`.

An agent changes one to five files in each of 1,000 turns, in a tree of 500 real sources, and a user
commits every 20 turns. Each turn has a snapshot by gitguard, which keeps all of them, and one in a
shadow repository: a git directory of its own with `git add --all` and `git commit`, as other tools
have it. What the user's own commits take is measured in a third one, and counts for nobody.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterator
from pathlib import Path

import gitguard
from gitguard.model.redaction.redactor import Redactor
from gitguard.store.worktree.consolidating import consolidate
from gitguard.store.worktree.file_store import MANY
from tests.benches.bench_files import seeing
from tests.benches.bench_workspace import Scratch
from tests.support.measuring import Row

TURNS, FILES = 1_000, 500
_COMMIT_EVERY = 20
_COUNTED_EVERY = 10
"""At which n-th turn the new objects are counted."""
_MEGABYTE = 1 << 20
_Objects = dict[str, str]


def rows(folder: Path) -> Iterator[Row]:
    """Live through the day and compare what it left on the disk."""
    config = folder / "config"
    config.mkdir(exist_ok=True)
    (config / "config.yaml").write_text(f"files:\n  most: {TURNS}\n  day_megabytes: 1000\n")
    day = _Day(folder)
    day.pass_by()
    copies = day.copied / _MEGABYTE
    most = f"{TURNS:,} snapshots on disk at most, MB"
    yield _megabytes(most, day.peak, "a full copy each", copies)
    theirs = "a shadow repository"
    yield _megabytes("the same", day.peak, theirs, day.shadow.megabytes())
    day.pack()
    yield _megabytes("all of them packed, MB", day.ours(), theirs, day.shadow.megabytes())
    (config / "config.yaml").unlink()
    blobs, files = day.new_blobs, day.new_contents
    yield Row("new blobs in all snapshots counted", blobs, "changed files", files, blobs / files, 1)


def _megabytes(what: str, ours: float, theirs: str, other: float) -> Row:
    return Row(what, ours, theirs, other, ours / other, 1.0)


class _Beside:
    """A repository with a git directory of its own beside the worktree of a scratch."""

    def __init__(self, scratch: Scratch, name: str) -> None:
        self._scratch = scratch
        self._git_dir = scratch.root.parent / name
        scratch.git("init", "--quiet", "--bare", str(self._git_dir))
        for setting in (("core.bare", "false"), ("gc.auto", "0"), ("user.name", "bench")):
            self.git("config", *setting)
        self.git("config", "user.email", "bench@example.invalid")
        (self._git_dir / "info").mkdir(exist_ok=True)
        (self._git_dir / "info" / "exclude").write_text(".gitguard/\n")

    def git(self, *arguments: str) -> bytes:
        where = (f"--git-dir={self._git_dir}", f"--work-tree={self._scratch.root}")
        return self._scratch.git(*where, *arguments)

    def commit(self) -> None:
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", "Turn")

    def megabytes(self) -> float:
        return _disk(self._git_dir)


class _Day:
    """A worktree, the three repositories that follow it, and what they took."""

    def __init__(self, folder: Path) -> None:
        self._chance = random.Random(1)
        self._scratch = Scratch(folder, "day")
        self._scratch.git("config", "gc.auto", "0")
        self._root = self._scratch.root
        self._sources = _sources()
        self._names: list[str] = []
        for _ in range(FILES):
            self._add()
        (self._root / ".git" / "info" / "exclude").write_text(".gitguard/\n")
        self._commit()
        self._plain = _Beside(self._scratch, "plain.git")
        self._plain.commit()
        for git in (self._scratch.git, self._plain.git):
            git("gc", "--quiet", "--prune=now")  # as after a clone
        self._at_first = self._taken()
        self.shadow = _Beside(self._scratch, "shadow.git")
        self._see = seeing(self._scratch)
        self._store = self._scratch.store().worktree.file_store
        self.peak = 0.0
        """Megabytes that the snapshots took when they took most."""
        self.copied = 0
        """Bytes that a full copy in each turn would take."""
        self.new_blobs = 0
        self.new_contents = 0

    def pass_by(self) -> None:
        """Let all turns pass."""
        for turn in range(1, TURNS + 1):
            if turn % _COUNTED_EVERY:
                self._change_some()
                self._see()
            else:
                self._change_see_and_count()
            if self._store.young >= MANY:
                self.peak = max(self.peak, self.ours())
                consolidate(self._store)
            self.shadow.commit()
            self.copied += sum((self._root / name).stat().st_size for name in self._names)
            if turn % _COMMIT_EVERY == 0:
                self._commit()
                self._plain.commit()

    def _commit(self) -> None:
        self._scratch.git("add", "--all")
        self._scratch.git("commit", "--quiet", "--message", "Work")

    def _change_see_and_count(self) -> None:
        """Hold the blobs that a snapshot writes against the contents that are new."""
        contents, objects = self._contents(), self._objects()
        self._change_some()
        self.new_contents += len(self._contents() - contents)
        snapshot = self._see()
        where = f"--git-dir={self._store.folder}"
        name = f"{snapshot}:manifest.json"
        manifest = self._scratch.git(where, "rev-parse", name).decode().strip()
        now = self._objects()
        new = {name for name in now.keys() - objects.keys() if now[name] == "blob"}
        self.new_blobs += len(new - {manifest})

    def _contents(self) -> set[bytes]:
        return {(self._root / name).read_bytes() for name in self._names}

    def _objects(self) -> _Objects:
        where = f"--git-dir={self._store.folder}"
        question = ("cat-file", "--batch-all-objects", "--unordered", "--batch-check")
        listed = self._scratch.git(where, *question).decode()
        return {line.split()[0]: line.split()[1] for line in listed.splitlines()}

    # What the agent does

    def _change_some(self) -> None:
        """Change a few files."""
        acts: list[Callable[[], None]] = [self._edit] * 16 + [self._add, self._add]
        acts += [self._delete, self._rename]
        for _ in range(self._chance.randint(1, 5)):
            self._chance.choice(acts)()

    def _edit(self) -> None:
        """Replace a few lines by others."""
        path = self._root / self._chance.choice(self._names)
        lines = path.read_text().splitlines(keepends=True)
        at = self._chance.randrange(len(lines) + 1)
        new = self._some_lines(self._chance.randint(1, 12))
        lines[at : at + self._chance.randint(0, 8)] = new
        path.write_text("".join(lines))

    def _some_lines(self, count: int) -> list[str]:
        """Return lines of a source, the last of which no file had before."""
        lines = self._chance.choice(self._sources).splitlines(keepends=True)
        at = self._chance.randrange(len(lines))
        return [*lines[at : at + count], f"# change {self._chance.randrange(1 << 40)}\n"]

    def _add(self) -> None:
        number = self._chance.randrange(1 << 30)
        name = f"src/part{number % 25}/module_{number}.py"
        path = self._root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(self._chance.choice(self._sources) + f"# file {number}\n")
        self._names.append(name)

    def _delete(self) -> None:
        name = self._names.pop(self._chance.randrange(len(self._names)))
        (self._root / name).unlink()

    def _rename(self) -> None:
        at = self._chance.randrange(len(self._names))
        new = self._names[at].removesuffix(".py") + "_moved.py"
        (self._root / self._names[at]).rename(self._root / new)
        self._names[at] = new

    # What it took

    def _taken(self) -> float:
        folders = (self._root / ".git", self._root / ".gitguard")
        state = Path(self._scratch.environment["GITGUARD_STATE_DIR"])
        return sum(map(_disk, (*folders, state))) - self._plain.megabytes()

    def ours(self) -> float:
        """Return what the snapshots took, beside the user's commits."""
        return self._taken() - self._at_first

    def pack(self) -> None:
        """Pack all snapshots of each repository together."""
        consolidate(self._store)
        self._scratch.git("gc", "--quiet", "--prune=now")
        self._plain.git("gc", "--quiet", "--prune=now")
        self.shadow.git("gc", "--quiet", "--prune=now")


def _sources() -> list[str]:
    """Return the sources of gitguard itself, which are as long as sources are."""
    paths = sorted(Path(gitguard.__file__).parent.rglob("*.py"))
    texts = (path.read_text(encoding="utf-8") for path in paths)
    redactor = Redactor()  # a file in which it finds a secret is in no snapshot
    return [text for text in texts if text and redactor.text(text) == text]


def _disk(folder: Path) -> float:
    """Return the megabytes that files take, in whole blocks of the file system."""
    blocks = 0
    for where, _, names in os.walk(folder):
        blocks += sum(os.lstat(os.path.join(where, name)).st_blocks for name in names)
    return blocks * 512 / _MEGABYTE
