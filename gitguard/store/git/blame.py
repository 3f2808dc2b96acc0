"""Which commits the lines of a file come from, asked in ways that run nothing of a repository.

`git blame` runs a textconv program unless it is told not to, and a clean filter on the file in the
worktree unless a commit is named. So both is done, and what differs in the worktree is compared
here. A commit that only changed spaces in a line is passed over. Where blame fails all the same,
such as over a file of commits to ignore that cannot be read, the commits that changed the file
stand for those of its lines.
"""

from __future__ import annotations

import os
import re
from collections import Counter

from gitguard.errors import GitFailed, InvalidDocument
from gitguard.model.commit import parse_commit
from gitguard.model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitguard.store.git.repository import Repository

_LIMIT = 16 << 20
_COMMIT_LIMIT = 1 << 20
_MOST_COMMITS = 200
_GROUP = re.compile(
    rb"^([0-9a-f]{40,64}) \d+ \d+ (\d+)$(?:(?!\nfilename ).)*\nfilename ([^\n]*)",
    re.MULTILINE | re.DOTALL,
)
_PLAIN_FILE = (b"100644", b"100755")


class BlamedCommit(Value):
    """A commit that lines of a file come from."""

    id: str
    parents: tuple[str, ...]
    subject: str
    """As it was written, secrets and all."""
    lines: int
    """How many come from it; 0 where only that it changed the file is known."""
    path: str = ""
    """Where the file was in it."""


class BlamedFile:
    """A file as HEAD's commit has it."""

    def __init__(self, repository: Repository, path: str) -> None:
        """Name it by its path from the top of the worktree."""
        self._repository = repository
        self._path = path

    def content(self) -> bytes | None:
        """Return what HEAD has at the path; None where it has no plain file there.

        Raises `InvalidDocument` for one that is too large or damaged, `GitFailed` before the first
        commit.
        """
        tree = ("ls-tree", "-z", "--full-tree", "HEAD", "--", self._path)
        listed = self._repository.git.run(*tree).split(b"\0")[0]
        mode, _, kind_and_id = listed.partition(b" ")
        if mode not in _PLAIN_FILE:
            return None
        blob = kind_and_id.partition(b"\t")[0].split()[-1].decode("ascii", "replace")
        with self._repository.reader() as reader:
            return reader.read(blob, "blob", limit=_LIMIT)

    def commits(self, line: int = 0) -> tuple[BlamedCommit, ...]:
        """Return the commits that the file's lines come from, or one line, those of most first."""
        counts, paths = self._blamed(line)
        with self._repository.reader() as reader:
            bodies = reader.read_all(counts, "commit", limit=_COMMIT_LIMIT)
        described = (_described(commit, counts[commit], bodies[commit]) for commit in counts)
        return tuple(d.replace(path=paths.get(d.id, self._path)) for d in described)

    def _blamed(self, line: int) -> tuple[dict[str, int], dict[str, str]]:
        only = (f"-L{line},{line}",) if line else ()
        options = ("--no-textconv", "-w", "--incremental", *only, "HEAD", "--", self._path)
        try:
            answer = self._repository.git.run("blame", *options)
        except GitFailed:
            return self._changed_by(), {}
        counts: Counter[str] = Counter()
        paths: dict[str, str] = {}
        for commit, number, path in _GROUP.findall(answer):
            counts[commit.decode()] += int(number)
            if not path.startswith(b'"'):  # git quotes few names
                paths[commit.decode()] = os.fsdecode(path)
        return dict(counts.most_common(_MOST_COMMITS)), paths

    def _changed_by(self) -> dict[str, int]:
        options = (f"--max-count={_MOST_COMMITS}", "HEAD", "--", self._path)
        listed = self._repository.git.run("rev-list", *options)
        return dict.fromkeys(listed.decode("ascii", "replace").split(), 0)


def _described(commit: str, lines: int, body: bytes | InvalidDocument) -> BlamedCommit:
    if isinstance(body, InvalidDocument):
        return BlamedCommit(commit, (), "", lines)
    parsed = parse_commit(body)
    return BlamedCommit(commit, parsed.parents, parsed.message.partition("\n")[0], lines)
