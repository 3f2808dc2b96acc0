"""Planted collisions of one seed; the bench tries more of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.benches.collision_worlds import CHECKOUT, MIXED, WORKTREES, World


@pytest.mark.parametrize(
    ("conversations", "place"), [(2, CHECKOUT), (2, WORKTREES), (4, CHECKOUT), (4, MIXED)]
)
def test_planted_collisions_are_told_before_the_second_write_and_nothing_else_is(
    tmp_path: Path, conversations: int, place: str
) -> None:
    counts = World(tmp_path, 1, conversations, place).run(6)
    assert counts.planted
    assert counts.missed == []
    assert counts.wrong == []
