"""The command `gitguard`: its groups, and the one boundary where errors become words and codes."""

from __future__ import annotations

import io
import os
import sys
import time
from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING

import click

from gitguard import __version__, process
from gitguard.cli.console import Common, common_options, document_of, say_error, say_json
from gitguard.errors import GitguardError, NotWritable, StatusSignal
from gitguard.model.redaction.redactor import Redactor

if TYPE_CHECKING:
    from typing import Any

USAGE = 2
"""Exit code of a command line that cannot be understood."""
UNEXPECTED = 70
"""Exit code of a fault of ours."""
INTERRUPTED = 130


class Unexpected(GitguardError):
    """A fault of gitguard itself; a report of it is kept."""

    exit_code = UNEXPECTED


class Interrupted(GitguardError):
    """Somebody pressed Ctrl-C."""

    exit_code = INTERRUPTED


class Misused(GitguardError):
    """The command line names an unknown command or option, or a wrong value."""

    exit_code = USAGE


GROUPS: dict[str, dict[str, str]] = {
    "Everyday": {
        "init": "setup",
        "uninstall": "setup",
        "status": "sessions",
        "log": "log",
        "show": "checkpoints",
        "diff": "checkpoints",
        "note": "notes",
        "checkpoint": "checkpoints",
        "restore": "restoring",
        "pin": "pinning",
        "session": "sessions",
        "sync": "sync",
        "settle": "settling",
        "trust": "trust",
    },
    "Review": {
        "at": "review",
        "search": "search",
        "why": "search",
        "report": "report",
        "publish": "publish",
    },
    "When something is wrong": {
        "repair": "repair",
        "verify": "verify",
        "override": "sessions",
        "scan": "secrets",
        "purge": "secrets",
    },
    "For agents and programs": {
        "ensure": "sessions",
        "gate": "gate",
        "bundle": "working_context",
        "resume": "working_context",
        "update": "notes",
        "handoff": "handoff",
        "policy": "policy",
        "hook": "setup",
    },
    "Conversations and hosts": {
        "transcript": "transcript",
        "profile": "profile",
        "config": "config",
        "completion": "setup",
    },
}
"""The commands in the order of the help, and the module of each: only the one that runs is loaded,
because importing all of them takes longer than most commands do."""


def _refuse_repeated(
    command: click.Command, arguments: list[str], parent: click.Context | None, name: str | None
) -> None:
    """Refuse an option that takes one value and is given several, for a command or its sub-command.

    click would keep the last value alone. What it cannot parse is left for the command to refuse.
    """
    # click remembers the help option of the first context, so this one needs its names.
    settings = command.context_settings
    with click.Context(command, parent=parent, info_name=name, **settings) as context:
        try:
            _, operands, order = command.make_parser(context).parse_args(list(arguments))
        except click.UsageError:
            return
        for parameter in dict.fromkeys(order):
            if _takes_one(parameter) and order.count(parameter) > 1:
                raise click.UsageError(
                    f"`{parameter.opts[0]}` is given {order.count(parameter)} times, "
                    "and keeps one value",
                    context,
                )
        if isinstance(command, click.Group) and operands:
            named = command.get_command(context, operands[0])
            if named is not None:
                _refuse_repeated(named, operands[1:], context, operands[0])


def _takes_one(parameter: click.Parameter) -> bool:
    if not isinstance(parameter, click.Option):
        return False
    return not (parameter.multiple or parameter.count or parameter.is_flag)


class _App(click.Group):
    """The command `gitguard`; what is given to any command of it is kept or refused."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return all names in the order of the help."""
        return [name for group in GROUPS.values() for name in group]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command; its module is imported now."""
        names = next((names for names in GROUPS.values() if cmd_name in names), None)
        if names is None:
            return None
        module = import_module(f"gitguard.cli.{names[cmd_name]}")
        commands: list[click.Command] = module.COMMANDS
        return next(command for command in commands if command.name == cmd_name)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command; suggest a similar name, which click knows of loaded commands only."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError:
            from difflib import get_close_matches

            similar = get_close_matches(args[0], self.list_commands(ctx), n=1)
            if not similar:
                raise
            message = f"No such command '{args[0]}'. Did you mean '{similar[0]}'?"
            raise click.UsageError(message, ctx) from None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write one list of commands for each group."""
        for title, names in GROUPS.items():
            commands = [(name, self.get_command(ctx, name)) for name in names]
            width = formatter.width - 6 - max(map(len, names))
            rows = [(name, c.get_short_help_str(width)) for name, c in commands if c is not None]
            with formatter.section(title):
                formatter.write_dl(rows)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        _refuse_repeated(self, args, ctx.parent, ctx.info_name)
        return super().parse_args(ctx, args)


@click.group(
    cls=_App, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100}
)
@click.version_option(__version__, prog_name="gitguard", help="Show the version and exit")
@common_options
@click.pass_context
def app(context: click.Context, /, **common: str | bool) -> None:
    """Keep a coding agent's working memory in git.

    Every checkpoint is a commit of the task state, its summary and a snapshot, on a branch of its
    own. Your files, index and branches stay as they are. Begin with `gitguard init`.
    """
    context.obj = Common(**common)  # type: ignore[arg-type]


def run_app() -> None:
    """Run the command line and end the process with its exit code."""
    watch_standard_output()
    try:
        code = app.main(standalone_mode=False, prog_name="gitguard")
        if sys.stdout:
            sys.stdout.flush()
        sys.exit(code if isinstance(code, int) else 0)
    except GitguardError as error:
        _end(error)
    except click.exceptions.Abort as end:
        _end(Interrupted("interrupted", "; ".join(getattr(end.__cause__, "__notes__", ()))))
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        sys.exit(USAGE)
    except click.ClickException as error:
        _end(_misused(error))
    except (ReaderGone, BrokenPipeError):
        os._exit(0)  # the reader went away; there is nobody left to tell
    except Exception as error:  # noqa: BLE001 - the boundary
        _end(_unexpected(error))


def _end(error: GitguardError) -> None:
    try:
        _tell(error)
    except (NotWritable, ReaderGone, OSError):  # it was standard output that refused
        with suppress(OSError):
            say_error(error.message, error.hint)
    leave(error.exit_code)


def _tell(error: GitguardError) -> None:
    if "--json" in sys.argv:
        say_json(document_of(error))
        return
    if isinstance(error, StatusSignal):
        click.echo(error.status)
    say_error(error.message, error.hint)


def _misused(error: click.ClickException) -> Misused:
    context = getattr(error, "ctx", None)
    command = context.command_path if context else "gitguard"
    return Misused(_in_our_style(error.format_message()), f"See `{command} --help`")


def _in_our_style(message: str) -> str:
    """Return a message of click as ours are: no capital, no full stop, no name of a class."""
    for theirs, ours in (
        (" is not a valid integer range", " is not a whole number"),
        (" is not a valid integer", " is not a whole number"),
        (" is not a valid float range", " is not a number"),
        (" is not a valid float", " is not a number"),
    ):
        message = message.replace(theirs, ours)
    return f"{message[:1].lower()}{message[1:]}".removesuffix(".")


def _unexpected(error: Exception) -> Unexpected:
    import platform
    import traceback

    report = "".join(
        [
            f"gitguard {__version__}, Python {platform.python_version()}, {platform.platform()}\n",
            time.strftime("%Y-%m-%dT%H:%M:%SZ\n", time.gmtime()),
            *traceback.format_exception(error),
        ]
    )
    try:
        path = process.keep_crash_report(Redactor().text(report))
        where = f"The report is in `{path}`"
    except (OSError, GitguardError):
        click.echo(report, err=True)
        where = "The report is above"
    return Unexpected(f"gitguard failed: {type(error).__name__}: {error}", where)


# Standard output, which may refuse: a full disk is an error of its place, a reader may go away


class ReaderGone(Exception):  # noqa: N818 - nobody did anything wrong
    """Whoever read our output closed it; no `OSError`, which would be taken for a file's."""


class _StandardOutput(io.FileIO):
    def write(self, data: Any, /) -> int:
        try:
            return super().write(data)
        except BrokenPipeError:
            raise ReaderGone from None
        except OSError as error:
            raise NotWritable(
                f"cannot write to standard output: {error.strerror}",
                "Make room, or let it go to another file",
            ) from None


def watch_standard_output() -> None:
    """Tell what standard output refuses apart from what files do; what cannot be encoded is `?`."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    stream = sys.stdout
    # Within another program it may be no file at all.
    if isinstance(stream, io.TextIOWrapper) and isinstance(
        stream.buffer, io.BufferedWriter | io.FileIO
    ):
        raw = _StandardOutput(stream.fileno(), "wb", closefd=False)
        sys.stdout = io.TextIOWrapper(
            io.BufferedWriter(raw),
            encoding=stream.encoding,
            errors="replace",
            line_buffering=stream.line_buffering,
        )


def leave(code: int) -> None:
    """End the process with a code, also where what is still to be printed is refused."""
    try:
        if sys.stdout:
            sys.stdout.flush()
    except (NotWritable, ReaderGone):
        os._exit(code)
    sys.exit(code)
