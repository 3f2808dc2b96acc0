"""`make model`: long random sequences, in as many processes as there are cores."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

from tests.simulation.run import LENGTH, Failed, run_sequence


def main() -> int:
    """Run the sequences of consecutive seeds; print those that break a promise, whole."""
    parser = argparse.ArgumentParser(prog="python -m tests.simulation", description=__doc__)
    parser.add_argument("--steps", type=int, default=10_000, help="how many in all")
    parser.add_argument("--seed", type=int, default=0, help="the first sequence's")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--first", action="store_true", help="end with the first that fails")
    arguments = parser.parse_args()
    seeds = range(arguments.seed, arguments.seed + -(-arguments.steps // LENGTH))
    began, steps, failures = time.monotonic(), 0, 0
    with ProcessPoolExecutor(arguments.jobs) as pool:
        running = [pool.submit(_run, seed) for seed in seeds]
        for number, sequence in enumerate(as_completed(running), 1):
            done, text = sequence.result()
            steps += done
            if text:
                failures += 1
                print(f"\n{text}", file=sys.stderr)
                if arguments.first:
                    pool.shutdown(cancel_futures=True)
                    break
            if sys.stdout.isatty():
                print(f"\r{number} of {len(seeds)} sequences", end="", flush=True)
    seconds = time.monotonic() - began
    print(f"\r{steps} steps, seeds {seeds[0]} to {seeds[-1]}, {seconds:.0f} s: {failures} failed")
    return 1 if failures else 0


def _run(seed: int) -> tuple[int, str]:
    with tempfile.TemporaryDirectory(prefix="gitguard-model-") as folder:
        try:
            return run_sequence(seed, LENGTH, Path(folder) / "world"), ""
        except Failed as failure:
            return failure.steps, str(failure)


if __name__ == "__main__":
    sys.exit(main())
