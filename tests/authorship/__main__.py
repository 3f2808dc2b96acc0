"""`python -m tests.authorship` measures how often it is right who wrote the code."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import traceback
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from .asking import Figures, ask
from .history import History

_FOUND = 0.9
"""The share of the agent's files that has to be found."""


def main() -> int:
    """Make the histories of consecutive seeds and ask; fail for a false credit or too few found."""
    parser = argparse.ArgumentParser(prog="python -m tests.authorship", description=__doc__)
    parser.add_argument("--histories", type=int, default=200, help="how many")
    parser.add_argument("--seed", type=int, default=0, help="the first one's")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--verbose", action="store_true", help="print what was missed, too")
    arguments = parser.parse_args()
    seeds = range(arguments.seed, arguments.seed + arguments.histories)
    whole, failed = Figures(), 0
    with ProcessPoolExecutor(arguments.jobs) as pool:
        for seed, (figures, text) in zip(seeds, pool.map(run, seeds), strict=True):
            whole.add(figures)
            failed += bool(text)
            missed = figures.missed if arguments.verbose else []
            if text or figures.false or missed:
                print(f"seed {seed}: {text}", *figures.false, *missed, sep="\n  ", file=sys.stderr)
    print(*whole.lines(), sep="\n")
    print(f"{len(seeds)} histories, {failed} failed, {len(whole.false)} false credits")
    return 1 if failed or whole.false or whole.share("report file") < _FOUND else 0


def run(seed: int) -> tuple[Figures, str]:
    """Make a history and ask; return what an exception says that ended it."""
    with tempfile.TemporaryDirectory(prefix="gitguard-authorship-") as folder:
        try:
            history = History(seed, Path(folder))
            history.make()
            return ask(history), ""
        except Exception:
            return Figures(), traceback.format_exc()


if __name__ == "__main__":
    sys.exit(main())
