"""Commands that say whose work from other machines is believed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from gitguard.cli.console import Console, asking, fields_of, with_console
from gitguard.cli.process_environment import refuse_agents
from gitguard.cli.repair import trust_branch
from gitguard.model.text import counted, local_times, one_line

if TYPE_CHECKING:
    from gitguard.sessions.trusted_keys import TrustedKey


@click.group(invoke_without_command=True)
@click.option("--head", metavar="ID", default="", help="The commit you looked at")
@asking
@with_console
def trust(console: Console, head: str, dry_run: bool, yes: bool) -> None:
    """Say whose work from other machines is yours

    Without a command, takes a branch that this machine did not write, as `gitguard repair --trust`
    does. Only a person may run it.

    Example: `gitguard trust --dry-run`
    """
    context = click.get_current_context()
    refuse_agents(f"trust {context.invoked_subcommand or ''}".strip())
    if context.invoked_subcommand is None:
        trust_branch(console, head, dry_run=dry_run, yes=yes)
        return
    if head or dry_run or yes:
        raise click.UsageError("--head, --dry-run and --yes belong to `gitguard trust` alone")
    context.obj = console.common


@trust.command()
@click.argument("key")
@with_console
def add(console: Console, key: str) -> None:
    """Join from now on what KEY signed, in every repository

    KEY is a public key's file, its text, or a fingerprint. A fingerprint may name an SSH key in
    `~/.ssh` or one that signed a lane which `gitguard sync` fetched, or an OpenPGP key in your
    keyring. gitguard keeps the keys in your configuration folder; git's own list of allowed signers
    plays no part.

    Example: `gitguard trust add ~/.ssh/laptop.pub`
    """
    trusted = console.guard.lanes.trust_key(key)
    text = f"Trusted: {_key_text(trusted)}. `gitguard sync` joins what it signed."
    console.say(text, fields_of(trusted))


@trust.command("list")
@with_console
def list_keys(console: Console) -> None:
    """List the keys whose signatures you trust

    Example: `gitguard trust list`
    """
    keys = console.guard.lanes.keys()
    lines = [_key_text(key) + local_times(f", added {key.added_at}") for key in keys]
    console.say("\n".join(lines) or "No keys.", {"keys": keys})


@trust.command()
@click.argument("key")
@with_console
def remove(console: Console, key: str) -> None:
    """Join no more of what KEY signs

    KEY is the beginning of its fingerprint, its file, or its text. What was joined stays.

    Example: `gitguard trust remove SHA256:Zm9vYmFy`
    """
    removed = console.guard.lanes.distrust_key(key)
    keys = counted(len(console.guard.lanes.keys()), "trusted key")
    text = f"No longer trusted: {_key_text(removed)}; what was joined stays. {keys} left."
    console.say(text, fields_of(removed))


def _key_text(key: TrustedKey) -> str:
    comment = f" ({one_line(key.comment)})" if key.comment else ""
    return f"{key.kind} key {key.fingerprint}{comment}"


COMMANDS: list[click.Command] = [trust]
