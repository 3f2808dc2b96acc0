"""An agent at work in a repository, for tests of what ties its commits to its checkpoints."""

from __future__ import annotations

import pytest

from gitguard.guard import Guard
from tests.conftest import Git


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


@pytest.fixture
def work(guard: Guard, git: Git) -> Work:
    guard.ensure()
    return Work(guard, git)
