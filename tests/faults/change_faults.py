"""Kills before each change to the disk that Python makes; this needs nothing but Python.

Python announces what it does to audit hooks. A forked process kills itself at the n-th change.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from typing import Any

from tests.faults.acting import Outcome, act_apart
from tests.faults.kind import Kind
from tests.faults.scenarios import Scenario
from tests.faults.world import World

_CHANGES: tuple[str, ...] = (
    "os.rename",
    "os.remove",
    "os.mkdir",
    "os.rmdir",
    "os.link",
    "os.chmod",
    "os.utime",
)
_CHANGES += ("subprocess.Popen",)
_MOST = 500


class ChangeFaults(Kind):
    """A kill before each change."""

    name = "change"

    def points(self, world: World, scenario: Scenario) -> list[str]:
        reader, writer = os.pipe()
        scenario.run(world, first=lambda: _watch(lambda _: os.write(writer, b"x")))
        os.close(writer)
        with os.fdopen(reader, "rb") as pipe:
            count = len(pipe.read())
        world.put_back()
        return [str(number) for number in range(1, count + 1)]

    def strike(self, world: World, scenario: Scenario, point: str) -> Outcome:
        return scenario.run(world, first=lambda: _kill_at(int(point)))


def _kill_at(change: int) -> None:
    def kill(number: int) -> None:
        if number == change:
            os.kill(os.getpid(), signal.SIGKILL)

    _watch(kill)


def _watch(tell: Callable[[int], object]) -> None:
    """Tell the number of each change before it is made; an audit hook stays for ever."""
    seen = 0

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        nonlocal seen
        writes = event == "open" and arguments[2] & (os.O_WRONLY | os.O_RDWR)
        if event in _CHANGES or writes:
            seen += 1
            tell(seen)

    sys.addaudithook(hook)


def crashes(act: Callable[[], object], *, every: int = 1) -> Iterator[int]:
    """Crash an act at its first change, at its second, … until it runs to its end."""
    for wanted in range(1, _MOST, every):

        def armed(wanted: int = wanted) -> object:
            _kill_at(wanted)
            return act()

        if not act_apart(armed).signal:
            return
        yield wanted
    raise AssertionError("the act never ended")
