"""`session.json`: what a session is called, where it began, and the conversations in it.

Conversations are recorded inside the session they work at. A halt or override belongs to the
conversation, so a removed folder must not end it: a copy of those that are held lies outside the
repository.
"""

from __future__ import annotations

import os

from gitguard.errors import EditedState, InvalidDocument, InvalidInput, NotWritable
from gitguard.model.codec import check_format, dump_json, load_json
from gitguard.model.text import one_line, shorten
from gitguard.store.disk import files
from gitguard.store.session.host_session import HostSession, SessionRecord
from gitguard.store.session.workspace import LIMIT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from gitguard.store.session.naming import Session
    from gitguard.store.session.workspace import Workspace

FORMAT = 1
_SEALED_AT = "session.json {}"


def read_record(workspace: Workspace, session: Session) -> SessionRecord:
    """Read `session.json`; one that is missing or somebody else's is empty.

    Raises `InvalidDocument` where it is damaged.
    """
    path = workspace.working_file(session, "session.json")
    data = files.read_bytes(path, limit=LIMIT)
    if data is None:
        return _recalled(workspace, session.key, session)
    record = decode_record(data, path)
    if not workspace.seal.holds(data, _SEALED_AT.format(session.name)):
        moment = workspace.moment(session)
        if not moment.is_settled:  # somebody may be sealing it for the first time
            return moment.settled(lambda: read_record(workspace, session))
        if not workspace.works_apart:
            foreign = EditedState(f"`{path}` was not written by gitguard")
            workspace.note_fault("reading the conversations", foreign)
        # Of a session known by its name alone, only a key that fits the name can be the key.
        key = record.key if session.is_known_as(record.key) else session.key
        return _recalled(workspace, key, session)
    if session.key != session.name and record.key not in (session.key, session.name):
        # A name holds 32 bits of its key's hash; somebody may have looked for the same ones.
        raise InvalidInput(
            f"the session key `{shorten(one_line(session.key), 80)}` has the same name as "
            f"`{shorten(one_line(record.key), 80)}`, `{session.name}`",
            "Use another session key",
        )
    return record


def _recalled(workspace: Workspace, key: str, session: Session) -> SessionRecord:
    return SessionRecord(FORMAT, key, host_sessions=recall_held(workspace, session))


def new_record(workspace: Workspace, session: Session, branch: str = "") -> SessionRecord:
    """Return the record of a session that this worktree works at from now on."""
    return SessionRecord(FORMAT, session.key, branch, workspace.place.git_dir)


def write_record(workspace: Workspace, session: Session, record: SessionRecord) -> None:
    """Replace `session.json`, but never by what could not be read back."""
    hosts = {key: item.to_document() for key, item in record.host_sessions.items()}
    document, _ = workspace.redactor.document({**record.to_document(), "host_sessions": hosts})
    data = dump_json(document)
    path = workspace.working_file(session, "session.json")
    # Read back before anything is replaced: a fault of ours must not cost a record that was good.
    decode_record(data, path)
    files.write_bytes(path, workspace.seal.put_on(data, _SEALED_AT.format(session.name)))


def decode_record(data: bytes, path: str) -> SessionRecord:
    """Read `session.json`, or its copy."""
    try:
        document = load_json(data, what=f"`{path}`", limit=LIMIT)
    except InvalidDocument as error:
        raise InvalidDocument(error.message, "Run `gitguard repair --local`") from error
    check_format(document, FORMAT, what=f"`{path}`")
    document.pop("seal", None)
    hosts = document.pop("host_sessions", {})
    try:
        record = SessionRecord.from_document(document)
        sessions = {key: HostSession.from_document(item) for key, item in hosts.items()}
    except (InvalidInput, AttributeError) as error:
        raise InvalidDocument(
            f"`{path}` is damaged: {error}", "Run `gitguard repair --local`"
        ) from error
    return record.replace(host_sessions=sessions)


def remember_held(workspace: Workspace, session: Session, hosts: Mapping[str, HostSession]) -> None:
    """Keep a copy of halted and overridden conversations outside the repository."""
    clean = workspace.redactor.document  # an override has a reason, which is anybody's text
    documents = {key: clean(item.to_document())[0] for key, item in hosts.items() if item.is_held}
    path = _copy_path(workspace, session)
    document = SessionRecord(FORMAT, session.key).to_document()
    try:
        if documents or os.path.exists(path):
            files.make_folder(os.path.dirname(path))
            files.write_bytes(path, dump_json({**document, "host_sessions": documents}))
    except NotWritable as error:
        if not files.is_refusal(error):
            raise


def recall_held(workspace: Workspace, session: Session) -> Mapping[str, HostSession]:
    """Return the conversations in the copy, none where there is no copy that reads."""
    path = _copy_path(workspace, session)
    try:
        data = files.read_bytes(path, limit=LIMIT)
        return {} if data is None else decode_record(data, path).host_sessions
    except InvalidDocument:
        return {}


def _copy_path(workspace: Workspace, session: Session) -> str:
    return os.path.join(workspace.anchor_folder(session), "conversations.json")
