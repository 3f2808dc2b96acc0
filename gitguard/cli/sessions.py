"""Commands about sessions: ensure, status, override, session."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from gitguard.cli import maintenance, session_listing
from gitguard.cli.completing import offer_sessions
from gitguard.cli.console import Console, fields_of, named, with_console
from gitguard.cli.file_changes import path_word
from gitguard.cli.live import live_lines
from gitguard.cli.notes import pending
from gitguard.cli.process_environment import host_session, refuse_agents
from gitguard.cli.settling import conflict_lines
from gitguard.cli.startup_lines import say_startup, where_it_stands
from gitguard.errors import GitguardError, InvalidInput
from gitguard.hosts.health import MODIFIED, OFF, TRUSTED, UNTRUSTED
from gitguard.model.text import counted, local_times, one_line
from gitguard.store.session.conversations import THIS_SESSION
from gitguard.store.session.standing import NONE, OURS
from gitguard.store.session.workspace import Session

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from gitguard.sessions.file_status import FileStatus
    from gitguard.sessions.host_status import HostStatus
    from gitguard.sessions.last_event import LastEvent
    from gitguard.sessions.status import Overview
    from gitguard.sessions.sync_record import OtherLane
    from gitguard.store.session.host_session import Delivery, HostSession

_MOST_OTHERS = 5
_RESTORES, _PATHS = 10, 5
"""Restores that are listed, and files of each."""


@click.command()
@with_console
def ensure(console: Console) -> None:
    """Begin, restore or continue this workspace's session

    Run it first. It creates `.gitguard/`, which git ignores, and the session's branch; your
    branches, index and files stay as they are.

    Example: `gitguard ensure --json`
    """
    say_startup(console, console.guard.ensure())


@click.command()
@click.option(
    "--clear", is_flag=True, help="Forget the FAULT lines and queued syncs after showing them"
)
@click.option("--files", is_flag=True, help="Show instead what is kept of your files")
@click.option(
    "--all", "every", is_flag=True, help="Show conversations of other branches and worktrees too"
)
@with_console
def status(console: Console, clear: bool, files: bool, every: bool) -> None:
    """Show session status, gitguard errors first

    Shows the conversations of this branch's session; the last line says how many more there are.
    Exits with 0, also when the task is complete, or with the code of a problem that would stop an
    agent. --all adds who is at work in all worktrees of the repository, and of whom other machines'
    lanes tell. --files shows how many snapshots of your files are kept, what the newest one left
    out, and which restores can be undone.

    Example: `gitguard status`
    """
    if files:
        _say_files(console, clear=clear, every=every)
        return
    try:
        overview = console.guard.status()
    except GitguardError as problem:
        _say_faults(console, problem)
    else:
        _say_overview(console, overview, clear=clear, every=every)


def _say_overview(console: Console, overview: Overview, *, clear: bool, every: bool) -> None:
    shown, more = (overview, 0) if every else _of_this_branch(overview)
    live = console.guard.lanes.live() if every else ()
    parts = (_overview_text(shown, more), *conflict_lines(shown.conflicts), *live_lines(live))
    text = "\n".join(parts)
    forgotten = console.guard.lanes.forget_queued() if clear else ()
    for remote in forgotten:
        text += f"\nThe sync with {one_line(remote)} is no longer queued."
    if clear and overview.faults:
        console.guard.forget_faults()
        text += "\nThe FAULT lines above are forgotten."
    elif overview.faults:
        text += "\nForget the FAULT lines with `gitguard status --clear`."
    document = {**_overview_document(shown), "more_conversations": more}
    console.say(text, {**document, "live": live} if every else document, overview.error)


def _of_this_branch(overview: Overview) -> tuple[Overview, int]:
    """Leave out, and count, conversations that did nothing in this session and are not halted."""
    conversations = overview.host_sessions
    shown = {key: c for key, c in conversations.items() if not c.carried or c.is_held}
    return overview.replace(host_sessions=shown), len(conversations) - len(shown)


def _say_files(console: Console, *, clear: bool, every: bool) -> None:
    if clear:
        raise click.UsageError("--files shows no FAULT lines, which --clear forgets")
    if every:
        raise click.UsageError("--files shows no conversations, which --all adds")
    file_status = console.guard.files.status()
    console.say("\n".join(_file_lines(file_status)), fields_of(file_status))


def _say_faults(console: Console, problem: GitguardError) -> None:
    """Tell the faults even where the workspace cannot be opened, which may be why they came."""
    faults = console.faults()
    if not faults:
        raise problem
    console.say("\n".join(map(_fault_text, faults)), {"faults": faults}, problem)


def _fault_text(fault: Mapping[str, Any]) -> str:
    often = f" ({fault['times']} times, last {fault.get('last')})" if fault.get("times") else ""
    line = f"FAULT {fault.get('at')} while {fault.get('doing')}: {fault.get('error')}{often}"
    return one_line(local_times(line))


def _overview_text(overview: Overview, more: int = 0) -> str:
    lines = [_fault_text(fault) for fault in overview.faults]
    lines += [one_line(local_times(f"Warning: {warning}.")) for warning in overview.warnings]
    lines.append(f"Workspace: {overview.root}")
    lines.append(f"Session: {one_line(overview.session) or '(none)'}")
    if overview.session:
        uncommitted = ", newer state not committed yet" if overview.uncommitted else ""
        newest = f"{overview.checkpoint} {overview.commit[:12]}" if overview.commit else "none"
        standing = "" if overview.standing in (NONE, OURS) else f" ({overview.standing})"
        lines.append(f"Checkpoint: {newest} on {overview.branch}{standing}{uncommitted}")
    if overview.state is not None:
        lines += where_it_stands(overview.state)
        lines += ["The task is complete."] * overview.state.is_done
    if overview.summary_conflict:
        lines.append("The summary conflicts with the state; the next major action rewrites it:")
        lines.append(overview.summary_conflict.rstrip())
    lines += hook_lines(overview)
    for key, host_session_record in overview.host_sessions.items():
        tried = overview.tried.get(host_session_record.host, ())
        parts = _conversation(host_session_record, tried)
        lines.append(one_line(f"Conversation {key}: {', '.join(parts)}"))
        lines += [one_line(f"Not told: {line}") for line in host_session_record.untold]
    if more:
        lines.append(f"{counted(more, 'more conversation')}: `gitguard status --all`")
    lines += map(lane_line, overview.lanes)
    if overview.others:
        others = _some(overview)
        lines.append(f"Other sessions: {others}; `gitguard --session KEY status` shows one")
    return "\n".join(lines)


def lane_line(lane: OtherLane) -> str:
    """Describe what another machine pushed, and say how it is joined where it is not."""
    text = one_line(f"session {lane.session} of {lane.author}, {lane.saved}")
    if lane.is_trusted:
        return f"Another machine: {local_times(text)}"
    way = f"gitguard sync --trust {lane.writer}"
    if lane.key:
        text += ", signed"
        way = f"gitguard trust add {one_line(lane.key)}"
    doubt = f" ({one_line(lane.doubt)})" if lane.doubt else ""
    return f"Not joined: {local_times(text)}{doubt}; if it is yours, run `{way}`"


def _some(overview: Overview) -> str:
    """Return the keys of the other sessions, the first few of many."""
    shown = ", ".join(map(one_line, overview.others[:_MOST_OTHERS]))
    more = f" and {len(overview.others) - _MOST_OTHERS} more"
    return shown + more * (len(overview.others) > _MOST_OTHERS)


def _conversation(conversation: HostSession, tried: tuple[str, ...]) -> list[str]:
    parts = [counted(conversation.turns, "turn"), counted(conversation.epoch, "compaction")]
    parts += version_part(conversation, tried)
    parts += [f"began {conversation.started_at}", f"last used {conversation.last_use}"]
    if conversation.halt is not None:
        parts.append(f"HALTED at {conversation.halt.at}: {conversation.halt.reason}")
    if conversation.override is not None:
        parts.append(f"halt overridden: {conversation.override.reason}")
    return [*map(local_times, parts), *delivery_part(conversation.delivery)]


def _file_lines(status: FileStatus) -> Iterator[str]:
    """Yield what is kept of the files; disk that is given up comes back with `git gc`."""
    megabytes = f"{status.new_bytes / 1_000_000:.1f} MB of new content"
    between = f", {status.oldest} to {status.newest}" if status.snapshots else ""
    yield f"Snapshots: {status.snapshots:,}{between}; {megabytes}, before compression"
    if status.pinned:
        yield f"Pinned: {one_line(', '.join(status.pinned))}"
    gaps = status.gaps
    if gaps.refusal:
        yield f"The newest checkpoint has none: {one_line(gaps.refusal)}"
    if gaps.left_out:
        yield "Left out of the newest one:"
        yield from (f"  {one_line(f.path)}: {one_line(f.reason)}" for f in gaps.left_out)
    yield from (f"Not checked: {one_line(unseen)}" for unseen in gaps.unseen)
    if status.restores:
        yield "Restores of files, which `gitguard restore --undo TIME` undoes:"
        for restore in status.restores[:_RESTORES]:
            paths = ", ".join(path_word(path) for path in restore.files[:_PATHS])
            more = ", …" if len(restore.files) > _PATHS else ""
            moments = local_times(f"{restore.at}  to {one_line(restore.source)}")
            yield f"  {moments}: {paths}{more}"


def _overview_document(overview: Overview) -> dict[str, object]:
    return {**fields_of(overview), "faults": list(overview.faults)}


@click.command()
@click.option("--reason", required=True, metavar="TEXT", help="Why the agent may continue")
@click.option(
    "--host-session",
    "key",
    default=None,
    callback=named,
    metavar="ID",
    help="The halted conversation",
)
@with_console
def override(console: Console, reason: str, key: str) -> None:
    """Lift the halt of a conversation

    Only a person may run it. The halt stays lifted until the next compaction, or until pressure has
    risen by 0.05.

    Example: `gitguard override --reason "one more test run"`
    """
    refuse_agents("override")
    chosen = key or _halted(console)
    lifted = console.guard.override(chosen, reason)
    assert lifted.override is not None
    upto = min(lifted.override.pressure + 0.05, 1.0)
    text = f"The halt of `{chosen}` is lifted up to a pressure of {upto:.2f}."
    console.say(text, {"host_session": chosen, "reason": reason, "lifted_to": upto})


def _halted(console: Console) -> str:
    overview = console.guard.status()
    conversations = overview.host_sessions
    halted = [key for key, conversation in conversations.items() if conversation.halt is not None]
    around = host_session()
    if around in halted and (around != THIS_SESSION or len(halted) == 1):
        return around
    if len(halted) == 1:
        return halted[0]
    elsewhere = ""
    if overview.others:
        elsewhere = f"Name another session with --session KEY: {_some(overview)}"
    if not halted:
        raise InvalidInput("no conversation of this session is halted", elsewhere)
    every = ", ".join(f"`{key}`" for key in halted)
    raise InvalidInput(
        f"several conversations are halted: {every}",
        ". ".join(filter(None, ("Name one with --host-session ID", elsewhere))),
    )


@click.group()
def session() -> None:
    """List, switch, fork and archive sessions"""


@session.command()
@click.argument("key", callback=named, shell_complete=offer_sessions)
@with_console
def use(console: Console, key: str) -> None:
    """Switch to the session KEY; begin or restore it

    Example: `gitguard session use payments`
    """
    try:
        startup = console.guard.sessions.use(console.guard.sessions.find(key))
    except GitguardError as error:
        if error.hint:
            error.hint += f"; name this session with `--session {key}`"
        raise
    say_startup(console, startup)


@session.command()
@click.argument("key", callback=named)
@with_console
def fork(console: Console, key: str) -> None:
    """Continue with the current state as a new session KEY

    The new session has its own history, from sequence 1; the old session stays.

    Example: `gitguard session fork payments-2`
    """
    saved = console.guard.sessions.fork(Session.of(key))
    text = one_line(f"Session `{key}` begun with the current state.")
    console.say(text, {"session": key, "saved": saved}, pending(saved))


for module in (session_listing, maintenance):
    for command in module.COMMANDS:
        session.add_command(command)

COMMANDS: list[click.Command] = [ensure, status, override, session]


# What `status` says of the hooks of hosts: whether they run, and when they were heard of last


_PATHS = 5


def hook_lines(overview: Overview) -> Iterator[str]:
    """Yield how it stands with each host, and when the last event came."""
    is_any_installed = any(status.is_installed for status in overview.hosts)
    if not is_any_installed:
        yield "Hooks: none installed here by this user; `gitguard init` installs them"
    for status in overview.hosts:
        yield one_line(f"Hooks: {_host_text(status, beside_installed=is_any_installed)}")
    if overview.session:
        yield one_line(f"Last event of a host: {_event_text(overview.last_event)}")


_TRUST = {  # a note says why it is unknown
    TRUSTED: "trusted",
    UNTRUSTED: "not trusted",
    MODIFIED: "changed since they were trusted",
    OFF: "switched off",
}


def _host_text(status: HostStatus, *, beside_installed: bool) -> str:
    parts = []
    if not status.is_installed:
        parts += ["not installed here by this user"] * beside_installed
    elif status.problems:
        parts.append("do not all run, see the warnings")
    elif status.where:
        parts.append(f"as installed in `{status.where}`")
    if status.trust in _TRUST:
        parts.append(_TRUST[status.trust])
    parts += status.notes
    parts.append(f"last event {status.ago} ago" if status.last_event else "no event yet")
    if status.last_event or status.version:
        tried = "tried" if status.version in status.tried else "not tried with this gitguard"
        parts.append(f"version {status.version} {tried}" if status.version else "version unknown")
    return f"{status.host} {'; '.join(parts)}"


def _event_text(event: LastEvent) -> str:
    parts = [f"{event.at} ({event.ago} ago)" if event.at else "none yet"]
    if event.changed:
        paths = ", ".join(path_word(path) for path in event.changed[:_PATHS])
        more = f" and {len(event.changed) - _PATHS} more" * (len(event.changed) > _PATHS)
        parts.append(f"changed since, up to {event.changed_at}: {paths}{more}")
    if event.head_moved_at:
        parts.append(f"HEAD moved at {event.head_moved_at}")
    if event.unknown:
        parts.append(f"which files changed since is unknown: {event.unknown}")
    return local_times("; ".join(parts))


def version_part(conversation: HostSession, tried: tuple[str, ...]) -> list[str]:
    """Name the host of a conversation and its version, and whether it is one that was tried."""
    host, version = conversation.host, conversation.version
    if not host:
        return []
    if not version:
        return [f"{host}, version unknown"]
    named = ", ".join(tried) or "none"
    note = "" if version in tried else f" (not tried with this gitguard; tried: {named})"
    return [f"{host} {version}{note}"]


def delivery_part(delivery: Delivery | None) -> list[str]:
    """Say from which checkpoint a conversation got its resume block; nothing of an empty one."""
    if delivery is None or not delivery.characters:
        return []
    return [f"got a resume block from {delivery.head[:12] or 'no checkpoint'} at {delivery.event}"]
