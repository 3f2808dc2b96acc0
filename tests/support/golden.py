"""The golden repository in `tests/golden/1/`, put down in a folder as if it was moved there."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

from gitguard import Guard
from gitguard.store.session.workspace import UserDirs

FOLDER = Path(__file__).parents[1] / "golden" / "1"
BUNDLE, ALLOWED, GIT = "repository.bundle", "allowed_signers", "git"
PARTS = {GIT: "repo/.git/gitguard", "worktree": "repo", "state": "state"}
"""Folders of the golden repository, and where each belongs."""
SLUGGED = "Feature/Übersicht of Tabs"
HALTED, OVERRIDDEN = "22222222", "33333333"
SIGNER = "author@example.invalid"
_DOT = "dot-"


def packed_name(path: Path) -> Path:
    """Return a path without names that begin with a dot, which git and others hide."""
    return Path(*(f"{_DOT}{part[1:]}" if part[:1] == "." else part for part in path.parts))


def _unpacked_name(path: Path) -> Path:
    return Path(*(f".{p.removeprefix(_DOT)}" if p.startswith(_DOT) else p for p in path.parts))


def put_down(folder: Path, clock: Callable[[], float]) -> Guard:
    """Make a folder hold the golden repository; return gitguard in it.

    gitguard then follows it from where it was written, as it follows any repository that is moved.
    """
    root = folder / "repo"
    subprocess.run(["git", "init", "--quiet", "-b", "main", str(root)], check=True)
    fetch = ["git", "fetch", "--quiet", "--update-head-ok", str(FOLDER / BUNDLE), "refs/*:refs/*"]
    subprocess.run(fetch, cwd=root, check=True)
    subprocess.run(["git", "reset", "--quiet", "--hard"], cwd=root, check=True)
    for name, part in PARTS.items():
        for path in (FOLDER / name).rglob("*"):
            if path.is_file():
                target = folder / part / _unpacked_name(path.relative_to(FOLDER / name))
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(path, target)
    places = UserDirs(
        state_home=str(folder / "state"),
        config_home=str(folder / "config"),
        environment={"PATH": os.environ["PATH"], "HOME": str(folder)},
    )
    return Guard(str(root), places, clock)
