"""How the files that changed are told of: between two checkpoints, or from one to the next."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from gitguard.cli.change_lines import SIGNS
from gitguard.cli.console import Console, fields_of
from gitguard.cli.paging import PageLine, say_paged
from gitguard.errors import InvalidInput
from gitguard.model.actions import ADDED, CHANGED, REMOVED
from gitguard.model.text import counted, shell_word

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gitguard.sessions.file_changes import CheckpointFile, FileChanges, FileLog

_CHECKPOINT = r"(?:cp_)?[0-9]+|[0-9a-f]{7,64}"
_CHECKPOINTS = re.compile(rf"({_CHECKPOINT})|({_CHECKPOINT})?\.{{2,3}}({_CHECKPOINT})?")
"""What in front of paths names checkpoints; a file of such a name is `./12`."""
_SHOWN = 20
"""Files of one checkpoint that a list of many names."""


def say_file_changes(
    console: Console, changes: FileChanges, paths: tuple[str, ...], *, no_pager: bool
) -> None:
    """Print the files that changed between two moments, below paths if there are any."""
    lines = [PageLine(f"Files from {changes.older} to {changes.newer}:")]
    lines += [_line(change) for change in changes.files]
    if not changes.files:
        lines.append(PageLine(f"No file changed{_below(paths)}."))
    say_paged(console, lines, fields_of(changes), no_pager=no_pager)


def say_file_log(
    console: Console, log: FileLog, paths: tuple[str, ...], *, oneline: bool, no_pager: bool
) -> None:
    """Print the checkpoints in which files changed, with these files or how many they are."""
    lines = [line for changes in log.entries for line in _entry(changes, oneline=oneline)]
    more = f"There are earlier ones; -n {2 * len(log.entries)} lists more." if log.has_more else ""
    nothing = [PageLine(f"No file changed{_below(paths)} between checkpoints with a snapshot.")]
    say_paged(console, lines or nothing, fields_of(log), remark=more, no_pager=no_pager)


def _below(paths: tuple[str, ...]) -> str:
    return f" at or below {', '.join(f'`{path_word(path)}`' for path in paths)}" if paths else ""


def path_word(path: str) -> str:
    """Return a path for a terminal; one whose characters cannot all be seen as a shell's word."""
    is_plain = path.isprintable() and path == path.strip()
    return path if is_plain else shell_word(path)


def asked_files(console: Console, words: tuple[str, ...]) -> tuple[str, str, tuple[str, ...]]:
    """Return the older and the newer checkpoint, either perhaps empty, and paths from the root.

    Words are `2..7`, or `2 7`, or `2`, or none of these, and behind them paths.
    """
    unread = [word for word in words if word]
    older = newer = ""
    first = _CHECKPOINTS.fullmatch(unread[0]) if unread else None
    if first is not None:
        del unread[0]
        older, newer = first[1] or first[2] or "", first[3] or ""
        # A second one follows `2`, and not `2..7`.
        if first[1] and unread and re.fullmatch(_CHECKPOINT, unread[0]):
            newer = unread.pop(0)
    return older, newer, paths_from_root(console, tuple(unread))


def paths_from_root(console: Console, paths: tuple[str, ...]) -> tuple[str, ...]:
    """Return paths from the current folder as they are named from the worktree's root.

    None of them stands for the root itself, below which everything lies. Raises `InvalidInput` for
    one outside of the worktree.
    """
    root = console.guard.workspace.place.worktree
    named = []
    for path in paths:
        # The folder is looked up, and not the last part, which may be a link of the worktree's.
        folder, name = os.path.split(os.path.normpath(os.path.join(os.getcwd(), path)))
        full = os.path.normpath(os.path.join(os.path.realpath(folder), name))
        if full == root:
            return ()
        if not full.startswith(root + os.sep):
            raise InvalidInput(
                f"`{path:.200}` is outside the worktree `{root}`",
                "Name a file or folder in it, as seen from the current folder",
            )
        named.append(full.removeprefix(root + os.sep))
    return tuple(named)


def _entry(changes: FileChanges, *, oneline: bool) -> Iterator[PageLine]:
    name = changes.newer
    heading = f"{name}  {_counts(changes.files)}  since {changes.older}"
    yield PageLine(heading, "yellow", len(name))
    if oneline:
        return
    yield from (_line(change, indent="  ") for change in changes.files[:_SHOWN])
    more = len(changes.files) - _SHOWN
    if more > 0:
        yield PageLine(
            f"  … {counted(more, 'more file')}; `gitguard show {name} --files` lists all"
        )


def _counts(changes: tuple[CheckpointFile, ...]) -> str:
    """Return how many files were added, changed and removed, such as `+1 ~3`."""
    actions = [change.action for change in changes]
    counts = ((SIGNS[action][0], actions.count(action)) for action in (ADDED, CHANGED, REMOVED))
    return " ".join(f"{sign}{count}" for sign, count in counts if count)


def _line(change: CheckpointFile, indent: str = "") -> PageLine:
    sign, colour = SIGNS[change.action]
    return PageLine(f"{indent}{sign} {path_word(change.path)}  ({', '.join(change.by)})", colour)
