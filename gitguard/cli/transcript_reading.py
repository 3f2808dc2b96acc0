"""Commands that read a conversation and leave it as it is."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import click

from gitguard.cli.console import Console, with_console
from gitguard.cli.transcript_naming import config_of, find_transcript, naming_a_transcript
from gitguard.model.text import one_line

if TYPE_CHECKING:
    from gitguard.usecases.conversations import Usage


@click.command()
@naming_a_transcript
@click.option("--model", default="", metavar="NAME", help="Where the transcript names none")
@with_console
def usage(console: Console, path: str, format_name: str, conversation: str, model: str) -> None:
    """Show how full a conversation's context is

    Tokens as its model last counted them, the window and where its size comes from, and the
    compactions so far. Nothing is estimated: where nothing was measured since a compaction, it says
    so.
    """
    from gitguard.usecases.conversations import usage_of

    named = find_transcript(console, path, format_name, conversation)
    found = usage_of(named, config_of(console), model=model)
    document = {name: getattr(found, name) for name in found.field_names}
    console.say(_usage_text(found), document)


def _usage_text(found: Usage) -> str:
    if found.tokens is None:
        lines = ["Tokens: not measured since the last compaction, or never"]
    else:
        share = f"{found.pressure or 0:.1%} of the window"
        left = ", as the compaction left them" * (found.source == "compaction")
        lines = [f"Tokens: {found.tokens:,}, {share}{left}"]
        lines.append(f"Measured: {_moment(found.at)} by {found.model or 'an unnamed model'}")
    lines.append(f"Window: {found.window:,} ({found.window_source})")
    newest = f", the newest {_moment(found.compacted_at)}" * bool(found.compacted_at)
    lines.append(f"Compactions: {found.compactions}{newest}")
    lines.append(f"Transcript: {found.transcript.path} ({found.transcript.format})")
    return "\n".join(map(one_line, lines))


def _moment(at: float) -> str:
    try:
        return time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(at))
    except (ValueError, OverflowError, OSError):
        return "at an unknown time"


COMMANDS: list[click.Command] = [usage]
