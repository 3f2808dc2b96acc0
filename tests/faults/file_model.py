"""What every file has to be after a restore: trees of bytes, and who touched which path when."""

from __future__ import annotations

import stat
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from gitguard.store.worktree.restore_record import is_below
from tests.support.kept_files import Files

SECRET = ".env"
CONVERTED = ".crlf"
"""How the names of files end whose line endings git converts."""
NONE: frozenset[str] = frozenset()
ATTRIBUTES = f"*{CONVERTED} text eol=crlf\n"
IGNORED_NAMES = "*.log\nbuild/\n"


def is_ignored(path: str) -> bool:
    """Say whether git ignores a path by `IGNORED_NAMES`."""
    return path.endswith(".log") or "build" in path.split("/")[:-1]


def is_converted(path: str, file: tuple[int, bytes]) -> bool:
    """Say whether git stores a file with other line endings than it has."""
    return path.endswith(CONVERTED) and stat.S_ISREG(file[0])


def as_stored(path: str, file: tuple[int, bytes]) -> bytes:
    """Return what git stores of a file."""
    return file[1].replace(b"\r\n", b"\n") if is_converted(path, file) else file[1]


def without_endings(tree: Files, loose: frozenset[str]) -> Files:
    """Return a tree with the line endings of some files as git stores them."""
    return {p: (f[0], as_stored(p, f)) if p in loose else f for p, f in tree.items()}


def replaced(tree: Files, other: Files, paths: Iterable[str]) -> Files:
    """Return a tree that at some paths has what another one has there, or nothing."""
    chosen = set(paths)
    kept = {path: file for path, file in tree.items() if path not in chosen}
    return kept | {path: other[path] for path in chosen & other.keys()}


def folders_above(path: str) -> list[str]:
    parts = path.split("/")
    return ["/".join(parts[:count]) for count in range(1, len(parts))]


def blocking(tree: Files, chosen: Iterable[str]) -> set[str]:
    """Return the paths of a tree that stand where one of some others needs a folder or a file."""
    folders: dict[str, set[str]] = {}
    for path in tree:
        for folder in folders_above(path):
            folders.setdefault(folder, set()).add(path)
    wanted = set(chosen)
    blockers: set[str] = set()
    for path in tree.keys() & wanted:
        blockers |= folders.get(path, set()) - wanted
        blockers |= {folder for folder in folders_above(path) if folder in tree} - wanted
    return blockers


def occupied(tree: Files, leaving: Iterable[str]) -> set[str]:
    """Return the paths of folders in a tree that hold more than what is to leave them."""
    staying = tree.keys() - set(leaving)
    return {folder for path in staying for folder in folders_above(path)}


def fits(tree: Files, path: str) -> bool:
    """Say whether a file can lie at a path beside what is in a tree."""
    above = folders_above(path)
    return not any(name in tree for name in above) and not any(
        name.startswith(f"{path}/") for name in tree
    )


@dataclass
class Span:
    """The time between two snapshots, or since the last one."""

    start: Files
    by_agent: set[str] = field(default_factory=set)
    """What the agent's tools and commands wrote, so that gitguard can know it."""
    by_others: set[str] = field(default_factory=set)
    by_restore: set[str] = field(default_factory=set)
    """What a restore put back, which is nobody's edit."""
    unclear: set[str] = field(default_factory=set)
    """What the agent wrote and somebody moved with its folder."""
    end: Files = field(default_factory=dict)

    def put_back(self, paths: set[str]) -> None:
        """Note what a restore put back, which is not the agent's either."""
        self.by_others |= paths
        self.by_restore |= paths

    def changed(self) -> set[str]:
        """Return what changed, but for line endings alone: git tells nobody of these."""
        converted = frozenset(p for p in {*self.start, *self.end} if p.endswith(CONVERTED))
        start, end = (without_endings(tree, converted) for tree in (self.start, self.end))
        return different(start, end)


@dataclass
class Snapshot:
    """What a checkpoint keeps."""

    tree: Files
    span: int
    """The number of the span that follows it."""
    loose: frozenset[str]
    """Files that git takes for unchanged; it writes them with its own line endings."""

    def wanted(self, before: Files, below: Sequence[str] = ()) -> Files:
        """Return what a restore has to make of a tree, as far as nothing is in its way."""
        wanted = dict(before)
        here, there = (without_endings(tree, self.loose) for tree in (before, self.tree))
        for path in self.tree.keys() | before.keys():
            is_left_out = path == SECRET and path in self.tree
            if is_ignored(path) or is_left_out or not is_below(path, below):
                continue
            if path not in self.tree:
                wanted.pop(path)
            elif path not in before or here[path] != there[path]:
                wanted[path] = self.tree[path]
        return wanted


@dataclass
class Restored:
    """A restore that can be undone."""

    before: Files
    after: Files
    """What it left, but for what others wrote meanwhile."""
    chosen: frozenset[str]

    def undone(self, now: Files) -> set[str]:
        """Return what an undo changes: what is as the restore left it."""
        changed = {p for p in self.chosen if self.before.get(p) != self.after.get(p)}
        return {path for path in changed if now.get(path) == self.after.get(path)}

    def refused(self, now: Files) -> set[str]:
        """Return what somebody changed since, and an undo leaves."""
        versions = {path: (self.before.get(path), self.after.get(path)) for path in self.chosen}
        return {path for path, known in versions.items() if now.get(path) not in known}


def different(one: Files, other: Files) -> set[str]:
    """Return the paths at which two trees are not the same."""
    return {path for path in one.keys() | other.keys() if one.get(path) != other.get(path)}


@dataclass
class History:
    """Who touched which path between which snapshots."""

    spans: list[Span]

    def foreign(self, since: int) -> set[str]:
        """Return where somebody else wrote something in a span in which the agent did not.

        What went away counts as the doing of a command that destroys, whoever removed it. Of a
        secret no snapshot knows the content, so it counts where it appeared.
        """
        return {
            path
            for span in self.spans[since:]
            for path in span.changed() & span.end.keys()
            if path not in span.by_agent | span.by_restore | span.unclear
            if path != SECRET or SECRET not in span.start
        }

    def plainly_the_agents(self, since: int) -> set[str]:
        """Return what only the agent changed, and where it left a file."""
        agents, doubtful = set[str](), set[str]()
        for span in self.spans[since:]:
            changed = span.changed()
            clear = changed & span.by_agent & span.end.keys() - span.by_others
            agents |= clear
            # A restore that was cut off took snapshots that are not among these.
            doubtful |= (changed - clear) | span.by_others
        return agents - doubtful
