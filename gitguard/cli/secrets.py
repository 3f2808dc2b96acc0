"""Commands about secrets that were written already: find them, and take them out."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from gitguard.cli.completing import offer_checkpoints
from gitguard.cli.console import (
    Console,
    asking,
    confirm,
    fields_of,
    progress,
    read_input,
    with_console,
)
from gitguard.cli.process_environment import refuse_agents
from gitguard.errors import InvalidInput, SecretsFound
from gitguard.sessions.secrets.leaks import UNREAD

if TYPE_CHECKING:
    from gitguard.sessions.secrets.purging import Purged

_VALUE_LIMIT = 1 << 16
_SHOWN = 20


@click.command()
@with_console
def scan(console: Console) -> None:
    """Look for secrets in checkpoints and working files

    Prints the place and the rule, never the value. Exits with 40 if it finds a secret.

    Example: `gitguard scan`
    """
    with progress("checkpoints") as tell:
        leaks = list(console.guard.secrets.scan(tell))
    unread = sum(leak.rule == UNREAD for leak in leaks)
    problem = SecretsFound(
        f"secrets found: {len(leaks) - unread}; unreadable places: {unread}",
        "Remove them with `gitguard purge CHECKPOINT`",
    )
    text = "\n".join(leak.line for leak in leaks) or "No secrets were found."
    console.say(text, {"leaks": leaks}, problem if leaks else None)


@click.command()
@click.argument("checkpoint", shell_complete=offer_checkpoints)
@click.option("--reason", default="", metavar="TEXT", help="Why; the next checkpoint records it")
@click.option("--value-stdin", is_flag=True, help="Read a value to remove from standard input")
@asking
@with_console
def purge(
    console: Console, checkpoint: str, reason: str, value_stdin: bool, dry_run: bool, yes: bool
) -> None:
    """Remove secrets from a CHECKPOINT and all later ones

    Rewrites these checkpoints under the same numbers, and cleans the working files and this
    machine's copies. Git keeps the old objects until `git gc --prune=now`; clones keep them until
    you replace them. Only a person may run it.

    Example: `gitguard purge 17 --reason "leaked token"`
    """
    value = _read_value(yes=yes, dry_run=dry_run) if value_stdin else ""
    plan = console.guard.secrets.purge(checkpoint, value=value, dry_run=True)
    if dry_run:
        console.say(_found_text(plan), {"leaks": list(plan.leaks)})
        return
    refuse_agents("purge")
    if not console.as_json:
        click.echo(_found_text(plan))
    confirm("Rewrite these checkpoints without the secrets?", yes=yes)
    with progress("checkpoints") as tell:
        purged = console.guard.secrets.purge(checkpoint, reason=reason, value=value, tell=tell)
    console.say(_purged_text(purged), fields_of(purged))


def _read_value(*, yes: bool, dry_run: bool) -> str:
    """Read a value where neither a process list nor a shell's history shows it."""
    if sys.stdin and sys.stdin.isatty():
        return str(click.prompt("Value", hide_input=True))
    if not (yes or dry_run):
        raise InvalidInput(
            "--value-stdin takes standard input, so gitguard cannot ask there", "Add --yes"
        )
    return read_input(_VALUE_LIMIT).decode("utf-8", "replace").strip("\r\n")


def _found_text(plan: Purged) -> str:
    lines = [leak.line for leak in plan.leaks[:_SHOWN]]
    besides = len(plan.leaks) - len(lines)
    return "\n".join([*lines, *([f"… and {besides:,} more"] if besides else [])])


def _purged_text(purged: Purged) -> str:
    remains = purged.remains
    lines = [f"Checkpoints rewritten: {len(purged.rewritten):,}."]
    if remains.objects:
        shown = " ".join(name[:12] for name in remains.objects[:_SHOWN])
        more = " …" if len(remains.objects) > _SHOWN else ""
        lines.append(f"{len(remains.objects):,} old objects stay until `git gc --prune=now`:")
        lines.append(f"  {shown}{more}")
    if remains.held or remains.refs:
        lines.append(f"{len(remains.held):,} more stay, because other refs still lead to them:")
        lines += [f"  {name}" for name in remains.refs or ("another session's history",)]
    if purged.elsewhere:
        lines.append("These still hold such a secret, or cannot be read:")
        lines += [f"  {leak.where}  {leak.path}: {leak.rule}" for leak in purged.elsewhere]
    lines.append(
        "Every clone, fork and backup still holds it, and so does a remote that it was pushed to: "
        "revoke the secret."
    )
    return "\n".join(lines)


COMMANDS: list[click.Command] = [scan, purge]
