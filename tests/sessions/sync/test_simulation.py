"""Eight clones note and sync through partitions, kills and clocks that jump; nothing is lost."""

from __future__ import annotations

from pathlib import Path

import pytest

from gitguard.state import joining
from tests.support.synced_machines import Machine
from tests.sync_simulation.fleet import Broken, Fleet, simulate


def test_eight_clones_lose_no_record_in_two_hundred_steps(tmp_path: Path) -> None:
    fleet = simulate(tmp_path, seed=0, steps=200)
    assert fleet.recorded > 500
    assert fleet.did["sync killed"] > 2


def test_a_join_that_drops_a_lane_is_found_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    join = joining.join_lanes
    monkeypatch.setattr(
        "gitguard.sessions.lane_join.join_lanes", lambda lanes, writer: join(lanes[:2], writer)
    )
    with pytest.raises(Broken, match="lost|states"):
        simulate(tmp_path, seed=1, steps=40)


def test_a_forced_push_is_found_out(tmp_path: Path) -> None:
    fleet = Fleet(tmp_path, seed=2, machines=2)
    machine: Machine = fleet.machines[0]
    machine.learn("one")
    fleet.converge()
    fleet.prove()
    machine.git("push", "--quiet", "--force", "origin", f"{machine.lane}^:{machine.lane}")
    fleet.converge()
    with pytest.raises(Broken, match="forced"):
        fleet.prove()
