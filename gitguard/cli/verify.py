"""The command that looks at whole histories."""

from __future__ import annotations

import click

from gitguard.cli.console import Console, progress, with_console


@click.command()
@click.option("--all", "every", is_flag=True, help="Verify every session of this repository")
@with_console
def verify(console: Console, every: bool) -> None:
    """Verify the session's whole history, object by object

    Prints each finding, where it is, and the way out; changes nothing. Exits with 0 if there is no
    finding.

    Example: `gitguard verify --all`
    """
    with progress("checkpoints") as tell:
        show_progress = None if console.as_json else tell
        reports = console.guard.verify(every_session=every, tell=show_progress)
    lines = [line for report in reports for line in report.lines]
    console.say("\n".join(lines), {"sessions": reports}, console.guard.problem_of(reports))


COMMANDS: list[click.Command] = [verify]
