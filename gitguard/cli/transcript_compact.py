"""The command that compacts a conversation."""

from __future__ import annotations

import os
import random
import time
from typing import TYPE_CHECKING

import click

from gitguard.cli.console import Console, fields_of, progress, with_console
from gitguard.cli.transcript_naming import MOST_TURNS, TranscriptName, naming_a_transcript
from gitguard.model.config.config import SMALLEST_WINDOW
from gitguard.model.events import MOST_TOKENS
from gitguard.model.text import counted, one_line

if TYPE_CHECKING:
    from gitguard.compaction.compacting import Compacted


_AUTHORS = {
    "command": "by your summarizer",
    "in part": "by your summarizer in part, mechanically in part",
    "mechanical": "mechanically",
}
"""Who summarized, in words."""


@click.command()
@naming_a_transcript
@click.option(
    "--keep-turns",
    type=click.IntRange(1, MOST_TURNS),
    metavar="N",
    help="How many last turns to keep; by default `compaction.keep_turns`",
)
@click.option(
    "--window",
    type=click.IntRange(SMALLEST_WINDOW, MOST_TOKENS),
    metavar="TOKENS",
    help="Size of the window; by default as `transcript usage` shows it",
)
@click.option("--mechanical", is_flag=True, help="Do not ask the configured summarizer")
@click.option("--dry-run", is_flag=True, help="Show the summary and what would change, and stop")
@with_console
def compact(
    console: Console,
    name: TranscriptName,
    keep_turns: int | None,
    window: int | None,
    mechanical: bool,
    dry_run: bool,
) -> None:
    """Replace a conversation's older turns by a summary

    Keeps the last turns word for word and removes nothing from the file: it appends the summary as
    the host would, and the host continues from there when you resume. End the conversation first.
    The summary needs no model; it holds the main points, the session's state with its decisions,
    failed tool calls, files, and the workspace's rules. `summarizer` in your own config.yaml names
    a command to ask instead. gitguard checkpoints the session before and after.

    Example: `gitguard transcript compact --keep-turns 4 --dry-run`
    """
    from gitguard.compaction.with_session import Asking, Surroundings

    named = name.find(console)
    opened = console.guard if console.named_session else console.anywhere
    asking = Asking(
        os.environ, time.monotonic, time.sleep, chance=random.random, complain=_say_trying
    )
    given = Surroundings(os.urandom, None if mechanical else asking)
    with progress("bytes") as tell_read, progress("parts") as tell:
        if not console.as_json:
            given = given.replace(tell=tell, tell_read=tell_read)
        compacted = opened.transcripts.compact(
            named, given, keep_turns=keep_turns or 0, window=window or 0, dry_run=dry_run
        )
    console.say(_text(compacted), fields_of(compacted))


def _say_trying(what: str) -> None:
    click.echo(f"summarizer: {one_line(what)}", err=True)


def _text(compacted: Compacted) -> str:
    measured = "" if compacted.measured is None else f" (the host measured {compacted.measured:,})"
    lines = [
        _repaired_text(compacted) if compacted.repaired else "",
        f"Messages: {compacted.messages_before:,} before, {compacted.messages_after:,} after",
        f"Tokens: about {compacted.tokens_before:,} before{measured}, "
        f"about {compacted.tokens_after:,} after, of a window of {compacted.window:,}",
        _left_out_text(compacted) if compacted.left_out else "",
        "The first kept turn was split: its beginning is summarized."
        if compacted.splits_turn
        else "",
        *(f"The summarizer did not answer: {complaint}" for complaint in compacted.complaints),
        f"Summary: {len(compacted.summary):,} characters, {_AUTHORS[compacted.summarized_by]}",
        *(f"Note: {note}" for note in compacted.notes),
        f"Session: {compacted.session}"
        if compacted.session
        else "The conversation belongs to no session here, so gitguard took no checkpoint.",
    ]
    shown = [one_line(line) for line in lines if line]
    if compacted.added:
        return "\n".join(
            [*shown, f"Added: {compacted.added:,} bytes to {compacted.transcript.path}"]
        )
    return "\n".join([*shown, "Nothing was changed.", "", compacted.summary])


def _left_out_text(compacted: Compacted) -> str:
    limit = (
        f" of {counted(compacted.limit.turns, 'turn')} ({compacted.limit.source})"
        if compacted.limit
        else ""
    )
    return (
        f"Left out: {counted(compacted.left_out, 'older turn')}, dropped by the history "
        f"limit{limit}; the file keeps them"
    )


def _repaired_text(compacted: Compacted) -> str:
    counts = ", ".join(f"{kind} {count:,}" for kind, count in compacted.repaired.items())
    if compacted.added:
        return f"Repaired first: {counts}; the original is `{compacted.backup}`"
    return f"To repair first: {counts}; the figures below count the repaired conversation"


COMMANDS: list[click.Command] = [compact]
