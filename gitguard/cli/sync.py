"""The command that syncs sessions with a git remote."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from gitguard.cli.console import (
    Console,
    activity,
    asking,
    can_ask,
    confirm,
    fields_of,
    named,
    with_console,
)
from gitguard.cli.process_environment import is_agents_shell, refuse_agents
from gitguard.cli.sessions import lane_line
from gitguard.model.text import counted, local_times, one_line
from gitguard.sessions.syncing import SyncRequest
from gitguard.store.session.workspace import Session

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from gitguard.sessions.lane_join import Joined
    from gitguard.sessions.sync_record import OtherLane
    from gitguard.sessions.syncing import Leaving, Synced

_MOST_SESSIONS = 5
"""Sessions that are named of a new writer."""


@click.command()
@click.option(
    "--remote", default=None, callback=named, metavar="NAME|URL", help="Remote to sync with"
)
@click.option("--fetch", is_flag=True, help="Fetch and join only")
@click.option("--push", is_flag=True, help="Push only")
@click.option(
    "--trust",
    default=None,
    callback=named,
    metavar="WRITER",
    help="Join what this writer pushed, now and from now on",
)
@asking
@with_console
def sync(
    console: Console, remote: str, fetch: bool, push: bool, trust: str, dry_run: bool, yes: bool
) -> None:
    """Exchange sessions with your other machines through a git remote

    Fetches what other machines pushed, joins the lanes that you trust, pushes this machine's
    sessions, and reads back what arrived. Never forces anything on the remote, removes nothing of
    others' there, and never touches your branches. On a terminal it asks once about each new writer
    whether to join it, and before the first push to a remote it shows what would leave and asks.
    What cannot be done now is queued for the next sync, with exit code 0.

    Example: `gitguard sync --remote origin`
    """
    if fetch and push:
        raise click.UsageError("--fetch and --push exclude each other; leave both out")
    if trust or yes:
        refuse_agents("sync --trust" if trust else "sync --yes")
    if trust:
        writer = console.guard.lanes.writer_named(trust)
        confirm(f"Join what the writer {writer} pushed, now and from now on?", yes=yes)
        console.guard.lanes.trust(writer)
    request = SyncRequest(
        remote, console.chosen_session, fetches=not push, pushes=not fetch, dry_run=dry_run
    )
    with activity() as tell:
        synced = console.guard.lanes.sync(
            request, _asks(console, yes=yes), tell, _introduces(console)
        )
    console.say("\n".join(_lines(synced, dry_run=dry_run)), fields_of(synced))


def _asks(console: Console, *, yes: bool) -> Callable[[Leaving], bool | None]:
    """Return what asks a person; without a terminal nobody answers."""

    def may_leave(leaving: Leaving) -> bool | None:
        if yes or not can_ask():
            return yes or None
        console.remark("\n".join(_leaving_lines(leaving)))
        return click.confirm("Push these sessions there, now and at each sync?", default=False)

    return may_leave


def _introduces(console: Console) -> Callable[[tuple[OtherLane, ...]], bool | None]:
    """Return what asks a person about a new writer; --yes says nothing of whose words count."""

    def may_join(lanes: tuple[OtherLane, ...]) -> bool | None:
        if not can_ask() or is_agents_shell():
            return None
        console.remark("\n".join(_writer_lines(lanes)))
        return click.confirm("Is it yours, to join now and at each sync?", default=False)

    return may_join


def _writer_lines(lanes: tuple[OtherLane, ...]) -> Iterator[str]:
    yield f"New: {one_line(lanes[0].author)} pushed"
    for lane in lanes[:_MOST_SESSIONS]:
        branch = f", on branch {lane.branch}" if lane.branch else ""
        text = f"session {lane.session}, {lane.saved}{branch}, {lane.signature}"
        yield f"  {one_line(local_times(text))}"
    if len(lanes) > _MOST_SESSIONS:
        yield f"  and {counted(len(lanes) - _MOST_SESSIONS, 'more session')}"
    yield "  Your agent reads what you join as its own memory."


def _leaving_lines(leaving: Leaving) -> Iterator[str]:
    yield f"To {one_line(leaving.remote)} ({one_line(leaving.address)}):"
    for session in leaving.sessions:
        words = f"with {counted(session.messages, 'message')} of conversations"
        yield (
            f"  {one_line(session.session)}: {counted(session.checkpoints, 'new checkpoint')}, "
            f"{session.size:,} bytes, {words if session.messages else 'without messages'}"
        )
    yield "  Snapshots of files and the host's own summaries stay here."
    if leaving.machine:
        yield (
            f"  Others see it as the work of {one_line(leaving.machine)}; "
            "GITGUARD_MACHINE sets another name."
        )


def _lines(synced: Synced, *, dry_run: bool) -> Iterator[str]:
    where = f"{one_line(synced.remote)} ({one_line(synced.address)})"
    if dry_run and synced.leaving is not None:
        yield from _leaving_lines(synced.leaving)
    for joined in synced.joined:
        yield _joined_line(joined)
    for ref in synced.pushed:
        yield f"Pushed {ref} to {where}."
    for ref in synced.restored:
        yield f"Put back {ref}, which {where} had lost."
    yield from (f"Warning: {one_line(problem)}." for problem in synced.problems)
    yield from map(lane_line, synced.colleagues)
    yield from (_not_begun_line(lane, synced.branch) for lane in synced.not_begun)
    if synced.is_declined:
        yield (
            "Nothing was pushed where you said no; the next `gitguard sync` asks again. "
            "`sync.push: false` in your config.yaml never pushes."
        )
    if synced.queued and dry_run:
        yield f"Not all was looked at: {one_line(synced.queued)}."
    elif synced.queued:
        yield f"Queued for the next `gitguard sync`: {one_line(synced.queued)}."
    elif synced.is_fetch_only:
        yield f"Fetched from {where}; nothing is pushed while `sync.push` is false."
    elif not (dry_run or synced.is_declined):
        yield f"In sync with {where}."


def _not_begun_line(lane: OtherLane, branch: str) -> str:
    begin = f"`{lane.use_command}`"
    # Only the branch of its name begins a session where it is checked out.
    if lane.branch not in ("", branch) and lane.session == Session.of(lane.branch).name:
        begin = f"check out {lane.branch}, or run {begin}"
    text = f"Not here yet: session {lane.session} of {lane.author}, {lane.saved}"
    return one_line(f"{local_times(text)}; to continue it, {begin}")


def _joined_line(joined: Joined) -> str:
    what = f"Joined {counted(len(joined.writers), 'lane')} into {one_line(joined.session)}"
    if joined.saved.pending:
        return f"{what}; the checkpoint is pending: {one_line(joined.saved.pending)}."
    if not joined.saved.commit:
        return f"{what}; nothing changed."
    return f"{what}; saved checkpoint {joined.saved.sequence}."


COMMANDS: list[click.Command] = [sync]
