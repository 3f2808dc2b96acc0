"""Which files shell commands of the agent changed, by content.

No host says what a command wrote. A file counts as changed by a command if its content is not what
it was at the last checkpoint, and if the file system dates its last change within the command's
run. Content decides whether it changed, and the time only who did it: a person may edit too while
the agent waits. A person who edits while a command runs cannot be told apart from it.
"""

from __future__ import annotations

import os
import re

from gitguard.model.checks import checks_of
from gitguard.model.text import timestamp
from gitguard.model.value import Value
from gitguard.store.session import entries

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from gitguard.store.git.differences import Differences
    from gitguard.store.session.entries import JournalEntry

_GENERATED = frozenset(("__pycache__", "node_modules"))
"""Folders in which nobody edits; they lie around untracked where nobody told git to ignore them."""
_MOST_FILES = 20
"""Files of one command; one that changes more generates them, or applies one change to many."""
_MOVES_WORKTREE = re.compile(
    r"\bgit(?:\s+-[cC]\s+\S+|\s+-(?![cC]\s)\S+)*\s+(?:am|bisect|checkout|cherry-pick|clone|merge"
    r"|pull|rebase|reset|restore|revert|stash|submodule|switch|worktree)\b"
)
"""Commands that put contents of other commits into the worktree, which is no edit."""


class ShellRun(Value):
    """A shell command that ended, with the seconds within which it ran."""

    ended: JournalEntry
    begun_at: str

    def covers(self, second: str) -> bool:
        """Say whether it ran at a time, which like its own is cut to whole seconds."""
        return self.begun_at <= second <= self.ended.at


class TimedFile(Value):
    """A file that changed, and the second in which it last did."""

    path: str
    second: str
    is_new: bool
    """Whether git does not track it."""


def shell_runs(entries_since: Iterable[JournalEntry]) -> tuple[ShellRun, ...]:
    """Return the commands that can have changed files; the entries are in the journal's order.

    A command that was interrupted is left out, because nobody knows when it ended.
    """
    begun: dict[str, str] = {}
    runs = []
    for entry in entries_since:
        if entry.event == entries.STARTED:
            begun[entry.id] = entry.at
        elif entry.event in (entries.ENDED, entries.FAILED) and entry.id in begun:
            begun_at = begun.pop(entry.id)
            if entry.is_shell and not _MOVES_WORKTREE.search(entry.summary):
                runs.append(ShellRun(entry, begun_at))
    return tuple(runs)


def edits_of(
    runs: Sequence[ShellRun],
    entries_since: Iterable[JournalEntry],
    changed: Iterable[TimedFile],
) -> tuple[JournalEntry, ...]:
    """Return an entry for each command that changed files, with their paths.

    The most important file stands first. What a build or a test leaves behind is no edit.
    """
    by_tools = {(path, entry.at) for entry in entries_since for path in entry.written}
    written: dict[int, list[str]] = {}
    for file in changed:
        if (file.path, file.second) in by_tools:
            continue
        # Of commands that ran side by side, the one that began last is the likeliest.
        covering = [number for number, run in enumerate(runs) if run.covers(file.second)]
        if not covering:
            continue
        latest = max(covering, key=lambda number: runs[number].begun_at)
        if not file.is_new or not checks_of(runs[latest].ended.shell_line):
            written.setdefault(latest, []).append(file.path)
    return tuple(
        runs[number].ended.replace(
            event=entries.SHELL_EDITED,
            written=tuple(paths[:_MOST_FILES]),
            command="",
            output="",
            error="",
            calls=0,
        )
        for number, paths in sorted(written.items())
    )


def changed_files(root: str, before: Differences, now: Differences) -> tuple[TimedFile, ...]:
    """Return the files that changed between two looks, tracked ones first."""
    new_files = set(now.new_files)
    files = []
    for path in now.since(before).changed:
        if not _GENERATED.isdisjoint(path.split("/")):
            continue
        try:
            path.encode()
            # Not the time of the content, which a program may set.
            changed = os.lstat(os.path.join(root, path)).st_ctime
        except (OSError, ValueError):
            continue  # gone meanwhile, or a name that no text can hold
        files.append(TimedFile(path, timestamp(changed), is_new=path in new_files))
    return tuple(sorted(files, key=lambda file: (file.is_new, file.path)))
