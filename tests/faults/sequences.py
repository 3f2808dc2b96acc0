"""Random work on files: many sequences of edits, snapshots, restores, undos and kills."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from gitguard.store.session.workspace import UserDirs
from tests.conftest import Clock, Git
from tests.faults.file_sequences import Sequence
from tests.faults.report import Failure, Row
from tests.faults.running import fast_folder

NAME = "sequences/files"
MANY, FEW = 5_000, 12
"""How many sequences are run, and how many where there is little time."""


class _Ran(NamedTuple):
    why: str
    """What did not hold; empty where everything did."""
    killed_at: frozenset[str]
    """The steps at which gitguard was killed."""


def run_sequences(
    count: int,
    *,
    jobs: int,
    first: int = 0,
    tell: Callable[[int, list[Failure]], None] = lambda tried, failures: None,
) -> Row:
    """Run the sequences of consecutive seeds; the point of a failure ends with its seed."""
    began = time.monotonic()
    failures: list[Failure] = []
    killed_at: set[str] = set()
    with _folder() as template, ProcessPoolExecutor(jobs) as pool:
        _begin(template)
        seeds = range(first, first + count)
        running = {pool.submit(_run, seed, template): seed for seed in seeds}
        for tried, sequence in enumerate(as_completed(running), 1):
            ran = sequence.result()
            killed_at |= ran.killed_at
            if ran.why:
                failures.append(Failure(f"{NAME}/{running[sequence]}", ran.why))
            tell(tried, failures)
    note = f"seeds {first:,} to {first + count - 1:,}, killed at {len(killed_at)} different steps"
    return Row(NAME, count, tuple(failures), time.monotonic() - began, note)


def run_again(seed: int) -> int:
    """Run one sequence and say what it comes to."""
    with _folder() as template:
        _begin(template)
        why = _run(seed, template).why
    print(f"{NAME}/{seed}\n    {why}" if why else f"{NAME}/{seed}: every promise holds")
    return int(bool(why))


def _begin(template: Path) -> None:
    """Make the repository of one commit that every sequence gets a copy of."""
    Git(template).start()


def _run(seed: int, template: Path) -> _Ran:
    with _folder() as folder:
        root = folder / "repo"
        shutil.copytree(template, root)
        git = Git(root)
        git("update-index", "--refresh")
        state, config = str(folder / "state"), str(folder / "config")
        places = UserDirs(state, config, environment=dict(os.environ))
        sequence = Sequence(git, places, Clock(), seed)
        try:
            sequence.run()
        except AssertionError as broken:
            return _Ran(str(broken), frozenset(sequence.killed_at))
    return _Ran("", frozenset(sequence.killed_at))


@contextmanager
def _folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="gitguard-sequence-", dir=fast_folder()) as folder:
        yield Path(folder)
