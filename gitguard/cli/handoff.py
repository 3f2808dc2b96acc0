"""Commands about the hand-off file: write it, read it back once, clear it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from gitguard.cli.console import Console, with_console
from gitguard.store.session.current import current_session

if TYPE_CHECKING:
    from gitguard.sessions.handoff.handoff_file import Handoff
    from gitguard.store.session.naming import Session


def _handoff(console: Console, session: Session) -> Handoff:
    from gitguard.sessions.handoff.handoff_file import Handoff

    guard = console.guard
    return Handoff(guard.store(session), guard.config.handoff)


@click.group()
def handoff() -> None:
    """Hand the state on in a file at the workspace's root

    `.context-checkpoint.md` is for hosts and people who want a file that agents can read. git does
    not show it. Paths and limits are under `handoff` in your config.yaml; with `handoff.enabled`,
    hooks write it before a compaction and hand it back after, in place of the resume block.
    """


@handoff.command()
@click.option("--force", is_flag=True, help="Replace a file that somebody else wrote or changed")
@with_console
def write(console: Console, force: bool) -> None:
    """Write the file from the task's state

    State, changed files, plan and last failure, as a checkpoint would have them now. What --force
    replaces is kept in gitguard's archive.
    """
    path = _handoff(console, current_session(console.guard.workspace)).write_current(force=force)
    console.say(f"Written: {path}", {"path": path})


@handoff.command()
@click.option("--keep", is_flag=True, help="Leave the file, so that it can be read again")
@click.option("--to-file", is_flag=True, help="Write the block to CONTEXT_RECOVERY.md as well")
@with_console
def read(console: Console, keep: bool, to_file: bool) -> None:
    """Print a fresh file's recovery block, once

    Fresh is younger than 10 minutes. It is renamed then, so that nobody goes on from the same
    state twice, to `.context-checkpoint.recovered.md`. The block has at most 2,000 characters, and
    400 of each section.
    """
    found = _handoff(console, console.guard.any_session()).read(keep=keep, to_file=to_file)
    document = {"block": found.block, "reason": found.reason, "path": found.path}
    console.say(found.block or f"Nothing to hand back: {found.reason}.", document)


@handoff.command()
@with_console
def clear(console: Console) -> None:
    """Remove the file, its recovered copy and the recovery block"""
    removed = _handoff(console, console.guard.any_session()).clear()
    lines = [f"Removed: {name}" for name in removed]
    console.say("\n".join(lines) or "There was nothing to remove.", {"removed": list(removed)})


COMMANDS: list[click.Command] = [handoff]
