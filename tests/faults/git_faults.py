"""Faults at each system call inside each git that an act starts.

A `git` that is first on PATH counts how often it is called and starts the K-th of them under
strace. A kill strikes once that git alone, and once our process with it.
"""

from __future__ import annotations

import shlex
import shutil
from pathlib import Path

from tests.faults.acting import Outcome
from tests.faults.file_log import named
from tests.faults.kind import Kind
from tests.faults.scenarios import Scenario
from tests.faults.syscall_faults import injection, no_strace, points_in
from tests.faults.world import World

_CALLS: tuple[str, ...] = ("openat", "read", "write", "fsync", "rename", "renameat", "link")
_CALLS += ("linkat", "unlink", "unlinkat", "mkdir", "mkdirat", "rmdir")
_SHIM = """#!/bin/sh
number=$(($(cat {count} 2>/dev/null) + 1))
echo $number > {count}
case $number in
{struck})
    {how} {git} "$@"
    code=$?
    if [ $code -ge 128 ]; then {then}; fi
    exit $code ;;
esac
exec {git} "$@"
"""


class GitFaults(Kind):
    """Each fault at each call of each git."""

    name = "git"

    def why_not(self) -> str:
        return no_strace()

    def points(self, world: World, scenario: Scenario) -> list[str]:
        """Return what can fail: which git, its call's name and number, the fault, who dies."""
        log = world.base.parent / f"{world.base.name}.git"
        how = f"strace -f -o {shlex.quote(str(log))}.$number -e trace={named(_CALLS)}"
        outcome = self._act(world, scenario, "*", how, ":")
        world.put_back()
        assert not outcome.signal, outcome
        found = []
        for path in sorted(log.parent.glob(f"{log.name}.*"), key=lambda p: int(p.suffix[1:])):
            for point in points_in(path.read_text(), _CALLS):
                found.append(f"{path.suffix[1:]}:{point}:git")
                found += [f"{path.suffix[1:]}:{point}:both"] * point.endswith("kill")
            path.unlink()
        return found

    def strike(self, world: World, scenario: Scenario, point: str) -> Outcome:
        """Let a fault happen."""
        struck, call, number, fault, who = point.split(":")
        how = shlex.join(["strace", "-f", "-o", "/dev/null", *injection(call, int(number), fault)])
        return self._act(world, scenario, struck, how, "kill -9 $PPID" if who == "both" else ":")

    def _act(self, world: World, scenario: Scenario, struck: str, how: str, then: str) -> Outcome:
        self._shim(world, struck, how, then)
        path, world.path = world.path, f"{self._folder(world)}:{world.path}"
        try:
            return scenario.run(world)
        finally:
            world.path = path

    def _folder(self, world: World) -> Path:
        return world.base.parent / f"{world.base.name}.bin"

    def _shim(self, world: World, struck: str, how: str, then: str) -> None:
        folder = self._folder(world)
        folder.mkdir(exist_ok=True)
        count, script = folder / "count", folder / "git"
        count.write_text("0")
        git = shutil.which("git", path=world.path)
        script.write_text(_SHIM.format(count=count, struck=struck, how=how, then=then, git=git))
        script.chmod(0o755)
