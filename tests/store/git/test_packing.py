"""Checkpoints are packed where nobody runs `git gc`, and nothing else changes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from gitguard import Guard
from gitguard.model.config.maintenance import ENFORCE
from gitguard.store.git.packing import loose_objects, pack_checkpoints
from tests.conftest import Git
from tests.support.loose import loose, seem_many

PREFIX = "refs/heads/gitguard/"


class Killed(BaseException):
    """The process ends at a step."""


def work(guard: Guard, checkpoints: int = 5) -> None:
    guard.ensure()
    for number in range(checkpoints):
        guard.note({"goal": f"Goal {number}"})
        guard.checkpoint("Tried.")


def users_own(repo: Path, git: Git) -> tuple[str, str, bytes]:
    return git("rev-parse", "HEAD"), git("for-each-ref"), (repo / ".git" / "index").read_bytes()


def pack(guard: Guard, at_step: Callable[[str], object] = str) -> bool:
    return pack_checkpoints(guard.store().repository(), PREFIX, limit=30, at_step=at_step)


def assert_sound(guard: Guard) -> None:
    (report,) = guard.verify()
    assert not report.findings


def test_packed_checkpoints_verify_and_the_users_objects_stay_loose(
    repo: Path, guard: Guard, git: Git
) -> None:
    (repo / "a.py").write_text("print()\n")
    git("add", "a.py")
    users, before = loose(repo), users_own(repo, git)
    work(guard)
    before = (before[0], git("for-each-ref"), before[2])
    assert pack(guard)
    assert users_own(repo, git) == before
    assert users <= loose(repo)
    assert not any(id in loose(repo) for id in git("rev-list", "refs/heads/gitguard/main").split())
    assert_sound(guard)
    work(guard, 1)
    assert_sound(guard)


def test_nothing_is_packed_twice(guard: Guard) -> None:
    work(guard)
    assert pack(guard)
    assert not pack(guard)


def test_a_kill_before_loose_objects_are_removed_loses_nothing(guard: Guard) -> None:
    work(guard)

    def die(step: str) -> None:
        raise Killed(step)

    with pytest.raises(Killed):
        pack(guard, die)
    assert_sound(guard)
    work(guard, 1)
    assert pack(guard)
    assert_sound(guard)


def test_maintenance_packs_only_where_there_are_many(repo: Path, guard: Guard) -> None:
    work(guard)
    assert not guard.sessions.maintenance().run(ENFORCE).has_packed
    seem_many(repo)
    assert loose_objects(guard.store().repository()) >= 5_000
    assert guard.sessions.maintenance().run(ENFORCE).has_packed
    assert_sound(guard)
