"""A session's conversations: their records, what holds them, how they change to another session.

A halt belongs to its conversation: neither another session nor a removed folder may end it
(references/design/contract.md, "Halt").
"""

from __future__ import annotations

import os

from gitguard.errors import GitguardError
from gitguard.model.text import timestamp
from gitguard.store.session import holds
from gitguard.store.session.host_session import (
    Hold,
    HostSession,
    read_record,
    remember_held,
    write_record,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from gitguard.store.session.host_session import SessionRecord
    from gitguard.store.session.workspace import Session, Workspace

THIS_SESSION = "this-session"
"""The conversation of programs that no host runs: the session itself."""
_MOST_HOST_SESSIONS = 50
_MOST_HELD = 500
"""So many halted or overridden conversations are kept besides; more would outgrow the file."""


def read_conversation(
    workspace: Workspace, session: Session, key: str, host: str = ""
) -> HostSession:
    """Return a conversation's record, a new one if it is not known, with what holds it."""
    return with_hold(
        workspace,
        session,
        key,
        record=read_record(workspace, session).host_sessions.get(key),
        host=host,
    )


def with_hold(
    workspace: Workspace, session: Session, key: str, record: HostSession | None, host: str = ""
) -> HostSession:
    """Return a conversation's record with the halt or override that is in force."""
    record = record or HostSession(started_at=timestamp(workspace.clock()))
    host = host or record.host or _host_of(workspace, key)
    hold = holds.read(hold_path(workspace, session, key, host))
    if hold is not None:
        record = record.replace(halt=hold.halt, override=hold.override)
    elif os.path.isdir(workspace.state_folder):
        record = record.replace(override=None)  # only the state directory says that it is in force
    return record.replace(host=host)


def _host_of(workspace: Workspace, key: str) -> str:
    """Return the host that a conversation was halted at, for programs that name its id alone.

    A session that is its own conversation has none.
    """
    if key == THIS_SESSION:
        return ""
    every = holds.all_in(workspace.places.state_home)
    return next((hold.host for hold in every if hold.conversation == key), "")


def hold_path(workspace: Workspace, session: Session, key: str, host: str) -> str:
    """Return where it is kept what holds a conversation.

    That of a host belongs to no repository; that of a bare shell is the session itself.
    """
    if key == THIS_SESSION and not host:
        return os.path.join(workspace.anchor_folder(session), "hold.json")
    return holds.path_of(workspace.places.state_home, host, key)


def all_conversations(workspace: Workspace, session: Session) -> dict[str, HostSession]:
    """Return a session's conversations by their ids, with what holds them."""
    hosts = read_record(workspace, session).host_sessions
    return {key: with_hold(workspace, session, key, record) for key, record in hosts.items()}


def conversations_here(workspace: Workspace, session: Session) -> dict[str, HostSession]:
    """Return a session's conversations, and those of this worktree that are held besides.

    A conversation may have been halted at another session, or its record be gone since.
    """
    every = all_conversations(workspace, session)
    for hold in holds.all_in(workspace.places.state_home):
        key = hold.conversation
        if key and key not in every and hold.worktree == workspace.place.worktree:
            every[key] = with_hold(workspace, session, key, record=None, host=hold.host)
    return every


def keep_conversation(
    workspace: Workspace,
    session: Session,
    key: str,
    host_session: HostSession,
    *,
    used_at: str = "",
    record: SessionRecord | None = None,
) -> None:
    """Store a conversation's record; the caller holds the lock.

    It counts as used now and by its hooks, but where used_at says when an imported one was.
    record is `session.json` as the caller read it while it held the lock; else it is read here.
    """
    record = record or read_record(workspace, session)
    imported = host_session.imported and bool(used_at)
    used_at = used_at or timestamp(workspace.clock())
    used = host_session.replace(used_at=used_at, imported=imported, carried=False)
    others = {name: item for name, item in record.host_sessions.items() if name != key}
    hosts = {**_newest(others), key: used}
    if used.halt is not None:
        keep_hold(workspace, session, key, used)  # first: no failure further on lifts a halt
    write_record(workspace, session, record.replace(host_sessions=hosts))
    before = record.host_sessions.get(key)
    was = (before.halt, before.override) if before else (None, None)
    if was != (used.halt, used.override):
        remember_held(workspace, session, hosts)
    if used.halt is None:  # last, for the same reason: until all is written the halt is in force
        keep_hold(workspace, session, key, used)


def keep_hold(workspace: Workspace, session: Session, key: str, record: HostSession) -> bool:
    """Keep out of an agent's reach what holds a conversation; say whether that could be."""
    hold = Hold(
        record.host, key, record.halt, record.override, worktree=workspace.place.worktree
    ).redacted(workspace.redactor)[0]
    return holds.keep(hold_path(workspace, session, key, record.host), hold, workspace.clock())


def _newest(conversations: Mapping[str, HostSession]) -> dict[str, HostSession]:
    """Leave out the conversations that were not used for longest, halted ones last."""
    by_use = sorted(conversations.items(), key=lambda item: item[1].last_use, reverse=True)
    halted = [item for item in by_use if item[1].is_held]
    others = [item for item in by_use if not item[1].is_held]
    room = max(_MOST_HOST_SESSIONS - 1 - len(halted), 0)
    return dict(halted[:_MOST_HELD] + others[:room])


def carry(workspace: Workspace, source: Session, target: Session) -> None:
    """Let conversations go on in target as they stood in source; target's lock is held.

    Hooks record at the workspace's current session, so what source says of a conversation is newer.
    What was handed over belongs to the session it came from, and is left there. So is an imported
    conversation: it is where a person put it.
    """
    if source.name == target.name:
        return
    there = read_record(workspace, target)
    hosts = dict(there.host_sessions)
    moving = all_conversations(workspace, source)
    shell = with_hold(workspace, source, THIS_SESSION, moving.get(THIS_SESSION))
    if shell.is_held:
        moving[THIS_SESSION] = shell
    for key, conversation in moving.items():
        if conversation.imported:
            continue
        before = hosts.get(key)
        delivery, head = (before.delivery, before.head) if before else (None, "")
        carried = before is None or before.carried
        hosts[key] = conversation.replace(delivery=delivery, head=head, carried=carried)
    write_record(workspace, target, there.replace(host_sessions=hosts))
    remember_held(workspace, target, hosts)
    _carry_open_calls(workspace, source, target)
    if THIS_SESSION in hosts:
        keep_hold(workspace, target, THIS_SESSION, hosts[THIS_SESSION])


def _carry_open_calls(workspace: Workspace, source: Session, target: Session) -> None:
    """Journal the calls that run in target as well, where their ends will be journaled."""
    from gitguard.store.session.journal import OwnJournal

    try:
        open_calls = OwnJournal(workspace, source).open_calls()
    except GitguardError:
        return  # whoever works at source is told what is wrong with its journal
    for entry in open_calls:
        OwnJournal(workspace, target).append(entry)
