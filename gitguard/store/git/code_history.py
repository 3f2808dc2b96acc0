"""The user's own commits, read for people who review checkpoints: the one door to GitPython.

GitPython reads commits and trees here and never starts git. Its commands would run with the
repository's configuration, which can name programs; so what it parses comes from `ObjectReader`,
and what only git can answer is asked of `Plumbing`. It is slow to import, so this module is
imported by the commands that need it and never by a hook.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from io import BytesIO

from gitguard.errors import GitFailed, GitguardError
from gitguard.model.text import one_line, shorten
from gitguard.model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from git.objects import Commit

    from gitguard.store.git.reader import ObjectReader
    from gitguard.store.git.repository import Repository

    _Tree = dict[str, tuple[int, str]]

_COMMIT_LIMIT = 1 << 20
_TREE_LIMIT = 4 << 20
_MOST_TREES = 2_000
"""Folders that one comparison reads; beyond that the number of files is not counted."""
_SUBJECT_LIMIT = 72
_FOLDER = 0o040000
_SHA1_LENGTH = 40
_NO_GIT = {"GIT_PYTHON_GIT_EXECUTABLE": os.devnull, "GIT_PYTHON_REFRESH": "quiet"}
"""GitPython's own variables: which program it starts as git, and what it says if that fails."""
_MALFORMED = (ValueError, TypeError, LookupError, AttributeError, AssertionError, OverflowError)
"""What GitPython raises for a commit or tree that is not written as git writes them."""


class CodeCommit(Value):
    """A commit of the user's code, as a checkpoint names it."""

    id: str
    """Empty where nothing was committed yet."""
    is_there: bool = False
    """Whether the repository still has it."""
    subject: str = ""
    """In one printable line, shortened; empty where it cannot be read."""
    authored_at: str = ""
    """ISO 8601, in the author's time zone."""
    is_reachable: bool = False
    """Whether HEAD has it in its history."""
    files_changed: int | None = None
    """Paths that differ from the commit compared with; None where that cannot be counted."""
    compared_with: str = ""
    """The checkpoint from whose code commit files are counted; empty where there is none."""


class CodeHistory:
    """Answers questions about the commits of one repository."""

    def __init__(self, repository: Repository) -> None:
        """Describe the repository; nothing is read yet."""
        self._repository = repository

    def head(self) -> str:
        """Return the id of HEAD's commit, empty before the first one."""
        outcome = self._repository.git.attempt("rev-parse", "--verify", "--quiet", "HEAD^{commit}")
        return outcome.stdout.decode("ascii", "replace").strip() if not outcome.returncode else ""

    def commit(self, commit_id: str, since: str | None = None) -> CodeCommit:
        """Describe a commit, and how many files differ from those of an earlier one.

        An empty since stands for no files at all. What cannot be read is left out; raises
        `GitFailed` where git does not run.
        """
        with self._repository.reader() as reader:
            if not reader.exists(commit_id):
                return CodeCommit(commit_id)
            code = CodeCommit(commit_id, True, is_reachable=self._is_reachable(commit_id))
            if len(commit_id) != _SHA1_LENGTH:
                return code  # GitPython knows SHA-1 only
            return _described(reader, code, since)

    def _is_reachable(self, commit_id: str) -> bool:
        question = ("merge-base", "--is-ancestor", commit_id, "HEAD")
        try:
            return self._repository.git.attempt(*question).returncode == 0
        except GitFailed:  # not within the time limit
            return False


def _described(reader: ObjectReader, code: CodeCommit, since: str | None) -> CodeCommit:
    try:
        commit = _parsed(reader, code.id)
        code = code.replace(
            subject=shorten(one_line(_text(commit.summary)), _SUBJECT_LIMIT),
            authored_at=commit.authored_datetime.isoformat(),
        )
        if since is None:
            return code
        earlier = _parsed(reader, since).tree.hexsha if since else ""
        return code.replace(files_changed=_count_changes(reader, earlier, commit.tree.hexsha))
    except (GitguardError, *_MALFORMED):
        return code


def _text(summary: str | bytes) -> str:
    """Return a subject as text; GitPython leaves one in bytes that its encoding cannot read."""
    return summary if isinstance(summary, str) else summary.decode("utf-8", "replace")


def _parsed(reader: ObjectReader, commit_id: str) -> Commit:
    """Return a commit as GitPython reads it, from bytes that were hashed."""
    with _without_git():
        from git.objects import Commit

    _silence()
    content = reader.read(commit_id, "commit", limit=_COMMIT_LIMIT)
    # Without a repository, so that no property of it can start git.
    commit = Commit(None, bytes.fromhex(commit_id))  # type: ignore[arg-type]
    return commit._deserialize(BytesIO(content))


def _entries(reader: ObjectReader, tree: str) -> _Tree:
    """Return mode and object id of each name in a tree, nothing where there is no tree."""
    from git.objects.fun import tree_entries_from_data

    if not tree:
        return {}
    content = reader.read(tree, "tree", limit=_TREE_LIMIT)
    entries = tree_entries_from_data(content)
    return {os.fsdecode(name): (mode, object_id.hex()) for object_id, mode, name in entries}


def _count_changes(reader: ObjectReader, earlier: str, later: str) -> int | None:
    """Count the paths that differ between two trees; a file that was moved counts twice."""
    count, trees_read = 0, 0
    waiting = [(earlier, later)]
    while waiting:
        before, after = waiting.pop()
        if before == after:
            continue  # the same id is the same content, so nothing below it is read
        trees_read += 2
        if trees_read > _MOST_TREES:
            return None
        old, new = _entries(reader, before), _entries(reader, after)
        for name in {*old, *new}:
            old_entry, new_entry = old.get(name, (0, "")), new.get(name, (0, ""))
            if old_entry == new_entry:
                continue
            # A file may have taken a folder's place: then it counts, and all that was below too.
            count += any(mode not in (0, _FOLDER) for mode, _ in (old_entry, new_entry))
            old_folder, new_folder = _folder_id(old_entry), _folder_id(new_entry)
            if old_folder or new_folder:
                waiting.append((old_folder, new_folder))
    return count


def _folder_id(entry: tuple[int, str]) -> str:
    mode, object_id = entry
    return object_id if mode == _FOLDER else ""


@contextmanager
def _without_git() -> Iterator[None]:
    """Keep GitPython from starting git while it is imported.

    To find out its version, it starts the first `git` on PATH, which a relative entry of PATH can
    take from the repository. Only its variables change that; they are put back afterwards.
    """
    before = {name: os.environ.get(name) for name in _NO_GIT}
    os.environ.update(_NO_GIT)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _silence() -> None:
    """Keep GitPython's log messages, which quote commits, from standard error."""
    import logging

    logger = logging.getLogger("git")
    if not logger.handlers:
        # With no handler at all, Python prints warnings to standard error.
        logger.addHandler(logging.NullHandler())
