"""Commands that say how much room a conversation has, and make some."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from gitguard.cli.console import Console, with_console
from gitguard.cli.transcript_naming import config_of, find_transcript, naming_a_transcript
from gitguard.model.codec import load_json
from gitguard.model.text import one_line

if TYPE_CHECKING:
    from gitguard.usecases.budgeting import Standing


@click.command()
@naming_a_transcript
@click.option("--model", default="", metavar="NAME", help="Where the transcript names none")
@click.option(
    "--session-key",
    default="",
    metavar="KEY",
    help="Whose history limit counts, as agent:main:telegram:dm:123",
)
@click.option(
    "--channels",
    type=click.File("rb"),
    metavar="FILE",
    help="A host's settings of its channels as JSON, for its history limits; - for standard input",
)
@click.option(
    "--turns", default=0, type=click.IntRange(0), metavar="N", help="A history limit to try"
)
@with_console
def budget(
    console: Console,
    path: str,
    format_name: str,
    conversation: str,
    session_key: str,
    channels: Any,
    **wishes: Any,
) -> None:
    """Show how a conversation's window is divided, and what is used of it

    The reserve is for what stands before the history: system prompt, tools, context files. The
    history has a share of its own; the rest is space to work in. Used tokens are the host's own
    figure; the history's are guessed from its characters. Shares, margin and limits are under
    `budget` in your config.yaml; a limit there counts before a host's of the same name.
    """
    from gitguard.usecases.budgeting import budget_of

    named = find_transcript(console, path, format_name, conversation)
    key = session_key or ("" if path else console.guard.workspace.current().key)
    told = load_json(channels.read(), what="the channels' settings") if channels else {}
    found = budget_of(named, config_of(console), session_key=key, channels=told, **wishes)
    console.say(_text(found), _document(found))


def _text(found: Standing) -> str:
    parts, usage = found.budget, found.usage
    used = "not measured since the last compaction, or never"
    if usage.tokens is not None:
        used = f"{usage.tokens:,} tokens, {usage.tokens / parts.window:.1%} of the window"
    over = f"; over its share by about {found.over_history:,}" * bool(found.over_history)
    lines = [
        f"Window: {parts.window:,} tokens ({usage.window_source})",
        f"  reserve: {parts.reserve:,} for system prompt, tools and context files",
        f"  history: {parts.history:,}",
        f"  working space: {parts.working:,}",
        f"Safeguard: a compaction cuts the history down to {parts.safeguard:,}",
        f"Used: {used}",
        f"History: about {found.history:,} tokens in {found.turns:,} turns{over}",
        _limit_text(found),
        f"Warning: {found.warning}" if found.warning else "",
        f"Transcript: {usage.transcript.path} ({usage.transcript.format})",
    ]
    return "\n".join(line for line in lines if line)


def _limit_text(found: Standing) -> str:
    if found.limit is None:
        return ""
    return one_line(
        f"Limit: the last {found.limit.turns:,} turns ({found.limit.source}), which leaves about "
        f"{found.limited_history:,} tokens in {found.limited_turns:,} turns"
    )


def _document(found: Standing) -> dict[str, Any]:
    document = {name: getattr(found, name) for name in found.field_names}
    return document | {
        "over_history": found.over_history,
        "over_safeguard": found.over_safeguard,
    }


COMMANDS: list[click.Command] = [budget]
