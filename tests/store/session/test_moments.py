"""A reader beside a writer sees one moment: it returns the old or the new, and accuses nobody.

Some places and steps are tried here, all of them by `make faults`.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from gitguard.errors import EditedState, GitguardError, Locked, Tampered
from gitguard.guard import Guard
from gitguard.hosts.claude_code import hooks
from gitguard.model import events
from gitguard.model.events import HookEvent
from gitguard.store.disk.lock import Lock
from gitguard.store.session.moment import ConsistentRead, Unsettled
from tests.faults import scenarios
from tests.faults.interleaving import held_writers, interrupted, places_in
from tests.faults.running import fast_folder
from tests.faults.scenarios import BY_NAME
from tests.faults.world import World

Read = Callable[[Guard], object]


def _status(guard: Guard) -> object:
    overview = guard.status()
    if overview.error is not None:
        raise overview.error
    return overview.standing


def _verified(guard: Guard) -> object:
    reports = guard.verify(every_session=True)
    return [finding.problem for report in reports for finding in report.findings]


def _listed(guard: Guard) -> object:
    guard.sessions.heads(), guard.sessions.keys(), guard.sessions.archived()
    return "listed"


def _read(read: Callable[[Guard], object]) -> Read:
    """Return a reader of which only counts that it answers."""
    return lambda guard: read(guard) and "answered"


READERS: dict[str, Read] = {
    "status": _status,
    "verify": _verified,
    "resume": _read(lambda guard: guard.resume()),
    "state": _read(lambda guard: guard.state()),
    "bundle": _read(lambda guard: guard.bundle()),
    "log": _read(lambda guard: guard.log()),
    "show summary": _read(lambda guard: guard.show("summary.md")),
    "show checkpoint": _read(lambda guard: guard.show("state.json", "1")),
    "show snapshot": _read(lambda guard: guard.show("snapshot.yaml")),
    "diff": _read(lambda guard: guard.diff("1")),
    "session show": lambda guard: guard.sessions.show("main").standing,
    "session list": _listed,
}
HOOKS = [events.PROMPT, events.TOOL_START, events.TOOL_END, events.TURN_END, events.STATUS_LINE]
HOOKS += [events.SESSION_START, events.COMPACTION_START, events.BOOTSTRAP]
WRITERS = ("note", "first-ensure", "rotation", "recover", "trust", "fork", "close")


def _hook(kind: str) -> Read:
    def answer(guard: Guard) -> object:
        event = HookEvent(kind, "host", guard.workspace.place.worktree, prompt="Go on")
        reply = guard.handle(event, hooks.HOST.abilities)
        return reply.refuse or reply.stop or "answered"

    return answer


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    """A world in memory, as thousands of syncs cost nothing there."""
    base = Path(fast_folder() or tmp_path, f"gitguard-moments-{os.getpid()}")
    world = World(base)
    yield world
    world.remove()


def _outcome(read: Read, guard: Guard) -> str:
    try:
        return str(read(guard))
    except GitguardError as error:
        return type(error).__name__


def _note_more(world: World) -> object:
    return world.guard().note({"goal": f"By {os.getpid()}", "learnings": [f"{os.getpid()}"]})


def _interrupt(world: World, name: str, write: Callable[[], object], *, every: int) -> None:
    """Let a writer come in at every n-th place of a reader, which has to answer as it did."""
    read, first = READERS[name], list(READERS).index(name) % every
    expected = _outcome(read, world.guard())
    for at in range(first, places_in(lambda: read(world.guard())), every):
        guard = world.guard()
        outcome = interrupted(partial(_outcome, read, guard), at, write)
        assert (at, outcome) == (at, expected)
    assert world.guard().workspace.faults() == []


@pytest.mark.parametrize("name", READERS)
def test_a_reader_interrupted_by_a_writer_anywhere_accuses_nobody(
    world: World, name: str, thorough: bool
) -> None:
    scenarios.begin(world)
    _interrupt(world, name, lambda: _note_more(world), every=1 if thorough else 24)


@pytest.mark.parametrize("name", ["resume", "verify", "session show"])
def test_a_reader_interrupted_while_a_session_is_archived_and_back_accuses_nobody(
    world: World, name: str, thorough: bool
) -> None:
    scenarios.begin(world)
    _interrupt(world, name, lambda: BY_NAME["close"].act(world), every=1 if thorough else 30)


def _outcomes(world: World) -> dict[str, str]:
    return {name: _outcome(read, world.guard()) for name, read in READERS.items()}


@pytest.mark.parametrize("writer", WRITERS)
def test_beside_a_writer_held_at_any_step_each_reader_answers_as_before_or_after(
    world: World, writer: str, thorough: bool
) -> None:
    scenario = BY_NAME[writer]
    scenario.prepare(world)
    world.keep()
    outcomes = [_outcomes(world)]
    if writer == "close":  # what is put away there is brought back afterwards
        world.guard().sessions.close()
        outcomes.append(_outcomes(world))
        world.put_back()
    scenario.run(world)
    outcomes.append(_outcomes(world))
    world.put_back()
    asked = [*READERS.items()]
    for number, (step, begin) in enumerate(held_writers(world, scenario)):
        held = begin()
        for name, read in asked if thorough else asked[number % 12 :: 12]:
            if held.has_ended:  # the reader before waited for it
                held = begin()

            def at_step(what: str, held: object = held) -> None:
                if what == "lock-awaited":
                    held.let_go()  # type: ignore[attr-defined]

            outcome = _outcome(read, world.guard(at_step=at_step))
            expected = [at_rest[name] for at_rest in outcomes]
            if name == "session show":
                expected.append("none")  # a session that begins has no checkpoint yet
            assert outcome in expected, f"{name} at {step}: {outcome}"
        held.let_go()
    assert world.guard().workspace.faults() == []


@pytest.mark.parametrize("kind", HOOKS)
def test_beside_a_writer_held_at_any_step_no_hook_stops_an_agent_or_leaves_a_fault(
    world: World, kind: str, thorough: bool
) -> None:
    scenario = BY_NAME["note"]
    scenario.prepare(world)
    world.keep()
    expected = _outcome(_hook(kind), world.guard())
    world.put_back()
    steps = [*held_writers(world, scenario)]
    for step, begin in steps if thorough else steps[HOOKS.index(kind) :: 8]:
        held = begin()

        def at_step(what: str, held: object = held) -> None:
            if what == "lock-awaited":
                held.let_go()  # type: ignore[attr-defined]

        outcome = _outcome(_hook(kind), world.guard(at_step=at_step))
        held.let_go()
        assert (step, outcome, world.guard().workspace.faults()) == (step, expected, [])


# The mechanism


def _moment(folder: Path) -> ConsistentRead:
    path = str(folder / "lock")
    return ConsistentRead(
        lambda: Lock(path, timeout=0, clock=float), [path], [str(folder / "file")]
    )


def test_a_writer_that_does_not_end_is_named_and_nobody_accused(tmp_path: Path) -> None:
    def accuse() -> None:
        raise Tampered("somebody")

    moment = _moment(tmp_path)
    with pytest.raises(Tampered):
        moment.read(accuse)
    holder = Lock(str(tmp_path / "lock"), timeout=0, clock=float)
    with holder, pytest.raises(Tampered):  # whoever holds the lock knows that nobody else writes
        moment.read(accuse)
    handle = os.open(holder.path, os.O_RDWR)
    fcntl.flock(handle, fcntl.LOCK_EX)  # as another process
    with pytest.raises(Locked):
        moment.read(accuse)
    os.close(handle)


def test_what_changes_while_it_is_read_is_read_again(tmp_path: Path) -> None:
    moment, file = _moment(tmp_path), tmp_path / "file"
    looks: list[int] = []

    def read() -> str:
        looks.append(len(looks))
        first = file.read_text() if file.exists() else ""
        if len(looks) == 1:
            file.write_text("new")
        return first

    assert moment.read(read) == "new"
    assert looks == [0, 1]


def test_what_accuses_and_did_not_change_is_looked_at_once(tmp_path: Path) -> None:
    looks: list[str] = []

    def read() -> str:
        looks.append("foreign")
        return "foreign"

    assert _moment(tmp_path).read(read, recheck_if=lambda seen: seen == "foreign") == "foreign"
    assert looks == ["foreign"]
    assert not (tmp_path / "lock").exists(), "looking leaves nothing behind"


def test_what_seems_foreign_is_judged_under_the_lock_only(tmp_path: Path) -> None:
    moment = _moment(tmp_path)

    def read() -> str:
        if not moment.is_settled:
            raise Unsettled("not sure")
        raise EditedState("sure")

    with pytest.raises(EditedState):
        moment.read(read)


# Each session by itself


def test_an_empty_session_folder_hides_nothing_of_another(begun: Guard) -> None:
    workspace = begun.workspace
    os.mkdir(os.path.join(workspace.folder, "sessions", "zzz"))
    begun.repository().move_ref(
        "refs/heads/gitguard/main", begun.log()[-1].id, begun.log()[0].id, "back"
    )
    reports = {report.session: report for report in begun.verify(every_session=True)}
    assert not reports["zzz"].findings
    assert "there is no state and no checkpoint" in reports["zzz"].notes[0]
    assert [finding.exit_code for finding in reports["main"].findings] == [Tampered.exit_code]
