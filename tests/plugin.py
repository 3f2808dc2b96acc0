"""`make plugin`: builds the plugin's folder in `dist/`, and has Claude Code's own command check it.

The other hosts have no such command; `tests/e2e/test_plugin.py` installs the folder in each.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

from gitguard.guard.hosts import plugin_installs, write_plugin_folder
from tests.e2e import claude_code, sealing
from tests.e2e.fetching import NotInstallable

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "dist" / "gitguard"
"""Droid names a marketplace after its folder, so this is the name that the others read in it."""


def checked(folder: Path) -> str:
    """Return what is wrong with the folder, empty if nothing is."""
    with tempfile.TemporaryDirectory(prefix="gitguard-plugin-") as home:
        command = [str(claude_code.install()), "plugin", "validate", "--strict", str(folder)]
        process = sealing.start(command, ROOT, sealing.environment(Path(home)))
        done = sealing.finish(process, claude_code.DEFAULT_TIMEOUT)
    return done.stdout + done.stderr if done.returncode else ""


def main() -> int:
    """Build and check; return the exit code."""
    shutil.rmtree(FOLDER, ignore_errors=True)
    write_plugin_folder(str(FOLDER))
    try:
        problems = checked(FOLDER) or checked(FOLDER / "gitguard")
    except NotInstallable as reason:
        print(f"Not checked: {reason}")
        problems = ""
    print(problems or FOLDER.relative_to(ROOT))
    for found in plugin_installs(str(FOLDER.relative_to(ROOT))):
        print(*(f"    {command}" for command in found.commands), sep="\n")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
