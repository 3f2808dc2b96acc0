"""The command that keeps the files of a checkpoint for good."""

from __future__ import annotations

import click

from gitguard.cli.completing import offer_checkpoints
from gitguard.cli.console import Console, fields_of, with_console
from gitguard.cli.process_environment import refuse_agents


@click.command()
@click.argument("checkpoint", shell_complete=offer_checkpoints)
@click.option("--remove", is_flag=True, help="Keep them no longer than others")
@with_console
def pin(console: Console, checkpoint: str, remove: bool) -> None:
    """Keep the files of CHECKPOINT for good

    Snapshots of files are otherwise forgotten after `files.days`, or when there are more than
    `files.most`. `gitguard status --files` lists what is pinned. Only a person may pin.

    Example: `gitguard pin 17`
    """
    refuse_agents("pin")
    files = console.guard.files
    changed = files.unpin(checkpoint) if remove else files.pin(checkpoint)
    name = changed.checkpoint
    text = (
        f"Pinned: the files of {name} are kept until `gitguard pin {name} --remove`"
        if changed.is_pinned
        else f"No longer pinned: the files of {name} are kept as long as others"
    )
    console.say(text, fields_of(changed))


COMMANDS: list[click.Command] = [pin]
