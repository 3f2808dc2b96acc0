"""The command that repairs a conversation's file."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import click

from gitguard.cli.console import Console, progress, with_console
from gitguard.cli.transcript_naming import find_transcript, naming_a_transcript
from gitguard.model.text import one_line

if TYPE_CHECKING:
    from gitguard.transcripts.repair import RepairReport

_SHOWN = 10
"""Findings of one kind that people are shown; --json has them all."""
_SAID = {
    "broken": "lines that do not parse: dropped",
    "cleaned": "lines with a byte-order mark or NULs around them: those taken off",
    "relinked": "entries that followed a lost one: linked to the one before them",
    "header": "the session's header was not the first entry: {header}",
    "ended": "the last line had no end: ended",
    "answered": "calls without a result: answered with an error that says so",
    "orphaned": "results without a call: dropped",
    "duplicate": "results of calls that have one already: dropped",
    "moved": "results away from their call: put behind it",
    "incomplete": "calls without id, name or input: dropped",
    "renamed": "names of tools with blanks around them: trimmed",
    "emptied": "messages that nothing was left of: dropped",
}


@click.command()
@naming_a_transcript
@click.option("--dry-run", is_flag=True, help="Show what would be done, and stop")
@click.option("--reset", is_flag=True, help="Empty a conversation without any answer")
@click.option("--all", "everything", is_flag=True, help="Also what was summarized long ago")
@with_console
def repair(console: Console, path: str, format_name: str, conversation: str, **wishes: Any) -> None:
    """Repair a conversation's file, so that its host and the model take it again

    Lines that do not parse are dropped. Every call of a tool gets exactly one result, right behind
    it: a missing one is made up as an error that says so, results without a call and second ones
    are dropped, those that stand elsewhere are moved; calls without id, name or input are dropped.
    Text and thinking stay as they are, and so do branches that were left, sub-agents' parts, and
    what the last compaction summarized.

    A file that needs nothing is not touched. Otherwise the original stays beside it as
    PATH.bak-<process>-<time>. End the host's session before; a file that is open for writing, or
    that changes meanwhile, is left as it is. Formats that are only read are refused.
    """
    from gitguard.transcripts.repair import repair as repair_file

    rehearse = wishes.pop("dry_run")
    with progress("bytes") as tell:
        named = find_transcript(console, path, format_name, conversation)
        told = repair_file(named, time.time, rehearse=rehearse, tell=tell, **wishes)
    console.say(_text(told), _document(told))


def _text(told: RepairReport) -> str:
    counts = told.counts
    lines = [
        f"{count:,} {_SAID[kind].format(header=told.header)}" for kind, count in counts.items()
    ]
    lines += [f"  byte {line.at:,}: {line.problem}" for line in told.broken[:_SHOWN]]
    lines += [f"  byte {f.at:,}: {f.kind}, call `{f.call}`: {f.reason}" for f in _first(told)]
    if told.bad_text:
        lines.append(f"{told.bad_text:,} lines hold bytes that are no UTF-8: kept as they are")
    if told.unjudged:
        lines.append(f"{told.unjudged:,} lines are too long or too deep to look at: kept")
    lines += [*_reset_text(told), _outcome(told)]
    return "\n".join(map(one_line, lines))


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
        return ["The agent never answered: the conversation begins anew, as an empty file"]
    if told.resettable:
        return ["The agent never answered here; --reset empties the file"]
    return []


def _outcome(told: RepairReport) -> str:
    if not told.counts and not told.was_reset:
        return f"`{told.path}` needs nothing: {told.lines:,} lines were looked at"
    if told.is_rehearsed:
        return f"Nothing was changed in `{told.path}`; leave out --dry-run to repair it"
    return f"Repaired `{told.path}`; the original is `{told.backup}`"


def _document(told: RepairReport) -> dict[str, Any]:
    document = {name: getattr(told, name) for name in told.field_names}
    return {**document, "counts": told.counts, "needs_nothing": told.needs_nothing}


COMMANDS: list[click.Command] = [repair]
