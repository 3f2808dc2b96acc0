"""What every kind of fault has to offer."""

from __future__ import annotations

from abc import ABC, abstractmethod
from pathlib import Path

from tests.faults.acting import Outcome
from tests.faults.scenarios import Scenario
from tests.faults.world import World


class Kind(ABC):
    """A kind of fault."""

    name = ""
    raises_by_itself = False
    """Whether the fault is an error of the harness, which nobody can turn into one of ours."""

    alone = False
    """Whether only one process may try it at a time."""

    def why_not(self) -> str:
        """Say what is missing on this machine, nothing where the kind can be tried."""
        return ""

    def make_world(self, folder: Path) -> World:
        """Return a world in which the fault can happen."""
        return World(folder)

    @abstractmethod
    def points(self, world: World, scenario: Scenario) -> list[str]:
        """Return where in a scenario the fault can strike; the world is put back afterwards."""

    @abstractmethod
    def strike(self, world: World, scenario: Scenario, point: str) -> Outcome:
        """Let the fault happen while the scenario's act runs."""
