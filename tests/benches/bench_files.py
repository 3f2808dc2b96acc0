"""What snapshots of files cost: rows of `make bench`.

Each is compared with `git status` of the same tree in the same run, and the first one of many files
with a durable `git add --all`.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

from tests.benches.bench_workspace import Scratch
from tests.support.measuring import Row, row_of, timed

_TREES = ((1_000, 15), (50_000, 7), (250_000, 5))
"""How many files a tree has, and how often it is measured."""
_TARGETS = {(1_000, 0): 1.2, (1_000, 10): 1.8}
"""What a snapshot may cost by the number of files and of changed ones; elsewhere as much as git."""
_A_FOLDER = 100
"""Files in a folder."""
_DURABLE = ("-c", "core.fsync=loose-object,index", "-c", "core.fsyncMethod=fsync")
_GIT_STATUS = ("--no-optional-locks", "status", "--porcelain")


def rows(folder: Path) -> Iterator[Row]:
    """Measure trees of several sizes, with nothing changed and with ten files changed."""
    for count, runs in _TREES:
        scratch = _tree(folder, count)
        for changed in (0, 10):
            yield _snapshot(scratch, count, changed, runs)
        if count == _TREES[0][0]:
            yield _many(scratch, count, runs // 3)


def _tree(folder: Path, count: int) -> Scratch:
    scratch = Scratch(folder, f"tree{count}")
    scratch.git("config", "gc.auto", "0")  # it would go on in the background
    (scratch.root / ".gitignore").write_text(".gitguard/\n")
    for number in range(count):
        path = _path(scratch, number)
        if number % _A_FOLDER == 0:
            path.parent.mkdir(parents=True)
        path.write_text(f"content {number}\n")
    scratch.git("add", "--all")
    scratch.git("commit", "--quiet", "--message", "Files")
    # As after the first look of a day: git knows by its stat data what is unchanged.
    past = 1_700_000_000
    for number in range(count):
        os.utime(_path(scratch, number), (past, past))
    scratch.git("status", "--porcelain")
    scratch.guard.checkpoint("The first snapshot")
    return scratch


def _path(scratch: Scratch, number: int) -> Path:
    return scratch.root / f"d{number // _A_FOLDER}" / f"f{number}"


def _change(scratch: Scratch, count: int, changed: int, turn: int) -> None:
    """Change files all over the tree."""
    for number in range(changed):
        path = _path(scratch, number * (count // max(changed, 1)))
        path.write_text(f"changed {turn} {number}\n")


def _snapshot(scratch: Scratch, count: int, changed: int, runs: int) -> Row:
    see = seeing(scratch)
    pairs = []
    for turn in range(runs + 1):
        _change(scratch, count, changed, turn)
        theirs = timed(lambda: scratch.git(*_GIT_STATUS))
        pairs.append((timed(see), theirs))
    what = f"snapshot of {count:,} files, {changed} changed"
    return row_of(what, "git status", _TARGETS.get((count, changed), 1.0), pairs[1:])


def seeing(scratch: Scratch) -> Callable[[], str]:
    """Return what takes a snapshot and keeps it, without the checkpoint around it, and names it."""
    store = scratch.store()
    part = store.journal.read("", 0)

    def see() -> str:
        with store.lock():
            head = store.own_head()
            before = store.worktree.kept_at(head.committed)
            seen = store.worktree.see(head.code.head, before, None)
            assert seen is not None
            assert seen.snapshot, seen.refusal
            store.worktree.keep(seen, head.committed, part)
            return seen.snapshot

    return see


def _many(scratch: Scratch, count: int, runs: int) -> Row:
    """A thousand files at once, against an index of its own with objects that are synced."""
    see = seeing(scratch)
    pairs = []
    for turn in range(runs):
        _change(scratch, count, count, turn + 1_000)
        index = scratch.root.parent / f"index{turn}"
        environment = {**scratch.environment, "GIT_INDEX_FILE": str(index)}
        objects = scratch.root.parent / f"objects{turn}"
        objects.mkdir()
        environment["GIT_OBJECT_DIRECTORY"] = str(objects)
        environment["GIT_ALTERNATE_OBJECT_DIRECTORIES"] = str(scratch.root / ".git" / "objects")

        def add(environment: dict[str, str] = environment) -> None:
            subprocess.run(
                ("git", *_DURABLE, "add", "--all"), cwd=scratch.root, env=environment, check=True
            )

        theirs = timed(add)
        pairs.append((timed(see), theirs))
    return row_of(f"snapshot of {count:,} files, all changed", "durable git add", 1.0, pairs)
