"""Whether another conversation is at work, and what shows it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitguard.model.text import seconds
from gitguard.store.session.at_work import (
    BUSY,
    ENDED,
    GONE,
    OVER,
    PERHAPS,
    REPLACED,
    RUNS,
    SILENT,
    STOPPED,
    UNKNOWN,
    AtWork,
    at_work_beside,
    judge_work,
)
from gitguard.store.session.host_session import HostSession


@pytest.mark.parametrize(
    ("in_turn", "runs", "silent_for", "is_stopped", "is_replaced", "verdict"),
    [
        (True, True, 0, False, False, AtWork(BUSY, RUNS)),
        (True, True, 1e6, False, False, AtWork(BUSY, RUNS)),
        (True, False, 0, False, False, AtWork(OVER, GONE)),
        (True, None, 0, False, False, AtWork(PERHAPS, UNKNOWN)),
        (True, None, 599, False, False, AtWork(PERHAPS, UNKNOWN)),
        (True, None, 600, False, False, AtWork(OVER, SILENT)),
        (False, True, 0, False, False, AtWork(OVER, ENDED)),
        (False, None, 0, False, False, AtWork(OVER, ENDED)),
        (True, True, 0, True, False, AtWork(OVER, STOPPED)),
        (True, None, 0, True, False, AtWork(OVER, STOPPED)),
        (True, True, 0, False, True, AtWork(OVER, REPLACED)),
    ],
)
def test_a_conversation_is_at_work_only_in_a_turn_of_a_process_that_lives(
    *,
    in_turn: bool,
    runs: bool | None,
    silent_for: float,
    is_stopped: bool,
    is_replaced: bool,
    verdict: AtWork,
) -> None:
    judged = judge_work(
        in_turn=in_turn,
        runs=runs,
        silent_for=silent_for,
        is_stopped=lambda: is_stopped,
        is_replaced=is_replaced,
    )
    assert judged == verdict


@given(
    in_turn=st.booleans(),
    runs=st.sampled_from([True, False, None]),
    silent_for=st.floats(min_value=-60, max_value=1e7),
    is_stopped=st.booleans(),
    is_replaced=st.booleans(),
)
def test_every_verdict_has_its_reason_and_no_age_counts_where_the_process_is_known(
    *, in_turn: bool, runs: bool | None, silent_for: float, is_stopped: bool, is_replaced: bool
) -> None:
    def judge(silent_for: float) -> AtWork:
        return judge_work(
            in_turn=in_turn,
            runs=runs,
            silent_for=silent_for,
            is_stopped=lambda: is_stopped,
            is_replaced=is_replaced,
        )

    work = judge(silent_for)
    goes_on = in_turn and not (is_stopped or is_replaced)
    assert (work.standing == BUSY) == (goes_on and runs is True)
    assert (work.standing == PERHAPS) == (goes_on and runs is None and silent_for < 600)
    assert work.reason
    if runs is not None:
        assert work == judge(0.0)


def test_a_conversation_is_not_beside_itself_and_the_newest_event_is_its_sign() -> None:
    record = HostSession(started_at="2026-09-21T14:00:00Z", turns=1, turn_since=1.0)
    records = {"S1": record, "S2": record}
    now = 1_790_000_000.0

    def beside(own: str, sign: float = 0) -> dict[str, AtWork]:
        return at_work_beside(
            records, own, now, is_stopped=lambda _: False, last_sign=lambda _: sign
        )

    assert beside("S1") == {}
    assert set(beside("S1", now - 599)) == {"S2"}
    assert set(beside("", now - 599)) == {"S1", "S2"}


def test_a_cleared_conversation_goes_on_from_what_was_before_it_and_from_nothing_since() -> None:
    before = HostSession(started_at="2026-09-21T14:00:00Z", turns=1, turn_since=1.0)
    own = HostSession(started_at="2026-09-21T14:01:00Z", turns=1, turn_since=1.0, continues=True)
    since = before.replace(started_at="2026-09-21T14:02:00Z")
    records = {"before": before, "own": own, "since": since}
    now = seconds("2026-09-21T14:03:00Z")
    beside = at_work_beside(records, "own", now, is_stopped=lambda _: False)
    assert beside == {"since": AtWork(PERHAPS, UNKNOWN)}
