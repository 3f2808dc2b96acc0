"""Commands that put sessions away and bring them back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from gitguard.cli.completing import offer_sessions
from gitguard.cli.console import Console, can_ask, confirm, fields_of, named, progress, with_console
from gitguard.cli.process_environment import is_agents_shell, refuse_agents
from gitguard.cli.startup_lines import say_startup
from gitguard.errors import GitguardError, NotConfirmed
from gitguard.model.config.maintenance import ENFORCE, WARN
from gitguard.model.text import counted, one_line

if TYPE_CHECKING:
    from gitguard.sessions.maintenance import Examined, Maintained, OldSnapshots
    from gitguard.store.session.archive import Archived

_MEGABYTE = 1 << 20


@click.command()
@click.option(
    "--mode",
    type=click.Choice([WARN, ENFORCE]),
    help="List only, or archive; by default `maintenance.mode`",
)
@click.option(
    "--delete",
    multiple=True,
    metavar="NAME[@ID]",
    help="With enforce: delete this archived session, or one history of it (can be repeated)",
)
@click.option("-y", "--yes", is_flag=True, help="Do not ask before deleting")
@with_console
def maintain(console: Console, mode: str | None, delete: tuple[str, ...], yes: bool) -> None:
    """Find idle and large sessions, and archive them

    Also the oldest, if there are too many. The limits are `maintenance.idle_days`, `most_sessions`
    and `largest_megabytes`. The branch of an archived session is under `refs/gitguard/archive/`,
    its files are in the workspace's `archive` folder. Only --delete deletes. The current session,
    sessions of other worktrees, and sessions with a halted or possibly running conversation stay.
    Snapshots of files beyond `files.days` and `files.most` are forgotten in all sessions, except
    what `gitguard pin` keeps. Where nobody runs `git gc` and there are thousands of loose objects,
    those of checkpoints are packed.

    Example: `gitguard session maintain --mode enforce`
    """
    guard = console.guard
    maintenance = guard.sessions.maintenance()
    if delete:
        refuse_agents("session maintain --delete")
        doomed = maintenance.to_delete(delete, mode or "")
        labels = ", ".join(archived.label for archived in doomed)
        if not console.as_json and not yes:
            console.remark(f"To be deleted for good: {labels}")
        confirm("Delete for good?", yes=yes)
    with progress("sessions") as tell:
        maintained = maintenance.run(mode or "", delete=delete, tell=tell)
    document = fields_of(maintained)
    console.say(_maintained_text(maintained), document, _problem_of(maintained))


def _problem_of(maintained: Maintained) -> GitguardError | None:
    refusals = "; ".join(
        f"`{session.label}` is not deleted: {session.refusal}" for session in maintained.undeleted
    )
    return GitguardError(refusals, "Run it again") if refusals else None


def _maintained_text(maintained: Maintained) -> str:
    lines = [f"{counted(maintained.sessions, 'session')}, {_megabytes(maintained.size)} of files."]
    lines += [_examined_line(session) for session in maintained.found]
    lines += [f"Archived {_archived_line(session)}" for session in maintained.archived]
    lines += [
        f"Deleted {session.label}; its objects stay until `git gc` collects them"
        for session in maintained.deleted
    ]
    lines += [_snapshots_line(old) for old in maintained.snapshots]
    lines += ["Packed the loose objects of checkpoints"] * maintained.has_packed
    if any(session.is_due for session in maintained.found):
        lines.append("`gitguard session maintain --mode enforce` archives what is not kept.")
    return "\n".join(map(one_line, lines))


def _snapshots_line(old: OldSnapshots) -> str:
    number = counted(old.number, "snapshot")
    if old.is_forgotten:
        return f"Forgot {number} of files of {old.name}; git frees their disk two weeks later"
    return f"{old.name}  {number} of files beyond the limits; --mode enforce forgets them"


def _examined_line(examined: Examined) -> str:
    key = f" ({examined.session.key})" if examined.session.key != examined.session.name else ""
    reasons = "; ".join(examined.reasons) + (f"; kept: {examined.kept}" if examined.kept else "")
    return f"{examined.session.name}{key}  {_megabytes(examined.size)}  {reasons}"


def _archived_line(archived: Archived) -> str:
    files = f", its files to {archived.folder}" if archived.folder else ""
    way_back = f"`gitguard session reopen {archived.name}` restores it"
    return f"{archived.name} to {archived.ref}{files}; {way_back}"


def _megabytes(size: int) -> str:
    return f"{size / _MEGABYTE:.1f} MB"


@click.command()
@click.argument("key", default=None, callback=named, shell_complete=offer_sessions)
@with_console
def close(console: Console, key: str) -> None:
    """Archive the session KEY, by default the current one

    Takes a last checkpoint and archives the session's branch and files. `gitguard ensure` or a
    host's hook begins the next session. Without a terminal you have to name KEY.

    Example: `gitguard session close payments`
    """
    guard = console.guard
    is_named = key or guard.workspace.places.session
    if not is_named and (is_agents_shell() or not can_ask()):
        raise NotConfirmed(
            "no session is named, and there is no terminal; nothing is closed",
            f"Name it: `gitguard session close {guard.current_session().key:.80}`",
        )
    session = guard.sessions.find(key) if key else guard.current_session()
    archived = guard.sessions.close(session)
    lines = [f"Session `{session.key}` is closed.", f"Branch: archived as {archived.ref}"]
    lines += [f"Files: archived in {archived.folder}"] if archived.folder else []
    lines.append(f"Restore it with `gitguard session reopen {archived.name}`.")
    console.say("\n".join(map(one_line, lines)), {"session": session.key, "archived": archived})


@click.command()
@click.argument("key", callback=named)
@click.option(
    "--head",
    default=None,
    callback=named,
    metavar="ID",
    help="Which of several archived histories; by default the last",
)
@with_console
def reopen(console: Console, key: str, head: str) -> None:
    """Restore the archived session KEY and switch to it

    Example: `gitguard session reopen payments`
    """
    say_startup(console, console.guard.sessions.reopen(key, head))


COMMANDS: list[click.Command] = [maintain, close, reopen]
