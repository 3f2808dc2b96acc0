"""Commands that say how much room a conversation has, and make some."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from gitguard.cli.console import Console, fields_of, named, progress, with_console
from gitguard.cli.transcript_naming import (
    MOST_TURNS,
    TranscriptName,
    images_text,
    naming_a_model,
    naming_a_transcript,
    replacing_images,
    telling,
)
from gitguard.model.codec import load_json
from gitguard.model.text import counted, one_line
from gitguard.transcripts.fitting.pruning import CLEAR, KEEP, TRIM, PruningVerdict

if TYPE_CHECKING:
    from gitguard.compaction.budget import BudgetUse
    from gitguard.compaction.pruning import Pruned


@click.command()
@naming_a_transcript
@naming_a_model
@click.option(
    "--session-key",
    default=None,
    callback=named,
    metavar="KEY",
    help="Session key whose history limit counts, such as agent:main:telegram:dm:123",
)
@click.option(
    "--channels",
    type=click.File("rb"),
    metavar="FILE",
    help="JSON file of a host's channels, with its history limits; - for standard input",
)
@click.option(
    "--turns",
    default=0,
    type=click.IntRange(0, MOST_TURNS),
    metavar="N",
    help="History limit to try, in turns",
)
@with_console
def budget(
    console: Console, name: TranscriptName, session_key: str, channels: Any, **wishes: Any
) -> None:
    """Show how a conversation's window is divided and used

    The reserve is for what precedes the history: system prompt, tools, context files. The history
    has a share of its own; the rest is working space. The host counts the used tokens; gitguard
    estimates the history's from its characters. Shares, margin and limits are under `budget` in
    your config.yaml; a limit there takes precedence over the host's limit of the same name.

    Example: `gitguard transcript budget --turns 20`
    """
    talk = name.find(console)
    key = session_key or ("" if name.path else console.guard.current_session().key)
    channel_settings = load_json(channels.read(), what="the file of --channels") if channels else {}
    with progress("bytes") as tell:
        wishes |= {"session_key": key, "channels": channel_settings, "seen": telling(talk, tell)}
        standing = console.anywhere.transcripts.budget(talk, **wishes)
    console.say(_text(standing), _document(standing))


def _text(reading: BudgetUse) -> str:
    parts, usage = reading.budget, reading.usage
    used = "not measured yet, or not since the last compaction"
    if usage.tokens is not None:
        used = f"{usage.tokens:,} tokens, {usage.tokens / parts.window:.1%} of the window"
    over = f"; over its share by about {reading.over_history:,}" * bool(reading.over_history)
    lines = [
        f"Window: {parts.window:,} tokens ({usage.window_words})",
        f"  reserve: {parts.reserve:,} for system prompt, tools and context files",
        f"  history: {parts.history:,}",
        f"  working space: {parts.working:,}",
        f"Safeguard: a compaction cuts the history down to {parts.safeguard:,}",
        f"Used: {used}",
        f"History: about {counted(reading.history, 'token')} in "
        f"{counted(reading.turns, 'turn')}{over}",
        _limit_text(reading),
        f"Warning: {reading.warning}" if reading.warning else "",
        f"Transcript: {usage.transcript.path} ({usage.transcript.format})",
    ]
    return "\n".join(line for line in lines if line)


def _limit_text(reading: BudgetUse) -> str:
    if reading.limit is None:
        return ""
    last, left = counted(reading.limit.turns, "turn"), counted(reading.limited_turns, "turn")
    return one_line(
        f"Limit: the last {last} ({reading.limit.source}), which leaves about "
        f"{counted(reading.limited_history, 'token')} in {left}"
    )


def _document(reading: BudgetUse) -> dict[str, Any]:
    document = fields_of(reading)
    return document | {
        "over_history": reading.over_history,
        "over_safeguard": reading.over_safeguard,
    }


@click.command()
@naming_a_transcript
@naming_a_model
@click.option("--dry-run", is_flag=True, help="Show what would be pruned, and stop")
@replacing_images
@with_console
def prune(
    console: Console, name: TranscriptName, model: str, dry_run: bool, replace_images: bool
) -> None:
    """Shorten or clear old, long tool results in a transcript

    Keeps the head and the tail of an old result. Clears the oldest results while the history
    exceeds its share of the window. Recent results, results of protected tools, results with
    images, and conversations at work stay as they are. Sizes, tools and times are under `pruning`
    in your config.yaml. The original stays beside the file.

    Names images over 2,000 pixels: models refuse them in a request with more than 20 images.

    Example: `gitguard transcript prune session.jsonl --dry-run`
    """
    talk = name.find(console)
    with progress("bytes") as tell:
        pruned = console.anywhere.transcripts.prune(
            talk,
            model=model,
            dry_run=dry_run,
            replace_images=replace_images,
            seen=telling(talk, tell),
        )
    console.say(_pruned_text(pruned, dry_run=dry_run), _pruned_document(pruned))


def _pruned_text(pruned: Pruned, *, dry_run: bool) -> str:
    words = {KEEP: "Kept", TRIM: "Trimmed", CLEAR: "Cleared"}
    if dry_run:
        words = {KEEP: "To keep", TRIM: "To trim", CLEAR: "To clear"}
    lines = [f"{words[verdict.action]}: {_verdict_text(verdict)}" for verdict in pruned.verdicts]
    count, saved = len(pruned.changed), pruned.tokens_saved
    if count:
        lines.append(f"Results {'to prune' if dry_run else 'pruned'}: {count:,}")
        lines.append(f"Saved: about {saved:,} of {counted(pruned.history, 'token')} in the history")
    elif not pruned.are_images_replaced:
        lines.append("Nothing to prune; the file is as it was.")
    lines += images_text(pruned.images, replaced=pruned.are_images_replaced, dry_run=dry_run)
    if pruned.backup:
        lines.append(f"The original is kept: {pruned.backup}")
    return "\n".join(map(one_line, lines))


def _verdict_text(verdict: PruningVerdict) -> str:
    what = f"{counted(verdict.characters, 'character')} of {verdict.tool or 'a tool'}"
    left = (
        ""
        if verdict.action == KEEP
        else f", {counted(verdict.left, 'of them stays', 'of them stay')}"
    )
    return f"{what} at {verdict.at:,}{left}: {verdict.reason}"


def _pruned_document(pruned: Pruned) -> dict[str, Any]:
    document = fields_of(pruned)
    return document | {"pruned": len(pruned.changed), "tokens_saved": pruned.tokens_saved}


COMMANDS: list[click.Command] = [budget, prune]
