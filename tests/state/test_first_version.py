"""What version 0.1.0 left on people's disks is read, verified and continued."""

from __future__ import annotations

import hashlib
import json
import os
import tarfile
from pathlib import Path

import pytest

from gitguard.guard import Guard
from gitguard.model.events import Reading
from gitguard.store.session.workspace import UserDirs
from tests.conftest import Clock, Git
from tests.support.needed import need

ARCHIVE = Path(__file__).parents[1] / "first_version" / "repository.tar.gz"
_WRITTEN_AT = "/tmp/gitguard-first-version/repo/.git"
SLUGGED = "Feature/Übersicht of Tabs"
HALTED = "22222222"
CHECKPOINTS = {"main": 12, "finished": 2, "tabs-again": 1, SLUGGED: 2, "signed": 2, "pending": 2}
"""Each session's key and how many checkpoints it has."""


def folder_name(git_dir: str) -> str:
    """Return the name that version 0.1.0 gives a repository's folder in the state directory."""
    return hashlib.sha256(os.fsencode(git_dir)).hexdigest()[:16]


@pytest.fixture
def first_version(tmp_path: Path, hermetic_seal: Path) -> Path:
    """The folder that has `repo`, `held` and `home`, as if version 0.1.0 had written them there."""
    folder = tmp_path / "first"
    folder.mkdir()
    with tarfile.open(ARCHIVE) as archive:
        archive.extractall(folder, filter="data")
    linked = folder / "repo/.git/worktrees/held"
    (linked / "gitdir").write_text(f"{folder / 'held/.git'}\n")
    (folder / "held/.git").write_text(f"gitdir: {linked}\n")
    state = folder / "home/.local/state/gitguard"
    here = folder_name(os.path.realpath(folder / "repo/.git"))
    (state / folder_name(_WRITTEN_AT)).rename(state / here)
    return folder


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def places(first_version: Path) -> UserDirs:
    home = first_version / "home"
    return UserDirs(
        state_home=str(home / ".local/state/gitguard"),
        config_home=str(home / ".config/gitguard"),
        environment={"PATH": os.environ["PATH"], "HOME": str(home)},
    )


@pytest.fixture
def guard(first_version: Path, places: UserDirs, clock: Clock) -> Guard:
    return Guard(str(first_version / "repo"), places, clock)


@pytest.fixture
def git(first_version: Path) -> Git:
    return Git(first_version / "repo")


def at(guard: Guard, places: UserDirs, key: str) -> Guard:
    return Guard(guard.workspace.place.worktree, places.replace(session=key), guard.clock)


def test_every_session_of_the_first_version_is_verified(guard: Guard) -> None:
    reports = guard.verify(every_session=True)
    assert [report.findings for report in reports] == [()] * len(CHECKPOINTS)
    assert {report.session: report.checkpoints for report in reports} == CHECKPOINTS


@pytest.mark.parametrize("key", ["main", "tabs-again", SLUGGED, "signed"])
def test_a_session_of_the_first_version_goes_on(
    guard: Guard, places: UserDirs, git: Git, key: str
) -> None:
    session = at(guard, places, key)
    goal = session.ensure().state.goal
    head = git("rev-parse", session.store().chain.ref)
    assert goal in session.resume()
    session.note({"learnings": ["noted by a later version"]})
    saved = session.checkpoint("by a later version")
    assert git("rev-parse", f"{saved.commit}^") == head
    assert session.state().goal == goal
    assert [report.findings for report in session.verify()] == [()]
    git.fsck()


def test_every_checkpoint_of_the_first_version_is_shown(guard: Guard, places: UserDirs) -> None:
    for key in set(CHECKPOINTS) - {"finished"}:
        session = at(guard, places, key)
        checkpoints = session.log(100)
        assert len(checkpoints) == CHECKPOINTS[key]
        for checkpoint in checkpoints:
            for name in ("state.json", "summary.md", "snapshot.yaml"):
                assert session.show(name, checkpoint.id)


def test_an_archived_session_of_the_first_version_is_reopened(
    guard: Guard, places: UserDirs
) -> None:
    guard.sessions.reopen("finished")
    session = at(guard, places, "finished")
    assert session.state().goal == "Rename the command"
    assert [report.findings for report in session.verify()] == [()]


def test_signatures_of_the_first_version_are_good(
    guard: Guard, places: UserDirs, first_version: Path
) -> None:
    need("ssh-keygen")
    home = first_version / "home"
    (home / ".config/gitguard/config.yaml").write_text("sign: true\n")
    allowed = home / "allowed"
    settings = f'[gpg]\n\tformat = ssh\n[gpg "ssh"]\n\tallowedSignersFile = {allowed}\n'
    (home / ".gitconfig").write_text(settings)
    (report,) = at(guard, places, "signed").verify()
    assert report.findings == ()
    assert not any("signature" in note for note in report.notes), report.notes


def test_a_branch_that_somebody_holds_stays_pending(guard: Guard, places: UserDirs) -> None:
    saved = at(guard, places, "pending").checkpoint("the branch is held")
    assert saved.pending


def test_what_the_first_version_left_pending_is_committed_once_it_can_be(
    guard: Guard, places: UserDirs, git: Git, first_version: Path
) -> None:
    session = at(guard, places, "pending")
    assert session.state().goal == "Saved, and not committed yet"
    git("worktree", "remove", "--force", str(first_version / "held"))
    saved = session.checkpoint("the branch is free")
    assert json.loads(git("show", f"{saved.commit}:state.json"))["goal"] == session.state().goal


def test_a_conversation_that_the_first_version_halted_stays_halted(guard: Guard) -> None:
    reading = Reading("explicit", guard.clock(), share=0.4)
    assert guard.gate(HALTED, reading).verdict.action == "halt"
    guard.override(HALTED, "A human looked at it.")
    assert guard.gate(HALTED, reading).verdict.action == "continue"
