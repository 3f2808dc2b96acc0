"""Lanes travel over every transport of git's, and no fault of a server loses or forces anything."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import Git
from tests.support import git_servers
from tests.support.synced_machines import (
    Machine,
    Remote,
    hook,
    introduced,
    never_forced,
)

SERVED = ("path", "file", "daemon", "http", "ssh")


@pytest.fixture(params=SERVED)
def address(
    request: pytest.FixtureRequest, three: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[str]:
    """Where the remote is served, once for each transport."""
    served = three / "remote.git"
    match request.param:
        case "path":
            yield str(served)
        case "file":
            yield f"file://{served}"
        case "daemon":
            with git_servers.daemon(three) as root:
                yield f"{root}/remote.git"
        case "http":
            with git_servers.http(three) as root:
                yield f"{root}/remote.git"
        case "ssh":
            with git_servers.ssh(three, three / "ssh") as (root, client):
                monkeypatch.setenv("GIT_SSH_COMMAND", client)
                yield f"{root}/remote.git"


@pytest.fixture
def pair(a: Machine, b: Machine, address: str) -> tuple[Machine, Machine]:
    """Two machines that reach the remote there."""
    for each in (a, b):
        each.git("remote", "set-url", "origin", address)
    return a, b


def with_many_refs(remote: Remote) -> None:
    """Give a remote 10,000 other refs."""
    commit = remote("rev-parse", "refs/heads/main")
    names = [f"refs/{kind}/n{n:05}" for kind in ("heads", "tags") for n in range(5_000)]
    lines = [f"{commit} {name}" for name in sorted(names)]
    (remote.root / "packed-refs").write_text("\n".join(("# pack-refs with: sorted", *lines, "")))
    remote("update-ref", "refs/heads/main", commit)


# Each transport


def test_two_machines_hold_one_state_whatever_the_transport(
    pair: tuple[Machine, Machine], remote: Remote
) -> None:
    a, b = pair
    introduced(a, b)
    a.guard.note({"goal": "Port the parser"})
    a.learn("of a")
    a.settled()
    b.learn("of b")
    b.settled()
    a.settled()
    assert a.learned == b.learned == {"of a", "of b"}
    assert b.guard.state().goal == "Port the parser"
    assert remote.lanes == {a.lane: a.lanes[a.lane], b.lane: b.lanes[b.lane]}
    never_forced(remote)
    remote.fsck()


def test_ten_thousand_other_refs_of_the_remote_change_nothing(
    pair: tuple[Machine, Machine], remote: Remote
) -> None:
    a, b = pair
    with_many_refs(remote)
    refs = remote("for-each-ref", "refs/heads", "refs/tags")
    before = a.git("for-each-ref", "refs/tags", "refs/remotes")
    introduced(a, b)
    a.learn("one")
    for each in (a, b):
        each.settled()
    assert b.learned == {"one"}
    assert a.git("for-each-ref", "refs/tags", "refs/remotes") == before
    assert remote("for-each-ref", "refs/heads", "refs/tags") == refs


def test_what_a_server_refuses_is_queued_and_pushed_once_it_does_not(
    pair: tuple[Machine, Machine], remote: Remote
) -> None:
    a, b = pair
    introduced(a, b)
    before = remote.lanes
    for refusal in (
        "echo 'Protected ref' >&2; exit 1",
        "echo 'Quota' >&2; exit 1",
        "kill -9 $PPID; exit 1",
    ):
        hook(remote, "pre-receive", refusal)
        a.learn(refusal)
        assert a.sync().queued
        assert remote.lanes == before
    (remote.root / "hooks" / "pre-receive").unlink()
    assert a.settled().pushed == (a.lane,)
    b.settled()
    assert len(b.learned) == 3
    never_forced(remote)


@pytest.mark.parametrize("setting", ["receive.hideRefs=refs/gitguard", "receive.maxInputSize=100"])
def test_a_server_that_is_set_to_refuse_lanes_queues_with_its_reason(
    a: Machine, remote: Remote, setting: str
) -> None:
    name, _, value = setting.partition("=")
    remote("config", name, value)
    a.learn("one")
    synced = a.sync()
    assert "did not arrive" in synced.queued
    assert "deny updating a hidden ref" in synced.problems[0] or "unpack" in synced.problems[0]
    remote("config", "--unset", name)
    assert a.settled().pushed == (a.lane,)


def test_a_server_that_hangs_is_left_after_its_time(
    pair: tuple[Machine, Machine], remote: Remote, monkeypatch: pytest.MonkeyPatch
) -> None:
    a, _ = pair
    a.settled()
    monkeypatch.setattr("gitguard.sessions.syncing.TIME_LIMIT", 1.0)
    hook(remote, "pre-receive", "exec sleep 20")
    a.learn("slow")
    begun = time.monotonic()
    assert "did not end" in a.sync().queued
    assert time.monotonic() - begun < 6


def test_a_server_that_died_after_it_took_a_push_has_it(
    pair: tuple[Machine, Machine], remote: Remote
) -> None:
    a, _ = pair
    hook(remote, "post-receive", "kill -9 $PPID")
    a.learn("one")
    a.sync()
    assert remote.lanes == {a.lane: a.lanes[a.lane]}
    (remote.root / "hooks" / "post-receive").unlink()
    assert (a.settled().pushed, a.settled().queued) == ((), "")


# Servers that are not there, or answer wrongly


@pytest.mark.parametrize("scheme", ["git", "http", "ssh"])
def test_a_server_that_never_answers_is_left_after_its_time(
    a: Machine, scheme: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gitguard.sessions.syncing.TIME_LIMIT", 1.0)
    monkeypatch.setenv("GIT_SSH_COMMAND", "ssh -F none")
    begun = time.monotonic()
    with git_servers.silent() as place:
        synced = a.sync(f"{scheme}://{place}/remote.git")
    assert "did not end within" in synced.queued
    assert time.monotonic() - begun < 6


@pytest.mark.parametrize("scheme", ["git", "http", "ssh"])
def test_where_no_server_is_the_sync_is_queued(
    a: Machine, scheme: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_SSH_COMMAND", "ssh -F none")
    synced = a.sync(f"{scheme}://{git_servers.nobody()}/remote.git")
    assert "not reached" in synced.queued
    assert any("not reached" in warning for warning in a.guard.status().warnings)


@pytest.mark.parametrize("status", [401, 403, 404, 429, 500, 503])
def test_a_web_server_that_refuses_is_queued_and_asks_nobody(
    a: Machine, three: Path, status: int
) -> None:
    with git_servers.http(three, status=status) as root:
        synced = a.sync(f"{root}/remote.git")
    assert "the remote did not list its refs; it said: " in synced.queued
    # Where a password is wanted, git says so instead of the number.
    assert str(status) in synced.queued or status in (401, 404)


def test_a_daemon_that_takes_no_pushes_gives_what_it_has(
    a: Machine, b: Machine, three: Path
) -> None:
    introduced(a, b)
    a.learn("one")
    a.settled()
    with git_servers.daemon(three, takes_pushes=False) as root:
        b.git("remote", "set-url", "origin", f"{root}/remote.git")
        synced = b.sync()
    assert b.learned == {"one"}
    assert "nothing was pushed" in synced.queued


def test_a_key_that_the_server_does_not_know_is_queued(
    a: Machine, three: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with git_servers.ssh(three, three / "ssh") as (root, client):
        (three / "ssh" / "user.pub").write_text("")
        monkeypatch.setenv("GIT_SSH_COMMAND", client)
        synced = a.sync(f"{root}/remote.git")
    assert "Permission denied" in synced.queued


def test_a_server_that_praises_pushes_and_drops_them_is_noticed(
    a: Machine, three: Path, remote: Remote
) -> None:
    with git_servers.http(three, drops=True) as root:
        a.git("remote", "set-url", "origin", f"{root}/remote.git")
        a.learn("one")
        synced = a.sync()
        assert "it is not there" in synced.problems[0]
        assert "did not arrive" in synced.queued
        assert remote.lanes == {}
    a.git("remote", "set-url", "origin", str(remote.root))
    assert a.settled().pushed == (a.lane,)


def test_another_repository_at_the_remotes_address_gets_all_anew(
    a: Machine, b: Machine, remote: Remote
) -> None:
    introduced(a, b)
    a.learn("one")
    for each in (a, b):
        each.settled()
    lanes = remote.lanes
    shutil.rmtree(remote.root)
    Git(remote.root.parent)("init", "--quiet", "--bare", str(remote.root))
    synced = b.settled()
    assert {*synced.pushed, *synced.restored} == {a.lane, b.lane}
    assert remote.lanes == lanes
    assert a.settled().pushed == ()


@pytest.mark.parametrize("served", ["daemon", "http"])
def test_a_connection_that_is_cut_anywhere_loses_nothing(
    a: Machine, b: Machine, three: Path, remote: Remote, served: str
) -> None:
    introduced(a, b)
    server = git_servers.daemon(three) if served == "daemon" else git_servers.http(three)
    queued = 0
    with server as root:
        scheme, _, place = root.partition("://")
        for number, after in enumerate((0, 40, 150, 300, 500, 800, 1200, 2000, 4000, 9000)):
            with git_servers.cut_off(int(place.rpartition(":")[2]), after) as cut:
                for each in (a, b):
                    each.git("remote", "set-url", "origin", f"{scheme}://{cut}/remote.git")
                    each.learn(f"{each.git.root.name} {number}")
                    queued += bool(each.sync().queued)
    assert queued >= 10
    for each in (a, b, a):
        each.git("remote", "set-url", "origin", str(remote.root))
        each.sync()
    assert a.learned == b.learned == {f"{name} {n}" for name in "ab" for n in range(10)}
    never_forced(remote)
    for repository in (a.git, b.git, remote):
        repository.fsck()
