"""Faults in what comes after a fault: where others have lost whole histories.

The first fault leaves one of many states; the second strikes while the next command mends it. Of
the first, each state is tried once, however many points lead to it.
"""

from __future__ import annotations

import hashlib
import re

from tests.faults.acting import Outcome
from tests.faults.kind import Kind
from tests.faults.scenarios import Scenario
from tests.faults.world import World


class Compound(Kind):
    """A fault of one kind, and then a fault of another while the session goes on."""

    def __init__(self, first: Kind, second: Kind, *, every: int = 1) -> None:
        """Let the first strike at every n-th of its points."""
        self.name = f"{first.name}-then-{second.name}"
        self.raises_by_itself = first.raises_by_itself or second.raises_by_itself
        self._first = first
        self._second = second
        self._every = every

    def why_not(self) -> str:
        return self._first.why_not() or self._second.why_not()

    def points(self, world: World, scenario: Scenario) -> list[str]:
        """Return pairs of points, the first of which each leave something else behind."""
        mending = _mending(scenario)
        found: list[str] = []
        seen: set[str] = set()
        for first in self._first.points(world, scenario)[:: self._every]:
            world.put_back()
            self._first.strike(world, scenario, first)
            mark = what_is_left(world)
            if mark in seen:
                continue
            seen.add(mark)
            with world.as_it_is():
                found += [f"{first}+{second}" for second in self._second.points(world, mending)]
        world.put_back()
        return found

    def strike(self, world: World, scenario: Scenario, point: str) -> Outcome:
        """Let both faults happen; what the first acknowledged has to stay."""
        first, second = point.split("+")
        outcome = self._first.strike(world, scenario, first)
        self._second.strike(world, _mending(scenario), second)
        return outcome


def _mending(scenario: Scenario) -> Scenario:
    return scenario._replace(act=scenario.go_on)


def what_is_left(world: World) -> str:
    """Return a mark of what lies there, the same where only times and names by chance differ."""
    digest = hashlib.sha256()
    for path, data in sorted(world.files().items()):
        digest.update(re.sub(r"\d+", "N", str(path.relative_to(world.base))).encode())
        digest.update(b"%d" % (-1 if data is None else len(data)))
    return digest.hexdigest()
