"""The group of commands about conversations as hosts keep them."""

from __future__ import annotations

import click

from gitguard.cli import (
    transcript_budget,
    transcript_compact,
    transcript_import,
    transcript_reading,
    transcript_repair,
)


@click.group()
def transcript() -> None:
    """Read, repair and shorten conversations as hosts store them

    PATH is a file, a database, or an agent's folder; by default it is the session's newest
    conversation. gitguard recognizes the format by the content; --format names it where that fails.
    """
    from gitguard.cli.signals import ending_in_order

    click.get_current_context().with_resource(ending_in_order())


for module in (
    transcript_reading,
    transcript_repair,
    transcript_budget,
    transcript_compact,
    transcript_import,
):
    for command in module.COMMANDS:
        transcript.add_command(command)

COMMANDS: list[click.Command] = [transcript]
