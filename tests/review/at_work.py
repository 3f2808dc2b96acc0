"""An agent at work in a repository, for tests of what ties its commits to its checkpoints."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from gitguard.guard import Guard
from tests.conftest import Git, new_guard, start_guard
from tests.support.hostile import gitguard, inside
from tests.support.staged import staged


class Work:
    """An agent at work: it notes what it decides, and commits."""

    def __init__(self, guard: Guard, git: Git) -> None:
        self.guard = guard
        self.git = git
        self.root = git.root
        self._seconds = 1_700_000_000

    def commit(self, name: str, content: str = "", *, message: str = "", trailer: str = "") -> str:
        """Write a file and commit it, a minute after the commit before; return the id."""
        self._seconds += 60
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content or f"content of {name}\n", encoding="utf-8")
        self.git("add", "--all", "--", name)
        words = ["--message", message or f"Write {name}"]
        words += ["--trailer", f"Gitguard-Checkpoint: {trailer}"] if trailer else []
        self.git("commit", "--quiet", f"--date={self._seconds} +0000", *words)
        return self.git("rev-parse", "HEAD")

    def decide(self, what: str) -> None:
        """Note a decision and take a checkpoint."""
        self.guard.note({"decisions": [{"what": what, "why": "It is simple"}]})
        self.guard.checkpoint(what)

    def step(self, name: str, **options: str) -> str:
        """Decide, commit, and take a checkpoint, as the end of a turn does."""
        self.decide(f"About {name}")
        commit = self.commit(name, **options)
        self.guard.checkpoint("The turn ended")
        return commit


tmp_path = staged(work=start_guard)


@pytest.fixture
def work(guard: Guard, git: Git) -> Work:
    return Work(guard, git)


def commit(git: Git, name: str, *, message: str = "") -> str:
    (git.root / name).write_text(f"{name}\n", encoding="utf-8")
    git("add", "--", name)
    git("commit", "--quiet", "--message", message or f"Write {name}")
    return git("rev-parse", "HEAD")


def standing_in(folder: Path) -> AbstractContextManager[None]:
    """Stand in a folder's repository, as its agent."""
    return inside(folder / "repo", XDG_STATE_HOME=str(folder / "state"))


def write_reviewed(folder: Path) -> Git:
    """Write a repository with a commit that came with a decision and a failure."""
    new_guard(folder)
    git = Git(folder / "repo")
    with standing_in(folder):
        gitguard("ensure")
        gitguard(
            "note", "--goal", "Port", "--next", "Test it", "--decision", "By hand", "--why", "w"
        )
        commit(git, "a")
        gitguard("note", "--failure", "Reuse the table", "--error", "41 files differ")
        gitguard("checkpoint", "-m", "Ready for review")
    return git
