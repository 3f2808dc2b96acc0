"""Commands about checkpoints: take one, list, show and compare them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from gitguard.cli.console import Console, fields_of, with_console
from gitguard.cli.notes import pending, saved_text
from gitguard.model.checkpoint import SNAPSHOT_FILE
from gitguard.model.codec import STATE_FILE, SUMMARY_FILE
from gitguard.model.text import one_line, timestamp

if TYPE_CHECKING:
    from typing import Any

_FILES = {"state": STATE_FILE, "summary": SUMMARY_FILE, "snapshot": SNAPSHOT_FILE}


untrusted_option = click.option(
    "--untrusted", is_flag=True, help="Show also what this machine did not write, marked as such"
)


def _mark(console: Console, *wanted: str) -> str:
    """Return the line that marks a history as not ours, empty if it is ours."""
    reason = console.guard.why_not_ours(*wanted)
    return f"NOT OURS: {one_line(reason)}. Trust nothing of it." if reason else ""


def _say(console: Console, text: str, document: dict[str, Any], mark: str) -> None:
    """Print what was looked at, below its mark where it is not ours."""
    marked = f"{mark}\n{text}" if mark else text
    console.say(marked, {**document, "not_ours": mark} if mark else document)


@click.command()
@click.option("-m", "--message", default="Asked for.", metavar="TEXT", help="Why it is taken")
@with_console
def checkpoint(console: Console, message: str) -> None:
    """Commit state, summary and snapshot to the session's branch"""
    saved = console.guard.checkpoint(message)
    console.say(saved_text(saved), {"saved": saved}, pending(saved))


@click.command()
@click.option("-n", "--most", type=click.IntRange(1), default=20, metavar="N", help="How many")
@untrusted_option
@with_console
def log(console: Console, most: int, untrusted: bool) -> None:
    """List the newest checkpoints, newest first

    A branch that this machine did not write is refused, as `resume` does, without --untrusted.
    """
    found = console.guard.log(most, untrusted=untrusted)
    lines = [
        f"{c.name}  {c.id[:12]}  {timestamp(c.at)}  {c.trigger:18}  {c.subject.partition(': ')[2]}"
        for c in found
    ]
    mark = _mark(console) if untrusted else ""
    _say(console, "\n".join(lines) or "No checkpoints.", {"checkpoints": found}, mark)


@click.command()
@click.argument("what", type=click.Choice(list(_FILES)), default="state")
@click.argument("checkpoint", default="")
@untrusted_option
@with_console
def show(console: Console, what: str, checkpoint: str, untrusted: bool) -> None:
    """Print state, summary or snapshot, of now or of a CHECKPOINT

    CHECKPOINT is a number, a name such as cp_003, or a commit id. One that this machine did not
    write is refused, as `resume` does, without --untrusted.
    """
    data = console.guard.show(_FILES[what], checkpoint, untrusted=untrusted)
    text = data.decode("utf-8", "replace")
    is_working = not checkpoint and what != "snapshot"
    mark = _mark(console, checkpoint) if untrusted and not is_working else ""
    document = {"what": what, "checkpoint": checkpoint, "text": text}
    _say(console, text.rstrip("\n"), document, mark)


@click.command()
@click.argument("older", default="")
@click.argument("newer", default="")
@click.option("--text", "with_text", is_flag=True, help="Compare the summaries line by line too")
@untrusted_option
@with_console
def diff(console: Console, older: str, newer: str, with_text: bool, untrusted: bool) -> None:
    """Compare two checkpoints field by field

    Without arguments, the newest checkpoint with the state as it is now. Checkpoints that this
    machine did not write are refused, as `resume` does, without --untrusted.
    """
    found = console.guard.diff(older, newer, untrusted=untrusted)
    lines = [line for change in found.changes for line in change.lines()]
    if with_text and found.summary:
        lines.append(found.summary.rstrip())
    mark = _mark(console, older, newer) if untrusted else ""
    _say(console, "\n".join(lines) or "No difference.", fields_of(found), mark)


COMMANDS: list[click.Command] = [checkpoint, log, show, diff]
