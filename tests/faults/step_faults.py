"""Faults at each step of the protocol, as the library announces them."""

from __future__ import annotations

import errno
import os
import signal
from collections.abc import Callable

from tests.faults.acting import Outcome
from tests.faults.kind import Kind
from tests.faults.scenarios import Scenario
from tests.faults.world import World

STEPS = (
    "start-marked",
    "journal-settled",
    "state-copy-written",
    "state-written",
    "state-rewritten",
    "pending-marked",
    "pending-written",
    "summary-written",
    "start-ended",
    "snapshot-written",
    "identity-written",
    "identity-recorded",
    "objects-written",
    "anchor-pending",
    "ref-moved",
    "anchor-committed",
    "waiting-marked",
    "pack-written",
    "pack-indexed",
    "files-written",
    "files-kept",
    "look-kept",
    "waiting-removed",
    "journal-rotated",
    "branch-session-ready",
    "branch-chosen",
    "session-settled",
    "archive-written",
    "ref-put",
    "return-noted",
    "branch-returned",
    "anchor-adopted",
    "anchor-kept",
    "files-archived",
    "ref-removed",
    "anchor-archived",
    "current-left",
    "anchor-brought-back",
    "files-brought-back",
    "files-packed",
    "lists-written",
    "pack-removed",
    "restore-kept",
    "restore-recorded",
    "file-restored",
    "restore-done",
    "transcript-begun",
    "transcript-written",
    "transcript-kept",
    "transcript-replaced",
    "transcript-settled",
)
"""Every step that the library announces."""


class Unexpected(Exception):
    """An error nobody thought of."""


def _kill() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def _raise(error: BaseException) -> Callable[[], None]:
    def fail() -> None:
        raise error

    return fail


FAULTS: dict[str, Callable[[], None]] = {
    "kill": _kill,
    "raise": _raise(Unexpected("a bug of ours")),
    "ENOSPC": _raise(OSError(errno.ENOSPC, "No space left on device")),
    "EIO": _raise(OSError(errno.EIO, "Input/output error")),
}


class StepFaults(Kind):
    """Each fault at each step."""

    name = "step"
    raises_by_itself = True

    def __init__(self, faults: tuple[str, ...] = tuple(FAULTS)) -> None:
        """Let only some faults happen."""
        self._faults = faults

    def points(self, world: World, scenario: Scenario) -> list[str]:
        """Return what can fail in a scenario: the number of the step, its name, the fault."""
        steps = steps_of(world, scenario)
        world.put_back()
        return [f"{n}:{step}:{fault}" for n, step in enumerate(steps) for fault in self._faults]

    def strike(self, world: World, scenario: Scenario, point: str) -> Outcome:
        """Let a fault happen."""
        number, _, fault = point.split(":")
        seen = 0

        def fail(_step: str) -> None:
            nonlocal seen
            seen += 1
            if seen - 1 == int(number):
                FAULTS[fault]()

        world.at_step = fail
        try:
            return scenario.run(world)
        finally:
            world.at_step = str


def steps_of(world: World, scenario: Scenario) -> list[str]:
    """Run a scenario without a fault; return the steps it announces."""
    reader, writer = os.pipe()
    world.at_step = lambda step: os.write(writer, f"{step}\n".encode())
    try:
        scenario.run(world)
    finally:
        world.at_step = str
        os.close(writer)
    with os.fdopen(reader) as pipe:
        return pipe.read().split()
