"""Code commits and checkpoints find each other, whatever git did to the commits since."""

from __future__ import annotations

from pathlib import Path

import pytest

from gitguard.errors import InvalidInput
from gitguard.guard import Guard
from gitguard.review.piece import EXACT, LIKELY, PATCH, SQUASHED, TRAILER, Link, Piece
from gitguard.store.session.workspace import Places
from tests.conftest import Clock, Git, OpenGuard


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


def links_of(piece: Piece) -> dict[str, Link]:
    """Return the surest link of each commit, by the file that it is about."""
    links: dict[str, Link] = {}
    for link in piece.links:
        links.setdefault(link.commit.subject.removeprefix("Write "), link)
    return links


def certainties(piece: Piece) -> dict[str, str]:
    return {name: link.certainty for name, link in links_of(piece).items()}


def decided(guard: Guard, commit: str) -> list[str]:
    """Return what was decided while a commit was made."""
    (knowledge, *_) = guard.review.at(commit).knowledge
    assert knowledge.problem == ""
    added = [c.added or c.after for c in knowledge.changes if c.field == "decisions"]
    return [item["what"] for items in added for item in items]


def test_a_commit_that_a_checkpoint_names_is_linked_to_the_work_before_it(work: Work) -> None:
    base = work.git("rev-parse", "HEAD")
    first, second = work.step("a"), work.step("b")
    piece = work.guard.review.piece(f"{base}..HEAD")
    assert [commit.id for commit in piece.commits] == [first, second]
    assert certainties(piece) == {"a": EXACT, "b": EXACT}
    assert piece.unlinked == ()
    link = links_of(piece)["b"]
    assert (link.session, link.is_ours) == ("main", True)
    assert link.before == links_of(piece)["a"].after
    assert link.between[-1] == link.after
    assert link.after.code.head == second
    assert decided(work.guard, first) == ["About a"]
    assert decided(work.guard, second) == ["About b"]
