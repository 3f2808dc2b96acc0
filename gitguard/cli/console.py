"""What all commands share: their common options, and how they speak to people and programs."""

from __future__ import annotations

import functools
import os
import re
import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import click

from gitguard import process
from gitguard.cli.completing import offer_sessions
from gitguard.cli.process_environment import bare_workspace, is_agents_shell, open_guard
from gitguard.errors import GitguardError, InvalidInput, NotARepository, NotConfirmed, StatusSignal
from gitguard.model.redaction.redactor import Redactor
from gitguard.model.text import local_times, one_line, spelled_out, visible
from gitguard.process import places

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from gitguard.guard import Anywhere, Guard
    from gitguard.model.value import Value

F = TypeVar("F", bound="Callable[..., Any]")
_REDACTOR = Redactor()
"""Errors end up in logs and transcripts; by the built-in rules, as configurations may not read."""


_FORGED = re.compile(r"^([^\S\n]*)(?=STATUS:)", re.MULTILINE)
"""Where a line begins that only a signal may print: agents act on these."""


class Common(NamedTuple):
    """The options that stand before or behind every command."""

    root: str = ""
    session: str = ""
    as_json: bool = False


class Console:
    """Opens the workspace a command is about, and prints its outcome as text or JSON."""

    def __init__(self, common: Common) -> None:
        """Keep the common options; nothing is opened yet."""
        self._common = common
        self.as_json = common.as_json

    @functools.cached_property
    def guard(self) -> Guard:
        """The workspace named by --root, GITGUARD_ROOT or the current folder."""
        guard = open_guard(self._common.root, self._common.session)
        notice = guard.take_notice()
        if notice:
            click.echo(printable(f"note: {notice}"), err=True)
        return guard

    @property
    def anywhere(self) -> Guard | Anywhere:
        """The workspace, or outside of a repository what its user has set up."""
        try:
            return self.guard
        except NotARepository:
            from gitguard.guard import Anywhere

            return Anywhere.at(places(os.environ), process.clock)

    @property
    def common(self) -> Common:
        """The common options, for a command inside of this one."""
        return self._common

    @property
    def chosen_session(self) -> str:
        """The key that --session names, empty where it is left out."""
        return self._common.session

    @property
    def named_session(self) -> str:
        """The key that --session or GITGUARD_SESSION names, empty where neither does."""
        return places(os.environ, self._common.session).session

    def faults(self) -> list[dict[str, Any]]:
        """Return the marks of our faults, also where `guard` cannot be opened."""
        try:
            return bare_workspace(self._common.root).faults()
        except GitguardError:
            return []

    def say(
        self,
        text: str,
        document: dict[str, Any],
        problem: GitguardError | None = None,
        *,
        signal: str = "",
    ) -> None:
        """Print the outcome: text for people, or the one document for programs.

        signal is one of the runtime contract, which follows the text on a line of its own.

        A problem ends the command with its own exit code, after the outcome is printed.
        """
        if not self.as_json:
            click.echo(printable(text))
            if signal:
                click.echo(signal)
            if problem is not None:
                raise problem
            return
        say_json({**document, **(document_of(problem) if problem else {})})
        if problem is not None:
            click.get_current_context().exit(problem.exit_code)

    def remark(self, text: str) -> None:
        """Print for people, on standard error, what is no part of the outcome."""
        if not self.as_json:
            click.echo(printable(text), err=True)


def printable(text: str) -> str:
    """Return a text as a terminal may have it: nothing hidden, and no signal forged."""
    return _FORGED.sub(r"\1| ", visible(text))


def say_json(document: dict[str, Any]) -> None:
    """Print a document as programs read it."""
    import json  # most commands print for people, and each pays for every import

    text = json.dumps(document, ensure_ascii=False, indent=2, default=_plain)
    click.echo(spelled_out(text))


def _plain(value: Any) -> Any:
    if hasattr(value, "to_document"):
        return value.to_document()
    if hasattr(value, "field_names"):
        return fields_of(value)
    return str(value)


def fields_of(value: Value) -> dict[str, Any]:
    """Return a value's fields by name, as the members of a document."""
    return {name: getattr(value, name) for name in value.field_names}


def document_of(error: GitguardError) -> dict[str, Any]:
    """Return an error as programs read it."""
    document: dict[str, Any] = {
        "kind": error.kind,
        "message": _REDACTOR.text(error.message),
        "hint": error.hint,
        "exit_code": error.exit_code,
    }
    if isinstance(error, StatusSignal):
        document["status"] = error.status
    return {"error": document}


def say_error(message: str, hint: str = "") -> None:
    """Print what went wrong and what to do on standard error, in colour on a terminal."""
    colour = None if wants_colour() else False
    heading = click.style("error:", fg="red", bold=True)
    shown = local_times(one_line(_REDACTOR.text(message)))
    click.echo(f"{heading} {shown}", err=True, color=colour)
    if hint:
        click.echo(f"{click.style('hint:', fg='cyan')} {one_line(hint)}", err=True, color=colour)


def wants_colour() -> bool:
    """Whether colour may be used on a terminal; click itself leaves it out elsewhere."""
    return not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def may_page() -> bool:
    """Whether a pager may wait for keys: an agent has none to press, and a dumb terminal none."""
    return os.environ.get("TERM", "dumb") != "dumb" and not is_agents_shell()


def named(_context: click.Context, parameter: click.Parameter, value: str | None) -> str:
    """Return a name, empty where none is given; one that is given and empty names nothing."""
    if value == "":
        raise InvalidInput(
            f"`{parameter.opts[0]}` is given and empty, so it names nothing",
            "Name one, or leave it out; a variable in its place may not be set",
        )
    return value or ""


def common_options(command: F) -> F:
    """Give a command the options that all of them have."""
    for option in (
        click.option("--json", "as_json", is_flag=True, help="Print JSON for programs"),
        click.option(
            "--session",
            default=None,
            callback=named,
            shell_complete=offer_sessions,
            metavar="KEY",
            help="Session to use [GITGUARD_SESSION]",
        ),
        click.option(
            "--root",
            default="",
            metavar="DIR",
            type=click.Path(),
            help="Workspace to use [GITGUARD_ROOT]",
        ),
    ):
        command = option(command)
    return command


def asking(command: F) -> F:
    """Give a command that asks first the options that answer beforehand."""
    for option in (
        click.option("-y", "--yes", is_flag=True, help="Do not ask"),
        click.option("--dry-run", is_flag=True, help="Show what would change, and stop"),
    ):
        command = option(command)
    return command


@contextmanager
def progress(what: str) -> Iterator[Callable[[int, int], None]]:
    """Give a function that shows how much is done, on a terminal and after a second."""
    began = time.monotonic()
    shown = False

    def tell(count: int, total: int) -> None:
        nonlocal shown
        if sys.stderr.isatty() and time.monotonic() - began > 1:
            shown = True
            click.echo(f"\r{count:,} of {total:,} {what}", nl=False, err=True)

    try:
        yield tell
    finally:
        if shown:
            click.echo(err=True)


@contextmanager
def activity() -> Iterator[Callable[[str], None]]:
    """Give a function that shows what is being waited for, in one line on a terminal."""
    shown = False

    def tell(what: str) -> None:
        nonlocal shown
        if sys.stderr.isatty():
            shown = True
            click.echo(f"\r\033[K{one_line(visible(what)):.70}", nl=False, err=True)

    try:
        yield tell
    finally:
        if shown:
            click.echo("\r\033[K", nl=False, err=True)


def with_console(command: F) -> F:
    """Give a command the common options, and a `Console` as its first argument."""

    @common_options
    @functools.wraps(command)
    def run(*args: Any, root: str, session: str, as_json: bool, **kwargs: Any) -> Any:
        before = click.get_current_context().find_object(Common) or Common()
        common = Common(
            _one_of("--root", before.root, root),
            _one_of("--session", before.session, session),
            as_json or before.as_json,
        )
        return command(Console(common), *args, **kwargs)

    return run  # type: ignore[return-value]


def _one_of(option: str, before: str, behind: str) -> str:
    """Return the value of an option that may stand before the command's name and behind it.

    Raises `click.UsageError` where both places name different values.
    """
    if before and behind and before != behind:
        raise click.UsageError(
            f"`{option}` is given as `{before}` and as `{behind}`, and keeps one value",
            click.get_current_context(),
        )
    return behind or before


def read_input(limit: int) -> bytes:
    """Return at most limit bytes of standard input, none where it is closed."""
    return sys.stdin.buffer.read(limit) if sys.stdin else b""


def can_ask() -> bool:
    """Say whether there is a terminal to ask on."""
    return bool(sys.stdin and sys.stdin.isatty())


def confirm(question: str, *, yes: bool) -> None:
    """Go on with --yes, or when somebody on a terminal says so; else raise `NotConfirmed`."""
    if yes:
        return
    if not can_ask():
        raise NotConfirmed("nothing was changed: cannot prompt without a terminal", "Use --yes")
    try:
        is_confirmed = click.confirm(question, default=False)
    except click.Abort as end:
        if not isinstance(end.__context__, EOFError):
            raise
        click.echo()
        is_confirmed = False
    if not is_confirmed:
        raise NotConfirmed("nothing was changed")
