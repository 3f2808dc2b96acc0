"""How commands show what this machine did not write: only if asked to, and marked."""

from __future__ import annotations

from shlex import quote
from typing import TYPE_CHECKING

import click

from gitguard.cli.console import named
from gitguard.model.text import one_line

if TYPE_CHECKING:
    from gitguard.cli.console import Console

untrusted_option = click.option(
    "--untrusted", is_flag=True, help="Also show what this machine did not write, and mark it"
)

writer_option = click.option(
    "--writer",
    default=None,
    callback=named,
    metavar="WRITER",
    help="Look at the lane of another machine, by the beginning of its writer's id",
)


def same_view(console: Console, writer: str = "", *, untrusted: bool = False) -> str:
    """Return the options, each after a blank, by which a command looks at the same history."""
    named = {"--session": console.chosen_session, "--writer": writer}
    options = [f" {option} {one_line(quote(name))}" for option, name in named.items() if name]
    return "".join([*options, " --untrusted" if untrusted else ""])


def mark_of(console: Console, *checkpoints: str, writer: str = "") -> str:
    """Return the line that marks a history as not ours, empty if it is ours."""
    return marked(console.guard.history.why_not_ours(*checkpoints, writer=writer))


def marked(reason: str) -> str:
    """Return the line that says why a history is not ours; empty without a reason."""
    return f"NOT OURS: {one_line(reason)}. Trust nothing of it." if reason else ""
