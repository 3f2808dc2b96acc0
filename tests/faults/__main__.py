"""`python -m tests.faults`: try all points, print the table, fail if a promise did not hold."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from tests.faults import proof, report, sequences
from tests.faults.crowd import SHAPES, Crowd
from tests.faults.kinds import KINDS, plan
from tests.faults.running import fast_folder, run_kind, try_point
from tests.faults.scenarios import BY_NAME
from tests.faults.world import World

_PROGRESS_EVERY = 5.0


def main() -> int:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    parser.add_argument("points", nargs="*", help="kind, kind/scenario or kind/scenario/point")
    parser.add_argument("--quick", action="store_true", help="a part that takes under a minute")
    parser.add_argument("--sequences", type=int, help="how many random sequences")
    parser.add_argument("--seed", type=int, default=0, help="the first sequence's")
    parser.add_argument("--jobs", type=int, default=min(2, os.cpu_count() or 1))
    wanted = parser.parse_args()
    seal()
    single = [point for point in wanted.points if point.count("/") > 1]
    if single:
        return sum(try_again(point) for point in single)
    rows = []
    for kind, scenarios, every in plan(wanted.points, quick=wanted.quick):
        rows.append(
            run_kind(kind, scenarios, jobs=wanted.jobs, every=every, tell=teller(kind.name))
        )
    rows += crowds(wanted.points, quick=wanted.quick)
    rows += random_work(wanted)
    print("\n" + report.table(rows))
    if failed := report.failures(rows):
        print("\n" + failed)
    return int(bool(failed))


def crowds(wanted: list[str], *, quick: bool) -> list[report.Row]:
    """Let crowds work, the small one where there is little time."""
    asked = [shape for shape in SHAPES if not wanted or f"crowd-{shape.name}" in wanted]
    size = (4, 10) if quick else (16, 50)
    return [Crowd(shape, *size).run() for shape in asked]


def random_work(wanted: argparse.Namespace) -> list[report.Row]:
    """Run random sequences of work on files, few where there is little time."""
    name = sequences.NAME
    if wanted.points and not {name, name.partition("/")[0]} & set(wanted.points):
        return []
    usual = sequences.FEW if wanted.quick else sequences.MANY
    count = usual if wanted.sequences is None else wanted.sequences
    told = teller(name)
    return [sequences.run_sequences(count, jobs=wanted.jobs, first=wanted.seed, tell=told)]


def teller(name: str) -> Callable[[int, list[report.Failure]], None]:
    """Return what shows how far a kind is, and each failure as it comes."""
    last, shown = 0.0, 0

    def tell(tried: int, failures: list[report.Failure]) -> None:
        nonlocal last, shown
        for failure in failures[shown:]:
            print(f"{failure.point}\n    {failure.why}"[:2000], file=sys.stderr)
        shown = len(failures)
        if time.monotonic() - last > _PROGRESS_EVERY:
            last = time.monotonic()
            print(f"{name}: {tried:,} tried, {shown} failed", file=sys.stderr, flush=True)

    return tell


def try_again(name: str) -> int:
    """Try one point and say what it comes to."""
    if name.startswith(f"{sequences.NAME}/"):
        return sequences.run_again(int(name.rpartition("/")[2]))
    kind_name, scenario_name, point = name.split("/", 2)
    kind, scenario = KINDS[kind_name], BY_NAME[scenario_name]
    base = Path(tempfile.mkdtemp(prefix="gitguard-faults-", dir=fast_folder()))
    world = World(base / scenario.name)
    expected = proof.expect(world, scenario)
    why = try_point(world, scenario, expected, kind, point)
    if why:
        print(f"{name}\n    {why}\n    what it left is in {base}")
        return 1
    world.remove()
    print(f"{name}: every promise holds")
    return 0


def seal() -> None:
    """Let nothing of the user's settings be read or written."""
    home = tempfile.mkdtemp(prefix="gitguard-faults-home-")
    for name in list(os.environ):
        if name.startswith(("GIT_", "GITGUARD_", "XDG_")):
            del os.environ[name]
    os.environ.update(HOME=home, GIT_CONFIG_NOSYSTEM="1", LC_ALL="C.UTF-8", TZ="UTC")


if __name__ == "__main__":
    raise SystemExit(main())
