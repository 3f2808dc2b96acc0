"""Sessions go to the remote that the user set for them, and to no other."""

from __future__ import annotations

from pathlib import Path

import pytest

from gitguard.errors import InvalidConfig, InvalidInput
from gitguard.model.config.sync import SyncConfig
from gitguard.sessions.sync_target import remote_of
from gitguard.store.session.workspace import Session
from tests.conftest import Git
from tests.support.synced_machines import Machine, Remote


def set_remote(machine: Machine, pattern: str) -> None:
    folder = machine.home / "config"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.yaml").write_text(f"sync:\n  remote: {pattern}\n  shards: 4\n")


def made(path: Path) -> Remote:
    path.parent.mkdir(parents=True, exist_ok=True)
    Git(path.parent)("init", "--quiet", "--bare", str(path))
    return Remote(path)


def test_sessions_go_to_the_remote_that_is_named_and_not_to_origin(
    a: Machine, remote: Remote, three: Path
) -> None:
    private = made(three / "private.git")
    a.git("remote", "add", "memory", str(private.root))
    set_remote(a, "memory")
    a.settled()
    assert (list(private.lanes), remote.lanes) == ([a.lane], {})


def test_where_no_such_remote_is_nothing_leaves(a: Machine, remote: Remote) -> None:
    set_remote(a, "memory")
    with pytest.raises(InvalidInput, match="there is no remote `memory`"):
        a.sync()
    assert remote.lanes == {}


def test_a_remote_that_is_typed_counts_more_than_the_one_that_is_set(
    a: Machine, remote: Remote
) -> None:
    set_remote(a, "memory")
    a.sync("origin")
    assert list(remote.lanes) == [a.lane]


def test_each_session_goes_to_its_own_shard_on_every_machine(
    a: Machine, b: Machine, three: Path
) -> None:
    shards = {number: made(three / "memory" / f"remote-{number}.git") for number in range(4)}
    pattern = f"{three}/memory/{{repository}}-{{shard}}.git"
    for each in (a, b):
        set_remote(each, pattern)
        each.git("switch", "--quiet", "-c", "side")
        each.guard.sessions.use(Session("side", "side"))
        each.guard.ensure()
        each.settled()
    for each, other in ((a, b), (b, a)):
        each.settled()
        each.trust(other)
    a.learn("one")
    a.settled()
    b.settled()
    assert b.learned == {"one"}
    config = SyncConfig(remote=pattern, shards=4)
    for session in ("main", "side"):
        address = remote_of(config, "remote", session)
        (shard,) = [shard for shard in shards.values() if str(shard.root) == address]
        assert {lane.split("/")[3] for lane in shard.lanes} >= {session}
        others = [other for other in shards.values() if other is not shard]
        assert not [lane for other in others for lane in other.lanes if f"/{session}/" in lane]


def test_shards_have_about_as_many_sessions_each() -> None:
    config = SyncConfig(remote="host:{repository}/{shard}", shards=8)
    remotes = [remote_of(config, "app", f"branch-{number}") for number in range(800)]
    assert set(remotes) == {f"host:app/{shard}" for shard in range(8)}
    assert all(60 < remotes.count(remote) < 140 for remote in set(remotes))


def test_one_address_for_all_repositories_is_refused(a: Machine) -> None:
    set_remote(a, "host:memory.git")
    with pytest.raises(InvalidConfig, match="sessions of all your repositories would meet"):
        _ = a.guard
