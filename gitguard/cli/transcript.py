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
    """Look at, repair and shorten conversations as hosts keep them

    A transcript is named by its path: a file, a database, or an agent's folder. Without one, it is
    the newest conversation of the session, as the host's hooks told. What is in a file shows whose
    it is; where it does not, --format says so.
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
