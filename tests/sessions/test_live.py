"""`gitguard status --all`: who is at work in all worktrees, by what evidence, and on what."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest

from gitguard.sessions.live import LiveConversation
from tests.conftest import Process, kill
from tests.support.conversation import Conversation
from tests.support.hostile import gitguard, inside

TESTS = "Write the tests of the parser, with two cases for each token"


def writes(talk: Conversation, name: str) -> None:
    call = {
        "tool_input": {"file_path": str(talk.root / name), "content": name},
        "tool_use_id": f"{talk.session}-{name}",
    }
    talk.send("PreToolUse.Write", **call)
    (talk.root / name).write_text(name)
    talk.send("PostToolUse.Write", **call)


def live_here(talk: Conversation) -> dict[str, LiveConversation]:
    return {live.conversation: live for live in talk.guard.lanes.live()}


@pytest.fixture
def talk(tmp_path: Path, host_process: Process) -> Conversation:
    talk = Conversation(tmp_path, host_process=host_process.pid)
    talk.prompt("Port the parser")
    writes(talk, "a.py")
    return talk


def test_conversations_of_all_worktrees_are_one_list_with_task_and_files(
    talk: Conversation,
) -> None:
    talk.beside("S2", os.getpid()).prompt(TESTS)
    apart = talk.in_worktree("feature-x", "S3")
    apart.prompt("Write the guide")
    writes(apart, "b.py")
    writes(apart, "a.py")
    live = live_here(talk)
    assert list(live) == ["S3", "S2", "S1"]
    assert {key: (one.standing, one.session, one.task, one.files) for key, one in live.items()} == {
        "S1": ("alive", "main", "Port the parser", ("a.py",)),
        "S2": ("alive", "main", TESTS, ()),
        "S3": ("unknown", "feature-x", "Write the guide", ("b.py", "a.py")),
    }
    assert live["S3"].worktree == str(apart.root)
    assert live["S1"].since < live["S3"].since < live["S3"].last_sign
    assert live_here(apart) == live


def test_what_shows_that_a_conversation_is_over_takes_it_off_the_list(
    talk: Conversation, host_process: Process
) -> None:
    second, third = talk.beside("S2", os.getpid()), talk.beside("S3")
    second.prompt(TESTS)
    third.prompt("Write the guide")
    second.send("Stop")
    assert set(live_here(talk)) == {"S1", "S2", "S3"}
    second.send("SessionEnd")
    assert set(live_here(talk)) == {"S1", "S3"}
    kill(host_process)
    assert set(live_here(talk)) == {"S3"}
    talk.clock.pass_by(86_400)
    assert live_here(talk) == {}


def test_a_conversation_that_goes_on_after_its_end_is_listed_again(talk: Conversation) -> None:
    talk.send("SessionEnd")
    talk.prompt("Go on")
    assert set(live_here(talk)) == {"S1"}


def test_a_worktree_that_was_removed_has_no_conversations(talk: Conversation) -> None:
    apart = talk.in_worktree("feature-x", "S3", os.getpid())
    apart.prompt("Write the guide")
    talk.git("worktree", "remove", "--force", str(apart.root))
    assert set(live_here(talk)) == {"S1"}


def test_status_shows_the_list_with_all_and_as_json(talk: Conversation, tmp_path: Path) -> None:
    talk.clock.now = time.time()
    talk.prompt("Port the lexer")
    with inside(
        talk.root, GITGUARD_STATE_DIR=str(tmp_path / "state"), XDG_CONFIG_HOME=str(tmp_path)
    ):
        assert "At work" not in gitguard("status").out
        text = gitguard("status", "--all").out
        document = json.loads(gitguard("status", "--all", "--json").out)
    assert f"At work: claude-code S1 at session main in {talk.root}, alive, last event" in text
    assert "  Task: Port the parser\n  Changed: a.py" in text
    (live,) = document["live"]
    assert (live["conversation"], live["files"]) == ("S1", ["a.py"])
