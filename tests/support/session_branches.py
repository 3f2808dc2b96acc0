"""The branch of a session, and what another machine adds to it."""

from __future__ import annotations

from pathlib import Path

import pytest

from gitguard.guard import Guard
from gitguard.store.session.workspace import UserDirs
from tests.conftest import Git

BRANCH = "refs/heads/gitguard/main"


@pytest.fixture
def elsewhere(tmp_path: Path, places: UserDirs) -> UserDirs:
    """The places of another machine."""
    return places.replace(state_home=str(tmp_path / "other-machine"))


def advance_from_elsewhere(guard: Guard, git: Git, tmp_path: Path, elsewhere: UserDirs) -> None:
    """Put a checkpoint of another machine on top of our branch."""
    clone = tmp_path / "clone"
    git("clone", "--quiet", ".", str(clone))
    theirs = Guard(str(clone), elsewhere, guard.clock)
    theirs.trust()
    theirs.note({"goal": "Theirs"})
    git("fetch", "--quiet", str(clone), f"{BRANCH}:{BRANCH}")
