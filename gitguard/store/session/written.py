"""What an agent wrote into files, by the ids of their contents, as checkpoints say it.

An id lets anyone who has it test guesses of the content. So a checkpoint names only contents of
files that git tracks; one of a file that git does not track waits until a commit holds it.
"""

from __future__ import annotations

from gitguard.state import entries
from gitguard.state.checkpoint import SHELL, TOOLS, WrittenFile
from gitguard.store.git.trees import Trees, file_at

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from gitguard.model.redaction.redactor import Redactor
    from gitguard.state.entries import JournalEntry
    from gitguard.store.git.differences import Differences
    from gitguard.store.git.reader import ObjectReader

_MOST = 200
"""Files that one checkpoint names."""


def authors_of(journal: Iterable[JournalEntry]) -> dict[str, str]:
    """Return which files the agent wrote, and by what."""
    authors: dict[str, str] = {}
    for entry in journal:
        if entry.event in (entries.ENDED, entries.SHELL_EDITED, entries.FILE_WRITTEN):
            by = SHELL if entry.event == entries.SHELL_EDITED else TOOLS
            authors.update(dict.fromkeys(entry.written, by))
    return authors


def changed_paths(reader: ObjectReader, before: Differences, now: Differences) -> set[str]:
    """Return the files that differ between two looks, or may."""
    trees = Trees(reader)
    paths = {file.path for look in (before, now) for file in look.files}
    if before.commit != now.commit:
        commits = (before.commit, now.commit)
        paths.update(trees.differences(*(trees.of_commit(c) if c else "" for c in commits)))
    return paths


def writings(
    reader: ObjectReader,
    before: Differences,
    now: Differences,
    authors: dict[str, str],
    *,
    waiting: Iterable[WrittenFile],
    turn: str,
    redactor: Redactor,
) -> tuple[tuple[WrittenFile, ...], tuple[WrittenFile, ...]]:
    """Return what a checkpoint names of what was written between two looks, and what still waits.

    waiting is what waited before; turn is the checkpoint's number.
    """
    looks = (_Look(reader, before), _Look(reader, now))
    by_path = {file.path: file for file in waiting}
    for path, author in authors.items():
        (old, was_tracked), (new, _) = (look.at(path) for look in looks)
        earlier = by_path.pop(path, None)
        if not new or new == old or any(redactor.find(path)):
            continue
        turns: tuple[str, ...] = (turn,)
        if earlier is not None and earlier.new == old:
            old, turns = earlier.old, (*earlier.turns, turn)
        elif old and not was_tracked:
            continue  # somebody else's content, which may not be named, so what is new is unknown
        by_path[path] = WrittenFile(path=path, old=old, new=new, author=author, turns=turns)
    named: list[WrittenFile] = []
    still: list[WrittenFile] = []
    for file in by_path.values():
        new, is_tracked = looks[1].at(file.path)
        if new == file.new:
            (named if is_tracked else still).append(file)
    return tuple(named[:_MOST]), tuple(still[:_MOST])


class _Look:
    """The contents that a look at the worktree found."""

    def __init__(self, reader: ObjectReader, look: Differences) -> None:
        self._trees = Trees(reader)
        self._commit = look.commit
        self._files = {file.path: file for file in look.files}

    def at(self, path: str) -> tuple[str, bool]:
        """Return the id of what lay at a path, empty for nothing, and whether the commit has it."""
        file = self._files.get(path)
        if file is not None:
            return "" if file.is_raw else file.id, not file.is_new
        if not self._commit:
            return "", False
        entry = file_at(self._trees, self._trees.of_commit(self._commit), path)
        return ("", False) if entry is None else (entry.id, True)
