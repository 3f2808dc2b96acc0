"""A purge beyond the session's own branch and folder: what it cleans, and what it can only name."""

from __future__ import annotations

from pathlib import Path

import pytest

from gitguard.guard import Guard
from gitguard.sessions.handoff.handoff_file import Handoff
from gitguard.sessions.secrets.leaks import UNREAD
from gitguard.state.entries import JournalEntry
from gitguard.store.session.current import current_session
from gitguard.store.session.workspace import Session, UserDirs
from tests.conftest import Clock, Git, OpenGuard
from tests.support.leaked_secrets import (
    NOW,
    TOKEN,
    UNKNOWN,
    Blind,
    files_with,
    holders,
    leaked,
    tmp_path,
)
from tests.support.session_branches import BRANCH

__all__ = ["leaked", "tmp_path"]


def test_other_worktrees_at_the_session_are_cleaned_and_bring_nothing_back(
    begun: Guard, git: Git, open_guard: OpenGuard, tmp_path: Path, places: UserDirs, clock: Clock
) -> None:
    linked = tmp_path / "linked"
    git("worktree", "add", "--quiet", "-b", "side", str(linked))
    named = places.replace(session=current_session(begun.workspace).key)
    there = Guard(str(linked), named, clock)
    there.ensure()
    there.note({"learnings": [f"pass phrase: {UNKNOWN}"]})
    for summary in (f"Use {UNKNOWN} there", f"Use {UNKNOWN} again"):
        there.store().journal.append(JournalEntry("prompt", NOW, "H", summary=summary))
    open_guard().note({"current_phase": "later"})
    open_guard().secrets.purge("1", value=UNKNOWN)
    there = Guard(str(linked), named, clock)
    there.ensure()
    there.checkpoint("Goes on.")
    git("gc", "--quiet", "--prune=now")
    assert holders(git, UNKNOWN) == []
    assert files_with(UNKNOWN, tmp_path) == []


def test_what_was_set_aside_and_is_no_checkpoint_is_named_and_stops_nothing(
    leaked: Guard, git: Git, open_guard: OpenGuard
) -> None:
    foreign = git("commit-tree", git("rev-parse", "HEAD^{tree}"), "-m", "no checkpoint")
    git("update-ref", BRANCH, foreign)
    open_guard().archive_theirs()
    archived = f"refs/gitguard/archive/main/{foreign[:12]}"
    assert archived in {leak.where for leak in open_guard().secrets.scan() if leak.rule == UNREAD}
    open_guard().secrets.purge("3")
    git("gc", "--quiet", "--prune=now")
    assert holders(git, TOKEN) == []
    assert git("rev-parse", archived) == foreign


@pytest.mark.parametrize("where", ["logs/HEAD", "worktrees/look/HEAD", "refs/tags/kept"])
def test_what_keeps_the_old_objects_alive_is_named(
    leaked: Guard, git: Git, open_guard: OpenGuard, tmp_path: Path, where: str
) -> None:
    head = git("rev-parse", BRANCH)
    if where == "logs/HEAD":
        git("checkout", "--quiet", head)
        git("checkout", "--quiet", "main")
    elif where == "refs/tags/kept":
        git("tag", "kept", head)
    else:
        git("worktree", "add", "--quiet", "--detach", str(tmp_path / "look"), head)
    remains = open_guard().secrets.purge("3").remains
    assert where in remains.refs
    assert head in remains.held
    git("gc", "--quiet", "--prune=now")
    assert set(holders(git, TOKEN)) <= set(remains.held)


def test_a_fork_that_was_cleaned_since_is_named_for_its_history(
    leaked: Guard, git: Git, open_guard: OpenGuard
) -> None:
    blind = open_guard()
    blind.workspace.redactor = Blind()
    blind.sessions.fork(Session.of("other"))
    blind.update({"goal": "clean", "learnings": ["none"]}, replace=True)
    open_guard().sessions.use(Session.of("main"))
    done = open_guard().secrets.purge("3")
    assert {leak.where for leak in done.elsewhere} == {"refs/heads/gitguard/other"}
    git("gc", "--quiet", "--prune=now")
    assert not set(holders(git, TOKEN)) & set(done.remains.objects)


def test_the_hand_off_file_is_cleaned(leaked: Guard, open_guard: OpenGuard, git: Git) -> None:
    blind = open_guard()
    blind.workspace.redactor = Blind()
    path = Path(Handoff(blind.store(), blind.config.handoff).write_current())
    assert TOKEN in path.read_text()
    assert str(path) in {leak.where for leak in open_guard().secrets.scan()}
    open_guard().secrets.purge("3")
    assert TOKEN not in path.read_text()


def test_a_file_that_cannot_be_read_is_named(leaked: Guard, open_guard: OpenGuard) -> None:
    path = Path(leaked.workspace.session_folder(current_session(leaked.workspace))) / "old.bad"
    path.symlink_to("state.json")
    assert str(path) in {leak.where for leak in open_guard().secrets.scan() if leak.rule == UNREAD}
    assert str(path) in {leak.where for leak in open_guard().secrets.purge("3").elsewhere}
