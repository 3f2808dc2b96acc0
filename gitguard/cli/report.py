"""The command that writes a reviewer's page."""

from __future__ import annotations

import click

from gitguard.cli.console import Console, named, with_console
from gitguard.cli.untrusted import writer_option
from gitguard.errors import InvalidInput
from gitguard.guard.review import CI_FILES, JSON, MARKDOWN, REPORT_FORMATS
from gitguard.model.text import one_line


@click.command()
@click.argument("range_text", default="", metavar="[BASE..HEAD]")
@click.option(
    "--format",
    "form",
    type=click.Choice(REPORT_FORMATS),
    default=MARKDOWN,
    help="markdown for a pull request, html for a browser, json for programs",
)
@click.option(
    "-o", "--output", callback=named, type=click.Path(), metavar="FILE", help="File to write"
)
@click.option(
    "--ci",
    type=click.Choice(list(CI_FILES)),
    help="Write a file for a job that reports on pull requests, instead of a report",
)
@writer_option
@with_console
def report(
    console: Console, range_text: str, form: str, output: str, ci: str | None, writer: str
) -> None:
    """Write one page about the work in a range of commits, for its reviewer

    Shows goal, decisions, failed attempts, removed constraints, open questions, and who changed
    which file, from every session and lane. Without a range, the commits that the upstream or the
    default branch lacks. What this machine did not write is shown and marked. -o replaces FILE; `-`
    is standard output.

    Example: `gitguard report main..HEAD --format html -o report.html`
    """
    if ci and range_text:
        raise InvalidInput("--ci takes no range", "Leave out the range or --ci")
    is_printed = output in ("", "-")
    form = JSON if console.as_json and is_printed else form
    review = console.guard.review
    text = (
        review.ci_file(ci)
        if ci
        else review.report(range_text, form, session=console.chosen_session, writer=writer)
    )
    if is_printed:
        click.echo(text, nl=False)
        return
    size = review.put(output, text)
    console.say(f"Written: {one_line(output)} ({size:,} bytes)", {"path": output, "bytes": size})


COMMANDS: list[click.Command] = [report]
