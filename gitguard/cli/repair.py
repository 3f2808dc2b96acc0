"""Commands that repair, and that change course: each shows its change and asks before it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from gitguard.cli.console import Console, asking, confirm, with_console
from gitguard.cli.notes import pending, saved_text
from gitguard.cli.surroundings import refuse_agents
from gitguard.model.text import one_line
from gitguard.review.history import compare_states

if TYPE_CHECKING:
    from gitguard.recovery.restore import StateChange


@click.command()
@click.argument("checkpoint")
@click.option(
    "--untrusted", is_flag=True, help="Take also what is kept aside and may be somebody else's"
)
@asking
@with_console
def restore(console: Console, checkpoint: str, untrusted: bool, dry_run: bool, yes: bool) -> None:
    """Make the state of an earlier CHECKPOINT the newest

    The state of now is checkpointed first; the files of your worktree stay as they are. Only a
    person may take one --untrusted.
    """
    if untrusted:
        refuse_agents("restore --untrusted")
    plan = console.guard.restore(checkpoint, dry_run=True, untrusted=untrusted)
    if dry_run:
        _show_plan(console, plan)
        return
    _ask(console, plan, "Restore this state?", yes=yes)
    _say_changed(console, console.guard.restore(checkpoint, untrusted=untrusted))


@click.command()
@asking
@with_console
def accept(console: Console, dry_run: bool, yes: bool) -> None:
    """Take a `state.json` that somebody edited by hand

    For humans: hooks refuse it to agents.
    """
    plan = console.guard.accept(dry_run=True)
    if dry_run:
        _show_plan(console, plan)
        return
    refuse_agents("accept")
    _ask(console, plan, "Take this state?", yes=yes)
    _say_changed(console, console.guard.accept(plan.sha256))


@click.command()
@click.option("--head", default="", metavar="ID", help="The head you looked at")
@click.option("--forget", is_flag=True, help="Set this machine's anchor of the session aside")
@asking
@with_console
def trust(console: Console, head: str, forget: bool, dry_run: bool, yes: bool) -> None:
    """Adopt a session branch that this machine did not write

    For humans: hooks refuse it to agents. Nothing is lost: an own head or state that differs is
    kept under `refs/gitguard/archive/`.
    """
    if forget:
        _forget(console, dry_run=dry_run, yes=yes)
        return
    plan = console.guard.trust(head, dry_run=True)
    if dry_run:
        _show_plan(console, plan)
        return
    refuse_agents("trust")
    _ask(console, plan, "Trust this history?", yes=yes)
    assert plan.checkpoint is not None
    _say_changed(console, console.guard.trust(plan.checkpoint.id))


def _forget(console: Console, *, dry_run: bool, yes: bool) -> None:
    key = console.guard.any_session().key
    if dry_run:
        planned = f"would set this machine's anchor of `{key}` aside"
        console.say(f"It {planned}.", {"planned": planned})
        return
    refuse_agents("trust")
    confirm(f"Set this machine's anchor of `{key}` aside?", yes=yes)
    said = console.guard.forget()
    console.say(f"Done: {said}.", {"done": [said]})


@click.command()
@click.option("--take", is_flag=True, help="Adopt a head that somebody else put on top of ours")
@with_console
def recover(console: Console, take: bool) -> None:
    """Repair a missing or broken state, summary or branch

    Bad files are archived, never deleted; the newest good copy comes back.
    """
    if take:
        refuse_agents("recover --take")
    done = console.guard.recover(take=take)
    text = "\n".join(f"Done: {what}." for what in done) or "Nothing needed repair."
    console.say(text, {"done": list(done)})


@click.command()
@with_console
def migrate(console: Console) -> None:
    """Archive task state of other tools, so that gitguard can begin

    Nothing is deleted or converted; what was found is moved under `.gitguard/archive/`.
    """
    moved = console.guard.migrate()
    lines = [f"`{old}` is now `{new}`" for old, new in moved.items()]
    console.say("\n".join(lines) or "There was nothing to archive.", {"archived": moved})


def _show_plan(console: Console, plan: StateChange) -> None:
    changes = compare_states(plan.before, plan.after)
    told = [change for change in changes if not change.is_empty]
    lines = [line for change in told for line in change.lines()] or ["The state stays the same."]
    if plan.checkpoint is not None:
        shown = plan.checkpoint
        lines.insert(0, f"{shown.name} {shown.id[:12]}: {shown.subject}")
    console.say("\n".join(lines), {"checkpoint": plan.checkpoint, "changes": list(changes)})


def _ask(console: Console, plan: StateChange, question: str, *, yes: bool) -> None:
    """Show a change to people and ask; a program that says --json reads the outcome only."""
    if not console.as_json:
        _show_plan(console, plan)
    confirm(question, yes=yes)


def _say_changed(console: Console, change: StateChange) -> None:
    lines = [one_line(f"Done: {note}.") for note in change.notes]
    if change.saved is not None:
        lines.append(saved_text(change.saved))
    document = {"notes": list(change.notes), "saved": change.saved, "state": change.after}
    console.say("\n".join(lines) or "Done.", document, pending(change.saved))


COMMANDS: list[click.Command] = [restore, accept, trust, recover, migrate]
