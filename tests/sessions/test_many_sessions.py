"""Looks at many sessions: git lists the refs once, and what is not looked at is said."""

from __future__ import annotations

from pathlib import Path

import pytest

from gitguard.sessions.verification import VerificationReport
from gitguard.store.git.read_once import RepositoryReadOnce
from gitguard.store.git.repository import Repository
from gitguard.store.session.reading_once import ReadingOnce
from gitguard.store.session.workspace import Session
from tests.support.conversation import Conversation
from tests.support.staged import staged_object

tmp_path, talk = staged_object("talk", Conversation)


def counting_git(talk: Conversation, folder: Path) -> Path:
    """Put a git in front of the real one that notes each start in a file."""
    log, program = folder / "starts", folder / "bin" / "git"
    program.parent.mkdir()
    path = talk._places.environment["PATH"]
    program.write_text(
        f'#!/bin/sh\necho "$@" >>{log}\nPATH={path} exec git "$@"\n', encoding="utf-8"
    )
    program.chmod(0o755)
    environment = {**talk._places.environment, "PATH": f"{program.parent}:{path}"}
    talk._places = talk._places.replace(environment=environment)
    return log


def make_foreign(talk: Conversation, number: int) -> None:
    for n in range(number):
        talk.git("branch", f"gitguard/foreign-{n}")


def make_own(talk: Conversation, number: int) -> None:
    for n in range(number):
        talk.guard.sessions.use(Session.of(f"own-{n}"))
        talk.guard.note({"goal": f"Goal {n}"})
        talk.guard.checkpoint("Save it.")


def starts(log: Path) -> int:
    return len(log.read_text(encoding="utf-8").splitlines())


def test_a_list_of_sessions_starts_no_git_for_each_of_them(
    talk: Conversation, tmp_path: Path
) -> None:
    make_foreign(talk, 3)
    make_own(talk, 3)
    log = counting_git(talk, tmp_path)
    talk.guard.sessions.listing()
    before = starts(log)
    for n in range(20):
        talk.git("branch", f"gitguard/more-{n}")
    listing = talk.guard.sessions.listing()
    assert starts(log) - before == before
    assert len(listing.unread) == 23
    assert {goal.goal for goal in listing.goals} >= {"Goal 0", "Goal 1", "Goal 2"}


def test_a_list_says_of_how_many_sessions_the_goals_were_not_looked_at(talk: Conversation) -> None:
    assert talk.guard.sessions.listing().unread == ()
    make_foreign(talk, 2)
    assert talk.guard.sessions.listing().unread == ("foreign-0", "foreign-1")


def test_sessions_are_verified_without_a_git_for_each_of_them(
    talk: Conversation, tmp_path: Path
) -> None:
    make_own(talk, 2)
    log = counting_git(talk, tmp_path)
    assert not any(report.findings for report in talk.guard.verify(every_session=True))
    for_two = starts(log)
    make_own(talk, 8)
    before = starts(log)
    reports = talk.guard.verify(every_session=True)
    assert starts(log) - before == for_two
    assert not any(report.findings for report in reports)


def test_the_progress_of_many_sessions_counts_the_checkpoints_of_all(talk: Conversation) -> None:
    make_own(talk, 3)
    told: list[tuple[int, int]] = []
    reports = talk.guard.verify(every_session=True, tell=lambda *counts: told.append(counts))
    total = sum(report.checkpoints for report in reports)
    assert told[-1] == (total, total)
    assert [done for done, _ in told] == sorted(done for done, _ in told)
    assert len(told) >= len(reports)
    assert {of for _, of in told} == {total}


def test_what_is_found_among_many_sessions_is_what_each_shows_by_itself(
    talk: Conversation,
) -> None:
    make_own(talk, 3)
    make_foreign(talk, 2)
    talk.git("update-ref", "refs/heads/gitguard/own-1", "refs/heads/gitguard/own-1~1")
    talk.git("update-ref", "refs/heads/gitguard/own-2", "HEAD")
    together = {report.session: report for report in talk.guard.verify(every_session=True)}
    for name in together:
        talk._places = talk._places.replace(session=name)
        [alone] = talk.guard.verify()
        assert _told(together[name]) == _told(alone), name
    assert together["own-1"].findings


def _told(report: VerificationReport) -> object:
    return [finding.problem for finding in report.findings], report.standing, report.checkpoints


@pytest.mark.parametrize(
    "patterns",
    [
        ("refs/heads/gitguard",),
        ("refs/heads/gitguard/main",),
        ("refs/heads/gitguard/ma",),
        ("refs/heads/none", "refs/tags/gitguard/main"),
        ("refs/remotes/*/gitguard/main",),
        ("refs/remotes/*/gitguard/*",),
        ("refs/remotes/*/gitguard/main", "refs/heads/gitguard/main"),
    ],
)
def test_refs_that_are_listed_once_are_those_that_git_lists(
    talk: Conversation, patterns: tuple[str, ...]
) -> None:
    for name in ("heads/gitguard/main-2", "tags/gitguard/main", "remotes/o/gitguard/main"):
        talk.git("update-ref", f"refs/{name}", "HEAD")
    for name in ("remotes/o/x/gitguard/main", "remotes/p/gitguard/main/deep", "remotes/o/main"):
        talk.git("update-ref", f"refs/{name}", "HEAD")
    workspace = talk.guard.store().workspace
    with ReadingOnce(workspace):
        once = workspace.repository()
        assert isinstance(once, RepositoryReadOnce)
        assert once.refs(*patterns) == plain(talk).refs(*patterns)


def plain(talk: Conversation) -> Repository:
    repository = talk.guard.store().workspace.repository()
    assert type(repository) is Repository
    return repository


def test_parents_that_are_read_once_are_those_that_git_tells(talk: Conversation) -> None:
    make_own(talk, 2)
    workspace = talk.guard.store().workspace
    heads = talk.guard.sessions.heads()
    with ReadingOnce(workspace):
        once = {head: workspace.repository().first_parents(head) for head in heads.values()}
    assert once == {head: plain(talk).first_parents(head) for head in heads.values()}
