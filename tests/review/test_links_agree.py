"""Asked about a range or about one of its commits, the links are the same."""

from __future__ import annotations

import random

import pytest

from gitguard.review.piece import Link, Piece

from .at_work import Work, tmp_path, work

__all__ = ["tmp_path", "work"]


def at_random(work: Work, seed: int) -> str:
    """Let an agent work, a person commit beside it, and both rewrite; return where it began."""
    chance = random.Random(seed)
    base = work.commit("base")
    numbers = iter(range(1_000))

    def branch() -> None:
        work.git("switch", "--quiet", "--create", f"feature{next(numbers)}", "main")
        for _ in range(chance.randint(1, 4)):
            chance.choice((step, step, decide, commit))()
        feature = work.git("branch", "--show-current")
        if chance.random() < 0.5:
            work.git("switch", "--quiet", "main")
            commit()
        work.git("switch", "--quiet", "main")
        if not work.git("rev-list", f"main..{feature}"):
            return
        chance.choice((squash, rebase, pick, merge))(feature)
        if chance.random() < 0.5:
            work.guard.checkpoint("The turn ended")

    def step() -> None:
        work.step(f"s{next(numbers)}")

    def decide() -> None:
        work.decide(f"About d{next(numbers)}")

    def commit() -> None:
        work.commit(f"c{next(numbers)}")

    def squash(feature: str) -> None:
        work.git("merge", "--quiet", "--squash", feature)
        work.git("commit", "--quiet", "--message", f"Squash {feature}")

    def rebase(feature: str) -> None:
        work.git("rebase", "--quiet", "main", feature)
        work.git("switch", "--quiet", "main")
        work.git("merge", "--quiet", "--ff-only", feature)

    def pick(feature: str) -> None:
        work.git("cherry-pick", feature)

    def merge(feature: str) -> None:
        work.git("merge", "--quiet", "--no-ff", "--no-edit", feature)

    for _ in range(chance.randint(2, 5)):
        chance.choice((branch, branch, step, commit))()
    return base


def told(link: Link) -> tuple[str, str, str, str]:
    before = link.before.name if link.before else "-"
    return link.session, link.certainty, before, link.after.name


def told_of(piece: Piece) -> dict[str, list[tuple[str, str, str, str]]]:
    by_commit: dict[str, list[tuple[str, str, str, str]]] = {c.subject: [] for c in piece.commits}
    for link in piece.links:
        by_commit[link.commit.subject].append(told(link))
    return by_commit


@pytest.mark.parametrize("seed", range(6))
def test_a_range_and_each_commit_of_it_have_the_same_links(work: Work, seed: int) -> None:
    base = at_random(work, seed)
    piece = work.guard.review.piece(f"{base}..main")
    single = {}
    for commit in piece.commits:
        moment = work.guard.review.at(commit.id)
        single[commit.subject] = [told(knowledge.link) for knowledge in moment.knowledge]
    assert single == told_of(piece)
