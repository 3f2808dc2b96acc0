"""Other machines in the list of who is at work: as of the last sync, and whose words they are."""

from __future__ import annotations

from gitguard.cli.live import live_lines
from tests.conftest import Clock
from tests.support.synced_machines import Machine


def test_a_lane_is_listed_as_unknown_and_as_its_writers_words_until_it_is_trusted(
    a: Machine, b: Machine, clock: Clock
) -> None:
    a.guard.note({"goal": "Port the parser"}, host_session="S1")
    a.guard.checkpoint("Before the sync.")
    a.settled()
    clock.advance(300)
    b.sync()
    (lane,) = b.guard.lanes.live()
    assert (lane.standing, lane.reason) == ("unknown", "as of the last sync")
    assert (lane.session, lane.writer, lane.conversation) == ("main", a.writer, "S1")
    assert (lane.task, lane.is_trusted, lane.age) == ("Port the parser", False, "5 min")
    assert lane.author == f"a (writer {a.writer})"
    assert f"Elsewhere: session main of a (writer {a.writer}), whether" in "\n".join(
        live_lines([lane])
    )
    b.trust(a)
    (lane,) = b.guard.lanes.live()
    assert lane.is_trusted
    assert a.guard.lanes.live() == ()


def test_a_lane_that_was_not_written_for_a_day_is_no_live_one(
    a: Machine, b: Machine, clock: Clock
) -> None:
    a.settled()
    b.sync()
    assert len(b.guard.lanes.live()) == 1
    clock.advance(86_400)
    assert b.guard.lanes.live() == ()
