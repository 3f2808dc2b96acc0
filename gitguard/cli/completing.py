"""What a shell offers behind a command: sessions and checkpoints; files are left to the shell."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gitguard.cli.process_environment import open_guard
from gitguard.errors import GitguardError
from gitguard.model.text import one_line, visible

if TYPE_CHECKING:
    from collections.abc import Iterable

    import click
    from click.shell_completion import CompletionItem

    from gitguard.guard import Guard

_MOST = 100
"""Checkpoints that are offered, the newest."""


def offer_sessions(
    context: click.Context, _parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Offer the keys of this repository's sessions; nothing where they cannot be read."""
    try:
        listing = _guard(context).sessions.listing()
    except GitguardError:
        return []
    keys = sorted(listing.keys.get(name, name) for name in listing.sessions)
    return _items((key, "") for key in keys if key.startswith(incomplete))


def offer_checkpoints(
    context: click.Context, _parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Offer the newest checkpoints by number, or by name behind a `c`, with what they say."""
    try:
        entries = _guard(context).history.log(_MOST).entries
    except GitguardError:
        return []
    offered = (
        (c.name if incomplete.startswith("c") else str(c.sequence), c.subject)
        for c in (entry.checkpoint for entry in entries)
    )
    return _items(
        (value, one_line(visible(subject)))
        for value, subject in offered
        if value.startswith(incomplete)
    )


def offer_shown(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Offer what `show` prints: the files of a checkpoint, and checkpoints."""
    printed = ("state", "summary", "snapshot", "host-summary")
    words = (word for word in printed if word.startswith(incomplete))
    return [
        *_items((word, "") for word in words),
        *offer_checkpoints(context, parameter, incomplete),
    ]


def _items(offered: Iterable[tuple[str, str]]) -> list[CompletionItem]:
    from click.shell_completion import CompletionItem  # only a shell that completes needs it

    return [CompletionItem(value, help=text or None) for value, text in offered]


def _guard(context: click.Context) -> Guard:
    """Open the workspace that the options before the word name; shells run no command for it."""
    options = {"root": "", "session": ""}
    around: click.Context | None = context
    while around is not None:
        options = {name: value or around.params.get(name) or "" for name, value in options.items()}
        around = around.parent
    return open_guard(options["root"], options["session"])
