"""Commands that set gitguard up: init, uninstall, hook, completion."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from gitguard.hosts import NAMES


@click.command()
@click.argument("host", type=click.Choice(NAMES))
def hook(host: str) -> None:
    """Answer one event of HOST, given as JSON on standard input

    `gitguard init` installs it. It always exits with 0, and says nothing when it has nothing to
    say; faults of gitguard show in `gitguard status`.
    """
    from gitguard.cli.hook import run

    run([host])


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print the completion script for a SHELL

    For bash: `gitguard completion bash >> ~/.bashrc`
    """
    from gitguard.cli.app import app

    found = get_completion_class(shell)
    assert found is not None
    click.echo(found(app, {}, "gitguard", "_GITGUARD_COMPLETE").source())


COMMANDS: list[click.Command] = [hook, completion]
