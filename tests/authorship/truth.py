"""What is true of a history: which turns' work each commit holds, told from its content alone."""

from __future__ import annotations

from typing import NamedTuple

from .history import HAND, History


class Held(NamedTuple):
    """What a commit holds of the agent's, beyond what its parent has."""

    turns: dict[str, set[int]]
    """By path, whose turns' work is new in it."""
    doubtful: dict[str, set[int]]
    """By path, the turns of what may count either way: trivial lines, and what comes back."""


class Truth:
    """The commits of a range, and what each holds."""

    def __init__(self, history: History) -> None:
        """Read every commit from the base to HEAD."""
        rows = history.git("rev-list", "--topo-order", "--reverse", "--parents",
                           f"{history.base}..HEAD").splitlines()  # fmt: skip
        self.commits: dict[str, Held] = {}
        tokens = {history.base: history.tokens_at(history.base)}
        ever = set().union(*tokens[history.base].values())
        gone: set[int] = set()
        for commit, *parents in map(str.split, rows):
            parent = tokens[parents[0]]
            tokens[commit] = now = history.tokens_at(commit)
            before, after = set().union(*parent.values()), set().union(*now.values())
            held = Held({}, {})
            for path, here in now.items():
                for token in here - before:
                    _add(
                        held.doubtful if token in ever else held.turns, path, history.author[token]
                    )
            for path, there in parent.items():
                for token in there - after:
                    deleters = history.deleted_by.get(token, {HAND})
                    is_sure = token not in gone and len(deleters) == 1
                    for by in deleters:
                        _add(held.turns if is_sure else held.doubtful, path, by)
            for path, by in history.trivial:
                _add(held.doubtful, path, by)
            ever |= after
            gone |= before - after
            self.commits[commit] = held
            self._spread(history, commit, held)

    @staticmethod
    def _spread(history: History, commit: str, held: Held) -> None:
        """A file that was moved as well may be named by either path."""
        renames = history.git("diff-tree", "-r", "-M30%", "--root", "--name-status", commit)
        for line in renames.splitlines():
            kind, *paths = line.split("\t")
            if kind.startswith("R"):
                for one, other in (paths, paths[::-1]):
                    for turns in held:
                        held.doubtful.setdefault(other, set()).update(turns.get(one, ()))


def _add(by_path: dict[str, set[int]], path: str, turn: int) -> None:
    if turn != HAND:
        by_path.setdefault(path, set()).add(turn)
