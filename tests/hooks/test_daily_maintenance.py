"""Enforced maintenance runs once a day at the end of a turn, or `status` says that it is due."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gitguard.sessions.maintenance_record import is_due
from gitguard.store.session.anchor import archived_names
from gitguard.store.session.workspace import Session
from tests.support.conversation import Clock, Conversation

DAY = 86_400
WARNING = "Session maintenance is due"


class SlowClock(Clock):
    """A clock by which every look at it may take time."""

    pace = 0.0

    def __call__(self) -> float:
        self.now += self.pace
        return self.now


@pytest.fixture
def clock() -> SlowClock:
    return SlowClock()


@pytest.fixture
def talk(tmp_path: Path, clock: SlowClock) -> Conversation:
    (tmp_path / "config").mkdir()
    text = "maintenance: {mode: enforce, idle_days: 2}\n"
    (tmp_path / "config/config.yaml").write_text(text, encoding="utf-8")
    talk = Conversation(tmp_path, clock=clock)
    leave_idle(talk, "old")
    return talk


def leave_idle(talk: Conversation, name: str) -> None:
    talk.guard.sessions.use(Session.of(name))
    talk.guard.note({"goal": "Something else"})
    talk.guard.checkpoint("Save it.")
    for path in Path(talk.guard.workspace.session_folder(Session.of(name))).iterdir():
        os.utime(path, (talk.clock(), talk.clock()))
    talk.guard.sessions.use(Session.of("main"))
    talk.clock.pass_by(3 * DAY)


def archived(talk: Conversation) -> list[str]:
    return sorted(archived_names(talk.guard.workspace))


def is_told(talk: Conversation) -> bool:
    return any(warning.startswith(WARNING) for warning in talk.guard.status().warnings)


def turn(talk: Conversation) -> None:
    talk.prompt("Go on with the parser")
    talk.send("Stop")


def test_the_end_of_a_turn_archives_idle_sessions_where_that_is_enforced(
    talk: Conversation,
) -> None:
    assert is_told(talk)
    turn(talk)
    assert archived(talk) == ["old"]
    assert not is_told(talk)
    assert talk.faults() == []


def test_it_is_done_once_a_day(talk: Conversation) -> None:
    turn(talk)
    before = (Path(talk.guard.workspace.state_folder) / "_maintenance.json").read_bytes()
    talk.clock.pass_by(DAY - 3600)
    turn(talk)
    assert (Path(talk.guard.workspace.state_folder) / "_maintenance.json").read_bytes() == before
    leave_idle(talk, "later")
    turn(talk)
    assert archived(talk) == ["later", "old"]


def test_status_says_that_it_is_due_where_a_turns_end_had_no_time_for_it(
    talk: Conversation, clock: SlowClock
) -> None:
    clock.pace = 0.15
    turn(talk)
    clock.pace = 0
    assert archived(talk) == []
    assert is_told(talk)
    talk.guard.sessions.maintenance().run()
    assert archived(talk) == ["old"]
    assert not is_told(talk)


def test_nothing_is_archived_at_a_turns_end_where_that_is_not_enforced(
    talk: Conversation, tmp_path: Path
) -> None:
    (tmp_path / "config/config.yaml").write_text("maintenance: {idle_days: 2}\n", encoding="utf-8")
    turn(talk)
    assert archived(talk) == []
    assert not is_told(talk)


@pytest.mark.parametrize("data", [b"", b"x", b"[]", b'{"done_at": "x"}', b'{"done_at": 9e99}'])
def test_a_record_that_does_not_read_or_is_of_the_future_counts_as_none(
    talk: Conversation, data: bytes
) -> None:
    turn(talk)
    guard = talk.guard
    (Path(guard.workspace.state_folder) / "_maintenance.json").write_bytes(data)
    assert is_due(guard.workspace, guard.config)
