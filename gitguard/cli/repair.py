"""The command that repairs a session: it shows each change and asks first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from gitguard.cli.changed_state import ask_about, say_changed, show_plan
from gitguard.cli.console import Console, asking, can_ask, confirm, fields_of, named, with_console
from gitguard.cli.notes import saved_text
from gitguard.cli.process_environment import refuse_agents
from gitguard.cli.settling import say_settled
from gitguard.errors import InvalidInput, NotConfirmed
from gitguard.model.text import one_line
from gitguard.sessions.diagnosis import (
    ACCEPT,
    ARCHIVE_THEIRS,
    FORGET,
    FORK,
    LOCAL,
    TAKE_THEIRS,
    TRUST,
    Problem,
    Way,
)
from gitguard.store.session.workspace import Session

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from gitguard.guard import Guard

_FOR_AGENTS = (
    "Run it in your own terminal; an agent may run `gitguard repair --dry-run` and "
    "`gitguard repair --local`"
)


@click.command()
@click.option("--local", is_flag=True, help="Archive the bad file; take this machine's own copy")
@click.option("--accept", is_flag=True, help="Take a `state.json` that was edited by hand")
@click.option("--trust", is_flag=True, help="Take a branch that this machine did not write")
@click.option("--take-theirs", is_flag=True, help="Take what somebody else committed; archive ours")
@click.option("--archive-theirs", is_flag=True, help="Archive what is not ours; put ours back")
@click.option(
    "--fork",
    metavar="NAME",
    default=None,
    callback=named,
    help="Continue with our state as a new session",
)
@click.option("--forget", is_flag=True, help="Forget that this machine wrote the branch")
@click.option(
    "--head", metavar="ID", default="", help="The commit you looked at, to trust or to take"
)
@asking
@with_console
def repair(console: Console, fork: str, head: str, dry_run: bool, yes: bool, **ways: bool) -> None:
    """Find out what is wrong with the session, and repair it

    Names each problem and each way out, with what that way keeps and loses, then asks which one
    to take. Without a terminal it lists the ways as commands. Nothing is deleted: what a way
    replaces is archived. An agent may run only `--dry-run` and `--local`.

    Example: `gitguard repair --dry-run`
    """
    options = [f"--{name.replace('_', '-')}" for name, is_set in ways.items() if is_set]
    options += [FORK] if fork else []
    if len(options) > 1:
        raise click.UsageError(f"{' and '.join(options)} are different ways; name one")
    if head and not {TRUST, TAKE_THEIRS}.intersection(options):
        raise click.UsageError("--head requires --trust or --take-theirs")
    if options != [LOCAL] and not (dry_run and not options):
        refuse_agents(f"repair {' '.join(options)}".strip(), _FOR_AGENTS)
    if options:
        _go(console, options[0], head, fork, dry_run=dry_run, yes=yes)
        return
    way = _choose(console, dry_run=dry_run, yes=yes)
    if way is not None:
        _go_chosen(console, way)


def _choose(console: Console, *, dry_run: bool, yes: bool) -> Way | None:
    """Show what is wrong and let a person choose; None where there is nothing to do."""
    if yes:
        raise click.UsageError("--yes needs a way, such as --local")
    problems = console.guard.diagnose()
    ways = [way for problem in problems for way in problem.ways]
    refusal = None
    if problems and not dry_run and not can_ask():
        refusal = _no_terminal(ways)
    _show_problems(console, problems, refusal)
    if dry_run or not problems:
        return None
    numbers = [str(number) for number in range(len(ways) + 1)]
    number = click.prompt(
        "Which one? 0 changes nothing", type=click.Choice(numbers), default="0", show_choices=False
    )
    if number == "0":
        console.say("Nothing was changed.", {})
        return None
    return ways[int(number) - 1]


def _no_terminal(ways: list[Way]) -> NotConfirmed:
    commands = ", ".join(f"`{way.command}`" for way in ways)
    choice = "it" if len(ways) == 1 else "one of these"
    return NotConfirmed(
        "nothing was changed: gitguard cannot ask which way to take without a terminal",
        f"Run {choice} in a terminal, or with --yes: {commands}" if ways else "",
    )


def _described(problems: tuple[Problem, ...]) -> Iterator[str]:
    number = 0
    for problem in problems:
        yield one_line(f"{problem.what[:1].upper()}{problem.what[1:]}.")
        for way in problem.ways:
            number += 1
            yield f"  {number}. {way.does}"
            yield f"     keeps: {way.keeps}"
            if way.loses:
                yield f"     loses: {way.loses}"
            yield f"     `{way.command}`"


def _document(problem: Problem) -> dict[str, Any]:
    ways = [{**fields_of(way), "command": way.command} for way in problem.ways]
    return {"kind": problem.kind, "what": problem.what, "ways": ways}


def _go_chosen(console: Console, way: Way) -> None:
    if way.settles is not None:
        say_settled(console, console.guard.lanes.settle(*way.settles))
        return
    name = _ask_name(way)
    _go(console, way.option, way.head, name, dry_run=False, yes=False, is_shown=True)


def _ask_name(way: Way) -> str:
    return str(click.prompt("Name of the new session")) if way.option == FORK else ""


def _go(
    console: Console,
    way: str,
    head: str,
    fork: str,
    *,
    dry_run: bool,
    yes: bool,
    is_shown: bool = False,
) -> None:
    """Go one way, after showing what it changes and asking.

    is_shown is whether a person chose the way from a list that says what it keeps and loses.
    """
    if way == ACCEPT:
        _accept(console, dry_run=dry_run, yes=yes)
    elif way in (TRUST, TAKE_THEIRS):
        trust_branch(console, head, dry_run=dry_run, yes=yes)
    elif way == FORGET:
        _forget(console, dry_run=dry_run, yes=yes)
    else:
        _mend(console, way, fork, dry_run=dry_run, yes=yes, is_shown=is_shown)


def _mend(
    console: Console, way: str, fork: str, *, dry_run: bool, yes: bool, is_shown: bool
) -> None:
    """Go a way that has no change of the state to show, where a problem has it."""
    guard = console.guard
    problems = tuple(_with_way(problem, way) for problem in guard.diagnose())
    problems = tuple(problem for problem in problems if problem.ways)
    if not problems and way != LOCAL:
        raise InvalidInput(
            f"nothing is wrong that `{way}` would mend", "See `gitguard repair --dry-run`"
        )
    if dry_run or (way != LOCAL and not is_shown and not console.as_json):
        _show_problems(console, problems)
    if dry_run:
        return
    if way != LOCAL:
        confirm(f"Run `gitguard repair {way}`?", yes=yes)
    acts: dict[str, Callable[[], tuple[str, ...]]] = {
        LOCAL: guard.repair_local,
        ARCHIVE_THEIRS: guard.archive_theirs,
        FORK: lambda: _fork(guard, fork),
    }
    _say_done(console, acts[way]())


def _with_way(problem: Problem, way: str) -> Problem:
    return problem.replace(ways=tuple(w for w in problem.ways if w.option == way))


def _show_problems(
    console: Console, problems: tuple[Problem, ...], refusal: NotConfirmed | None = None
) -> None:
    text = "\n".join(_described(problems)) or "Nothing needs repair."
    console.say(text, {"problems": [_document(problem) for problem in problems]}, refusal)


def _fork(guard: Guard, name: str) -> tuple[str, ...]:
    saved = guard.sessions.fork(Session.of(name))
    return (f"went on as the session `{name}`; {saved_text(saved)}",)


def _say_done(console: Console, repairs: tuple[str, ...]) -> None:
    text = "\n".join(f"Done: {what}." for what in repairs) or "Nothing needed repair."
    console.say(text, {"done": list(repairs)})


def _accept(console: Console, *, dry_run: bool, yes: bool) -> None:
    plan = console.guard.accept(dry_run=True)
    if dry_run:
        show_plan(console, plan)
        return
    ask_about(console, plan, "Take this state?", yes=yes)
    say_changed(console, console.guard.accept(plan.sha256))


def trust_branch(console: Console, head: str, *, dry_run: bool, yes: bool) -> None:
    """Take a branch that this machine did not write, after showing what that changes."""
    plan = console.guard.trust(head, dry_run=True)
    if dry_run:
        show_plan(console, plan)
        return
    ask_about(console, plan, "Trust this history?", yes=yes)
    assert plan.checkpoint is not None
    say_changed(console, console.guard.trust(plan.checkpoint.id))


def _forget(console: Console, *, dry_run: bool, yes: bool) -> None:
    key = console.guard.any_session().key
    if dry_run:
        planned = f"would set this machine's anchor of `{key}` aside"
        console.say(f"It {planned}.", {"planned": planned})
        return
    confirm(f"Set this machine's anchor of `{key}` aside?", yes=yes)
    sentence = console.guard.forget()
    console.say(f"Done: {sentence}.", {"done": [sentence]})


COMMANDS: list[click.Command] = [repair]
