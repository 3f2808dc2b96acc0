"""The user's own commits as a reviewer asks for them: ranges, what each changed, and patch ids.

Only plumbing is run, and nothing of it runs a program that the repository names: comparisons leave
out external diffs and text conversions. Messages come from objects that were hashed.
"""

from __future__ import annotations

import os

from gitguard.errors import InvalidDocument, InvalidInput
from gitguard.model.commit import is_object_id, parse_commit
from gitguard.model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import TypeVar

    from gitguard.store.git.repository import Repository

    T = TypeVar("T")

MOST_COMMITS = 5_000
"""Commits of a range; nobody reviews more."""
_COMMIT_LIMIT = 1 << 20
_READ_AT_ONCE, _COMPARED_AT_ONCE = 500, 200
"""Commits that one git compares, so that neither its time nor its answer grows with the range."""
_COMPARE = (
    *("diff-tree", "--stdin", "-r", "--root"),
    *("--no-ext-diff", "--no-textconv"),
)
_SUBMODULE = "160000"


class CommitFile(Value):
    """A file that a commit changed."""

    path: str
    added: int | None
    """Lines; None for a binary file."""
    removed: int | None


class CommitBlob(Value):
    """A file that a commit changed, by the ids of its contents."""

    path: str
    old_path: str
    """Another one where the file was moved."""
    old: str
    """Empty where there was no such file."""
    new: str
    """Empty where there is none any more."""


class HistoryCommit(Value):
    """A commit, read from its object."""

    id: str
    parents: tuple[str, ...]
    """Those that the repository has; a shallow one lacks some."""
    subject: str = ""
    author: str = ""
    authored_at: int = 0
    """Unix seconds; a rebase, an amend and a cherry-pick keep it."""
    is_cut: bool = False
    """Whether the repository is shallow there, so that nothing can say what it changed."""
    problem: str = ""
    """Why it cannot be read; empty where it can."""

    @property
    def parent(self) -> str:
        """The first parent, empty for a commit without one."""
        return self.parents[0] if self.parents else ""


class CommitRange(Value):
    """Two ends of a history: what the head has and the base has not."""

    base: str
    """A commit id; empty for everything up to the head."""
    head: str


Changes = tuple[CommitFile, ...]
Compared = tuple[str, str]
"""A commit, and the one that it is compared with; empty for its own parent."""


class CodeCommits:
    """Reads the commits of one repository."""

    def __init__(self, repository: Repository) -> None:
        """Describe the repository; nothing is read yet."""
        self._repository = repository
        self._git = repository.git

    # What a person names

    def resolve(self, revision: str) -> str:
        """Return the id of the commit that a revision names; raise `InvalidInput` for none."""
        commit = self._resolved(revision)
        if not commit:
            raise InvalidInput(
                f"`{revision:.80}` names no commit of this repository", "See `git log --oneline`"
            )
        return commit

    def _resolved(self, revision: str) -> str:
        # Git takes what begins with a dash for an option, and a line feed for an end.
        if not revision or revision.startswith("-") or not revision.isprintable():
            return ""
        question = ("rev-parse", "--verify", "--quiet", "--end-of-options")
        outcome = self._git.attempt(*question, f"{revision}^{{commit}}")
        commit = outcome.stdout.decode("ascii", "replace").strip()
        return commit if not outcome.returncode and is_object_id(commit) else ""

    def range(self, text: str) -> CommitRange:
        """Return what `BASE..HEAD`, `A...B` or a base alone names; an end left out is HEAD.

        Without a text it is what HEAD has and its upstream, or else the default branch, has not.
        """
        left, dots, right = text.partition("...") if "..." in text else text.partition("..")
        head = self.resolve(right or "HEAD")
        base = self.resolve(left) if left else self._default_base(text)
        if dots != "...":
            return CommitRange(base, head)
        base = self.merge_base(base, head)
        if not base:
            raise InvalidInput(
                f"the two ends of `{text:.80}` have no commit in common", "Name a range `A..B`"
            )
        return CommitRange(base, head)

    def _default_base(self, text: str) -> str:
        if text:
            return self.resolve("HEAD")
        names = ("@{upstream}", "refs/remotes/origin/HEAD", "refs/heads/main", "refs/heads/master")
        for name in names:
            base = self._resolved(name)
            if base:
                return base
        raise InvalidInput(
            "HEAD has no upstream, and there is no branch `main` or `master` to compare it with",
            "Name a range, such as `HEAD~3..HEAD`",
        )

    # Commits

    def commits(self, commit_range: CommitRange) -> list[HistoryCommit]:
        """Return the commits of a range, parents before children.

        Raises `InvalidInput` for a range of more than `MOST_COMMITS`.
        """
        ends = [commit_range.head, *([f"^{commit_range.base}"] if commit_range.base else [])]
        rows = self._listed(ends, MOST_COMMITS + 1)
        if len(rows) > MOST_COMMITS:
            raise InvalidInput(
                f"the range has more than {MOST_COMMITS:,} commits", "Name a shorter range"
            )
        return self._read(rows[::-1])

    def named(self, ids: Sequence[str]) -> list[HistoryCommit]:
        """Return commits by their ids."""
        listed = self._listed(ids, len(ids), "--no-walk=unsorted") if ids else []
        return self._read(listed)

    def _listed(self, ends: Sequence[str], most: int, *more: str) -> list[list[str]]:
        """Return ids with the ids of their parents, children first."""
        options = ("--topo-order", "--parents", f"--max-count={most}", *more, "--stdin")
        listed = self._git.run("rev-list", *options, stdin=_lines(ends))
        return [line.split() for line in listed.decode("ascii", "replace").splitlines()]

    def _read(self, rows: Sequence[Sequence[str]]) -> list[HistoryCommit]:
        commits: list[HistoryCommit] = []
        with self._repository.reader() as reader:
            for chunk in _chunks(rows, _READ_AT_ONCE):
                bodies = reader.read_all([row[0] for row in chunk], "commit", limit=_COMMIT_LIMIT)
                commits += (_described(*row, body=bodies[row[0]]) for row in chunk)
        return commits

    # Changes

    def changes(self, compared: Sequence[Compared]) -> dict[str, Changes]:
        """Return which files differ between commits and what each is compared with.

        A commit stands in it once, and is left out where nothing differs.
        """
        changes: dict[str, list[CommitFile]] = {}
        for chunk in _chunks(compared, _COMPARED_AT_ONCE):
            pairs = _lines(map(" ".join, chunk))
            listed = self._git.run(*_COMPARE, "--no-renames", "--numstat", "-z", stdin=pairs)
            commit = ""
            for record in listed.split(b"\0"):
                added, tab, removed_and_path = record.partition(b"\t")
                if not tab:
                    commit = record.decode("ascii", "replace").strip()
                    continue
                removed, _, path = removed_and_path.partition(b"\t")
                added_lines, removed_lines = (
                    int(count) if count.isdigit() else None for count in (added, removed)
                )
                change = CommitFile(os.fsdecode(path), added_lines, removed_lines)
                changes.setdefault(commit, []).append(change)
        return {commit: tuple(files) for commit, files in changes.items()}

    def blobs(self, compared: Sequence[Compared]) -> dict[str, list[CommitBlob]]:
        """Return which contents differ between commits and what each is compared with.

        Submodules are left out.
        """
        blobs: dict[str, list[CommitBlob]] = {}
        for chunk in _chunks(compared, _COMPARED_AT_ONCE):
            listed = self._git.run(
                *_COMPARE, "--raw", "-z", "--no-abbrev", "-M", stdin=_lines(map(" ".join, chunk))
            )
            records = iter(listed.split(b"\0"))
            commit = ""
            for record in records:
                if not record.startswith(b":"):
                    commit = record.decode("ascii", "replace").strip()
                    continue
                modes_old, mode_new, old, new, kind = record[1:].decode().split()
                path = os.fsdecode(next(records, b""))
                old_path, path = (
                    (path, os.fsdecode(next(records, b""))) if kind[0] in "RC" else (path, path)
                )
                if _SUBMODULE in (modes_old, mode_new):
                    continue
                old, new = ("" if set(blob) == {"0"} else blob for blob in (old, new))
                blobs.setdefault(commit, []).append(CommitBlob(path, old_path, old, new))
        return blobs

    def merge_base(self, first: str, second: str) -> str:
        """Return the newest commit that two histories have in common, empty for none."""
        outcome = self._git.attempt("merge-base", first, second)
        return "" if outcome.returncode else outcome.stdout.decode("ascii", "replace").strip()


def _described(commit_id: str, *parents: str, body: bytes | InvalidDocument) -> HistoryCommit:
    """Read a commit's object; what is not written as git writes it stays empty."""
    if isinstance(body, InvalidDocument):
        return HistoryCommit(commit_id, parents, problem=body.message)
    commit = parse_commit(body)
    author, _, when = commit.first("author").rpartition("> ")
    seconds = when.partition(" ")[0]
    has_seconds = seconds.isascii() and seconds.isdecimal() and len(seconds) <= 12
    paragraphs = commit.message.strip("\n").split("\n\n")
    return HistoryCommit(
        commit_id,
        parents,
        subject=" ".join(paragraphs[0].split("\n")),
        author=author,
        authored_at=int(seconds) if has_seconds else 0,
        is_cut=not parents and bool(commit.parents),
    )


def _lines(words: Iterable[str]) -> bytes:
    return "".join(f"{word.rstrip()}\n" for word in words).encode()


def _chunks(items: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    return (items[start : start + size] for start in range(0, len(items), size))
