"""Faults at each system call of our own process, injected by strace."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.faults.acting import Outcome
from tests.faults.file_log import named
from tests.faults.kind import Kind
from tests.faults.scenarios import Scenario
from tests.faults.world import World

CALLS: tuple[str, ...] = ("openat", "write", "pwrite64", "fsync", "rename", "renameat", "link")
CALLS += (
    "linkat",
    "unlink",
    "unlinkat",
    "mkdir",
    "mkdirat",
    "rmdir",
    "chmod",
    "fchmod",
    "fchmodat",
)
CALLS += ("fchown", "sendfile", "flock", "read", "pread64", "getdents64")
FAULTS = {"kill": "signal=SIGKILL", "ENOSPC": "error=ENOSPC", "EIO": "error=EIO"}
_FILL: tuple[str, ...] = ("openat", "write", "pwrite64", "fsync", "rename", "renameat", "link")
_FILL += ("linkat", "mkdir", "mkdirat", "sendfile")
"""The calls that a full disk can refuse."""
_LOOKING = ("read", "pread64", "getdents64")
"""The calls that change nothing."""


def no_strace() -> str:
    """Say that strace is missing, nothing where it is there."""
    return "" if shutil.which("strace") else "there is no strace"


def points_in(log: str, calls: tuple[str, ...]) -> Iterator[str]:
    """Yield each call in a log of strace with its number and each fault it can meet."""
    seen: Counter[str] = Counter()
    for call, arguments in re.findall(r"^(?:\d+ +)?(\w+)\((.*)", log, re.MULTILINE):
        if call in calls:
            seen[call] += 1
            yield from (f"{call}:{seen[call]}:{fault}" for fault in _faults_of(call, arguments))


def _faults_of(call: str, arguments: str) -> tuple[str, ...]:
    # A kill before a look leaves what a kill before the next change leaves.
    if call in _LOOKING or (call == "openat" and not re.search("O_WRONLY|O_RDWR", arguments)):
        return ("EIO",)
    return ("kill", "ENOSPC", "EIO") if call in _FILL else ("kill", "EIO")


def injection(call: str, number: int, fault: str) -> list[str]:
    """Return strace's options that let a process's n-th call of a name fail."""
    # Without `trace` naming the call, nothing is injected at all.
    return ["-e", f"trace={call}", "-e", f"inject={call}:{FAULTS[fault]}:when={number}"]


class Tracer:
    """A strace that attaches to a process which waits."""

    def __init__(self, *options: str, output: str = "/dev/null") -> None:
        self._command = ["strace", "-o", output, *options]
        self._process: subprocess.Popen[bytes] | None = None

    def attach(self, pid: int) -> None:
        """Attach and return once every further call of the process is seen."""
        command = [*self._command, "-p", str(pid)]
        self._process = subprocess.Popen(command, stderr=subprocess.PIPE)
        assert self._process.stderr is not None
        said = self._process.stderr.readline()
        if b"attached" not in said:
            raise RuntimeError(f"strace did not attach: {said!r}")

    def wait(self) -> None:
        """Wait until what it traced has ended."""
        assert self._process is not None
        self._process.communicate()


@contextmanager
def traced(*options: str, output: str = "/dev/null") -> Iterator[Callable[[int], None]]:
    """Yield what attaches strace to a process; it is waited for at the end."""
    tracer = Tracer(*options, output=output)
    yield tracer.attach
    tracer.wait()


class SyscallFaults(Kind):
    """Each fault at each call."""

    name = "syscall"

    def why_not(self) -> str:
        return no_strace()

    def points(self, world: World, scenario: Scenario) -> list[str]:
        """Return what can fail: the call's name, its number, the fault."""
        log = world.base.parent / f"{world.base.name}.strace"
        with traced("-e", f"trace={named(CALLS)}", output=str(log)) as attach:
            outcome = scenario.run(world, attach=attach)
        world.put_back()
        assert not outcome.signal, outcome
        return list(points_in(Path(log).read_text(), CALLS))

    def strike(self, world: World, scenario: Scenario, point: str) -> Outcome:
        """Let a fault happen."""
        call, number, fault = point.split(":")
        with traced(*injection(call, int(number), fault)) as attach:
            return scenario.run(world, attach=attach)
