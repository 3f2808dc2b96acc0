"""What is eating a conversation's context, and how far it can still go."""

from __future__ import annotations

import math

import pytest

from gitguard.policy.runway import death_spiral, runway


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
        (3, 60_000, ""),
        (4, 0, "4 compactions, more than 3"),
        (0, 60_001, "summaries take 30.0% of the window, more than 30%"),
        (1, 90_000, "summaries take 45.0% of the window, more than 30%"),
        (0, 0, ""),
    ],
)
def test_the_death_spiral_has_two_signs(compactions: int, summaries: int, why: str) -> None:
    assert death_spiral(compactions, summaries, 200_000) == why


def test_without_a_window_only_compactions_tell_of_the_spiral() -> None:
    assert death_spiral(3, 10**9, 0) == ""
    assert death_spiral(4, 0, 0)
