"""Commands that read a conversation and leave it as it is."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from gitguard.cli.console import Console, fields_of, named, printable, progress, with_console
from gitguard.cli.transcript_naming import (
    MOST_TURNS,
    TranscriptName,
    naming_a_model,
    naming_a_transcript,
)
from gitguard.errors import InvalidInput, NotWritable
from gitguard.model.text import local_times, one_line, spelled_out, timestamp

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from gitguard.pressure.usage import Usage

    Put = Callable[[bytes], object]


def choosing_entries(command: Any) -> Any:
    """Give a command the options that say how much of a conversation is wanted."""
    for option in (
        click.option(
            "--sub-agents", "asides", is_flag=True, help="Sub-agents' parts too, if in the file"
        ),
        click.option("--no-thinking", is_flag=True, help="Leave the model's thinking out"),
        click.option(
            "--last-turns",
            default=0,
            type=click.IntRange(0, MOST_TURNS),
            metavar="N",
            help="Only the user's last N turns and what follows them",
        ),
    ):
        command = option(command)
    return command


@click.command()
@naming_a_transcript
@naming_a_model
@with_console
def usage(console: Console, name: TranscriptName, model: str) -> None:
    """Show how full a conversation's context is

    Tokens as the model last counted them, the window and the source of its size, and the
    compactions. Estimates nothing: it says so if nothing was measured since a compaction.

    Example: `gitguard transcript usage session.jsonl`
    """
    talk = name.find(console)
    measured = console.anywhere.transcripts.usage(talk, model=model)
    document = fields_of(measured)
    console.say(_usage_text(measured), document)


@click.command()
@naming_a_transcript
@choosing_entries
@click.option("--full", is_flag=True, help="Show whole tool calls and results")
@with_console
def show(console: Console, name: TranscriptName, **options: Any) -> None:
    """Show a conversation for reading

    Messages, tool calls (→) and their results (←), compactions, and lines that do not parse. Cuts
    long calls and results in the middle.

    Example: `gitguard transcript show session.jsonl --last-turns 3`
    """
    is_whole = options.pop("full")
    wishes = _wishes(**options)
    talk = name.find(console)
    if console.as_json:
        console.say("", console.anywhere.transcripts.document(talk, wishes))
        return
    for paragraph in console.anywhere.transcripts.paragraphs(talk, wishes, whole=is_whole):
        click.echo(printable(paragraph))


@click.command()
@naming_a_transcript
@choosing_entries
@click.option(
    "--as",
    "kind",
    default="jsonl",
    type=click.Choice(["jsonl", "markdown", "host"]),
    help="JSON lines for programs (default), a page for people, or the host's own lines",
)
@click.option("--redact", is_flag=True, help="Remove what looks like a secret")
@click.option(
    "-o", "--output", callback=named, type=click.Path(), metavar="FILE", help="New file to write"
)
@with_console
def export(console: Console, name: TranscriptName, **options: Any) -> None:
    """Write a conversation in a host-independent format

    The first JSON line names the host. Each further line is a message with its blocks, a
    compaction, or the place of a line that does not parse. Diffs and whole outputs that hosts store
    beside tool results are left out. --as host writes the parseable lines for the same host on
    another machine. --json needs --output.

    Example: `gitguard transcript export session.jsonl --as markdown --output talk.md`
    """
    kind, output, redact = options.pop("kind"), options.pop("output"), options.pop("redact")
    if console.as_json and not output:
        raise InvalidInput(
            "--json prints one document, and an export has many",
            "Write the export to a file with --output, or leave out --json",
        )
    if kind == "host" and any(options.values()):
        raise InvalidInput(
            "--as host writes all of the host's own lines, so no part of them can be chosen",
            "Leave --last-turns, --no-thinking and --sub-agents out, or choose another form",
        )
    talk = name.find(console)
    with progress("bytes") as tell, _opened(output) as put:
        exporting = console.anywhere.transcripts.export
        for line in exporting(talk, _wishes(**options), kind, redact=redact, tell=tell):
            put(line)
            del line  # which may be long, and is not to be held while more is read
    if output:
        console.say(f"Written: {one_line(output)}", {"path": output, "transcript": talk})


def _wishes(*, last_turns: int, no_thinking: bool, asides: bool) -> Any:
    from gitguard.transcripts.exporting import Selection

    return Selection(last_turns=last_turns, thinking=not no_thinking, asides=asides)


@contextmanager
def _opened(output: str) -> Iterator[Put]:
    """Give a function that writes to a new file, else to standard output."""
    if not output:
        yield _print if sys.stdout.isatty() else sys.stdout.buffer.write
        sys.stdout.flush()
        return
    try:
        file = open(output, "xb")  # noqa: SIM115 - closed below, and removed on an error
    except FileExistsError:
        raise InvalidInput(f"`{output}` exists already", "Name a new file") from None
    except OSError as error:
        raise _unwritable(output, error) from error
    try:
        with file:
            yield file.write
    except OSError as error:
        os.remove(output)
        raise _unwritable(output, error) from error
    except BaseException:
        os.remove(output)
        raise


def _unwritable(output: str, error: OSError) -> NotWritable:
    is_missing = isinstance(error, FileNotFoundError)
    hint = "Make its folder first" if is_missing else "Name a new file where there is room for it"
    return NotWritable(f"cannot write `{output}`: {error.strerror}", hint)


def _print(line: bytes) -> None:
    click.echo(spelled_out(line.decode(errors="replace")), nl=False)


def _usage_text(measured: Usage) -> str:
    if measured.tokens is None:
        lines = ["Tokens: not measured yet, or not since the last compaction"]
    else:
        share = f"{measured.pressure or 0:.1%} of the window"
        left = ", as the compaction left them" * (measured.source == "compaction")
        lines = [f"Tokens: {measured.tokens:,}, {share}{left}"]
        lines.append(f"Measured: {_moment(measured.at)} by {measured.model or 'an unnamed model'}")
    lines.append(_window_text(measured))
    newest = f", the newest {_moment(measured.compacted_at)}" * bool(measured.compacted_at)
    lines.append(f"Compactions: {measured.compactions}{newest}")
    lines.append(f"Transcript: {measured.transcript.path} ({measured.transcript.format})")
    return "\n".join(map(one_line, lines))


def _window_text(measured: Usage) -> str:
    if not measured.window_source.startswith("assumed"):
        return f"Window: {measured.window:,} ({measured.window_source})"
    whose = f"that of {measured.model}" if measured.model else "one"
    return (
        f"Window: unknown; {measured.window:,} are {measured.window_source}, "
        f"and `window.models` in your config.yaml can name {whose}"
    )


def _moment(at: float) -> str:
    try:
        return local_times(timestamp(at))
    except (ValueError, OverflowError, OSError):
        return "at an unknown time"


COMMANDS: list[click.Command] = [show, usage, export]
