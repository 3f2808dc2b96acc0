"""The command that writes a reviewer's page."""

from __future__ import annotations

import os

import click

from gitguard.cli.console import Console, named, with_console
from gitguard.errors import InvalidInput, NotWritable
from gitguard.guard.review import CI_FILES, JSON, MARKDOWN, REPORT_FORMATS
from gitguard.model.text import one_line
from gitguard.store.disk import files


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
    replaces FILE; `-` is standard output.

    Example: `gitguard report main..HEAD --format html -o report.html`
    """
    if ci and range_text:
        raise InvalidInput("--ci takes no range", "Leave out the range or --ci")
    is_printed = output in ("", "-")
    form = JSON if console.as_json and is_printed else form
    review = console.guard.review
    text = review.ci_file(ci) if ci else review.report(range_text, form)
    if is_printed:
        click.echo(text, nl=False)
        return
    size = put_report(output, text)
    console.say(f"Written: {one_line(output)} ({size:,} bytes)", {"path": output, "bytes": size})


def put_report(path: str, text: str) -> int:
    """Write a page to the one file that was named; return its size.

    A file is replaced as a whole, so that a full disk leaves what was there; a pipe or a device is
    written to.
    """
    data = text.encode("utf-8", "replace")
    try:
        if os.path.exists(path) and not os.path.isfile(path):
            with open(path, "wb") as file:
                file.write(data)
        else:
            files.write_bytes(path, data, mode=0o666)
    except OSError as error:
        raise _refusal(path, error.strerror or "it failed") from error
    except NotWritable as error:
        raise _refusal(path, str(error.__cause__ or error.message)) from error
    return len(data)


def _refusal(path: str, reason: str) -> NotWritable:
    hint = "Name a file in a folder that exists and that you may write"
    return NotWritable(f"`{path}` cannot be written: {reason}", hint)


COMMANDS: list[click.Command] = [report]
