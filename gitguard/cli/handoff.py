"""Commands about the hand-off file: write, read, take and clear it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from gitguard.cli.console import Console, with_console

if TYPE_CHECKING:
    from gitguard.sessions.handoff.handoff_file import Recovered


@click.group()
def handoff() -> None:
    """Pass the state on in a file at the workspace's root

    `.context-checkpoint.md` is for hosts and people that want a file. Git does not show it. Paths
    and limits are under `handoff` in your config.yaml. With `handoff.enabled`, hooks write the file
    before a compaction, and return it after the compaction instead of the resume block.
    """


@handoff.command()
@click.option("--force", is_flag=True, help="Replace a file that somebody else wrote or changed")
@with_console
def write(console: Console, force: bool) -> None:
    """Write the file from the task state

    Contains the state, changed files, plan and last failure, as a checkpoint would have them now.
    gitguard's archive keeps what --force replaces.

    Example: `gitguard handoff write`
    """
    path = console.guard.handoff.write_current(force=force)
    console.say(f"Written: {path}", {"path": path})


@handoff.command()
@with_console
def read(console: Console) -> None:
    """Print a fresh file's recovery block and change nothing

    A file is fresh for 10 minutes. The block has at most 2,000 characters, and 400 of each section.

    Example: `gitguard handoff read`
    """
    _say_block(console, console.guard.handoff.read())


@handoff.command()
@click.option("--to-file", is_flag=True, help="Write the block to CONTEXT_RECOVERY.md as well")
@with_console
def take(console: Console, to_file: bool) -> None:
    """Print a fresh file's recovery block, once

    Like `read`, but renames the file to `.context-checkpoint.recovered.md`, so that nobody
    continues from the same state twice.

    Example: `gitguard handoff take --to-file`
    """
    _say_block(console, console.guard.handoff.take(to_file=to_file))


def _say_block(console: Console, recovered: Recovered) -> None:
    document = {"block": recovered.block, "reason": recovered.reason, "path": recovered.path}
    console.say(recovered.block or f"Nothing to hand back: {recovered.reason}.", document)


@handoff.command()
@with_console
def clear(console: Console) -> None:
    """Remove the file, its recovered copy and the recovery block

    Example: `gitguard handoff clear`
    """
    removed = console.guard.handoff.clear()
    lines = [f"Removed: {name}" for name in removed]
    console.say("\n".join(lines) or "There was nothing to remove.", {"removed": list(removed)})


COMMANDS: list[click.Command] = [handoff]
