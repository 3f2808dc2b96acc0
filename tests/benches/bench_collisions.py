"""How many planted collisions an agent is told of before it writes, and how many lines are wrong.

`make bench-collisions` lets two and four conversations work in one checkout, in worktrees of their
own and in both, with real git and the real hooks (tests/benches/collision_worlds.py).
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from tests.benches.collision_worlds import KINDS, Counts, measure
from tests.support.measuring import Row, limited, report

MOST_MISSED, MOST_FALSE = 5, 1
"""Percent of the planted collisions, and lines in 100 turns."""


def rows(conversations: int, counts: Counts) -> list[Row]:
    """Return the rows of one number of conversations."""
    planted, turns = f"{counts.planted.total():,} collisions", f"{counts.turns:,} turns"
    missed = f"{conversations} conversations, {planted}: missed, percent"
    false = f"{conversations} conversations, {turns}: false lines in 100"
    return [
        limited(missed, 100 * (1 - counts.share), MOST_MISSED),
        limited(false, counts.false_in_100, MOST_FALSE),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=6, help="how many")
    parser.add_argument("--turns", type=int, default=20, help="in each place and seed")
    parser.add_argument("--json", action="store_true", help="print the rows as JSON")
    options = parser.parse_args()
    table = []
    for conversations in (2, 4):
        with tempfile.TemporaryDirectory(prefix="gitguard-collisions-") as folder:
            seeds = list(range(1, options.seeds + 1))
            counts = measure(conversations, seeds, options.turns, Path(folder))
        table += rows(conversations, counts)
        for kind in KINDS:
            told = f"{counts.warned[kind]:,} of {counts.planted[kind]:,}"
            print(f"{conversations} conversations, {kind}: {told}", file=sys.stderr)
        for line in (*counts.missed, *counts.wrong):
            print(f"  {line}", file=sys.stderr)
    report(table, as_json=options.json)


if __name__ == "__main__":
    main()
