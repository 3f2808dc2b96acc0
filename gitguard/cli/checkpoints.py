"""Commands about checkpoints: take one, list, show and compare them."""

from __future__ import annotations

import click

from gitguard.cli.console import Console, fields_of, with_console
from gitguard.cli.notes import pending, saved_text
from gitguard.model.checkpoint import SNAPSHOT_FILE
from gitguard.model.codec import STATE_FILE, SUMMARY_FILE
from gitguard.model.text import timestamp

_FILES = {"state": STATE_FILE, "summary": SUMMARY_FILE, "snapshot": SNAPSHOT_FILE}


@click.command()
@click.option("-m", "--message", default="Asked for.", metavar="TEXT", help="Why it is taken")
@with_console
def checkpoint(console: Console, message: str) -> None:
    """Commit state, summary and snapshot to the session's branch"""
    saved = console.guard.checkpoint(message)
    console.say(saved_text(saved), {"saved": saved}, pending(saved))


@click.command()
@click.option("-n", "--most", type=click.IntRange(1), default=20, metavar="N", help="How many")
@with_console
def log(console: Console, most: int) -> None:
    """List the newest checkpoints, newest first"""
    found = console.guard.log(most)
    lines = [
        f"{c.name}  {c.id[:12]}  {timestamp(c.at)}  {c.trigger:18}  {c.subject.partition(': ')[2]}"
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
    document = fields_of(found)
    console.say("\n".join(lines) or "No difference.", document)


COMMANDS: list[click.Command] = [checkpoint, log, show, diff]
