"""What is eating a conversation's context, and how far it can still go."""

from __future__ import annotations

import math
from typing import Any

import pytest

from gitguard.pressure.runway import runway, spiral_reason
from gitguard.profile.profile import (
    BASELINE,
    COUNTED,
    DEDUCED,
    HIDDEN,
    MEASURED,
    RULE,
    SUMMARIES,
    UNEXPLAINED,
    Component,
    Facts,
    Growth,
    Profile,
    Range,
    Scale,
    profile,
)
from gitguard.profile.tally import (
    ANSWERS,
    HOST_NOTES,
    THOUGHTS,
    TOOL_CALLS,
    TOOL_RESULTS,
    USER_MESSAGES,
    Opening,
    Tally,
)


@pytest.mark.parametrize(
    ("used", "per_call", "calls"),
    [
        (100_000, 1_000, 70),
        (100_000, 999, 70),
        (100_000, 1_001, 69),
        (169_999, 1, 1),
        (170_000, 1, 0),
        (199_000, 1_000, 0),
        (100_000, 0, None),
        (100_000, -1, None),
        (100_000, math.nan, None),
        (-1, 1_000, None),
        (0, 1e-300, 1_000_000),
    ],
)
def test_the_runway_ends_at_the_halt(used: int, per_call: float, calls: int | None) -> None:
    assert runway(used, 200_000, per_call, 0.85) == calls


def test_without_a_window_or_a_halt_there_is_no_runway() -> None:
    assert runway(1, 0, 100, 0.85) is None
    assert runway(1, 200_000, 100, 0) is None
    assert runway(100_000, 200_000, 1_000, 7) == 100


@pytest.mark.parametrize(
    ("compactions", "summaries", "why"),
    [
        (2, 60_000, ""),
        (3, 0, "3 compactions"),
        (0, 60_001, "summaries fill 30% of the window"),
        (1, 90_000, "summaries fill 45% of the window"),
        (0, 0, ""),
    ],
)
def test_the_spiral_reason_has_two_signs(compactions: int, summaries: int, why: str) -> None:
    assert spiral_reason(compactions, summaries, 200_000) == why


def test_without_a_window_only_compactions_tell_of_the_spiral() -> None:
    assert spiral_reason(2, 10**9, 0) == ""
    assert spiral_reason(4, 0, 0)


# Taking a context apart

SCALE = Scale(4, 1.2)


def facts(**changes: Any) -> Facts:
    """A conversation of 100,000 tokens in 200,000, of which 48,000 characters are shown."""
    parts = {
        USER_MESSAGES: Tally(4, 4_000),
        ANSWERS: Tally(8, 8_000),
        TOOL_CALLS: Tally(10, 6_000),
        TOOL_RESULTS: Tally(10, 30_000),
    }
    known = Facts(
        window=200_000,
        used=100_000,
        answered=50,
        parts=parts,
        later=0,
        summaries=Tally(),
        opening=Opening(20_000, 4_000),
        growth=Growth(10, 50_000),
        tools=(),
        largest=(),
        left_out=0,
        halt_at=0.85,
        scale=SCALE,
    )
    return known.replace(**changes)


def component(found: Profile, name: str) -> Component | None:
    return next((each for each in found.components if each.name == name), None)


def test_what_is_measured_is_one_number_and_what_is_counted_a_range() -> None:
    found = profile(facts())
    assert (found.used, found.used_source) == (Range(100_000, 100_000), MEASURED)
    results = component(found, TOOL_RESULTS)
    assert results is not None
    assert results.tokens == Range(6_250, 9_000)
    assert (results.source, results.count, results.usual) == (COUNTED, 10, Range(5_000, 50_000))


def test_the_first_request_tells_the_baseline() -> None:
    baseline = component(profile(facts()), BASELINE)
    assert baseline == Component(BASELINE, Range(18_800, 19_167), DEDUCED)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"opening": None}, Range(10_000, 30_000)),
        ({"opening": Opening(20_000, 96_005)}, Range(10_000, 30_000)),
        ({"opening": Opening(101_000, 0)}, Range(10_000, 30_000)),
        ({"opening": None, "used": 25_000}, Range(10_000, 25_000)),
        ({"opening": None, "used": 10_000}, Range(0, 10_000)),
        ({"opening": None, "used": 9_000}, Range(0, 9_000)),
        ({"opening": None, "used": None}, Range(10_000, 30_000)),
    ],
)
def test_without_a_first_request_the_baseline_is_a_rule_of_thumb(
    changes: dict[str, Any], expected: Range
) -> None:
    baseline = component(profile(facts(**changes)), BASELINE)
    assert baseline is not None
    assert (baseline.tokens, baseline.source) == (expected, RULE)


def test_the_largest_come_first_and_what_nothing_explains_last() -> None:
    found = profile(facts())
    highs = [each.tokens.high for each in found.components[:-1]]
    assert highs == sorted(highs, reverse=True)
    rest = found.components[-1]
    known = [each.tokens for each in found.components[:-1]]
    assert rest.name == UNEXPLAINED
    assert rest.tokens.low == 100_000 - sum(each.high for each in known)
    assert rest.tokens.high == 100_000 - sum(each.low for each in known)


def test_what_is_explained_leaves_no_rest() -> None:
    assert component(profile(facts(used=31_000)), UNEXPLAINED) is None
    assert not profile(facts(used=31_000)).notes


def test_more_in_the_transcript_than_in_the_context_is_said() -> None:
    assert "no longer reaches the model" in profile(facts(used=20_500)).notes[0]


def test_nothing_measured_makes_the_whole_a_range() -> None:
    found = profile(facts(used=None, opening=None, later=4_000))
    assert found.used == Range(19_999, 44_400)  # each part is rounded outwards
    assert found.used_source == "rule of thumb, counted"
    assert found.since == Range(0, 0)
    assert component(found, UNEXPLAINED) is None


def test_what_is_in_no_number_is_no_source_of_the_whole() -> None:
    """After a compaction the first request still tells the baseline."""
    assert profile(facts(used=None)).used_source == f"{DEDUCED}, {COUNTED}"
    hidden = profile(facts(used=None, opening=None, parts={THOUGHTS: Tally(3, 0)}))
    assert hidden.used_source == RULE


def test_what_came_after_the_measure_is_told_apart() -> None:
    assert profile(facts(later=4_000)).since == Range(833, 1_200)


@pytest.mark.parametrize(
    ("summaries", "expected", "source"),
    [
        (Tally(1, 8_000), Range(1_666, 2_400), COUNTED),
        (Tally(1, 0), Range(2_000, 5_000), RULE),
        (Tally(3, 0), Range(6_000, 15_000), RULE),
    ],
)
def test_hidden_summaries_add_up(summaries: Tally, expected: Range, source: str) -> None:
    found = component(profile(facts(summaries=summaries)), SUMMARIES)
    assert found is not None
    assert (found.tokens, found.source) == (expected, source)


def test_thinking_that_is_hidden_is_not_said_to_be_nothing() -> None:
    found = component(profile(facts(parts={THOUGHTS: Tally(3, 0)})), THOUGHTS)
    assert found is not None
    assert (found.count, found.source) == (3, HIDDEN)
    none = component(profile(facts(parts={})), THOUGHTS)
    assert none is not None
    assert none.source == COUNTED


def test_without_a_compaction_there_are_no_summaries() -> None:
    assert component(profile(facts()), SUMMARIES) is None


def test_the_spiral_is_seen_in_the_profile() -> None:
    assert profile(facts(summaries=Tally(4, 0))).spiral == "4 compactions"
    assert "summaries fill" in profile(facts(summaries=Tally(1, 250_000))).spiral
    assert not profile(facts(summaries=Tally(2, 240_000))).spiral


def test_the_share_of_tools_is_of_what_is_said_and_done() -> None:
    assert profile(facts()).share_of_tools == 36_000 / 48_000
    assert profile(facts(parts={})).share_of_tools is None
    notes = {HOST_NOTES: Tally(1, 10**6), USER_MESSAGES: Tally(1, 10)}
    assert profile(facts(parts=notes)).share_of_tools == 0


def test_before_ten_calls_no_runway_is_known() -> None:
    parts = facts().parts
    assert profile(facts(parts={**parts, TOOL_RESULTS: Tally(9, 27_000)})).runway is None


def test_more_than_the_window_holds_is_noted() -> None:
    assert not profile(facts(used=200_000)).notes
    assert "the window is wrong" in profile(facts(used=200_001)).notes[0]


def test_the_runway_is_between_calls_alone_and_all_that_grows() -> None:
    """Ten calls took 7,500 tokens by themselves at least, while the context grew by 50,000."""
    found = profile(facts()).runway
    assert found is not None
    assert found.per_call == Range(750, 5_000)
    assert found.calls == Range(14, 93)
    assert (found.from_calls, found.halt_at) == (10, 0.85)


def test_what_came_after_the_measure_shortens_the_runway() -> None:
    """Between 10,000 and 14,400 tokens more than the 100,000 that were measured."""
    found = profile(facts(later=48_000)).runway
    assert found is not None
    assert found.calls == Range((170_000 - 114_400) // 5_000, (170_000 - 110_000) // 750)


@pytest.mark.parametrize("growth", [Growth(), Growth(0, 500), Growth(10, -50_000)])
def test_a_runway_that_is_not_measured_is_as_wide_as_the_guess(growth: Growth) -> None:
    """36,000 characters of calls, 48,000 in all: a fifth more or less than 9,000 and 12,000."""
    found = profile(facts(growth=growth)).runway
    assert found is not None
    assert found.per_call == Range(750, 1_440)


def test_a_runway_tells_of_how_few_calls_the_growth_is() -> None:
    """As soon after a compaction that kept some calls."""
    found = profile(facts(growth=Growth(2, 50_000))).runway
    assert found is not None
    assert (found.per_call, found.from_calls) == (Range(750, 25_000), 2)


def test_calls_that_grow_less_than_they_are_make_no_average_below_it() -> None:
    """As where a host clears old results: 10,800 tokens of calls at most, and 5,000 grown."""
    found = profile(facts(growth=Growth(10, 5_000))).runway
    assert found is not None
    assert found.per_call == Range(500, 1_080)


def test_a_conversation_without_calls_has_no_runway() -> None:
    assert profile(facts(parts={USER_MESSAGES: Tally(4, 4_000)})).runway is None
    assert profile(facts(parts={TOOL_RESULTS: Tally(2, 0)}, growth=Growth())).runway is None


def test_past_the_halt_no_calls_are_left() -> None:
    found = profile(facts(used=180_000)).runway
    assert found is not None
    assert found.calls == Range(0, 0)
