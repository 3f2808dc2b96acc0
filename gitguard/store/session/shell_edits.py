"""Which files shell commands of the agent changed or removed, by content.

No host says what a command wrote. A file counts as changed by a command if its content is not what
it was at the last checkpoint, and if the file system dates its last change within the command's
run; one that is gone, if its folder last changed within it. Content decides whether it changed, and
the time only who did it: a person may edit too while the agent waits. A person who edits while a
command runs cannot be told apart from it.
"""

from __future__ import annotations

import os
import re

from gitguard.model.checks import checks_of
from gitguard.model.text import seconds, timestamp
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
_SOON = 10
"""Seconds after its begin within which a command that was cut off destroyed what it did."""
_ENDING = (entries.ENDED, entries.FAILED, entries.INTERRUPTED)
_MOVES_WORKTREE = re.compile(
    r"\bgit(?:\s+-[cC]\s+\S+|\s+-(?![cC]\s)\S+)*\s+(?:am|bisect|checkout|cherry-pick|clone|merge"
    r"|pull|rebase|reset|restore|revert|stash|submodule|switch|worktree)\b"
)
"""Commands that put contents of other commits into the worktree, which is no edit."""


class ShellEdits(Value):
    """What shell commands changed between two looks at the worktree."""

    entries: tuple[JournalEntry, ...] = ()
    """One for each command that edited files, the most important file first."""
    paths: frozenset[str] = frozenset()
    """All that changed under a command, also what it only took out of another commit."""


class ShellRun(Value):
    """A shell command, with the seconds within which it ran."""

    call: JournalEntry
    begun_at: str
    until: str
    was_cut_off: bool = False
    """Whether nobody knows when it ended."""

    @property
    def edits(self) -> bool:
        """Whether what changed meanwhile counts as its edit.

        It may also be the content of another commit.
        """
        return not self.was_cut_off and not _MOVES_WORKTREE.search(self.call.summary)

    def may_have_changed(self, file: TimedFile) -> bool:
        """Say whether it ran when a file changed; times are cut to whole seconds.

        Of a file that is gone only the folder has a time, and anybody's next change there is later.
        So of what is gone after a command that destroys, all counts as its doing.
        """
        if file.second < self.begun_at:
            return False
        return file.second <= self.until or (file.is_gone and _destroys(self.call.shell_line))


class TimedFile(Value):
    """A file that changed, and the second in which it last did."""

    path: str
    second: str
    is_new: bool
    """Whether git does not track it."""
    is_gone: bool = False
    """Whether it is not there any more; the second is then its folder's."""


def shell_runs(journalled: Sequence[JournalEntry], before: int = 0) -> tuple[ShellRun, ...]:
    """Return the commands that can have changed files since a look at the worktree.

    The entries are in the journal's order; so many of them are from before the look, and a command
    that ended there changed nothing since. When one ended that was cut off, nobody knows.
    One that destroys is taken to have done so in its first seconds, and others are left out.
    """
    begun: dict[str, JournalEntry] = {}
    cut_off: list[JournalEntry] = []
    runs = []
    for place, entry in enumerate(journalled):
        if entry.event == entries.STARTED:
            begun[entry.id] = entry
            continue
        started = begun.pop(entry.id, None) if entry.event in _ENDING else None
        if started is None or place < before:
            continue
        if entry.event == entries.INTERRUPTED:
            cut_off.append(started)
        elif entry.is_shell:
            runs.append(ShellRun(entry, started.at, entry.at))
    for call in (*cut_off, *begun.values()):
        if call.is_shell and _destroys(call.shell_line):
            until = timestamp(seconds(call.at) + _SOON)
            runs.append(ShellRun(call, call.at, until, was_cut_off=True))
    return tuple(runs)


def _destroys(line: str) -> bool:
    # Imported here: few turns are cut off, and the table is long.
    from gitguard.model.destructive import destructive_reason

    return bool(destructive_reason(line))


def edits_of(
    runs: Sequence[ShellRun],
    entries_since: Iterable[JournalEntry],
    changed: Iterable[TimedFile],
) -> ShellEdits:
    """Return what commands changed. What a build or a test leaves behind is no edit."""
    by_tools = {(path, entry.at) for entry in entries_since for path in entry.written}
    paths = set()
    written: dict[int, list[str]] = {}
    for file in changed:
        covering = [number for number, run in enumerate(runs) if run.may_have_changed(file)]
        if covering:
            paths.add(file.path)
        editing = [number for number in covering if runs[number].edits]
        if not editing or (file.path, file.second) in by_tools:
            continue
        # Of commands that ran side by side, the one that began last is the likeliest.
        latest = max(editing, key=lambda number: runs[number].begun_at)
        if not file.is_new or not checks_of(runs[latest].call.shell_line):
            written.setdefault(latest, []).append(file.path)
    edits = (_edit(runs[number], written[number]) for number in sorted(written))
    return ShellEdits(tuple(edits), frozenset(paths))


def _edit(run: ShellRun, paths: list[str]) -> JournalEntry:
    return run.call.replace(
        event=entries.SHELL_EDITED,
        written=tuple(paths[:_MOST_FILES]),
        command="",
        output="",
        error="",
        calls=0,
    )


def changed_files(root: str, before: Differences, now: Differences) -> tuple[TimedFile, ...]:
    """Return the files that changed or went away between two looks, tracked ones first."""
    new_files = {*before.new_files, *now.new_files}
    changes = now.since(before)
    gone = set(changes.gone)
    files = []
    for path in (*changes.changed, *changes.gone):
        if not _GENERATED.isdisjoint(path.split("/")):
            continue
        try:
            path.encode()
            changed = _changed_at(root, path, is_gone=path in gone)
        except (OSError, ValueError):
            continue  # gone meanwhile, or a name that no text can hold
        files.append(TimedFile(path, timestamp(changed), path in new_files, path in gone))
    return tuple(sorted(files, key=lambda file: (file.is_new, file.path)))


def _changed_at(root: str, path: str, *, is_gone: bool) -> float:
    """Return when a file, or the folder of one that is gone, last changed, in Unix seconds."""
    full = os.path.join(root, path)
    while is_gone and not os.path.isdir(full):
        full = os.path.dirname(full)
    # Not the time of the content, which a program may set.
    return os.lstat(full).st_ctime
