"""Snapshots of files are forgotten by number and age, but never the newest, nor what is pinned."""

from __future__ import annotations

from pathlib import Path

import pytest

from gitguard.errors import NothingFound, OwnerOnly
from gitguard.guard import Guard
from gitguard.sessions.kept_files import Pin
from gitguard.sessions.maintenance import OldSnapshots
from tests.conftest import Clock, Git, OpenGuard
from tests.support.hostile import gitguard, inside
from tests.support.kept_files import tree_of
from tests.support.kept_sessions import DAY, at, close_it, maintain


@pytest.fixture
def few(guard: Guard, open_guard: OpenGuard, git: Git) -> Guard:
    """A session that keeps the newest three snapshots of ten days."""
    folder = Path(guard.workspace.places.config_home)
    folder.mkdir(exist_ok=True)
    (folder / "config.yaml").write_text("files:\n  most: 3\n  days: 10\n")
    limited = open_guard()
    limited.ensure()
    return limited


def save(guard: Guard, git: Git, text: str) -> str:
    """Take a checkpoint with other files, a second later; return its name."""
    clock = guard.clock
    assert isinstance(clock, Clock)
    clock.advance(1)
    (git.root / "file.txt").write_text(text)
    guard.checkpoint(text)
    return guard.log(1)[0].name


def save_each(guard: Guard, git: Git, *texts: str) -> list[str]:
    return [save(guard, git, text) for text in texts]


def file_after_gc(guard: Guard, git: Git, name: str) -> str | None:
    """Return what a restore brings back once git has collected what nothing names; None for none.

    The files stay as they are.
    """
    git("reflog", "expire", "--expire=now", "--all")
    git("gc", "--quiet", "--prune=now")
    folder = git.root.parent / "exported"
    try:
        guard.files.export(name, str(folder))
    except NothingFound:
        return None
    text = (folder / "file.txt").read_text()
    for path in tree_of(folder):
        (folder / path).unlink()
    folder.rmdir()
    return text


def test_the_oldest_are_forgotten_when_there_are_too_many(few: Guard, git: Git) -> None:
    names = save_each(few, git, "one", "two", "three", "four")
    kept = [file_after_gc(few, git, name) for name in names]
    assert kept == [None, "two", "three", "four"]
    assert few.files.status().snapshots == 3


def test_old_ones_are_forgotten_with_the_next_snapshot(few: Guard, git: Git, clock: Clock) -> None:
    old = save(few, git, "old")
    clock.advance(11 * DAY)
    new = save(few, git, "new")
    assert [file_after_gc(few, git, name) for name in (old, new)] == [None, "new"]


def test_a_pinned_one_stays_however_old_and_however_many_follow(
    few: Guard, git: Git, clock: Clock
) -> None:
    pinned = save(few, git, "pinned")
    assert few.files.pin(pinned) == Pin(pinned, is_pinned=True)
    clock.advance(100 * DAY)
    names = save_each(few, git, "one", "two", "three", "four")
    assert few.files.status().pinned == (pinned,)
    assert file_after_gc(few, git, pinned) == "pinned"
    kept = [file_after_gc(few, git, name) for name in names]
    assert kept == [None, "two", "three", "four"], "a pinned one takes nobody's place"
    plan = few.files.plan(pinned, theirs_too=True)
    few.files.restore(plan)
    assert (git.root / "file.txt").read_text() == "pinned"
    assert few.files.status().pinned == (pinned,)


def test_a_pin_stays_when_the_same_files_are_kept_again(few: Guard, git: Git) -> None:
    pinned = save(few, git, "pinned")
    few.files.pin(pinned)
    save(few, git, "other")
    again = save(few, git, "pinned")
    assert few.log(1)[0].files == few.log(3)[2].files
    save_each(few, git, "one", "two", "three", "four")
    assert few.files.status().pinned == (pinned,)
    assert file_after_gc(few, git, again) == "pinned"


def test_one_that_is_not_pinned_any_more_is_forgotten_as_others(few: Guard, git: Git) -> None:
    pinned, *_ = save_each(few, git, "pinned", "one", "two")
    few.files.pin(pinned)
    assert few.files.unpin(pinned) == Pin(pinned, is_pinned=False)
    save(few, git, "three")
    assert few.files.status().pinned == ()
    assert file_after_gc(few, git, pinned) is None


def test_what_is_forgotten_already_cannot_be_pinned(few: Guard, git: Git) -> None:
    forgotten, *_ = save_each(few, git, "one", "two", "three", "four")
    with pytest.raises(NothingFound, match=f"the files of {forgotten} are no longer kept"):
        few.files.pin(forgotten)
    with pytest.raises(NothingFound, match=f"the files of {forgotten} are not pinned"):
        few.files.unpin(forgotten)


def test_maintenance_lists_old_snapshots_and_forgets_them_when_told_to(
    few: Guard, git: Git, clock: Clock
) -> None:
    old, pinned, newest = save_each(few, git, "old", "pinned", "newest")
    few.files.pin(pinned)
    clock.advance(11 * DAY)
    assert maintain(few, "warn").snapshots == (OldSnapshots("main", 1),)
    assert few.files.status().snapshots == 3
    assert maintain(few).snapshots == (OldSnapshots("main", 1, is_forgotten=True),)
    assert maintain(few).snapshots == ()
    kept = [file_after_gc(few, git, name) for name in (old, pinned, newest)]
    assert kept == [None, "pinned", "newest"]


def test_maintenance_forgets_snapshots_of_archived_sessions_too(
    few: Guard, git: Git, clock: Clock
) -> None:
    save_each(at(few, "other"), git, "one", "two")
    close_it(few, "other")
    few.sessions.use(few.sessions.find("main"))
    clock.advance(11 * DAY)
    assert maintain(few).snapshots == (OldSnapshots("other", 2, is_forgotten=True),)


def test_only_a_person_may_pin(git: Git, monkeypatch: pytest.MonkeyPatch) -> None:
    with inside(git.root):
        gitguard("ensure")
        pinned = "Pinned: the files of cp_001 are kept until `gitguard pin cp_001 --remove`\n"
        assert gitguard("pin", "1").said == pinned
        monkeypatch.setenv("CLAUDECODE", "1")
        for options in ((), ("--remove",)):
            outcome = gitguard("pin", "1", *options)
            assert outcome.code == OwnerOnly.exit_code
            assert "`gitguard pin` is for a human" in outcome.err
        assert "Pinned: cp_001\n" in gitguard("status", "--files").out
