"""The command that repairs a conversation's file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from gitguard.cli.console import Console, fields_of, progress, with_console
from gitguard.cli.transcript_naming import (
    TranscriptName,
    images_text,
    naming_a_transcript,
    replacing_images,
)
from gitguard.model.text import counted, one_line

if TYPE_CHECKING:
    from gitguard.transcripts.rewriting.repair import RepairReport

_SHOWN = 10
"""Findings of one kind that people are shown; --json has them all."""
_TEXTS = {
    "broken": ("Lines that do not parse", "dropped"),
    "split": ("Lines with several records, or a torn one before a whole one", "split"),
    "cleaned": ("Lines with a byte-order mark or NULs around them", "cleaned"),
    "displaced": ("Last entries in the wrong place", "moved, or dropped as copies"),
    "relinked": ("Entries whose parent is missing", "linked to the entry before"),
    "header": ("Headers that were not the first entry", "{header}"),
    "ended": ("Last lines without a line end", "completed"),
    "answered": ("Calls without a result", "answered by an error that says so"),
    "orphaned": ("Results without a call", "dropped"),
    "duplicate": ("Results of calls that have one already", "dropped"),
    "moved": ("Results away from their call", "moved right after it"),
    "incomplete": ("Calls without a usable id, name or input", "dropped"),
    "reissued": (
        "Calls whose id an earlier call has, or models refuse",
        "given a new one, with their results",
    ),
    "unsigned": (
        "Signatures that models refuse",
        "taken off the call or result, or dropped with the thinking",
    ),
    "renamed": ("Names of tools that are blank or have blanks around them", "filled or trimmed"),
    "emptied": ("Messages without content", "dropped"),
}


@click.command()
@naming_a_transcript
@click.option("--dry-run", is_flag=True, help="Show what would change, and stop")
@click.option("--reset", is_flag=True, help="Empty a conversation that has no answer")
@click.option("--all", "everything", is_flag=True, help="Also repair what was summarized long ago")
@replacing_images
@with_console
def repair(console: Console, name: TranscriptName, **wishes: Any) -> None:
    """Repair a conversation's file so that its host and model accept it

    Drops lines that do not parse, and splits lines that hold several records. Puts exactly one
    result right after each tool call: it adds an error as a missing result, moves displaced
    results, and drops second ones and those without a call. Drops calls without id, name or input.
    Gives a call that repeats an earlier id, or has one that models refuse, a new id, and its result
    too. Keeps text, thinking, abandoned branches, sub-agents' parts, and what the last compaction
    summarized. Names images over 2,000 pixels: models refuse them in a request with more than 20.

    Leaves a sound file untouched. Otherwise the original stays beside it as
    PATH.bak-<process>-<time>. End the host's session first: gitguard leaves a file alone that is
    open for writing or changes meanwhile. It refuses read-only formats.

    Example: `gitguard transcript repair session.jsonl --dry-run`
    """
    with progress("bytes") as tell:
        named = name.find(console)
        report = console.anywhere.transcripts.repair(named, tell=tell, **wishes)
    console.say(_text(report), _document(report))


def _text(report: RepairReport) -> str:
    lines = [_line(report, kind, n) for kind, n in report.counts.items() if kind != "images"]
    lines += [f"  byte {line.at:,}: {line.problem}" for line in report.broken[:_SHOWN]]
    lines += [f"  byte {f.at:,}: {f.kind}, call `{f.call}`: {f.reason}" for f in _first(report)]
    if report.bad_text:
        lines.append(f"Lines that are not UTF-8: {report.bad_text:,}, kept as they are")
    if report.unjudged:
        lines.append(f"Lines too long to check: {report.unjudged:,}; no call or result was touched")
    lines += images_text(
        report.images, replaced=report.are_images_replaced, dry_run=report.is_rehearsed
    )
    before, after = report.messages_before, report.messages_after
    if before != after and not report.was_reset:
        lines.append(f"Messages on the active branch: {before:,} before, {after:,} after")
    lines += [*_reset_text(report), _outcome(report)]
    return "\n".join(map(one_line, lines))


def _line(report: RepairReport, kind: str, count: int) -> str:
    what, repair = _TEXTS[kind]
    return f"{what}: {count:,}, {repair.format(header=report.header)}"


def _first(report: RepairReport) -> list[Any]:
    shown: dict[str, int] = {}
    first = []
    for finding in report.findings:
        shown[finding.kind] = shown.get(finding.kind, 0) + 1
        if shown[finding.kind] <= _SHOWN:
            first.append(finding)
    return first


def _reset_text(report: RepairReport) -> list[str]:
    if report.was_reset:
        restarts = "would restart" if report.is_rehearsed else "restarts"
        return [f"The agent never answered: the conversation {restarts} as an empty file"]
    if report.resettable:
        return ["The agent never answered here; --reset empties the file"]
    return []


def _outcome(report: RepairReport) -> str:
    if not report.counts and not report.was_reset:
        return f"`{report.path}` needs no repair: {counted(report.lines, 'line')} checked"
    if report.is_rehearsed:
        return f"Nothing was changed in `{report.path}`; leave out --dry-run to repair it"
    return f"Repaired `{report.path}`; the original is `{report.backup}`"


def _document(report: RepairReport) -> dict[str, Any]:
    document = fields_of(report)
    return {**document, "counts": report.counts, "needs_nothing": report.needs_nothing}


COMMANDS: list[click.Command] = [repair]
