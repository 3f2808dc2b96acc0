"""The command that writes a reviewer's page."""

from __future__ import annotations

import click

from gitguard.cli.console import Console, named, with_console
from gitguard.errors import InvalidInput, NotWritable
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
@with_console
def report(console: Console, range_text: str, form: str, output: str, ci: str | None) -> None:
    """Write one page about the work in a range of commits, for its reviewer

    Shows goal, decisions, failed attempts, removed constraints, open questions, and who changed
    which file. Without a range, the commits that the upstream or the default branch lacks. -o
    replaces FILE.

    Example: `gitguard report main..HEAD --format html -o report.html`
    """
    if ci and range_text:
        raise InvalidInput("--ci takes no range", "Leave out the range or --ci")
    form = JSON if console.as_json and not output else form
    review = console.guard.review
    text = review.ci_file(ci) if ci else review.report(range_text, form)
    if not output:
        click.echo(text, nl=False)
        return
    size = put_report(output, text)
    console.say(f"Written: {one_line(output)} ({size:,} bytes)", {"path": output, "bytes": size})


def put_report(path: str, text: str) -> int:
    """Write a page to the one file that was named; return its size."""
    data = text.encode("utf-8", "replace")
    try:
        with open(path, "wb") as file:
            file.write(data)
    except OSError as error:
        hint = "Make its folder first, or name a file that you may write"
        raise NotWritable(f"`{path}` cannot be written: {error.strerror}", hint) from error
    return len(data)


COMMANDS: list[click.Command] = [report]
