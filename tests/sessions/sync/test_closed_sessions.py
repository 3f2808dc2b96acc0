"""The lane of a closed session is put away, and no machine loses what it held."""

from __future__ import annotations

import os

import pytest

from gitguard.store.session.lanes import ARCHIVED
from gitguard.store.session.workspace import Session
from tests.conftest import Git
from tests.support.synced_machines import Machine, Remote, hook, introduced

MAIN = Session("main", "main")


def archived(git: Git) -> dict[str, str]:
    listed = git("for-each-ref", "--format=%(refname) %(objectname)", ARCHIVED.rstrip("/"))
    return dict(line.split(" ") for line in listed.splitlines())


@pytest.fixture
def closed(a: Machine, b: Machine, remote: Remote) -> str:
    """Let a close its session, with a checkpoint that it never pushed; return the lane."""
    introduced(a, b)
    a.learn("one")
    a.settled()
    b.settled()
    a.learn("last")
    lane = a.lane
    a.guard.sessions.close(MAIN)
    return lane


def test_its_writer_archives_it_with_the_last_checkpoint(
    closed: str, a: Machine, b: Machine, remote: Remote
) -> None:
    a.settled()
    name = closed.replace("/lanes/", "/archived-lanes/")
    assert (list(remote.lanes), list(a.lanes)) == ([b.lane], [b.lane])
    assert "last" in remote("show", f"{name}:state.json")
    assert archived(a.git) == archived(remote)
    before = remote("for-each-ref")
    a.settled()
    assert remote("for-each-ref") == before


def test_others_join_what_it_held_and_keep_its_history(
    closed: str, a: Machine, b: Machine, remote: Remote
) -> None:
    a.settled()
    assert b.settled().restored == ()
    assert b.learned == {"one", "last"}
    assert b.lanes.keys() == {b.lane}
    assert archived(b.git) == archived(remote)
    assert b.settled().restored == ()
    assert closed not in remote.lanes
    b.git.fsck()


def test_a_reopened_session_goes_on_in_its_lane(
    closed: str, a: Machine, b: Machine, remote: Remote
) -> None:
    a.settled()
    b.settled()
    a.guard.sessions.reopen("main")
    a.learn("again")
    a.settled()
    assert a.lane == closed
    assert closed in remote.lanes
    b.settled()
    assert b.learned == {"one", "last", "again"}


@pytest.mark.parametrize("step", ["lanes-pushed", "lane-folded"])
def test_a_kill_meanwhile_loses_nothing(
    closed: str, a: Machine, b: Machine, remote: Remote, step: str
) -> None:
    child = os.fork()
    if child == 0:
        a.dying_at(step).sync()
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9
    a.settled()
    assert list(remote.lanes) == [b.lane]
    b.settled()
    assert b.learned == {"one", "last"}


def test_where_the_remote_lets_nothing_be_removed_the_lane_stays_there_and_harms_nothing(
    closed: str, a: Machine, b: Machine, remote: Remote
) -> None:
    hook(remote, "update", 'case "$3" in *[1-9a-f]*) ;; *) exit 1;; esac')
    a.settled()
    assert closed in remote.lanes
    assert archived(a.git) == archived(remote)
    for each in (b, a):
        assert each.settled().restored == ()
    assert b.learned == {"one", "last"}
