"""Which program `gitguard` is on PATH, told from files: a stranger's program is never run.

Another program of this name is on the package index, and it installs a command `gitguard` too.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from glob import escape, glob

from gitguard import __version__
from gitguard.model.value import Value

_OURS, _STRANGER = "gitguard-workspace", "gitguard"


class PathProgram(Value):
    """The first program on PATH that is called `gitguard`."""

    path: str
    package: str
    """The package that its environment has; empty where it is in none that is known."""
    version: str

    def is_ours(self, executable: str) -> bool:
        """Say whether it is this gitguard; executable is our own command, empty if we have none."""
        if self.package == _STRANGER:
            return False
        is_same = bool(executable) and os.path.realpath(executable) == os.path.realpath(self.path)
        return is_same or (self.package, self.version) == (_OURS, __version__)

    def warning(self, executable: str) -> str:
        """Say what it is instead of this gitguard, and what to do."""
        what = "which is not known to be gitguard-workspace"
        if self.package == _STRANGER:
            what = f"which is another program (the package `gitguard` {self.version})"
        elif self.package == _OURS:
            what = f"which is gitguard-workspace {self.version}, not {__version__}"
        folder, theirs = os.path.dirname(executable), os.path.dirname(self.path)
        way = f"put `{folder}` before `{theirs}` on PATH"
        if folder == theirs:
            way = "run `pip uninstall gitguard` there, then install gitguard-workspace again"
        elif not folder:
            way = f"put the folder of gitguard-workspace's command before `{theirs}` on PATH"
        return f"`gitguard` on PATH is `{self.path}`, {what}, and agents would run it; {way}"


def program_on_path(environment: Mapping[str, str]) -> PathProgram | None:
    """Return the program that PATH has first, None where it has none; nothing is run."""
    path = shutil.which("gitguard", path=environment.get("PATH", os.defpath))
    return None if path is None else PathProgram(os.path.abspath(path), *_package_of(path))


def _package_of(script: str) -> tuple[str, str]:
    """Return the package that a script's environment has, and its version; empty if none is known.

    Where both are installed in one environment, the stranger's files lie over ours.
    """
    prefix = escape(os.path.dirname(os.path.dirname(os.path.realpath(script))))
    for package in (_STRANGER, _OURS):
        begin = package.replace("-", "_") + "-"
        for folder in glob(f"{prefix}/lib/python3*/*-packages/{begin}*.dist-info"):
            name = os.path.basename(folder)
            return package, name.removeprefix(begin).removesuffix(".dist-info")
    return "", ""
