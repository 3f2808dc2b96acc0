"""Commands about a host's own settings: what suits the work, making it so, and going back."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from gitguard import hosts
from gitguard.cli import process_environment
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
from gitguard.cli.process_environment import places
from gitguard.cli.transcript_naming import config_of, find_transcript, transcripts_of
from gitguard.errors import GitguardError, NotARepository, NotConfirmed, SettingsMoved
from gitguard.hosts.adviser import find_adviser, only_host
from gitguard.model.config.config import SMALLEST_WINDOW
from gitguard.model.config.redaction import redactor_of
from gitguard.model.events import MOST_TOKENS
from gitguard.profile.habits import DECLINED, GIVEN
from gitguard.profile.patterns import PATTERNS
from gitguard.settings.figures import LONG

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gitguard.hosts.adviser import Adviser
    from gitguard.profile.learning import Past
    from gitguard.settings.advice import Advice, AdviceQuestion, Desk, ObservedWork


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


_HOST = click.argument("host", required=False, type=click.Choice(hosts.names(hosts.ADVICE)))


@config.command()
@_HOST
@click.option("--pattern", type=click.Choice(PATTERNS), help="The usage pattern")
@click.option(
    "--hours", type=float, default=0.0, help=f"Expected hours of work; more than {LONG:g} is long"
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

    Example: `gitguard config advise --pattern bursty`
    """
    from gitguard.settings.advice import AdviceQuestion
    from gitguard.settings.remembered_advice import remember_advice

    if yes and not apply:
        raise click.UsageError("--yes requires --apply")
    desk = open_desk(console)
    adviser = find_adviser(host or only_host(os.environ, desk.worktree))
    question = AdviceQuestion(pattern or "", hours, protect, window or 0, _newest_work(console))
    advice = _advice(console, desk, adviser, question, again=again)
    if not apply or not advice.changes:
        problem = remember_advice(desk, advice, GIVEN)
        console.say(advice_text(advice, problem=problem), advice_document(advice))
        return
    _apply(console, desk, adviser, advice, yes=yes)


def _advice(
    console: Console, desk: Desk, adviser: Adviser, question: AdviceQuestion, *, again: bool
) -> Advice:
    """Return advice by what past sessions tell, where there are any."""
    from gitguard.settings.advice import advise
    from gitguard.settings.remembered_advice import with_lessons

    past = _past_advice(console)
    if past is not None:
        question = question.replace(usual=past.habit.usual, why_usual=past.habit.why)
    with showing_differences(console, desk), activity() as tell:
        asking = desk.replace(at_question=lambda command: tell(f"asking `{command}`"))
        advice = advise(asking, adviser, question)
    return advice if past is None else with_lessons(advice, past, again=again)


def _apply(
    console: Console,
    desk: Desk,
    adviser: Adviser,
    advice: Advice,
    *,
    yes: bool,
) -> None:
    import tempfile

    from gitguard.settings.apply_advice import apply, plan_change
    from gitguard.settings.remembered_advice import remember_advice, remember_change
    from gitguard.settings.rollback_document import rollback_command

    folder = os.path.realpath(tempfile.gettempdir())
    planned = plan_change(desk, adviser, advice, folder)
    try:
        text, document = advice_text(advice, planned), planned_document(advice, planned)
        ask_with(console, text, document, "Make these changes?", yes=yes)
    except NotConfirmed:
        if can_ask():
            remember_advice(desk, advice, DECLINED)
        raise
    with showing_differences(console, desk), progress("settings made") as tell:
        applied = apply(desk, adviser, advice, planned, tell)
    try:
        problem = remember_change(desk, advice, applied)
    except KeyboardInterrupt as interrupt:
        back = rollback_command(applied.made)
        interrupt.add_note(f"The settings were changed by then; `{back}` goes back")
        raise
    text = applied_text(advice, applied, adviser.UNDO, problem=problem)
    console.say(text, applied_document(advice, applied, problem=problem))


@config.command()
@_HOST
@click.option("--even-if-changed", is_flag=True, help="Also if the file has changed since")
@click.option("--forget", is_flag=True, help="Leave the file as it is, and forget the change")
@asking
@with_console
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

    Example: `gitguard config rollback --dry-run`
    """
    desk = open_desk(console)
    if forget:
        _forget(console, desk, host or "", dry_run=dry_run, yes=yes)
    else:
        _roll_back(console, desk, host or "", even_if_changed, dry_run=dry_run, yes=yes)


def _roll_back(
    console: Console, desk: Desk, host: str, even_if_changed: bool, *, dry_run: bool, yes: bool
) -> None:
    from gitguard.settings.remembered_advice import remember_rollback
    from gitguard.settings.rollback import plan_rollback, refuse_moved_since, roll_back

    planned = plan_rollback(desk, host)
    redactor = redactor_of(desk.config.redaction)
    text, document = rollback_text(planned, redactor), rollback_outcome(planned, redactor)
    if dry_run:
        console.say(text, document)
        return
    with showing_differences(console, desk):
        refuse_moved_since(planned, even_if_moved=even_if_changed)
    ask_with(console, text, document, "Put it back?", yes=yes)
    with showing_differences(console, desk):
        kept = roll_back(desk, planned, even_if_moved=even_if_changed)
    problem = remember_rollback(desk, planned.made)
    text = rolled_back_text(planned, kept, find_adviser(planned.made.host).UNDO, problem=problem)
    document = {**rollback_outcome(planned, redactor, kept, problem=problem), "rolled_back": True}
    console.say(text, document)


def _forget(console: Console, desk: Desk, host: str, *, dry_run: bool, yes: bool) -> None:
    from gitguard.settings.rollback import forget, newest_change

    made = newest_change(desk, host)
    text, document = forgetting_text(made), {"change": made, "forgotten": False}
    if not dry_run:
        ask_with(console, text, document, "Forget it?", yes=yes)
        forget(desk, made)
        text, document["forgotten"] = "Forgotten.", True
    console.say(text, document)


def open_desk(console: Console) -> Desk:
    """Return where advice is given: in the project, or outside of one for the user alone."""
    from gitguard.settings.advice import Desk
    from gitguard.store.session.settings_files import load_user_config

    try:
        guard = console.guard
    except NotARepository:
        own = places(os.environ)
        return Desk(
            own, load_user_config(own.config_home, own.state_home), process_environment.clock
        )
    workspace, place = guard.workspace, guard.workspace.place
    try:
        store = guard.store()
    except GitguardError:
        store = None
    return Desk(
        workspace.places,
        guard.config,
        guard.clock,
        place.worktree,
        place.common_dir,
        workspace.state_folder,
        store,
    )


def _past_advice(console: Console) -> Past | None:
    """Return what was advised before in this repository, None outside of one."""
    try:
        guard = console.guard
    except NotARepository:
        return None
    return guard.past_advice()


def _newest_work(console: Console) -> ObservedWork | None:
    """Return what the session's newest conversation shows, None where there is none to read."""
    from gitguard.profile.profiling import profile_of
    from gitguard.settings.advice import work_of

    try:
        named = find_transcript(console, None)
        config, known = config_of(console), transcripts_of(console).known(named)
        return work_of(profile_of(named, config, redactor_of(config.redaction), known=known))
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
def showing_differences(console: Console, desk: Desk) -> Iterator[None]:
    """Print the difference that an error knows of before it ends the command."""
    try:
        yield
    except SettingsMoved as error:
        difference = redactor_of(desk.config.redaction).text(error.difference)
        console.say(difference.rstrip("\n"), {"difference": difference}, error)


COMMANDS: list[click.Command] = [config]
