"""The quick part of `make faults`: every step, and some points of the other kinds of faults."""

from __future__ import annotations

import ast
import os
import re
from pathlib import Path
from typing import Any

import pytest

import gitguard
from gitguard.store.disk import files, users_files
from tests.faults import proof, sequences, step_faults
from tests.faults.acting import Outcome
from tests.faults.crowd import SHAPES, Crowd, Shape
from tests.faults.kinds import KINDS, plan
from tests.faults.power_cut import PowerCuts
from tests.faults.report import failures, table
from tests.faults.running import run_kind, try_point
from tests.faults.scenarios import BY_NAME, SCENARIOS, Scenario
from tests.faults.world import World
from tests.support.needed import cannot_run

QUICK = {kind.name: (kind, scenarios, every) for kind, scenarios, every in plan([], quick=True)}


_ANNOUNCING = ("at_step", "_at_step", "_step")


def announced() -> set[str]:
    """Return the steps that the library's sources name."""
    found = set()
    for path in Path(gitguard.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and _called(node) in _ANNOUNCING:
                texts = (n.value for n in ast.walk(node) if isinstance(n, ast.Constant))
                found |= {text for text in texts if isinstance(text, str)}
    return found


def _called(node: ast.Call) -> str:
    """Return the name of the method or function that is called."""
    return str(getattr(node.func, "attr", getattr(node.func, "id", "")))


_ELSEWHERE = {"settings kept", "setting ", "settings made", "lock-awaited"}
"""Of a change of a host's settings; `test_settings_applying.py` kills and fails there. Who awaits a
lock has changed nothing."""
_APPENDED = {"transcript-opened", "transcript-ended", "transcript-parted", "transcript-joined"}
"""Of entries that are added to a transcript; `test_transcript_compaction.py` stops there."""
_MOVES = {"record-relocated", "record-moved", "record-copied"}
"""Of a repository that was moved or copied; `test_identity.py` kills there."""
_LANES = {
    *("lanes-fetched", "lanes-joined", "lane-kept", "lane-known", "lane-written", "lane-pending"),
    *("lane-moved", "lane-counted", "lanes-pushed", "join-begun", "join-noted"),
    *("lane-folded", "checkpoints-packed"),
}
"""Of a sync; `tests/sessions/sync/` kills there."""


def test_the_list_of_steps_is_whole() -> None:
    assert announced() == set(step_faults.STEPS) | _ELSEWHERE | _APPENDED | _MOVES | _LANES


def test_every_step_is_reached_by_a_scenario(tmp_path: Path) -> None:
    reached = set()
    for scenario in SCENARIOS:
        world = World(tmp_path / scenario.name)
        scenario.prepare(world)
        reached |= set(step_faults.steps_of(world, scenario))
    assert reached == set(step_faults.STEPS)


@pytest.mark.parametrize("name", list(QUICK))
def test_a_fault_anywhere_breaks_no_promise(name: str) -> None:
    kind, scenarios, every = QUICK[name]
    row = run_kind(kind, scenarios, jobs=1, every=every)
    print(table([row]))
    assert not row.failures, failures([row])
    if not row.tried:
        cannot_run(row.note)


def test_whatever_fails_to_open_in_a_note_is_an_error_of_ours(tmp_path: Path) -> None:
    kind, scenario = KINDS["syscall"], BY_NAME["plain-note"]
    if why_not := kind.why_not():
        cannot_run(why_not)
    world = kind.make_world(tmp_path / scenario.name)
    expected = proof.expect(world, scenario)
    openings = [p for p in kind.points(world, scenario) if re.fullmatch("openat:[0-9]+:EIO", p)]
    broken = [try_point(world, scenario, expected, kind, point) for point in openings]
    assert openings
    assert not any(broken), broken


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.name)
def test_a_crowd_loses_nothing(shape: Shape) -> None:
    row = Crowd(shape, 3, 7).run()
    assert not row.failures, failures([row])


def test_files_are_what_they_have_to_be_after_any_sequence() -> None:
    row = sequences.run_sequences(sequences.FEW, jobs=1)
    assert not row.failures, failures([row])


def test_a_store_that_does_not_sync_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """The model has teeth: without the sync of objects and files, power cuts lose them."""
    monkeypatch.setattr(files, "sync_file", lambda path: None)
    row = run_kind(PowerCuts(apart=False), ["note"], jobs=1, every=9)
    assert row.failures or row.note


def test_a_repair_that_does_not_sync_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fsync", lambda handle: None)
    row = run_kind(PowerCuts(apart=False), ["repair"], jobs=1, every=3)
    assert any("the conversation is neither" in each.why for each in row.failures) or row.note


def test_a_restore_that_changes_a_byte_is_found_out_with_the_seed_to_repeat_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    put = users_files.put

    def put_changed(root: str, path: str, data: bytes, *others: Any, **named: Any) -> None:
        put(root, path, data.replace(b"one", b"two"), *others, **named)

    monkeypatch.setattr(users_files, "put", put_changed)
    row = sequences.run_sequences(8, jobs=2, first=100)
    assert row.failures
    assert all(re.fullmatch("sequences/files/10[0-7]", f.point) for f in row.failures)
    monkeypatch.undo()
    assert sequences.run_again(int(row.failures[0].point.rpartition("/")[2])) == 0


def test_a_state_that_is_neither_old_nor_new_is_found_out(tmp_path: Path) -> None:
    scenario: Scenario = BY_NAME["note"]
    world = World(tmp_path / "world")
    expected = proof.expect(world, scenario)
    world.guard().note({"goal": "Neither"})
    with pytest.raises(proof.Broken, match="neither old nor new"):
        proof.prove(world, scenario, expected, Outcome())
