"""A session's conversations: their records, what holds them, how they change to another session.

A halt belongs to its conversation: neither another session nor a removed folder may end it
(references/design/contract.md, "Halt"). So what holds a conversation, its halt or the override that
lifted one, lies out of an agent's reach: one small file in the user's state directory, named after
the host and the host's id of the conversation. Neither the repository, its path nor the session has
a part in that name. A file that is absent says nothing, one that cannot be read means a halt.
"""

from __future__ import annotations

import os

from gitguard.errors import GitguardError, InvalidDocument, InvalidInput, NotWritable
from gitguard.model.codec import check_format, dump_json, load_json, sha256
from gitguard.model.text import timestamp
from gitguard.store.disk import files
from gitguard.store.session.host_session import (
    NEVER,
    Halt,
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

_HOLD_FORMAT = 1
_HOLDS = "conversations"
_ANNOUNCED = "_conversations"
"""In a repository's folder of the state directory, where names of sessions never begin with `_`."""
_LARGEST_HOLD = 1 << 16
_MOST_HOLDS = 500
"""So many records are kept; of those above, the overrides that are oldest go."""
_SAME_MOMENT = 0.5
"""Seconds within which the hooks of one call begin; a model that repeats it takes longer."""
_DEAD_AFTER = 90 * 86_400
"""Seconds behind the newest record after which a halted conversation is over."""


def holds_folder(state_home: str) -> str:
    """Return where the records of all conversations lie."""
    return os.path.join(state_home, _HOLDS)


def host_hold_path(state_home: str, host: str, conversation: str) -> str:
    """Return where a conversation's record lies."""
    name = sha256(f"{host}\0{conversation}".encode("utf-8", "surrogatepass"))[:32]
    return os.path.join(state_home, _HOLDS, f"{name}.json")


def read_hold(path: str) -> Hold | None:
    """Return what holds a conversation.

    None where there is no record, and where the state directory is out of reach: then the sealed
    record in the repository decides.
    """
    try:
        data = files.read_bytes(path, limit=_LARGEST_HOLD)
        return None if data is None else _decoded_hold(data, path)
    except GitguardError as error:
        return _damaged_hold(error) if os.path.lexists(path) else None


def _decoded_hold(data: bytes, path: str) -> Hold:
    what = f"the conversation's record `{path}`"
    document = load_json(data, what=what, limit=_LARGEST_HOLD)
    check_format(document, _HOLD_FORMAT, what=what)
    del document["format"]
    try:
        return Hold.from_document(document)
    except InvalidInput as error:
        raise InvalidDocument(f"{what} is damaged: {error.message}") from error


def _damaged_hold(error: GitguardError) -> Hold:
    return Hold("", "", halt=Halt(NEVER, 1.0, error.message))


def write_hold(path: str, hold: Hold, now: float) -> bool:
    """Replace a record, durable; say whether the state directory let us.

    One that holds nothing is removed.
    """
    before = read_hold(path)
    if hold.halt is None and hold.override is None:
        return before is None or files.remove(path)
    if before is not None and (before.halt, before.override) == (hold.halt, hold.override):
        return True
    if before is not None and before.halt is not None and hold.halt is not None:
        # The same halt, with what was saved since.
        hold = hold.replace(
            denied=before.denied, denied_call=before.denied_call, denied_at=before.denied_at
        )
    return _replace_hold(path, hold, now)


def add_denial(path: str, now: float, call: str = "", *, is_unique: bool = False) -> int:
    """Count a denied tool call; return how many there are since the last prompt, 0 if unknown.

    A host whose hooks stand in two places tells twice of a call, which counts once. call is what it
    is known by, and is_unique whether no other call of the conversation can have the same.
    """
    hold = read_hold(path)
    if hold is None or not hold.conversation:
        return 0
    is_near = is_unique or abs(now - hold.denied_at) < _SAME_MOMENT
    if call and hold.denied_call == call and is_near:
        return hold.denied
    counted = hold.replace(denied=hold.denied + 1, denied_call=call, denied_at=now)
    return counted.denied if _replace_hold(path, counted, now) else 0


def forget_denials(path: str, hold: Hold, now: float) -> None:
    """Count denied tool calls from 0 again, because the user has said something."""
    if hold.denied:
        _replace_hold(path, hold.replace(denied=0, denied_call="", denied_at=0), now)


def _replace_hold(path: str, hold: Hold, now: float) -> bool:
    folder = os.path.dirname(path)
    try:
        is_new = not os.path.lexists(path)
        files.make_folder(folder)
        files.write_bytes(path, dump_json({"format": _HOLD_FORMAT, **hold.to_document()}))
    except NotWritable as error:
        if not files.is_refusal(error):
            raise
        return False
    if is_new:
        sweep_holds(folder, now)
    return True


def all_holds(state_home: str) -> list[Hold]:
    """Return every record, damaged ones included, in no order."""
    folder = holds_folder(state_home)
    names = [name for name in files.names_in(folder) if name.endswith(".json")]
    holds = (read_hold(os.path.join(folder, name)) for name in names)
    return [hold for hold in holds if hold is not None]


def sweep_holds(folder: str, now: float) -> None:
    """Remove records of conversations that are over.

    A halted conversation is over when nothing was recorded of it for 90 days; it is never removed
    before, however many there are.
    """
    files.sweep(folder, now)
    names = [name for name in files.names_in(folder) if name.endswith(".json")]
    paths = sorted((os.path.join(folder, name) for name in names), key=files.changed_at)
    surplus = len(paths) - _MOST_HOLDS
    # By the newest record's own time: a clock that was set wrong must not end every halt.
    newest = files.changed_at(paths[-1]) if paths else 0
    for path in paths:
        is_old = newest - files.changed_at(path) > _DEAD_AFTER
        if not is_old and surplus <= 0:
            return
        hold = read_hold(path)
        is_halted = hold is not None and hold.halt is not None
        if is_old or not is_halted:
            surplus -= files.remove(path)


def announcements_folder(workspace: Workspace) -> str:
    """Return where conversations of all worktrees say where they work (`announced`)."""
    return os.path.join(workspace.state_folder, _ANNOUNCED)


def may_have_company(workspace: Workspace) -> bool:
    """Say whether more than one conversation is announced; asked at calls, so it reads no file."""
    return len(files.names_in(announcements_folder(workspace))) > 1


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
    hold = read_hold(hold_path(workspace, session, key, host))
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
    every = all_holds(workspace.places.state_home)
    return next((hold.host for hold in every if hold.conversation == key), "")


def hold_path(workspace: Workspace, session: Session, key: str, host: str) -> str:
    """Return where it is kept what holds a conversation.

    That of a host belongs to no repository; that of a bare shell is the session itself.
    """
    if key == THIS_SESSION and not host:
        return os.path.join(workspace.anchor_folder(session), "hold.json")
    return host_hold_path(workspace.places.state_home, host, key)


def all_conversations(workspace: Workspace, session: Session) -> dict[str, HostSession]:
    """Return a session's conversations by their ids, with what holds them."""
    hosts = read_record(workspace, session).host_sessions
    return {key: with_hold(workspace, session, key, record) for key, record in hosts.items()}


def conversations_here(workspace: Workspace, session: Session) -> dict[str, HostSession]:
    """Return a session's conversations, and those of this worktree that are held besides.

    A conversation may have been halted at another session, or its record be gone since.
    """
    every = all_conversations(workspace, session)
    for hold in all_holds(workspace.places.state_home):
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
    return write_hold(hold_path(workspace, session, key, record.host), hold, workspace.clock())


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
    target_record = read_record(workspace, target)
    hosts = dict(target_record.host_sessions)
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
    write_record(workspace, target, target_record.replace(host_sessions=hosts))
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
