"""Ways out after trouble lead somewhere, and what was refused changes nothing."""

from __future__ import annotations

import resource
import shutil
import signal
from pathlib import Path

import pytest

from gitguard.errors import (
    InvalidConfig,
    MissingState,
    NotInitialised,
    NotWritable,
    Untrusted,
)
from gitguard.guard import Guard
from gitguard.store.session.current import current_session
from gitguard.store.session.workspace import Session
from tests.conftest import Git, OpenGuard
from tests.support.session_branches import BRANCH
from tests.support.session_files import own_file
from tests.support.state_paths import state_file


def test_an_edit_that_was_refused_flows_into_no_history(
    begun: Guard, repo: Path, tmp_path: Path, open_guard: OpenGuard
) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(repo, copy, symlinks=True)
    path = copy / ".gitguard" / "sessions" / "main" / "state.json"
    path.write_text(path.read_text().replace("Ours", "Forged"))
    another = str(tmp_path / "another-home")
    with pytest.raises(Untrusted):
        open_guard(copy, state_home=another).accept()
    shutil.rmtree(copy)
    copy.mkdir()
    Git(copy).start()
    assert open_guard(copy, state_home=another).ensure().state.stated_goal == ""


def test_where_our_newest_objects_are_gone_a_fork_brings_the_memory_back(
    begun: Guard, repo: Path, tmp_path: Path, open_guard: OpenGuard
) -> None:
    git_dir, older = repo / ".git", tmp_path / "older"
    shutil.copytree(git_dir, older, symlinks=True)
    begun.note({"goal": "Newest", "current_phase": "later"})
    for path in git_dir.iterdir():
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    shutil.copytree(older, git_dir, symlinks=True, dirs_exist_ok=True)
    with pytest.raises(MissingState) as caught:
        open_guard().archive_theirs()
    assert caught.value.hint.startswith("Continue from this machine's copy of the state")
    assert "gitguard session fork NAME" in caught.value.hint
    open_guard().sessions.fork(Session.of("again"))
    assert open_guard().state().goal == "Newest"


def test_what_was_set_aside_can_be_shown_and_restored(
    begun: Guard, git: Git, open_guard: OpenGuard
) -> None:
    newest = git("rev-parse", BRANCH)
    git("update-ref", BRANCH, f"{newest}~1")
    open_guard().trust(git("rev-parse", BRANCH)[:12])
    ref = f"refs/gitguard/archive/main/{newest[:12]}"
    assert b"Ours" in open_guard().show("state.json", ref)
    open_guard().restore(newest)
    assert open_guard().state().goal == "Ours"


def test_status_names_what_would_stop_an_agent(begun: Guard, git: Git, repo: Path) -> None:
    assert begun.status().error is None
    blob = git("rev-parse", f"{BRANCH}:state.json")
    (repo / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    assert isinstance(begun.status().error, MissingState)


def test_status_names_a_damaged_record_of_conversations(begun: Guard) -> None:
    record = Path(begun.workspace.working_file(current_session(begun.workspace), "session.json"))
    record.write_text("{{")
    error = begun.status().error
    assert error is not None
    assert error.hint == "Run `gitguard repair --local`"


def test_a_session_that_nobody_knows_is_not_called_sound(
    begun: Guard, open_guard: OpenGuard
) -> None:
    mistyped = open_guard(session="mian")
    with pytest.raises(NotInitialised):
        mistyped.verify()
    with pytest.raises(NotInitialised):
        list(mistyped.secrets.scan())


RULE = "redaction:\n  rules:\n    - name: ours\n      pattern: '{}'\n"


def test_a_repository_may_add_rules(begun: Guard, repo: Path, open_guard: OpenGuard) -> None:
    (repo / ".gitguard" / "config.yaml").write_text(RULE.format("foobarbaz[0-9]{3}"))
    noted = open_guard().note({"goal": "Use foobarbaz123"})
    assert noted.state.goal == "Use [REDACTED:ours]"


@pytest.mark.parametrize(
    "text", [RULE.format(".*"), RULE.format("abc[0-9]{3}") + "      colour: red\n"]
)
def test_a_repositorys_wrong_rule_is_named(
    begun: Guard, repo: Path, open_guard: OpenGuard, text: str
) -> None:
    (repo / ".gitguard" / "config.yaml").write_text(text)
    with pytest.raises(InvalidConfig, match=r"redaction\.rules"):
        open_guard()


def test_accept_shows_and_takes_an_edit_without_its_secrets(begun: Guard) -> None:
    token = "gh" + "p_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"
    path = state_file(begun)
    path.write_text(path.read_text().replace("Ours", f"With {token}"))
    plan = begun.accept(dry_run=True)
    assert token not in plan.after.goal
    begun.accept(plan.sha256)
    assert begun.state().goal == plan.after.goal
    assert token not in own_file(begun, "state.json").read_text()


def test_a_repair_that_cannot_write_leaves_the_file_where_it_was(
    begun: Guard, open_guard: OpenGuard
) -> None:
    path = state_file(begun)
    edited = path.read_text().replace("Ours", "Edited")
    path.write_text(edited)
    old = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (300, old[1]))
        with pytest.raises(NotWritable):
            open_guard().repair_local()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, old)
        signal.signal(signal.SIGXFSZ, handler)
    assert path.read_text() == edited
    open_guard().repair_local()
    assert open_guard().state().goal == "Ours"
    assert edited in [kept.read_text() for kept in path.parent.glob("state.json.bad-*")]
