"""What has to hold after every fault, whatever it was."""

from __future__ import annotations

import json
from functools import cache
from importlib import import_module
from pkgutil import walk_packages
from typing import Any, NamedTuple

import gitguard
from gitguard.errors import GitguardError, Pending
from gitguard.guard import Guard
from gitguard.store.session.store import Saved
from tests.faults.acting import Outcome
from tests.faults.scenarios import Scenario
from tests.faults.world import World

_CHANGES_BY_ITSELF = ("updated_at", "task_id", "last_action", "goal_from", "next_from")
_OF_AN_ITEM = ("id", "origin")
"""What is another one each time that the same is noted."""
_LATER = 2 * 3600
_LOCK_AGE = 61
"""After so long, the lock that a dead git left on a ref is cleared."""


class Broken(AssertionError):
    """A promise did not hold."""


class View(NamedTuple):
    """What a reader finds."""

    state: str
    """The state as a document, or the name of the error that reading it raised."""
    kept: frozenset[str]
    """All commits that any ref of ours leads to."""
    is_refused: bool


class Expected(NamedTuple):
    """What a scenario begins with and ends with when nothing goes wrong."""

    before: View
    after: View
    user: dict[str, bytes]
    new_states: tuple[str, ...]
    """The state after the act, and after a part of it where the scenario names one."""

    def may_hold(self, state: str) -> bool:
        """Say whether a state is the old one or a new one."""
        return state == self.before.state or state in self.new_states


def _open(world: World, scenario: Scenario) -> Guard:
    return world.guard(world.base / scenario.root)


def look(world: World, scenario: Scenario) -> View:
    """Read state and history as a command would that opens them."""
    state, is_refused = _read_state(world, scenario)
    ours = ("--glob=refs/heads/gitguard", "--glob=refs/gitguard")
    kept = world.git("rev-list", *ours)
    return View(state, frozenset(kept.split()), is_refused)


def _read_state(world: World, scenario: Scenario) -> tuple[str, bool]:
    try:
        guard = _open(world, scenario)
        return _without_times(guard.state().to_document()), False
    except GitguardError as error:
        return type(error).__name__, True


def _without_times(document: dict[str, Any]) -> str:
    kept = {name: value for name, value in document.items() if name not in _CHANGES_BY_ITSELF}
    if "since_task" in kept:  # a task's id has the time of its beginning
        kept["since_task"] = kept["since_task"] == document["task_id"]
    for name, items in kept.items():
        if isinstance(items, list):
            kept[name] = [_content(item) for item in items]
    return json.dumps(kept, sort_keys=True)


def _content(item: Any) -> Any:
    if not isinstance(item, dict):
        return item
    return {name: value for name, value in item.items() if name not in _OF_AN_ITEM}


def expect(world: World, scenario: Scenario) -> Expected:
    """Prepare a scenario and run it once without a fault; the world is prepared afterwards."""
    load_everything()
    scenario.prepare(world)
    world.keep()
    before, user = look(world, scenario), world.user_files()
    scenario.run(world)
    after = look(world, scenario)
    new_states = [after.state]
    world.put_back()
    if scenario.part is not None:
        scenario.part(world)
        new_states.append(look(world, scenario).state)
        world.put_back()
    return Expected(before, after, user, tuple(new_states))


@cache
def load_everything() -> None:
    """Load all modules, because faults are to strike at what we do and not at Python's imports."""
    for module in walk_packages(gitguard.__path__, "gitguard."):
        if not module.name.endswith("__main__"):
            import_module(module.name)


def prove(world: World, scenario: Scenario, expected: Expected, outcome: Outcome) -> None:
    """Raise `Broken` unless every promise holds in the world that a fault left behind."""
    _prove_reading(world, scenario, expected, outcome)
    _prove_beside(world, scenario, outcome)
    _prove_going_on(world, scenario, expected)
    _prove_beside(world, scenario, Outcome(is_acknowledged=True))
    _prove_whole(world, scenario, expected, outcome)


def _prove_reading(world: World, scenario: Scenario, expected: Expected, outcome: Outcome) -> None:
    view = look(world, scenario)
    old = expected.before
    if view.is_refused and not (scenario.may_be_refused and not outcome.is_acknowledged):
        raise Broken(f"reading the state raised {view.state}")
    if not view.is_refused and not expected.may_hold(view.state):
        raise Broken(f"the state is neither old nor new: {view.state}")
    if outcome.is_acknowledged and view.state not in expected.new_states:
        raise Broken(f"the command {outcome}, but the state is the old one")
    if outcome.commit and outcome.commit not in view.kept:
        raise Broken(f"the acknowledged commit {outcome.commit[:12]} is on no branch")
    lost = old.kept - view.kept
    if lost:
        raise Broken(f"commits are on no branch any more: {sorted(lost)}")


def _prove_beside(world: World, scenario: Scenario, outcome: Outcome) -> None:
    if doubts := scenario.doubts(world, outcome):
        raise Broken(f"the command {outcome}, but {doubts}")


def _prove_going_on(world: World, scenario: Scenario, expected: Expected) -> None:
    try:
        _go_on(world, scenario)
        state, is_refused = _read_state(world, scenario)
        if is_refused or not expected.may_hold(state):
            raise Broken(f"after going on the state is neither old nor new: {state}")
        guard = _open(world, scenario)
        changes = {"constraints": ["noted after the fault"], "current_phase": "after the fault"}
        saved = guard.note(changes).saved or Saved("")
        if not saved.commit and not _has_locks(world):
            raise Broken(f"the next checkpoint is pending: {saved.pending}")
        world.clock.advance(_LATER)
        saved = _open(world, scenario).checkpoint("Cleans up.")
    except GitguardError as error:
        raise Broken(f"the next command raised {type(error).__name__}: {error}") from error
    if not saved.commit:
        raise Broken(f"later the checkpoint is still pending: {saved.pending}")
    if "noted after the fault" not in _read_state(world, scenario)[0]:
        raise Broken("what the next command noted is gone")


def _go_on(world: World, scenario: Scenario) -> None:
    try:
        scenario.go_on(world)
    except Pending:
        if not _has_locks(world):
            raise
        world.clock.advance(_LOCK_AGE)
        scenario.go_on(world)


def _has_locks(world: World) -> bool:
    return any(path.suffix == ".lock" for path in world.left_over())


def _prove_whole(world: World, scenario: Scenario, expected: Expected, outcome: Outcome) -> None:
    view = look(world, scenario)
    acknowledged = expected.before.kept | ({outcome.commit} - {""})
    if not acknowledged <= view.kept:
        raise Broken(f"acknowledged commits are gone: {sorted(acknowledged - view.kept)}")
    numbers = [checkpoint.sequence for checkpoint in _open(world, scenario).log(1000)]
    if numbers != list(range(len(numbers), 0, -1)):
        raise Broken(f"the sequence has gaps: {numbers}")
    said = world.git("fsck", "--strict", "--no-dangling", "--full")
    if said:
        raise Broken(f"git fsck says: {said}")
    user = world.user_files()
    may_change = {str(world.root / name) for name in scenario.changes}
    names = {*user, *expected.user} - may_change
    changed = {name for name in names if user.get(name) != expected.user.get(name)}
    if changed:
        raise Broken(f"files of the user changed: {sorted(changed)}")
    if left := world.left_over():
        raise Broken(f"temporary files stay: {sorted(map(str, left))}")
