"""Folders of ours are the user's alone, whatever the umask and whoever shares the repository."""

from __future__ import annotations

import json
import os
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from gitguard.errors import InvalidConfig
from gitguard.process import places
from tests.conftest import Git, OpenGuard
from tests.support.another_user import ALICE, BOB, GROUP, open_the_way, run_as
from tests.support.conversation import PAYLOADS

ELSEWHERE = "belongs to the user 41001, and gitguard keeps each user's sessions private"


@pytest.fixture(autouse=True)
def umask() -> Iterator[None]:
    """Work as in a user's own group, where files are made for the group to write."""
    before = os.umask(0o002)
    yield
    os.umask(before)


def modes(*tops: Path) -> dict[str, int]:
    """Return the modes of folders and of all folders in them."""
    folders = [path for top in tops for path in (top, *top.rglob("*")) if path.is_dir()]
    assert len(folders) > 2
    return {str(path): stat.S_IMODE(path.stat().st_mode) for path in folders}


def test_every_folder_of_ours_is_private_whatever_the_umask(
    git: Git, open_guard: OpenGuard, tmp_path: Path
) -> None:
    state = tmp_path / "home" / ".local"
    guard = open_guard(state_home=str(state / "state" / "gitguard"))
    guard.ensure()
    guard.note({"goal": "Private", "next_action": "Look"})
    ours = modes(state, git.root / ".gitguard", git.root / ".git" / "gitguard")
    assert set(ours.values()) == {0o700}, ours


def test_a_folder_that_others_may_write_is_made_private_when_it_is_used(
    git: Git, open_guard: OpenGuard, tmp_path: Path
) -> None:
    state = tmp_path / "state"
    open_guard(state_home=str(state)).ensure()
    tops = (state, git.root / ".gitguard", git.root / ".git" / "gitguard")
    for path in modes(*tops):
        os.chmod(path, 0o775)
    (git.root / "new.py").write_text("new\n")
    open_guard(state_home=str(state)).checkpoint("A snapshot of the new file")
    ours = modes(*tops)
    assert set(ours.values()) == {0o700}, ours


def test_reading_makes_the_state_directory_private_as_well(
    open_guard: OpenGuard, tmp_path: Path
) -> None:
    state = tmp_path / "state"
    open_guard(state_home=str(state)).ensure()
    for path in modes(state):
        os.chmod(path, 0o777)
    open_guard(state_home=str(state)).status()
    assert stat.S_IMODE(state.stat().st_mode) == 0o700


@pytest.mark.parametrize(
    ("environment", "named"),
    [
        ({"HOME": "~"}, "HOME is `~`"),
        ({"HOME": "home"}, "HOME is `home`"),
        ({"HOME": "/home/x", "GITGUARD_STATE_DIR": "state"}, "GITGUARD_STATE_DIR is `state`"),
    ],
)
def test_a_place_that_depends_on_the_current_folder_is_refused(
    environment: dict[str, str], named: str
) -> None:
    with pytest.raises(InvalidConfig, match=named) as raised:
        places(environment)
    assert "absolute path" in raised.value.hint


def test_without_a_home_nothing_is_written_and_the_variable_that_helps_is_named(
    tmp_path: Path,
) -> None:
    tmp_path.chmod(0o777)
    open_the_way(tmp_path)
    subprocess.run(["git", "init", "--quiet", str(tmp_path / "r")], check=True)
    make_users(tmp_path / "r")
    code, said = run_as(ALICE, tmp_path / "r", "ensure")
    assert code == InvalidConfig.exit_code
    assert "HOME is not set" in said
    assert "Set HOME to the absolute path" in said
    assert sorted(os.listdir(tmp_path / "r")) == [".git"]


# A repository that users share


def make_users(root: Path) -> None:
    """Give a repository to the first of two users who share it."""
    for path in (root, *root.rglob("*")):
        os.chown(path, ALICE, GROUP, follow_symlinks=False)


@pytest.fixture
def shared(tmp_path: Path) -> Path:
    """A repository with `core.sharedRepository`, in which Alice has begun a session."""
    if os.geteuid() != 0:
        run_as(ALICE, tmp_path)
    open_the_way(tmp_path)
    root = tmp_path / "shared"
    for name, user in (("alice", ALICE), ("bob", BOB)):
        home = tmp_path / name
        home.mkdir()
        (home / ".gitconfig").write_text("[safe]\n\tdirectory = *\n", encoding="utf-8")
        os.chown(home, user, GROUP)
    git = Git(tmp_path)
    git("init", "--quiet", "--shared=group", "--initial-branch=main", str(root))
    git.root = root
    identity = ("-c", "user.name=x", "-c", "user.email=x@example.invalid")
    git(*identity, "commit", "--quiet", "--allow-empty", "--message", "first")
    make_users(root)
    for path in (root, *(root / ".git").rglob("*")):
        path.chmod(path.stat().st_mode | (0o2070 if path.is_dir() else 0o060))
    assert run_as(ALICE, root, "ensure", HOME=str(tmp_path / "alice"))[0] == 0
    return root


@pytest.mark.parametrize(
    "command",
    [
        "ensure",
        "note --next Mine",
        "status",
        "session list",
        "resume",
        "verify",
        "log",
        "checkpoint",
    ]
    + ["gate --pressure 0.1", "repair --trust --yes", "session use other"],
)
def test_the_second_user_of_a_shared_repository_reads_what_works_and_what_does_not(
    shared: Path, command: str
) -> None:
    code, said = run_as(BOB, shared, *command.split(), HOME=str(shared.parent / "bob"))
    assert code == 41, said
    assert ELSEWHERE in said
    assert "Work in a worktree of your own" in said


def test_the_second_user_works_in_a_worktree_of_their_own(shared: Path) -> None:
    mine = shared.parent / "bob" / "mine"
    Git(shared)("-c", "safe.directory=*", "worktree", "add", "--quiet", str(mine))
    for path in (mine, *mine.rglob("*"), shared / ".git" / "worktrees" / "mine"):
        os.chown(path, BOB, GROUP, follow_symlinks=False)
    for path in (shared / ".git").rglob("*"):
        if path.name != "gitguard" and "gitguard" not in path.parent.name:
            path.chmod(path.stat().st_mode | (0o2070 if path.is_dir() else 0o060))
            os.chown(path, -1, GROUP)
    for command in (
        "ensure",
        "note --goal Mine --next Go",
        "checkpoint",
        "resume",
        "session fork other",
        "init",
        "status",
        "uninstall",
    ):
        code, said = run_as(BOB, mine, *command.split(), HOME=str(shared.parent / "bob"))
        assert code == 0, f"{command}: {said}"


def test_the_second_users_git_sees_no_working_files(shared: Path) -> None:
    mode = stat.S_IMODE((shared / ".gitguard").stat().st_mode) & 0o777
    assert mode == 0o755, "everybody's git reads the ignore file, and nobody else writes"
    below = [path for path in (shared / ".gitguard").rglob("*") if path.is_dir()]
    assert {stat.S_IMODE(path.stat().st_mode) & 0o777 for path in below} == {0o700}


def test_the_second_users_agent_is_told_when_its_conversation_begins(shared: Path) -> None:
    payload = (PAYLOADS / "SessionStart.startup.json").read_text(encoding="utf-8")
    document = json.loads(payload) | {"cwd": str(shared)}
    document["transcript_path"] = str(shared.parent / "none.jsonl")
    home = str(shared.parent / "bob")
    event = shared.parent / "event.json"
    event.write_text(json.dumps(document), encoding="utf-8")
    told = run_as(BOB, shared, "hook", "claude-code", stdin=event, HOME=home)
    assert ELSEWHERE in told[1]
    event.write_text(json.dumps(document | {"hook_event_name": "Stop"}), encoding="utf-8")
    assert run_as(BOB, shared, "hook", "claude-code", stdin=event, HOME=home) == (0, "")


def test_a_state_directory_of_somebody_else_that_others_can_write_is_refused(shared: Path) -> None:
    state = shared.parent / "everybodys"
    state.mkdir()
    state.chmod(0o777)
    os.chown(state, ALICE, GROUP)
    mine = shared.parent / "bob" / "r"
    subprocess.run(["git", "init", "--quiet", str(mine)], check=True)
    for path in (mine, *mine.rglob("*")):
        os.chown(path, BOB, GROUP, follow_symlinks=False)
    home = str(shared.parent / "bob")
    code, said = run_as(BOB, mine, "ensure", HOME=home, GITGUARD_STATE_DIR=str(state))
    assert code != 0
    assert f"other users can write in `{state}`, which belongs to the user {ALICE}" in said
    assert "GITGUARD_STATE_DIR" in said
    assert os.listdir(state) == []
