"""Startup: the seed's nine steps, and what happens to working files that are missing or wrong."""

from __future__ import annotations

from gitguard.guard import Guard

from .conftest import Git


def test_the_first_ensure_begins_a_session_with_a_checkpoint(guard: Guard, git: Git) -> None:
    before = git.traces()
    startup = guard.ensure()
    assert startup.how == "begun"
    assert startup.state.next_action == "START"
    assert git("show", "gitguard/main:state.json")
    assert git("show", "gitguard/main:summary.md").startswith("# (no goal set)")
    assert git.traces() == before
    git.fsck()
