"""What shell commands left behind: commits, also quiet ones, and what they opened on a forge."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from gitguard.model.text import timestamp
from tests.support.conversation import Conversation


@pytest.fixture
def talk(tmp_path: Path) -> Conversation:
    talk = Conversation(tmp_path)
    talk.prompt("Stack the hay in the barn")
    return talk


def run(talk: Conversation, command: str, stdout: str = "") -> None:
    """The agent runs a command that really runs, by the conversation's clock."""
    told: dict[str, Any] = {"tool_input": {"command": command}, "tool_use_id": f"t{talk.clock()}"}
    talk.send("PreToolUse.Bash", **told)
    date = timestamp(talk.clock())
    names = ("AUTHOR", "COMMITTER")
    who = {f"GIT_{n}_{part}": "x" for n in names for part in ("NAME", "EMAIL")}
    dates = {f"GIT_{n}_DATE": date for n in names}
    environment = {"PATH": os.environ["PATH"], "HOME": str(talk.root.parent), **who, **dates}
    subprocess.run(["sh", "-c", command], cwd=talk.root, env=environment, check=True)
    response = {"stdout": stdout, "stderr": "", "interrupted": False}
    talk.send("PostToolUse.Bash", tool_response=response, **told)


def commits(talk: Conversation) -> list[tuple[str, str]]:
    artifacts = talk.guard.state().artifacts
    return [(a.path, a.description) for a in artifacts if a.kind == "commit"]


def head(talk: Conversation) -> str:
    return talk.git("rev-parse", "HEAD").strip()


def test_a_quiet_commit_of_the_agents_is_known_at_the_end_of_the_turn(talk: Conversation) -> None:
    run(talk, "echo hay > barn; git add barn; git commit -qm 'Stack the hay'")
    talk.send("Stop", last_assistant_message="Done.")

    assert commits(talk) == [(head(talk)[:7], "Stack the hay")]
    block = talk.beside("S2").prompt("Go on with the barn")
    assert f"{head(talk)[:7]} — Stack the hay" in block


def test_a_commit_in_a_script_is_known_as_well(talk: Conversation) -> None:
    (talk.root / "release.sh").write_text("git commit -q --allow-empty -m 'Version 2'\n")
    run(talk, "sh release.sh")
    talk.send("Stop", last_assistant_message="Done.")
    assert commits(talk) == [(head(talk)[:7], "Version 2")]


def test_a_commit_that_git_told_of_is_listed_once(talk: Conversation) -> None:
    run(talk, "git commit -q --allow-empty -m 'Stack the hay'")
    other = talk.git("rev-parse", "--short", "HEAD").strip()
    talk.send("Stop", last_assistant_message="Done.")
    talk.prompt("And the straw")
    command = "git commit -q --allow-empty -m 'Stack the straw'"
    run(talk, command)
    own = talk.git("rev-parse", "--short", "HEAD").strip()
    run(talk, "git show --stat", f"[main {own}] Stack the straw\n 1 file changed")
    talk.send("Stop", last_assistant_message="Done.")
    assert [path for path, _ in commits(talk)] == [other, own]


def test_a_commit_of_a_person_is_not_the_agents(talk: Conversation) -> None:
    run(talk, "true")
    talk.clock.pass_by(60)
    talk.git("commit", "-q", "--allow-empty", "-m", "By hand")  # by the clock of this machine
    talk.send("Stop", last_assistant_message="Done.")
    assert commits(talk) == []


def test_a_commit_that_was_only_checked_out_is_not_the_agents(talk: Conversation) -> None:
    talk.git("branch", "older")
    run(talk, "git commit -q --allow-empty -m 'Stack the hay'")
    talk.send("Stop", last_assistant_message="Done.")
    talk.prompt("Look at the older one")
    run(talk, "git checkout -q --detach older")
    talk.send("Stop", last_assistant_message="Done.")
    assert [subject for _, subject in commits(talk)] == ["Stack the hay"]


def test_what_the_agent_opened_on_a_forge_is_in_the_block(talk: Conversation) -> None:
    address = "https://git.example.com/farm/barn/pull/12"
    (talk.root / "gh").write_text("#!/bin/sh\n")
    (talk.root / "gh").chmod(0o755)
    run(talk, "PATH=.:$PATH gh pr create --fill", f"Creating pull request\n\n{address}\n")
    talk.send("Stop", last_assistant_message="It is open.")

    assert [a.path for a in talk.guard.state().artifacts if a.kind == "url"] == [address]
    assert f"- {address}" in talk.beside("S2").prompt("Go on with the barn")


def git_line(talk: Conversation) -> str:
    return next(line for line in talk.guard.resume().splitlines() if line.startswith("Git: "))


def test_one_line_says_what_is_checked_out_committed_and_pushed(tmp_path: Path) -> None:
    talk = Conversation(tmp_path)
    remote = tmp_path / "remote.git"
    talk.git("init", "--quiet", "--bare", str(remote))
    talk.git("remote", "add", "origin", str(remote))
    talk.git("push", "--quiet", "--set-upstream", "origin", "main")
    talk.prompt("Stack the hay in the barn")
    head = talk.git("rev-parse", "--short=7", "HEAD").strip()
    assert git_line(talk).startswith(
        f"Git: nothing to commit; pushed to origin/main; HEAD {head} — "
    )

    talk.git("commit", "--quiet", "--allow-empty", "--message", "Слама у амбару")
    (talk.root / "hay.txt").write_text("stacked\n")
    head = talk.git("rev-parse", "--short=7", "HEAD").strip()
    assert git_line(talk) == (
        f"Git: 1 file not committed; ahead 1 of origin/main; HEAD {head} — Слама у амбару;"
        " not committed: hay.txt"
    )


def test_a_branch_without_an_upstream_has_none_in_that_line(talk: Conversation) -> None:
    talk.prompt("Stack the hay in the barn")
    assert "; no upstream; HEAD " in git_line(talk)


def test_the_subject_of_a_commit_ends_before_what_git_advises(talk: Conversation) -> None:
    run(talk, "git commit -q --allow-empty -m 'Stack the hay'")
    commit = talk.git("rev-parse", "--short", "HEAD").strip()
    advice = "After doing this, you may fix the identity used for this commit with:"
    run(talk, "git show --stat", f"[main {commit}] Stack the hay\n{advice}\n    git commit")
    talk.send("Stop", last_assistant_message="Done.")
    assert commits(talk) == [(commit, "Stack the hay")]
