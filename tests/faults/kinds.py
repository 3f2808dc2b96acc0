"""All kinds of faults, and how many points of each are tried."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from tests.faults.change_faults import ChangeFaults
from tests.faults.compound import Compound
from tests.faults.disks import LAYOUTS, FullDisk, ReadOnly, RealPowerCut
from tests.faults.git_faults import GitFaults
from tests.faults.kind import Kind
from tests.faults.power_cut import PowerCuts
from tests.faults.scenarios import BY_NAME, SCENARIOS
from tests.faults.step_faults import StepFaults
from tests.faults.syscall_faults import SyscallFaults

_ALL = tuple(scenario.name for scenario in SCENARIOS)
_CUT = tuple(BY_NAME)
_BASIC = ("note", "first-ensure", "recover", "turn-end", "worktree")
_CHANGING = (
    *("note", "first-ensure", "restore-files", "file-taken", "recover", "fork", "close"),
    *("rotation", "worktree", "repair"),
)
_ON_DISKS = (*_BASIC, "repair", "repair-copying")
_KILLS = StepFaults(("kill",))


class Planned(NamedTuple):
    """A kind, where it is tried, and at which n-th point."""

    kind: Kind
    scenarios: tuple[str, ...] = _ALL
    every: int = 1
    quick: tuple[str, ...] = ()
    """Where it is tried when there is little time."""
    quick_every: int = 1
    quick_kind: Kind | None = None
    """What is tried then, where that is another."""


_PLAN = (
    Planned(StepFaults(), quick=_ALL, quick_every=7, quick_kind=StepFaults(("kill", "ENOSPC"))),
    Planned(ChangeFaults(), quick=_CHANGING, quick_every=24),
    Planned(SyscallFaults(), quick=("note", "first-ensure", "repair"), quick_every=45),
    Planned(GitFaults(), quick=("note", "first-ensure"), quick_every=30),
    Planned(
        PowerCuts(apart=False),
        _CUT,
        every=2,
        quick=("note", "repair", "file-taken"),
        quick_every=12,
    ),
    Planned(
        PowerCuts(apart=True),
        _CUT,
        every=5,
        quick=("note", "settled-late"),
        quick_kind=PowerCuts(apart=True, at_the_end=True),
    ),
    Planned(Compound(_KILLS, StepFaults()), every=3, quick=("note",), quick_every=15),
    Planned(Compound(_KILLS, SyscallFaults()), _BASIC, every=15),
    Planned(Compound(_KILLS, GitFaults()), _BASIC, every=15),
    Planned(Compound(SyscallFaults(), _KILLS, every=3), _BASIC, every=2),
    Planned(Compound(GitFaults(), _KILLS, every=3), _BASIC),
    Planned(Compound(PowerCuts(apart=False), _KILLS, every=3), _BASIC, every=2),
    *(Planned(FullDisk(layout), _ON_DISKS) for layout in LAYOUTS),
    Planned(ReadOnly()),
    *(Planned(RealPowerCut(layout), _ON_DISKS) for layout in LAYOUTS),
)
KINDS = {planned.kind.name: planned.kind for planned in _PLAN}


def plan(wanted: list[str], *, quick: bool) -> Iterator[tuple[Kind, list[str], int]]:
    """Yield each kind with its scenarios, and which n-th point of them is tried."""
    for kind, scenarios, every, in_brief, every_in_brief, quick_kind in _PLAN:
        asked = [point.split("/") for point in wanted if point.split("/")[0] == kind.name]
        named = [parts[1] for parts in asked if len(parts) > 1]
        if quick:
            kind, scenarios, every = quick_kind or kind, in_brief, every_in_brief
        if asked or (not wanted and scenarios):
            yield kind, named or list(scenarios), every
