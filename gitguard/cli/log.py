"""The command that lists checkpoints."""

from __future__ import annotations

import re
import signal
import threading
import time
from typing import TYPE_CHECKING

import click

from gitguard.cli.console import Console, named, with_console
from gitguard.cli.paging import PageLine, no_pager_option, say_paged
from gitguard.cli.untrusted import marked, untrusted_option, writer_option
from gitguard.errors import InvalidInput
from gitguard.model.text import counted, local_times, one_line, timestamp
from gitguard.model.triggers import MANUAL, NO_MESSAGE

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

    from gitguard.review.listing import Log, LogEntry
    from gitguard.state.checkpoint import Checkpoint

_SECONDS = 5.0
"""Time for all texts together; a usual expression takes a millisecond for a thousand of them."""
_LONGEST = 1000


def pattern_of(
    _context: click.Context, parameter: click.Parameter, value: str | None
) -> Callable[[str], bool] | None:
    """Return what says whether a text matches, None where no expression is given."""
    if value is None:
        return None
    option = parameter.opts[0]
    if len(value) > _LONGEST:
        raise InvalidInput(
            f"the expression of `{option}` has {len(value):,} characters",
            f"Give one of at most {_LONGEST:,}",
        )
    try:
        return _Bounded(re.compile(value), option).matches
    except (re.error, OverflowError, RecursionError) as error:
        raise InvalidInput(
            f"`{option} {value:.80}` is not a regular expression: {error}",
            "Put a backslash before each of .^$*+?{}[]()|\\ that you mean literally",
        ) from error


class _Bounded:
    def __init__(self, pattern: re.Pattern[str], option: str) -> None:
        self._pattern = pattern
        self._option = option
        self._left = _SECONDS

    def matches(self, text: str) -> bool:
        """Return whether the pattern is found in a text; raise `InvalidInput` once time is up."""
        if not hasattr(signal, "setitimer") or (
            threading.current_thread() is not threading.main_thread()
        ):
            return self._pattern.search(text) is not None
        began = time.monotonic()
        before = signal.signal(signal.SIGALRM, self._give_up)
        signal.setitimer(signal.ITIMER_REAL, max(self._left, 0.001))
        try:
            return self._pattern.search(text) is not None
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)
            self._left -= time.monotonic() - began

    def _give_up(self, _number: int, _frame: FrameType | None) -> None:
        raise InvalidInput(
            f"`{self._option} {self._pattern.pattern:.80}` takes longer than {_SECONDS:.0f} s",
            "Give a simpler expression, without a repetition inside of another one",
        )


_NONE_YET = "No checkpoints yet; `gitguard ensure` begins the session."
_MOST = 20


class _LogCommand(click.Command):
    """A command that takes `-5` for `-n 5`, as git does."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        spelled = [
            f"-n{arg[1:]}" if arg[:1] == "-" and arg[1:].isdecimal() else arg for arg in args
        ]
        return super().parse_args(ctx, spelled)


@click.command(cls=_LogCommand)
@click.argument("range_text", default="", metavar="[BASE..HEAD]")
@click.argument("paths", nargs=-1, metavar="[PATH]...", type=click.Path())
@click.option(
    "-n", "--most", type=click.IntRange(1), metavar="N", help=f"How many to list, or {_MOST}"
)
@click.option("--oneline", is_flag=True, help="Show only short commit id, name and message")
@click.option(
    "--since",
    default=None,
    callback=named,
    metavar="TIME",
    help="Only those taken since then: 2h, 3d, 2026-11-01",
)
@click.option(
    "--grep",
    "matches",
    default=None,
    metavar="REGEX",
    callback=pattern_of,
    help="Only those whose subject or message matches",
)
@click.option("--files", is_flag=True, help="List which of your files changed in each, by whom")
@click.option(
    "--all", "every", is_flag=True, help="List every session, archived ones too, and lanes"
)
@writer_option
@untrusted_option
@no_pager_option
@with_console
def log(
    console: Console,
    range_text: str,
    paths: tuple[str, ...],
    most: int | None,
    oneline: bool,
    since: str,
    matches: Callable[[str], bool] | None,
    files: bool,
    every: bool,
    writer: str,
    untrusted: bool,
    no_pager: bool,
) -> None:
    """List the newest checkpoints, newest first

    `-5` means `-n 5`. `--session KEY` lists any session, also an archived one. If there are more
    checkpoints than listed, standard error says how many. Refuses a branch that this machine did
    not write, except with --untrusted; --all names it and leaves it out. `--writer 3f2a` lists what
    another machine pushed with `gitguard sync`; `gitguard status` names the writers.
    With BASE..HEAD, lists these commits of your code instead, newest first, and what became known
    while the agent made each; all of them without -n. `A...B` begins where the two parted.
    With --files, lists the checkpoints in which files of your worktree changed, and who changed
    them; `log --files 2..7 src` lists those from checkpoint 2 to 7, and of their files those below
    `src`.

    Example: `gitguard log -5 --oneline --since 2d`
    """
    choosing = {"--since": since, "--grep": matches, "--all": every}
    named_options = [option for option, is_given in choosing.items() if is_given]
    if writer and (every or files):
        raise click.UsageError(f"--writer does not go with {'--all' if every else '--files'}")
    _refuse_mixed(named_options, files=files, is_range=bool(range_text), oneline=oneline)
    if files:
        words = (range_text, *paths)
        _say_files(console, words, most or _MOST, oneline=oneline, no_pager=no_pager)
    elif range_text:
        _say_commits(console, range_text, paths, most, writer=writer, untrusted=untrusted)
    else:
        listed = console.guard.history.log(
            most or _MOST,
            session=console.named_session,
            every_session=every,
            since=since,
            matches=matches,
            untrusted=untrusted,
            writer=writer,
        )
        lines = _lines(listed, oneline=oneline, every=every)
        nothing = [_nothing(listed, is_chosen=bool(since or matches))]
        _say_log(console, listed, lines or nothing, no_pager=no_pager)


def _refuse_mixed(choosing: list[str], *, files: bool, is_range: bool, oneline: bool) -> None:
    """Refuse options that choose checkpoints where files or commits are listed."""
    if files and choosing:
        raise click.UsageError(f"{choosing[0]} does not go with --files")
    unfit = [*choosing, *(["--oneline"] if oneline else [])]
    if is_range and not files and unfit:
        raise click.UsageError(f"{unfit[0]} does not go with BASE..HEAD")


def _say_log(console: Console, listed: Log, lines: list[PageLine], *, no_pager: bool) -> None:
    checkpoints = [entry.checkpoint for entry in listed.entries]
    document = {
        "checkpoints": checkpoints,
        "more": listed.more,
        "left_out": listed.left_out,
        "notes": listed.notes,
    }
    mark = "\n".join(map(marked, listed.doubts.values()))
    say_paged(console, lines, document, mark=mark, remark=_remark(listed), no_pager=no_pager)


def _say_commits(
    console: Console,
    range_text: str,
    paths: tuple[str, ...],
    most: int | None,
    *,
    writer: str,
    untrusted: bool,
) -> None:
    from gitguard.cli.review import say_course

    if paths:
        raise click.UsageError(f"`{paths[0]:.80}` is one too many; --files takes PATH")
    say_course(console, range_text, most, writer=writer, untrusted=untrusted)


def _say_files(
    console: Console, words: tuple[str, ...], most: int, *, oneline: bool, no_pager: bool
) -> None:
    from gitguard.cli.file_changes import asked_files, say_file_log

    older, newer, paths = asked_files(console, words)
    changes = console.guard.history.file_log(older, newer, paths, most=most)
    say_file_log(console, changes, paths, oneline=oneline, no_pager=no_pager)


def _lines(listed: Log, *, oneline: bool, every: bool) -> list[PageLine]:
    width = max((len(entry.label) for entry in listed.entries), default=0) if every else 0
    return [_line(entry, oneline=oneline, width=width) for entry in listed.entries]


def _line(entry: LogEntry, *, oneline: bool, width: int) -> PageLine:
    checkpoint = entry.checkpoint
    session = f"{entry.label:{width}}  " if width else ""
    message = _message(checkpoint)
    if entry.is_archived:
        message += "  (archived)"
    if not entry.is_ours and width:
        message += "  (NOT OURS)"
    if oneline:
        short = f"{session}{checkpoint.id[:7]}"
        return PageLine(f"{short} {checkpoint.name} {message}", "yellow", len(short))
    named = f"{session}{checkpoint.name}  {checkpoint.id[:12]}"
    at, trigger = local_times(timestamp(checkpoint.at)), f"{checkpoint.trigger:18}"
    return PageLine(f"{named}  {at}  {trigger}  {message}", "yellow", len(named))


def _message(checkpoint: Checkpoint) -> str:
    """Return what a person said when the checkpoint was taken, else phase and next action."""
    is_said = checkpoint.trigger == MANUAL and checkpoint.why != NO_MESSAGE
    return checkpoint.why if is_said else checkpoint.subject.partition(": ")[2]


def _nothing(listed: Log, *, is_chosen: bool) -> PageLine:
    if listed.left_out:
        return PageLine("No checkpoint to list of any session that this machine wrote.")
    return PageLine("No checkpoint matches." if is_chosen else _NONE_YET)


def _remark(listed: Log) -> str:
    """Say what is not listed, and how to see it."""
    lines = [
        one_line(f"Left out session `{name}`: {reason}.")
        for name, reason in listed.left_out.items()
    ]
    lines += listed.notes
    if listed.left_out or listed.has_hidden_lanes:
        lines.append("--untrusted lists what this machine did not write, and marks it.")
    lines += [
        f"The clone is shallow before {last} of `{one_line(name)}`; `git fetch --unshallow` brings "
        "earlier checkpoints."
        for name, last in listed.shallow.items()
    ]
    if listed.more:
        total = len(listed.entries) + listed.more
        lines.append(f"{counted(listed.more, 'more checkpoint')}; -n {total} lists all of them.")
    return "\n".join(lines)


COMMANDS: list[click.Command] = [log]
