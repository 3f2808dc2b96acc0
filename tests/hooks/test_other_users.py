"""In a repository of another user, as in a container, hooks say that nothing is saved there."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.support.another_user import ALICE, BOB, GROUP, open_the_way, run_as
from tests.support.conversation import Conversation
from tests.support.hook_processes import payload, run_hook
from tests.support.needed import cannot_run

TOLD = ("SessionStart.startup", "SessionStart.resume", "UserPromptSubmit")
SILENT = ("PreToolUse.Bash", "PostToolUse.Bash", "Stop", "SessionEnd")
NOTHING = "[gitguard: hooks save nothing here."


def give(root: Path, user: int) -> None:
    """Make everything in a folder another user's."""
    if os.geteuid() != 0:
        cannot_run("giving a repository away takes root")
    for path in (root, *root.rglob("*")):
        os.chown(path, user, GROUP, follow_symlinks=False)


def context_of(output: bytes | str) -> str:
    return str(json.loads(output)["hookSpecificOutput"]["additionalContext"])


@pytest.mark.parametrize("event", TOLD)
def test_where_git_refuses_another_users_repository_the_agent_is_told(
    tmp_path: Path, event: str
) -> None:
    talk = Conversation(tmp_path)
    give(talk.root, ALICE)
    told = context_of(run_hook(talk, payload(talk, event)).stdout)
    assert told.startswith(f"{NOTHING} `{talk.root}` belongs to another user.")
    assert f"git config --global --add safe.directory {talk.root}" in told
    assert len(told.splitlines()) == 1


@pytest.mark.parametrize("event", SILENT)
def test_other_events_in_another_users_repository_get_a_neutral_answer(
    tmp_path: Path, event: str
) -> None:
    talk = Conversation(tmp_path)
    give(talk.root, ALICE)
    assert run_hook(talk, payload(talk, event)).stdout == b""


@pytest.mark.parametrize("event", TOLD)
def test_where_our_folder_cannot_be_looked_into_the_agent_is_told(
    tmp_path: Path, event: str
) -> None:
    talk = Conversation(tmp_path)
    give(talk.root, ALICE)
    open_the_way(tmp_path)
    for path in (talk.root, *(talk.root / ".git").rglob("*"), talk.root / ".git"):
        path.chmod(path.stat().st_mode | 0o055)
    assert (talk.root / ".gitguard").stat().st_mode & 0o077 == 0
    home = tmp_path / "bob"
    home.mkdir()
    os.chown(home, BOB, GROUP)
    stdin = tmp_path / "event.json"
    stdin.write_bytes(payload(talk, event))
    code, said = run_as(BOB, talk.root, "hook", "claude-code", stdin=stdin, HOME=str(home))
    assert code == 0
    assert context_of(said).startswith(f"{NOTHING} `{talk.root}/.gitguard` belongs to")


def test_where_gitguard_was_never_set_up_another_users_repository_is_none_of_our_business(
    tmp_path: Path,
) -> None:
    talk = Conversation(tmp_path)
    give(talk.root, ALICE)
    (talk.root / ".gitguard").rename(tmp_path / "elsewhere")
    data, state = payload(talk, "UserPromptSubmit"), str(tmp_path / "nobodys")
    assert run_hook(talk, data, GITGUARD_STATE_DIR=state).stdout == b""
