"""Shows that the sequences have teeth: with a fix taken out, they find what it mended.

`python -m tests.simulation.mutants` copies the package, takes one fix out of the copy, and runs
sequences there until one breaks a promise. A fix whose text is no longer there is an error: name
its new text.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
STEPS = 1_500
"""So many steps have to find it."""


class Mutant(NamedTuple):
    """A fix taken out of the package."""

    name: str
    module: str
    fix: str
    instead: str


MUTANTS = (
    Mutant(
        "of repeated decisions the last one is kept",
        "cli/option_values.py",
        "    subjects, details = values[subject], values[detail]\n",
        "    subjects, details = values[subject][-1:], values[detail][-1:]\n",
    ),
    Mutant(
        "a forged history is shown",
        "sessions/history.py",
        "    refusal = None if untrusted else reading_problem(head, store.chain.ref)\n",
        "    refusal = None\n",
    ),
    Mutant(
        "what a writer is changing is compared",
        "store/session/moment.py",
        "        if self._is_looking or self.is_settled:\n",
        "        if True:\n",
    ),
    Mutant(
        "a folder of nobody ends the look at all sessions",
        "sessions/verification.py",
        "            reports.append(_verify_alone(store, progress.tell))\n",
        "            reports.append(verify(store, tell=progress.tell))\n",
    ),
    Mutant(
        "a halt lies where the halted agent can write",
        "store/session/conversations.py",
        "        data = files.read_bytes(path, limit=_LARGEST_HOLD)\n",
        "        data = None\n",
    ),
)


def main() -> int:
    """Run the sequences against each mutant, or those whose name holds the first argument."""
    wanted = sys.argv[1] if len(sys.argv) > 1 else ""
    mutants = [mutant for mutant in MUTANTS if wanted in mutant.name]
    if not mutants:
        raise SystemExit(f"no mutant is named `{wanted}`")
    survivors = [mutant.name for mutant in mutants if not _is_found(mutant)]
    return 1 if survivors else 0


def _is_found(mutant: Mutant) -> bool:
    with tempfile.TemporaryDirectory(prefix="gitguard-mutant-") as folder:
        for name in ("gitguard", "templates", "tests"):
            shutil.copytree(ROOT / name, Path(folder) / name, symlinks=True)
        path = Path(folder) / "gitguard" / mutant.module
        source = path.read_text()
        if source.count(mutant.fix) != 1:
            raise SystemExit(f"{mutant.module} does not hold once: {mutant.fix.strip()}")
        path.write_text(source.replace(mutant.fix, mutant.instead))
        command = [sys.executable, "-m", "tests.simulation", "--steps", str(STEPS), "--first"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    lines = [line for line in done.stderr.splitlines() if line.startswith("seed ")]
    found = lines[0][:160] if lines else f"not found in {STEPS} steps"
    print(f"{mutant.name}: {found}", flush=True)
    return bool(lines)


if __name__ == "__main__":
    sys.exit(main())
