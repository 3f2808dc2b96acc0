"""Commands about a host's own settings: what suits the work, making it so, and going back."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

import click

from gitguard.cli.config_report import (
    advice_document,
    advice_text,
    applied_document,
    applied_text,
    forgetting_text,
    planned_document,
    rollback_outcome,
    rollback_text,
    rolled_back_text,
)
from gitguard.cli.console import (
    Console,
    activity,
    asking,
    can_ask,
    confirm,
    printable,
    progress,
    with_console,
)
from gitguard.cli.transcript_naming import TranscriptName
from gitguard.errors import GitguardError, NotConfirmed, SettingsMoved
from gitguard.guard.settings import HOSTS, LONG, PATTERNS, Settings
from gitguard.model.config.config import SMALLEST_WINDOW
from gitguard.model.events import MOST_TOKENS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from gitguard.profile.profiling import Profiled
    from gitguard.settings.advice import Advice

F = TypeVar("F", bound="Callable[..., Any]")


@click.group()
def config() -> None:
    """Advise on a host's settings, apply the advice, undo it

    The host's settings decide when an agent compacts its conversation, and how fast it clears old
    tool output. `advise` compares them with a usage pattern and changes nothing. With --apply it
    shows the file, each value and its effect, asks, and keeps a backup. `rollback` restores the
    file.
    """
    from gitguard.cli.signals import ending_in_order

    click.get_current_context().with_resource(ending_in_order())


def _naming_hosts(command: F) -> F:
    """Put the names of the hosts into a command's help."""
    command.__doc__ = (command.__doc__ or "").replace("{hosts}", ", ".join(HOSTS))
    return command


_HOST = click.argument("host", required=False, metavar="[HOST]", type=click.Choice(HOSTS))


@config.command()
@_HOST
@click.option("--pattern", type=click.Choice(PATTERNS), help="The usage pattern")
@click.option(
    "--hours",
    type=float,
    default=0.0,
    metavar="N",
    help=f"Expected hours of work; more than {LONG:g} is long",
)
@click.option(
    "--protect",
    multiple=True,
    metavar="TOOL",
    help="Never clear results of this tool (can be repeated)",
)
@click.option(
    "--window",
    type=click.IntRange(SMALLEST_WINDOW, MOST_TOKENS),
    metavar="TOKENS",
    help="The model's context window",
)
@click.option("--again", is_flag=True, help="Repeat advice that you rolled back or declined")
@click.option("--apply", is_flag=True, help="Make the changes, after asking")
@click.option("-y", "--yes", is_flag=True, help="Do not ask")
@with_console
@_naming_hosts
def advise(
    console: Console,
    host: str | None,
    pattern: str | None,
    hours: float,
    protect: tuple[str, ...],
    window: int | None,
    again: bool,
    apply: bool,
    yes: bool,
) -> None:
    """Recommend HOST settings for a usage pattern

    Lists what is right first, then each change with its effect; changes nothing. With --apply, it
    makes the changes as the host wants them, lets the host check them, reads them back, and undoes
    them if anything fails; --yes consents where there is no terminal. Without --pattern it uses the
    newest conversation, or else the usual pattern of past sessions. It remembers its advice in the
    state directory. It does not repeat advice for the same pattern that you rolled back or declined
    twice, except with --again.

    Hosts: {hosts}.

    Example: `gitguard config advise --pattern bursty`
    """
    if yes and not apply:
        raise click.UsageError("--yes requires --apply")
    settings = console.anywhere.settings
    question = settings.question(
        pattern or "", hours, protect, window=window or 0, profiled=_newest_conversation(console)
    )
    with showing_differences(console), activity() as tell:
        advice = settings.advise(
            host or settings.only_host(),
            question,
            again=again,
            at_question=lambda command: tell(f"asking `{command}`"),
        )
    if not apply or not advice.changes:
        problem = settings.remember_given(advice)
        console.say(advice_text(advice, problem=problem), advice_document(advice))
        return
    _apply(console, settings, advice, yes=yes)


def _apply(console: Console, settings: Settings, advice: Advice, *, yes: bool) -> None:
    import tempfile

    planned = settings.plan_change(advice, os.path.realpath(tempfile.gettempdir()))
    try:
        text, document = advice_text(advice, planned), planned_document(advice, planned)
        ask_with(console, text, document, "Make these changes?", yes=yes)
    except NotConfirmed:
        if can_ask():
            settings.remember_declined(advice)
        raise
    with showing_differences(console), progress("settings made") as tell:
        applied = settings.apply(advice, planned, tell)
    rollback = applied.made.rollback_command
    try:
        problem = settings.remember_change(advice, applied)
    except KeyboardInterrupt as interrupt:
        interrupt.add_note(f"The settings were already changed; `{rollback}` goes back")
        raise
    undo = settings.undo_help(advice.host)
    text = applied_text(advice, applied, undo, rollback=rollback, problem=problem)
    console.say(text, applied_document(advice, applied, problem=problem))


@config.command()
@_HOST
@click.option("--even-if-changed", is_flag=True, help="Also if the file has changed since")
@click.option("--forget", is_flag=True, help="Leave the file as it is, and forget the change")
@asking
@with_console
@_naming_hosts
def rollback(
    console: Console,
    host: str | None,
    even_if_changed: bool,
    forget: bool,
    dry_run: bool,
    yes: bool,
) -> None:
    """Restore a HOST's settings from before the newest change

    Restores the same bytes, also after an interrupted change. Leaves a file alone that somebody
    changed since, except with --even-if-changed, which keeps the replaced content beside the file.
    If the backup is gone, --forget ends the change.

    Hosts: {hosts}.

    Example: `gitguard config rollback --dry-run`
    """
    settings = console.anywhere.settings
    if forget:
        _forget(console, settings, host or "", dry_run=dry_run, yes=yes)
    else:
        _roll_back(console, settings, host or "", even_if_changed, dry_run=dry_run, yes=yes)


def _roll_back(
    console: Console,
    settings: Settings,
    host: str,
    even_if_changed: bool,
    *,
    dry_run: bool,
    yes: bool,
) -> None:
    planned = settings.plan_rollback(host)
    redactor = settings.redactor
    text, document = rollback_text(planned, redactor), rollback_outcome(planned, redactor)
    if dry_run:
        console.say(text, document)
        return
    with showing_differences(console):
        settings.refuse_moved(planned, even_if_moved=even_if_changed)
    ask_with(console, text, document, "Put it back?", yes=yes)
    with showing_differences(console):
        replaced = settings.roll_back(planned, even_if_moved=even_if_changed)
    problem = settings.remember_rollback(planned.made)
    undo = settings.undo_help(planned.made.host)
    text = rolled_back_text(planned, replaced, undo, problem=problem)
    document = {
        **rollback_outcome(planned, redactor, replaced, problem=problem),
        "rolled_back": True,
    }
    console.say(text, document)


def _forget(console: Console, settings: Settings, host: str, *, dry_run: bool, yes: bool) -> None:
    change = settings.newest_change(host)
    text, document = forgetting_text(change), {"change": change, "forgotten": False}
    if not dry_run:
        ask_with(console, text, document, "Forget it?", yes=yes)
        settings.forget_change(change)
        text, document["forgotten"] = "Forgotten.", True
    console.say(text, document)


def _newest_conversation(console: Console) -> Profiled | None:
    """Return the session's newest conversation taken apart, None where there is none to read."""
    try:
        return console.anywhere.profile.of(TranscriptName().find(console))
    except GitguardError:
        return None


def ask_with(
    console: Console, text: str, document: dict[str, Any], question: str, *, yes: bool
) -> None:
    """Show what would be done and ask; programs see it in the outcome, and are not asked."""
    if console.as_json:
        if not yes:
            console.say(
                text,
                document,
                NotConfirmed("nothing was changed: --json never prompts", "Use --yes"),
            )
        return
    click.echo(printable(text))
    confirm(question, yes=yes)


@contextmanager
def showing_differences(console: Console) -> Iterator[None]:
    """Print the difference that an error knows of before it ends the command."""
    try:
        yield
    except SettingsMoved as error:
        difference = console.anywhere.settings.redactor.text(error.difference)
        console.say(difference.rstrip("\n"), {"difference": difference}, error)


COMMANDS: list[click.Command] = [config]
