"""Which files shell commands of the agent changed or removed, by content.

No host says what a command wrote. A file counts as changed by a command if its content is not what
it was at the last checkpoint, and if the file system dates its last change within the command's
run; one that is gone, if its folder last changed within it. Content decides whether it changed, and
the time only who did it: a person may edit too while the agent waits. A person who edits while a
command runs cannot be told apart from it.
"""

from __future__ import annotations

import os
from functools import cached_property

from gitguard.model.checks import checks_of
from gitguard.model.shell.programs import programs_of
from gitguard.model.text import seconds, timestamp
from gitguard.model.value import Value
from gitguard.state import entries

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Sequence

    from gitguard.state.entries import JournalEntry
    from gitguard.store.git.differences import Differences
    from gitguard.store.session.journal import JournalPart

_GENERATED = frozenset(("__pycache__", "node_modules"))
"""Folders in which nobody edits; they lie around untracked where nobody told git to ignore them."""
_MOST_FILES = 20
"""Files of one command; one that changes more generates them, or applies one change to many."""
_LATEST = 253_402_300_799
"""The last second of the year 9999, in Unix seconds; a program may date a file later."""
_SOON = 10
"""Seconds after it began within which a command that was cut off destroyed what it did."""
_RAN_UNTIL = (entries.ENDED, entries.FAILED, entries.INTERRUPTED)
"""What an entry says of a command that ran until the entry's time."""
_MEANING_MANY = ("git", "find", "xargs", "{", "$", "`")
"""What stands in commands that do not name the files that they remove."""
_ANY_OF = frozenset("*?[")
"""What stands in a word that names files by a pattern."""
_MOVING_WORKTREE = frozenset(
    (
        *("am", "bisect", "checkout", "cherry-pick", "clone", "merge", "pull", "rebase", "reset"),
        *("restore", "revert", "stash", "submodule", "switch", "worktree"),
    )
)
"""Subcommands of git that put contents of other commits into the worktree, which is no edit."""


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

    # Each is asked for every file that changed, of which there may be thousands.

    @cached_property
    def edits(self) -> bool:
        """Whether what changed meanwhile counts as its edit.

        It may also be the content of another commit.
        """
        return not self.was_cut_off and not any(
            program.name == "git" and program.subcommand in _MOVING_WORKTREE
            for program in programs_of(self.call.shell_line)
        )

    @cached_property
    def checks(self) -> bool:
        """Whether it builds or tests, and writes no source."""
        return bool(checks_of(self.call.shell_line))

    @cached_property
    def destroys(self) -> bool:
        """Whether the table of destructive commands has it."""
        # Imported here: few turns remove files or are cut off, and the table is long.
        from gitguard.model.shell.destructive import destructive_reason

        return bool(destructive_reason(self.call.shell_line))

    def may_have_changed(self, file: TimedFile) -> bool:
        """Say whether it ran when a file changed; times are cut to whole seconds.

        Of a file that is gone only the folder has a time, and anybody's next change there is later.
        So what a command that destroys may have meant counts as its doing also then.
        """
        if file.second < self.begun_at:
            return False
        if file.second <= self.until:
            return True
        return file.is_gone and _may_mean(self.call.shell_line, file.path) and self.destroys


class TimedFile(Value):
    """A file that changed, and the second in which it last did."""

    path: str
    second: str
    is_new: bool
    """Whether git does not track it."""
    is_gone: bool = False
    """Whether it is not there any more; the second is then its folder's."""
    written: str = ""
    """The second of its content, which programs may set; empty for one that is gone."""


def shell_runs(part: JournalPart, gone: Container[str]) -> tuple[ShellRun, ...]:
    """Return the commands that can have changed files since an offset of the journal.

    Of a command that was cut off nobody knows when it ended, or whether the person let it run at
    all. Where it cannot run any more, one that destroys is taken to have done so in its first
    seconds; gone are the conversations whose host's process is known to be gone.
    """
    begun = {entry.id: entry for entry in part.entries if entry.event == entries.STARTED}
    runs = []
    for entry in part.unfolded:
        if entry.event in _RAN_UNTIL and entry.is_shell:
            begun_at = _begun_at(begun.get(entry.id), entry)
            if begun_at:
                runs.append(ShellRun(entry, begun_at, entry.at))
    for call in entries.cut_off_calls(part.entries):
        until = timestamp(seconds(call.at) + _SOON)
        turn_ended_at = _end_of_turn(call, part.entries)
        if turn_ended_at:
            until = min(until, turn_ended_at)
        run = ShellRun(call, call.at, until, was_cut_off=True)
        is_over = turn_ended_at or call.host_session in gone
        if call.is_shell and is_over and run.destroys:
            runs.append(run)
    return tuple(runs)


def _end_of_turn(call: JournalEntry, journal_entries: Sequence[JournalEntry]) -> str:
    """Return when the agent's turn ended after a call of its own began, empty where it did not.

    Some hosts tell nothing of a call that ran when the user stopped the turn. What a sub-agent
    began may go on.
    """
    if call.sub_agent:
        return ""
    for entry in journal_entries[journal_entries.index(call) :]:
        if entry.event == entries.TURN_ENDED and entry.host_session == call.host_session:
            return entry.at
    return ""


def _begun_at(started: JournalEntry | None, ended: JournalEntry) -> str:
    """Return when a call began to run, empty where nothing tells.

    Hosts tell of a call before they ask the person for leave, and some tell how long it ran.
    Nothing tells that a call began if it removed the journal, as `git clean -x` does.
    """
    told_at = started.at if started is not None else ""
    if not ended.milliseconds:
        return told_at
    # The hook at its end starts a little later than it ended.
    return max(told_at, timestamp(seconds(ended.at) - ended.milliseconds / 1000 - 1))


def _may_mean(line: str, path: str) -> bool:
    """Say whether a command may remove a file: it names a part of its path, or does not say."""
    if any(part in line for part in (*path.split("/"), *_MEANING_MANY)):
        return True
    from fnmatch import fnmatchcase

    words = (word for program in programs_of(line) for word in program.words)
    patterns = (word.lstrip("./") for word in words if not _ANY_OF.isdisjoint(word))
    return any(fnmatchcase(path, f"*{pattern}*") for pattern in patterns)


def edits_of(
    runs: Sequence[ShellRun],
    entries_since: Iterable[JournalEntry],
    changed: Iterable[TimedFile],
    looked_at: str,
) -> ShellEdits:
    """Return what commands changed since a look; what a build or a test leaves is no edit."""
    tool_calls = [entry for entry in entries_since if entry.written]
    by_tools = {
        (path, second)
        for entry in tool_calls
        for path in entry.written
        for second in _seconds_of_end(entry)
    }
    paths = set()
    written: dict[int, list[str]] = {}
    for file in changed:
        covering = [number for number, run in enumerate(runs) if run.may_have_changed(file)]
        begun_at = min((runs[number].begun_at for number in covering), default="")
        # What was written since the look and before them is whose it was then.
        is_earlier = looked_at < file.written < begun_at
        if not covering or (is_earlier and not _was_by_agent(file.written, runs, tool_calls)):
            continue
        if file.is_new or not all(runs[number].checks for number in covering):
            paths.add(file.path)
        editing = [number for number in covering if runs[number].edits]
        if not editing or (file.path, file.second) in by_tools or not _is_source(file.path):
            continue
        if len({runs[number].call.host_session for number in editing}) > 1:
            # Of two conversations, only a command that names the file tells which one it was.
            name = os.path.basename(file.path)
            editing = [number for number in editing if name in runs[number].call.shell_line]
            if len({runs[number].call.host_session for number in editing}) != 1:
                continue
        # Of commands that ran side by side, the one that began last is the likeliest.
        latest = max(editing, key=lambda number: runs[number].begun_at)
        if not file.is_new or not runs[latest].checks:
            written.setdefault(latest, []).append(file.path)
    edits = (_edit(runs[number], written[number]) for number in sorted(written))
    return ShellEdits(tuple(edits), frozenset(paths))


def _was_by_agent(
    second: str, runs: Iterable[ShellRun], tool_calls: Iterable[JournalEntry]
) -> bool:
    """Say whether a tool or a command of the agent wrote something in a second.

    A content that it wrote earlier keeps that time where a command moves or copies it.
    """
    if any(run.begun_at <= second <= run.until for run in runs):
        return True
    return any(second in _seconds_of_end(call) for call in tool_calls)


def _seconds_of_end(call: JournalEntry) -> tuple[str, str]:
    """Return in which seconds a call may have ended: its hook may start in the next one."""
    return call.at, timestamp(seconds(call.at) - 1)


def _is_source(path: str) -> bool:
    """Say whether somebody may edit a file there, and its name can be told."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return _GENERATED.isdisjoint(path.split("/"))


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
        try:
            changed, written = _times_of(root, path, is_gone=path in gone)
        except (OSError, ValueError):
            continue  # gone meanwhile, or a name that no system takes
        second = timestamp(written) if written else ""
        files.append(
            TimedFile(
                path, timestamp(changed), path in new_files, is_gone=path in gone, written=second
            )
        )
    return tuple(sorted(files, key=lambda file: (file.is_new, file.path)))


def _times_of(root: str, path: str, *, is_gone: bool) -> tuple[float, float]:
    """Return when a file last changed, and when its content was written, in Unix seconds.

    Of one that is gone it is when its folder changed, and 0.
    """
    full = os.path.join(root, path)
    while is_gone and not os.path.isdir(full):
        full = os.path.dirname(full)
    facts = os.lstat(full)
    # Not by the time of the content, which a program may set.
    return facts.st_ctime, 0 if is_gone else min(max(facts.st_mtime, 1), _LATEST)
