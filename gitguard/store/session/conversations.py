"""What follows a conversation when its session changes or its working files go.

Conversations are recorded inside the session they work at. But a halt belongs to the conversation:
neither another session nor a removed folder may end it (references/design/contract.md, "Halt").
"""

from __future__ import annotations

import os

from gitguard.errors import InvalidDocument, NotWritable
from gitguard.model.codec import dump_json
from gitguard.store.disk import files
from gitguard.store.session.host_session import SessionRecord
from gitguard.store.session.workspace import FORMAT, LIMIT, THIS_SESSION, decode_record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from gitguard.store.session.host_session import HostSession
    from gitguard.store.session.naming import Session
    from gitguard.store.session.workspace import Workspace


def carry(workspace: Workspace, source: Session, target: Session) -> None:
    """Let conversations go on in target as they stood in source; target's lock is held.

    Hooks record at the workspace's current session, so what source says of a conversation is newer.
    What was handed over belongs to the session it came from, and is left there. So is an imported
    conversation: it is where a person put it.
    """
    if source.name == target.name:
        return
    there = workspace.read_record(target)
    hosts = dict(there.host_sessions)
    moving = workspace.conversations(source)
    shell = workspace.held(source, THIS_SESSION, moving.get(THIS_SESSION))
    if shell.is_held:
        moving[THIS_SESSION] = shell
    for key, conversation in moving.items():
        if conversation.imported:
            continue
        known = hosts.get(key)
        delivery, head = (known.delivery, known.head) if known else (None, "")
        hosts[key] = conversation.replace(delivery=delivery, head=head)
    workspace.write_record(target, there.replace(host_sessions=hosts))
    remember(workspace, target, hosts)
    if THIS_SESSION in hosts:
        workspace.keep_hold(target, THIS_SESSION, hosts[THIS_SESSION])


def remember(workspace: Workspace, session: Session, known: Mapping[str, HostSession]) -> None:
    """Keep a copy of halted and overridden conversations outside the repository."""
    clean = workspace.redactor.document  # an override has a reason, which is anybody's text
    held = {key: clean(item.to_document())[0] for key, item in known.items() if item.is_held}
    path = _path(workspace, session)
    document = SessionRecord(FORMAT, session.key).to_document()
    try:
        if held or os.path.exists(path):
            files.make_folder(os.path.dirname(path))
            files.write_bytes(path, dump_json({**document, "host_sessions": held}))
    except NotWritable as error:
        if not files.is_refusal(error):
            raise


def recall(workspace: Workspace, session: Session) -> Mapping[str, HostSession]:
    """Return the conversations in the copy, none where there is no copy that reads."""
    path = _path(workspace, session)
    try:
        data = files.read_bytes(path, limit=LIMIT)
        return {} if data is None else decode_record(data, path).host_sessions
    except InvalidDocument:
        return {}


def _path(workspace: Workspace, session: Session) -> str:
    return os.path.join(workspace.anchor_folder(session), "conversations.json")
