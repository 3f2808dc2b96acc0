"""Commands about checkpoints, from taking one to adopting somebody else's."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import click

from gitguard.cli.console import Console, confirm, with_console
from gitguard.cli.state import raise_pending, saved_text
from gitguard.cli.surroundings import refuse_agents
from gitguard.model.checkpoint import SNAPSHOT_FILE, STATE_FILE, SUMMARY_FILE
from gitguard.review.history import compare_states

if TYPE_CHECKING:
    from gitguard.recovery.restore import Change

_FILES = {"state": STATE_FILE, "summary": SUMMARY_FILE, "snapshot": SNAPSHOT_FILE}


@click.command()
@click.option("-m", "--message", default="Asked for.", metavar="TEXT", help="Why it is taken")
@with_console
def checkpoint(console: Console, message: str) -> None:
    """Commit state, summary and snapshot to the session's branch"""
    saved = console.guard.checkpoint(message)
    console.say(saved_text(saved), {"saved": saved})
    raise_pending(saved)


@click.command()
@click.option("-n", "--most", type=click.IntRange(1), default=20, metavar="N", help="How many")
@with_console
def log(console: Console, most: int) -> None:
    """List the newest checkpoints, newest first"""
    found = console.guard.log(most)
    lines = [
        f"{c.name}  {c.id[:12]}  {time.strftime('%Y-%m-%d %H:%M', time.gmtime(c.at))}  "
        f"{c.trigger:18} {c.subject.partition(': ')[2]}"
        for c in found
    ]
    console.say("\n".join(lines) or "No checkpoints.", {"checkpoints": found})


@click.command()
@click.argument("what", type=click.Choice(list(_FILES)), default="state")
@click.argument("checkpoint", default="")
@with_console
def show(console: Console, what: str, checkpoint: str) -> None:
    """Print state, summary or snapshot, of now or of a CHECKPOINT

    CHECKPOINT is a number, a name such as cp_003, or a commit id.
    """
    text = console.guard.show(_FILES[what], checkpoint).decode("utf-8", "replace")
    console.say(text.rstrip("\n"), {"what": what, "checkpoint": checkpoint, "text": text})


@click.command()
@click.argument("older", default="")
@click.argument("newer", default="")
@click.option("--text", "with_text", is_flag=True, help="Compare the summaries line by line too")
@with_console
def diff(console: Console, older: str, newer: str, with_text: bool) -> None:
    """Compare two checkpoints field by field

    Without arguments, the newest checkpoint with the state as it is now.
    """
    found = console.guard.diff(older, newer)
    lines = [line for change in found.changes for line in change.lines()]
    if with_text and found.summary:
        lines.append(found.summary.rstrip())
    document = {name: getattr(found, name) for name in found.field_names}
    console.say("\n".join(lines) or "No difference.", document)


@click.command()
@click.argument("checkpoint")
@click.option("--dry-run", is_flag=True, help="Show what would change, and stop")
@click.option("-y", "--yes", is_flag=True, help="Do not ask")
@with_console
def restore(console: Console, checkpoint: str, dry_run: bool, yes: bool) -> None:
    """Make the state of an earlier CHECKPOINT the newest

    The state of now is checkpointed first; the files of your worktree stay as they are.
    """
    plan = console.guard.restore(checkpoint, dry_run=True)
    if _may_go_on(console, plan, "Restore this state?", dry_run=dry_run, yes=yes):
        _say_changed(console, console.guard.restore(checkpoint))


@click.command()
@click.option("--dry-run", is_flag=True, help="Show what would change, and stop")
@click.option("-y", "--yes", is_flag=True, help="Do not ask")
@with_console
def accept(console: Console, dry_run: bool, yes: bool) -> None:
    """Take a `state.json` that somebody edited by hand

    For humans: hooks refuse it to agents.
    """
    plan = console.guard.accept(dry_run=True)
    if not dry_run:
        refuse_agents("accept")
    if _may_go_on(console, plan, "Take this state?", dry_run=dry_run, yes=yes):
        _say_changed(console, console.guard.accept())


@click.command()
@click.option("--head", default="", metavar="ID", help="The head you looked at")
@click.option("--forget", is_flag=True, help="Set this machine's anchor of the session aside")
@click.option("--dry-run", is_flag=True, help="Show what would change, and stop")
@click.option("-y", "--yes", is_flag=True, help="Do not ask")
@with_console
def trust(console: Console, head: str, forget: bool, dry_run: bool, yes: bool) -> None:
    """Adopt a session branch that this machine did not write

    For humans: hooks refuse it to agents. Nothing is lost: an own head or state that differs is
    kept under `refs/gitguard/archive/`.
    """
    if not dry_run:
        refuse_agents("trust")
    if forget:
        said = console.guard.forget()
        console.say(f"Done: {said}.", {"done": [said]})
        return
    plan = console.guard.trust(head, dry_run=True)
    if _may_go_on(console, plan, "Trust this history?", dry_run=dry_run, yes=yes):
        _say_changed(console, console.guard.trust(head))


@click.command()
@click.option("--take", is_flag=True, help="Adopt a head that somebody else put on top of ours")
@with_console
def recover(console: Console, take: bool) -> None:
    """Repair a missing or broken state, summary or branch

    Bad files are archived, never deleted; the newest good copy comes back.
    """
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


def _may_go_on(console: Console, plan: Change, question: str, *, dry_run: bool, yes: bool) -> bool:
    changes = compare_states(plan.before, plan.after)
    lines = [line for change in changes for line in change.lines()] or ["The state stays the same."]
    if plan.checkpoint is not None:
        lines.insert(
            0, f"{plan.checkpoint.name} {plan.checkpoint.id[:12]}: {plan.checkpoint.subject}"
        )
    if dry_run or not console.as_json:
        console.say("\n".join(lines), {"checkpoint": plan.checkpoint, "changes": list(changes)})
    if dry_run:
        return False
    if not confirm(question, yes=yes):
        raise click.UsageError("nothing was changed; say --yes to go on")
    return True


def _say_changed(console: Console, change: Change) -> None:
    lines = [f"Done: {note}." for note in change.notes]
    if change.saved is not None:
        lines.append(saved_text(change.saved))
    document = {"notes": list(change.notes), "saved": change.saved, "state": change.after}
    console.say("\n".join(lines) or "Done.", document)
    raise_pending(change.saved)


COMMANDS: list[click.Command] = [
    checkpoint,
    log,
    show,
    diff,
    restore,
    recover,
    accept,
    trust,
    migrate,
]
