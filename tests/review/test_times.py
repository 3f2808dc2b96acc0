"""Times as a reviewer types them."""

from __future__ import annotations

import pytest

from gitguard.errors import InvalidInput
from gitguard.model.text import seconds
from gitguard.review.times import parse_since

NOW = seconds("2026-11-20T12:00:00Z")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2h", "2026-11-20T10:00:00Z"),
        ("3d", "2026-11-17T12:00:00Z"),
        ("30min", "2026-11-20T11:30:00Z"),
        ("1w", "2026-11-13T12:00:00Z"),
        ("2 hours ago", "2026-11-20T10:00:00Z"),
        ("1.day.ago", "2026-11-19T12:00:00Z"),
        ("2026-11-01", "2026-11-01T00:00:00Z"),
        ("2026-11-01 09:30", "2026-11-01T09:30:00Z"),
        ("2026-11-01T09:30:15Z", "2026-11-01T09:30:15Z"),
        ("2026-11-01T09:30:15.250Z", "2026-11-01T09:30:15Z"),
        ("2026-11-01T09:30:15+02:00", "2026-11-01T07:30:15Z"),
        ("2026-11-01T09:30-0130", "2026-11-01T11:00:00Z"),
    ],
)
def test_a_known_form_is_read(text: str, expected: str) -> None:
    assert parse_since(text, NOW) == seconds(expected)


@pytest.mark.parametrize(
    "text",
    ["", "yesterday-ish", "2 fortnights", "2026-13-01", "2026-11-31", "h", "-2h", "20261101"],
)
def test_an_unknown_form_is_refused_with_the_known_ones(text: str) -> None:
    with pytest.raises(InvalidInput, match="is not a time that gitguard knows") as refused:
        parse_since(text, NOW)
    assert "2h" in refused.value.hint
    assert "2026-11-01" in refused.value.hint
