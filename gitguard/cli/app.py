"""The command `gitguard`: its groups, and the one boundary where errors become words and codes."""

from __future__ import annotations

import json
import os
import platform
import sys
import time
import traceback

import click

from gitguard import __version__
from gitguard.cli import checkpoints, sessions, setup, state
from gitguard.cli.surroundings import places
from gitguard.errors import GitguardError, StatusSignal
from gitguard.model.text import visible

UNEXPECTED = 70
"""Exit code of a fault of ours."""
INTERRUPTED = 130


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="gitguard")
def app() -> None:
    """Keep a coding agent's working memory in git.

    Every checkpoint is a commit of the task state, its summary and a snapshot, on a branch of its
    own; your files, index and branches are left alone. Begin with `gitguard init`.
    """


for module in (setup, sessions, state, checkpoints):
    for command in module.COMMANDS:
        app.add_command(command)


def run_app() -> None:
    """Run the command line and end the process with its exit code."""
    try:
        code = app.main(standalone_mode=False, prog_name="gitguard")
        sys.exit(code if isinstance(code, int) else 0)
    except GitguardError as error:
        _show(error)
        sys.exit(error.exit_code)
    except click.exceptions.Abort:
        click.echo("interrupted", err=True)
        sys.exit(INTERRUPTED)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except BrokenPipeError:
        os._exit(0)  # the reader went away; there is nobody left to tell
    except Exception as error:  # noqa: BLE001 - the boundary
        _show_unexpected(error)
        sys.exit(UNEXPECTED)


def _show(error: GitguardError) -> None:
    if "--json" in sys.argv:
        click.echo(json.dumps(document_of(error), ensure_ascii=False, indent=2))
        return
    if isinstance(error, StatusSignal):
        click.echo(error.status)
    heading = click.style("error:", fg="red", bold=True)
    click.echo(f"{heading} {visible(error.message)}", err=True)
    if error.hint:
        click.echo(f"{click.style('hint:', fg='cyan')} {visible(error.hint)}", err=True)


def document_of(error: GitguardError) -> dict[str, object]:
    """Return an error as programs read it."""
    document: dict[str, object] = {
        "kind": type(error).__name__,
        "message": error.message,
        "hint": error.hint,
        "exit_code": error.exit_code,
    }
    if isinstance(error, StatusSignal):
        document["status"] = error.status
    return {"error": document}


def _show_unexpected(error: Exception) -> None:
    path = os.path.join(places(os.environ).state_home, "crash.log")
    report = "".join(
        [
            f"gitguard {__version__}, Python {platform.python_version()}, {platform.platform()}\n",
            time.strftime("%Y-%m-%dT%H:%M:%SZ\n", time.gmtime()),
            *traceback.format_exception(error),
        ]
    )
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "a", encoding="utf-8") as log:
            log.write(report)
        kept = f"The report is in `{path}`"
    except OSError:
        click.echo(report, err=True)
        kept = "The report is above"
    unexpected = GitguardError(f"gitguard failed: {type(error).__name__}: {error}", kept)
    unexpected.exit_code = UNEXPECTED
    _show(unexpected)
