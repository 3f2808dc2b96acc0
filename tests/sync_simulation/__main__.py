"""`python -m tests.sync_simulation`: long runs from consecutive seeds, with a table at the end."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from tests.faults.__main__ import seal
from tests.faults.running import fast_folder
from tests.sync_simulation.fleet import Broken, simulate


def main() -> int:
    """Run seeds until there are enough records; print each that breaks a promise."""
    parser = argparse.ArgumentParser(prog="python -m tests.sync_simulation", description=__doc__)
    parser.add_argument("--records", type=int, default=100_000, help="how many in all")
    parser.add_argument("--steps", type=int, default=1_000, help="how many of each seed")
    parser.add_argument("--seed", type=int, default=0, help="the first one")
    wanted = parser.parse_args()
    seal()
    began, seed, records, failures = time.monotonic(), wanted.seed, 0, 0
    did: Counter[str] = Counter()
    while records < wanted.records and failures < 3:
        with tempfile.TemporaryDirectory(prefix="gitguard-sync-", dir=fast_folder()) as folder:
            try:
                fleet = simulate(Path(folder), seed, wanted.steps)
                records += fleet.recorded
                did += fleet.did
            except Broken as error:
                failures += 1
                print(error, file=sys.stderr)
        seed += 1
        seconds = time.monotonic() - began
        print(f"seed {seed - 1}: {records:,} records so far, {seconds:,.0f} s", flush=True)
    print(", ".join(f"{what} {count:,}" for what, count in did.most_common()))
    print(f"{records:,} records, seeds {wanted.seed} to {seed - 1}, {seconds:,.0f} s: ", end="")
    print(f"{failures} failed" if failures else "0 lost, 0 forced, one state on all clones")
    return int(bool(failures))


if __name__ == "__main__":
    raise SystemExit(main())
