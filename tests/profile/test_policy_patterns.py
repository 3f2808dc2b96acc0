"""Which pattern of work a conversation shows, at every border between two."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitguard.profile.patterns import (
    BURSTY,
    CONVERSATIONAL,
    MIXED,
    PATTERNS,
    TOOL_HEAVY,
    UNKNOWN,
    classify,
)
from gitguard.profile.tally import (
    ANSWERS,
    TOOL_CALLS,
    TOOL_RESULTS,
    USER_MESSAGES,
    Story,
    Stretch,
    Tally,
)

HOUR = 3_600


def story(
    tools: float,
    *,
    turns: int = 5,
    answers: int = 5,
    calls: int = 10,
    characters: int = 100_000,
    stretches: tuple[Stretch, ...] = (Stretch(HOUR, 10),),
    rest: float = 0,
) -> Story:
    """A conversation in which calls and results have so large a share of the characters."""
    work = round(tools * characters)
    parts = {
        USER_MESSAGES: Tally(turns, (characters - work) // 2),
        ANSWERS: Tally(answers, characters - work - (characters - work) // 2),
        TOOL_CALLS: Tally(calls, work // 10),
        TOOL_RESULTS: Tally(calls, work - work // 10),
    }
    return Story(parts, stretches, rest, 0, -1, None, None)


@pytest.mark.parametrize(
    ("share", "calls", "name", "near"),
    [
        (0.90, 10, TOOL_HEAVY, ""),
        (0.72, 10, TOOL_HEAVY, ""),
        (0.71, 10, TOOL_HEAVY, MIXED),
        (0.6667, 10, TOOL_HEAVY, MIXED),
        (0.6666, 10, MIXED, TOOL_HEAVY),
        (0.62, 10, MIXED, TOOL_HEAVY),
        (0.61, 10, MIXED, ""),
        (0.50, 10, MIXED, ""),
        (0.50, 2, MIXED, ""),
        (0.39, 9, MIXED, ""),
        (0.38, 9, MIXED, CONVERSATIONAL),
        (0.3334, 9, MIXED, CONVERSATIONAL),
        (0.3333, 9, CONVERSATIONAL, MIXED),
        (0.29, 9, CONVERSATIONAL, MIXED),
        (0.28, 9, CONVERSATIONAL, ""),
        (0.00, 0, CONVERSATIONAL, ""),
        (0.90, 9, MIXED, ""),
        (0.10, 10, MIXED, ""),
    ],
)
def test_the_share_and_the_number_of_calls_decide(
    share: float, calls: int, name: str, near: str
) -> None:
    """Five messages of the user: ten calls are two for each, which are many."""
    found = classify(story(share, calls=calls))
    assert (found.name, found.near) == (name, near)


@pytest.mark.parametrize(
    ("turns", "answers", "calls", "characters", "told"),
    [
        (2, 2, 6, 4_000, True),
        (2, 2, 5, 4_000, False),
        (2, 2, 6, 3_999, False),
        (1, 1, 0, 10**6, False),
        (0, 0, 0, 0, False),
        (0, 0, 10, 4_000, True),
    ],
)
def test_a_short_conversation_is_too_little_to_say(
    turns: int, answers: int, calls: int, characters: int, told: bool
) -> None:
    found = classify(story(0.9, turns=turns, answers=answers, calls=calls, characters=characters))
    assert (found.name != UNKNOWN) is told
    if not told:
        assert found.evidence[0].startswith("not enough to tell: ")
        assert not found.near


def bursts(
    count: int = 3, *, calls: int = 5, seconds: float = 600, rest: float = 5_400, idle: int = 0
) -> Story:
    """Bursts of calls, a rest behind each but the last, and calls one by one besides."""
    busy = (Stretch(seconds, calls),) * count
    lonely = (Stretch(0, 1),) * idle
    total = count * calls + idle
    return story(0.5, calls=total, stretches=(*busy, *lonely), rest=rest)


@pytest.mark.parametrize(
    ("told", "name"),
    [
        (bursts(), BURSTY),
        (bursts(2), MIXED),
        (bursts(calls=4), MIXED),
        (bursts(rest=5_399), MIXED),
        (bursts(seconds=601, rest=10**6), MIXED),
        (bursts(calls=10, idle=7), BURSTY),
        (bursts(calls=10, idle=8), MIXED),
        (bursts(rest=0), MIXED),
    ],
    ids=[
        "three bursts of five calls in ten minutes, three fourths of the time at rest",
        "two are no habit",
        "four calls are no burst",
        "not enough rest",
        "too slow",
        "some calls lie outside",
        "too many lie outside",
        "no rest at all",
    ],
)
def test_bursts_between_long_rests_are_seen(told: Story, name: str) -> None:
    assert classify(told).name == name


def test_bursts_count_before_shares_and_both_are_told() -> None:
    heavy = story(0.9, calls=15, stretches=(Stretch(60, 5),) * 3, rest=20_000)
    found = classify(heavy)
    assert found.name == BURSTY
    assert found.evidence == (
        "3 bursts with 15 of 15 tool calls, and 99% of 5.6 hours at rest",
        "90% of the conversation is tool calls and their results",
        "5 user messages, 5 answers, 15 tool calls",
    )


def test_the_evidence_says_the_numbers() -> None:
    assert classify(story(0.8)).evidence == (
        "80% of the conversation is tool calls and their results",
        "2.0 calls for each message of the user",
        "5 user messages, 5 answers, 10 tool calls",
    )
    assert (
        "but only 1.8 calls for each message of the user" in classify(story(0.8, calls=9)).evidence
    )


def test_without_times_bursts_cannot_be_seen_and_that_is_said() -> None:
    found = classify(story(0.8, stretches=()))
    assert found.name == TOOL_HEAVY
    assert found.evidence[-1] == "the transcript tells no times, so bursts cannot be seen"


counts = st.integers(0, 50)


@given(
    st.floats(0, 1),
    counts,
    counts,
    counts,
    st.integers(0, 10**6),
    st.lists(st.builds(Stretch, st.floats(0, 10**6), counts), max_size=8),
    st.floats(0, 10**7),
)
def test_every_conversation_has_one_pattern_or_too_little(
    share: float,
    turns: int,
    answers: int,
    calls: int,
    characters: int,
    stretches: list[Stretch],
    rest: float,
) -> None:
    found = classify(
        story(
            share,
            turns=turns,
            answers=answers,
            calls=calls,
            characters=characters,
            stretches=tuple(stretches),
            rest=rest,
        )
    )
    assert found.name in (*PATTERNS, UNKNOWN)
    assert found.evidence
    assert found.near != found.name
