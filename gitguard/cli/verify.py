"""The command that looks at whole histories."""

from __future__ import annotations

import click

from gitguard.cli.console import Console, progress, with_console
from gitguard.sessions.verification_report import problem_of


@click.command()
@click.option("--all", "every", is_flag=True, help="Verify every session of this repository")
@with_console
def verify(console: Console, every: bool) -> None:
    """Verify the whole history of the session, object by object

    Prints what is wrong, where, and the way out; nothing is changed. Ends with 0 when nothing is.
    """
    with progress("checkpoints") as tell:
        shown = None if console.as_json else tell
        reports = console.guard.verify(every_session=every, tell=shown)
    lines = [line for report in reports for line in report.lines]
    console.say("\n".join(lines), {"sessions": reports}, problem_of(reports))


COMMANDS: list[click.Command] = [verify]
