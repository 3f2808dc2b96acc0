"""Asks the library who wrote the code of a history, and holds the answers against the truth."""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator

from gitguard.guard.review import JSON

from .history import History
from .truth import Truth

_WORDS = re.compile(r"(?:Request|Decision) (\d+)")


class Figures:
    """What was asked for, what of it was found, and what was credited falsely."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.false: list[str] = []
        self.missed: list[str] = []

    def add(self, other: Figures) -> None:
        self.counts += other.counts
        self.false += other.false
        self.missed += other.missed

    def share(self, name: str) -> float:
        """Return which share of what there was is found."""
        return self.counts[f"{name} found"] / max(self.counts[f"{name} there"], 1)

    def expect(self, name: str, what: str, *, is_found: bool) -> None:
        self.counts[f"{name} there"] += 1
        self.counts[f"{name} found"] += is_found
        if not is_found:
            self.missed.append(f"{name}: {what}")

    def forbid(self, name: str, credited: Iterable[object]) -> None:
        for what in credited:
            self.counts[f"{name} false"] += 1
            self.false.append(f"{name}: {what}")

    def lines(self) -> Iterator[str]:
        """Yield a line for each kind of question."""
        for name in ("commit", "at words", "report file", "report words", "why"):
            there, false = self.counts[f"{name} there"], self.counts[f"{name} false"]
            found = f"{self.share(name):.1%} of {there} found" if there else "-"
            yield f"{name:13} {found:22} {false} false"


def ask(history: History) -> Figures:
    """Ask about each commit, the whole branch and each file."""
    figures, truth = Figures(), Truth(history)
    review = history.talk.guard.review
    names = {commit: history.git("log", "-1", "--format=%h %s", commit) for commit in truth.commits}
    spoken_of = f"{history.base}..HEAD"
    linked = {link.commit.id for link in review.piece(spoken_of).links if link.before is not None}
    for commit, held in truth.commits.items():
        if held.turns:
            figures.expect("commit", names[commit], is_found=commit in linked)
        elif commit in linked and not held.doubtful:
            figures.forbid("commit", [names[commit]])
        allowed = history.around(_all(held.turns) | _all(held.doubtful))
        told = set()
        for knowledge in review.at(commit).knowledge:
            if knowledge.link.before is None and knowledge.link.certainty == "exact":
                continue  # a session that began there: what it says of itself is no credit
            for change in knowledge.changes:
                told |= _turns_in(change.added or (change.after if change.before is None else ()))
        if held.turns:
            figures.expect("at words", names[commit], is_found=bool(told & _all(held.turns)))
        figures.forbid("at words", (f"turn {turn} in {names[commit]}" for turn in told - allowed))
    _ask_report(history, figures, truth)
    _ask_why(history, figures, truth)
    return figures


def _ask_report(history: History, figures: Figures, truth: Truth) -> None:
    if not truth.commits:
        return
    document = json.loads(history.talk.guard.review.report(f"{history.base}..HEAD", JSON))
    credited = {
        file["path"]
        for file in document["files"]
        if file["in_commits"] and file["author"] in ("tools", "shell")
    }
    turns, doubtful = _by_path(truth, "turns"), _by_path(truth, "doubtful")
    for path in turns:
        figures.expect("report file", path, is_found=path in credited)
    figures.forbid("report file", credited - turns.keys() - doubtful.keys())
    told = set()
    for entry in document["entries"]:
        if entry["field"] in ("decisions", "exchanges") and not entry["inherited"]:
            told |= _turns_in(entry["text"])
    allowed = history.around(_all(turns) | _all(doubtful))
    for turn in _all(turns):
        figures.expect("report words", f"turn {turn}", is_found=turn in told)
    figures.forbid("report words", (f"turn {turn}" for turn in told - allowed))


def _ask_why(history: History, figures: Figures, truth: Truth) -> None:
    turns, doubtful = _by_path(truth, "turns"), _by_path(truth, "doubtful")
    before = os.getcwd()
    os.chdir(history.root)
    try:
        for path, tokens in history.tokens_at("HEAD").items():
            if not (history.root / path).is_file():
                continue
            answer = history.talk.guard.review.why(path)
            told = set().union(*(_turns_in(reason.item.text) for reason in answer.reasons))
            here = {history.author[token] for token in tokens} & turns.get(path, set())
            if here:
                figures.expect("why", path, is_found=bool(told & turns[path]))
            of_lines = {history.author[token] for token in tokens}
            of_path = turns.get(path, set()) | doubtful.get(path, set())
            allowed = history.around(of_path | of_lines)
            figures.forbid("why", (f"turn {turn} of {path}" for turn in told - allowed))
    finally:
        os.chdir(before)


def _by_path(truth: Truth, name: str) -> dict[str, set[int]]:
    by_path: dict[str, set[int]] = {}
    for held in truth.commits.values():
        for path, turns in getattr(held, name).items():
            by_path.setdefault(path, set()).update(turns)
    return by_path


def _all(by_path: dict[str, set[int]]) -> set[int]:
    return set().union(*by_path.values())


def _turns_in(said: object) -> set[int]:
    return {int(number) for number in _WORDS.findall(str(said))}
