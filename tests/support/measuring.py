"""What is timed side by side: things that take turns, rows of their medians, and their table.

Every row compares two that are interleaved, so that a machine whose speed drifts drifts for both.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass

_TELLING_ITS_PEAK = """
import atexit, sys
@atexit.register
def tell():
    [line] = [line for line in open("/proc/self/status") if line.startswith("VmHWM")]
    print(line.split()[1], file=sys.stderr)
"""


@dataclass(frozen=True)
class Row:
    """One line of the table; ratio is what was measured over what it is measured against."""

    what: str
    ours_ms: float
    theirs: str
    theirs_ms: float
    ratio: float
    target: float

    @property
    def holds(self) -> bool:
        return self.ratio <= self.target


def timed(work: Callable[[], object], clock: Callable[[], float] = time.perf_counter) -> float:
    """Return the seconds that work takes by a clock."""
    started = clock()
    work()
    return clock() - started


def median(
    work: Callable[[], object], runs: int, clock: Callable[[], float] = time.perf_counter
) -> float:
    """Return the median of several runs in seconds, after one to warm up."""
    work()
    return statistics.median(timed(work, clock) for _ in range(runs))


def compare(
    what: str,
    ours: Callable[[], object],
    theirs: str,
    other: Callable[[], object],
    target: float,
    runs: int,
) -> Row:
    """Run both in turn, after one warm-up of each."""
    ours()
    other()
    pairs = [(timed(ours), timed(other)) for _ in range(runs)]
    return row_of(what, theirs, target, pairs)


def row_of(
    what: str, theirs: str, target: float, pairs: Sequence[tuple[float, float]], unit: float = 1e3
) -> Row:
    """Return the row of the medians of pairs, ours first; unit is what is shown of one."""
    mine, yours = (statistics.median(side) for side in zip(*pairs, strict=True))
    return Row(what, mine * unit, theirs, yours * unit, mine / yours, target)


def limited(what: str, measured: float, limit: float) -> Row:
    """Return the row of something that has a limit of its own."""
    return Row(what, measured, "limit", limit, measured / limit, 1.0)


def peak_megabytes(program: str, *words: str) -> float:
    """Run a program in Python without its output; return the most memory that it took.

    What `resource` tells of a process counts the memory of the one that started it.
    """
    command = [sys.executable, "-c", _TELLING_ITS_PEAK + program, *words]
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=True)
    return int(done.stderr.split()[-1]) / 1024


def table_parser(description: str | None, *, runs: int) -> argparse.ArgumentParser:
    """Return the options of a program that prints rows: --json, --runs and --only."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--runs", type=int, default=runs, help="runs of each side")
    parser.add_argument("--only", default="", help="a part of a row's function name")
    return parser


def report(rows: Iterable[Row], *, as_json: bool) -> None:
    """Print each row as it comes, or all as JSON; the exit code says whether all targets hold."""
    found = []
    for row in rows:
        found.append(row)
        if not as_json:
            print(_line(row), flush=True)
    if as_json:
        print(json.dumps([{**asdict(row), "holds": row.holds} for row in found], indent=2))
    sys.exit(0 if all(row.holds for row in found) else 1)


def _line(row: Row) -> str:
    verdict = "holds" if row.holds else "MISSED"
    return (
        f"{row.what:42} {row.ours_ms:9.2f}  {row.theirs:24} {row.theirs_ms:9.2f}  "
        f"{row.ratio:6.2f} x  (target {row.target:g}) {verdict}"
    )


def markdown(lines: Iterable[Sequence[str]]) -> str:
    """Return a table in Markdown, of its head, the line below and its rows."""
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
