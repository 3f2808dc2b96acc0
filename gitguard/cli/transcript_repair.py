"""The command that repairs a conversation's file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from gitguard.cli.console import Console, fields_of, progress, with_console
from gitguard.cli.transcript_naming import find_transcript, naming_a_transcript
from gitguard.model.text import counted, one_line

if TYPE_CHECKING:
    from gitguard.transcripts.rewriting.repair import RepairReport

_SHOWN = 10
"""Findings of one kind that people are shown; --json has them all."""
_SAID = {
    "broken": ("Lines that do not parse", "dropped"),
    "cleaned": ("Lines with a byte-order mark or NULs around them", "freed of those"),
    "displaced": ("Last entries behind what follows them", "put before it, or dropped as copies"),
    "relinked": ("Entries that followed a lost one", "linked to the one before it"),
    "header": ("Headers that were not the first entry", "{header}"),
    "ended": ("Last lines without an end", "ended"),
    "answered": ("Calls without a result", "answered by an error that says so"),
    "orphaned": ("Results without a call", "dropped"),
    "duplicate": ("Results of calls that have one already", "dropped"),
    "moved": ("Results away from their call", "put behind it"),
    "incomplete": ("Calls without a usable id, name or input", "dropped"),
    "reissued": ("Calls whose id an earlier call has", "given a new one, with their results"),
    "renamed": ("Names of tools that are blank or have blanks around them", "filled or trimmed"),
    "emptied": ("Messages that nothing is left of", "dropped"),
}


@click.command()
@naming_a_transcript
@click.option("--dry-run", is_flag=True, help="Show what would change, and stop")
@click.option("--reset", is_flag=True, help="Empty a conversation that has no answer")
@click.option("--all", "everything", is_flag=True, help="Also repair what was summarized long ago")
@with_console
def repair(
    console: Console,
    path: str | None,
    format_name: str | None,
    conversation: str | None,
    **wishes: Any,
) -> None:
    """Repair a conversation's file so that its host and model accept it

    Drops lines that do not parse. Puts exactly one result right after each tool call: it adds an
    error as a missing result, moves displaced results, and drops second ones and those without a
    call. Drops calls without id, name or input. Gives a call that repeats an earlier id a new one,
    and its result too. Keeps text, thinking, abandoned branches, sub-agents' parts, and what the
    last compaction summarized.

    Leaves a sound file untouched. Otherwise the original stays beside it as
    PATH.bak-<process>-<time>. End the host's session first: gitguard leaves a file alone that is
    open for writing or changes meanwhile. It refuses read-only formats.

    Example: `gitguard transcript repair session.jsonl --dry-run`
    """
    with progress("bytes") as tell:
        named = find_transcript(console, path, format_name, conversation)
        told = console.anywhere.transcripts.repair(named, tell=tell, **wishes)
    console.say(_text(told), _document(told))


def _text(told: RepairReport) -> str:
    lines = [_line(told, kind, count) for kind, count in told.counts.items()]
    lines += [f"  byte {line.at:,}: {line.problem}" for line in told.broken[:_SHOWN]]
    lines += [f"  byte {f.at:,}: {f.kind}, call `{f.call}`: {f.reason}" for f in _first(told)]
    if told.bad_text:
        lines.append(f"Lines with bytes that are no UTF-8: {told.bad_text:,}, kept as they are")
    if told.unjudged:
        lines.append(f"Lines too long or too deep to look at: {told.unjudged:,}, kept")
    lines += [*_reset_text(told), _outcome(told)]
    return "\n".join(map(one_line, lines))


def _line(told: RepairReport, kind: str, count: int) -> str:
    what, done = _SAID[kind]
    return f"{what}: {count:,}, {done.format(header=told.header)}"


def _first(told: RepairReport) -> list[Any]:
    shown: dict[str, int] = {}
    found = []
    for finding in told.findings:
        shown[finding.kind] = shown.get(finding.kind, 0) + 1
        if shown[finding.kind] <= _SHOWN:
            found.append(finding)
    return found


def _reset_text(told: RepairReport) -> list[str]:
    if told.was_reset:
        begins = "would begin" if told.is_rehearsed else "begins"
        return [f"The agent never answered: the conversation {begins} anew, as an empty file"]
    if told.resettable:
        return ["The agent never answered here; --reset empties the file"]
    return []


def _outcome(told: RepairReport) -> str:
    if not told.counts and not told.was_reset:
        lines = counted(told.lines, "line was", "lines were")
        return f"`{told.path}` needs nothing: {lines} looked at"
    if told.is_rehearsed:
        return f"Nothing was changed in `{told.path}`; leave out --dry-run to repair it"
    return f"Repaired `{told.path}`; the original is `{told.backup}`"


def _document(told: RepairReport) -> dict[str, Any]:
    document = fields_of(told)
    return {**document, "counts": told.counts, "needs_nothing": told.needs_nothing}


COMMANDS: list[click.Command] = [repair]
