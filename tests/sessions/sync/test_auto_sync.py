"""Sessions sync by themselves after a turn, where the user set it, and the agent does not wait."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from gitguard.guard import Guard
from gitguard.sessions.auto_sync import MOST_A_MINUTE, begin_sync, in_last_minute
from gitguard.store.session.workspace import UserDirs
from tests.conftest import Clock, Git
from tests.support.conversation import Conversation
from tests.support.hook_processes import COMMAND, payload, run_hook, talk, tmp_path
from tests.support.synced_machines import Remote, hook
from tests.support.waiting import wait_until

__all__ = ["talk", "tmp_path"]


@pytest.fixture
def remote(talk: Conversation) -> Remote:
    """The remote of the conversation's repository, which takes lanes since somebody agreed."""
    remote = Remote(talk.root.parent / "remote.git")
    Git(talk.root)("init", "--quiet", "--bare", str(remote.root))
    Git(talk.root)("remote", "add", "origin", str(remote.root))
    return remote


def typed(talk: Conversation, *words: str) -> str:
    home = talk.root.parent / "home"
    variables = {"HOME": str(home), "GITGUARD_STATE_DIR": str(talk.root.parent / "state")}
    return subprocess.run(
        [str(COMMAND), *words],
        cwd=talk.root,
        env={"PATH": "/usr/bin:/bin", **variables},
        capture_output=True,
        text=True,
        check=True,
    ).stdout


def set_auto(talk: Conversation) -> None:
    folder = talk.root.parent / "home" / ".config" / "gitguard"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.yaml").write_text("sync:\n  auto: turn-end\n")


def turn(talk: Conversation, number: int) -> None:
    """Let a turn end in which something happened."""
    run_hook(talk, payload(talk, "UserPromptSubmit", prompt=f"Do {number}", prompt_id=f"t{number}"))
    run_hook(talk, payload(talk, "Stop", prompt_id=f"t{number}"))


def pushed(talk: Conversation, remote: Remote) -> bool:
    """Say whether the remote has the newest checkpoint."""
    newest = Git(talk.root)("rev-parse", "refs/heads/gitguard/main")
    lanes = list(remote.lanes)
    return bool(lanes) and newest in remote("log", "-1", "--format=%B", lanes[0])


def test_a_turn_that_ends_is_pushed_in_the_background(talk: Conversation, remote: Remote) -> None:
    set_auto(talk)
    typed(talk, "sync", "--yes")
    turn(talk, 1)
    wait_until(lambda: pushed(talk, remote))


def test_the_hook_answers_before_the_remote_does(talk: Conversation, remote: Remote) -> None:
    set_auto(talk)
    typed(talk, "sync", "--yes")
    go_on = remote.root / "go-on"
    hook(remote, "pre-receive", f"until [ -e {go_on} ]; do sleep 0.05; done")
    turn(talk, 1)
    assert not pushed(talk, remote), "the hook has ended, and so have all that hold its pipes"
    go_on.touch()
    wait_until(lambda: pushed(talk, remote))


def test_nothing_syncs_by_itself_unless_the_user_set_it(talk: Conversation, remote: Remote) -> None:
    typed(talk, "sync", "--yes")
    turn(talk, 1)
    assert not pushed(talk, remote)
    assert not (talk.root.parent / "state" / "_auto_sync.json").exists()


def test_the_first_sync_is_never_an_automatic_one(talk: Conversation, remote: Remote) -> None:
    set_auto(talk)
    turn(talk, 1)
    assert not (talk.root.parent / "state" / "_auto_sync.json").exists()
    assert remote.lanes == {}


def test_a_machine_syncs_by_itself_six_times_a_minute_and_no_more(
    talk: Conversation, remote: Remote, clock: Clock
) -> None:
    typed(talk, "sync", "--yes")
    folder = talk.root.parent
    program = folder / "program"
    program.write_text(f'#!/bin/sh\necho "$@" >> {folder}/begun\n')
    program.chmod(0o755)
    places = UserDirs(str(folder / "state"), "", environment={"PATH": "/bin"}, program=str(program))
    now = float(int(clock())) + 0.0007
    guard = Guard(str(talk.root), places, lambda: now)
    begun = [begin_sync(guard.workspace, guard.current_session()) for _ in range(9)]
    assert begun == [True] * MOST_A_MINUTE + [False] * 3
    now += 61
    assert begin_sync(guard.workspace, guard.current_session())
    wait_until(lambda: _lines(folder / "begun") == ["sync --session main"] * 7)


def _lines(path: Path) -> list[str]:
    return path.read_text().splitlines() if path.exists() else []


def test_times_that_are_still_to_come_do_not_count() -> None:
    assert in_last_minute([0.0, 39.9, 40.1, 99.0, 101.0], 100.0) == [40.1, 99.0]
