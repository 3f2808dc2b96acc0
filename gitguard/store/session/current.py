"""Which session a worktree works at, and which worktree a session belongs to."""

from __future__ import annotations

import os

from gitguard.errors import (
    InvalidDocument,
    InvalidInput,
    NewerFormat,
    NotInitialised,
    NotReadable,
)
from gitguard.model import fields
from gitguard.model.codec import check_format, dump_json, load_json
from gitguard.model.record import Record
from gitguard.model.text import one_line, shorten
from gitguard.model.value import Value
from gitguard.store.disk import files
from gitguard.store.session.host_session import FORMAT, SessionRecord, read_record
from gitguard.store.session.workspace import LIMIT, Session, is_session_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitguard.store.session.workspace import Workspace

_CHOSEN = "branch.json"


class CurrentSession(Value):
    """The session that a workspace works at."""

    session: Session
    record: SessionRecord | None = None
    """Its `session.json`, where looking up the key has read the whole of it; else none."""


def current_session(workspace: Workspace) -> Session:
    """Return the session that work in this workspace belongs to."""
    current = find_current(workspace)
    if current is None:
        raise NotInitialised(
            f"`{workspace.place.worktree}` has no gitguard session",
            "Run `gitguard ensure`, or `gitguard init` to set up a host as well",
        )
    return current.session


def find_current(workspace: Workspace) -> CurrentSession | None:
    """Return the session that work in this workspace belongs to, none where there is none.

    Every hook starts with this, so it hands on the record that it had to read for the key.
    """
    if workspace.places.session:
        return CurrentSession(Session.of(workspace.places.session))
    name = current_name(workspace)
    if not name:
        return None
    # The session's key is looked up also where `session.json` is damaged or gone.
    session = Session(name, name)
    try:
        record = read_record(workspace, session)
    except NewerFormat:
        raise
    except InvalidDocument:
        record = SessionRecord(format=FORMAT, key=session.key)
    if record.owner:
        return CurrentSession(Session(record.key, name), record)
    # Only a record that was read from a sealed file names an owner. What stands in for a missing
    # or damaged one depends on the key, so it is not handed on.
    return CurrentSession(Session(read_owner(workspace, session).key or record.key, name))


def current_name(workspace: Workspace) -> str:
    """Return the name in `current`, or where that is gone what it said; empty without both."""
    data = files.read_bytes(os.path.join(workspace.folder, "current"), limit=4096)
    if data is None:
        from gitguard.store.session.anchor import CurrentFile

        return CurrentFile(workspace.state_folder, workspace.place.git_dir).read()
    name = data.decode("utf-8", "replace").strip()
    if name and not is_session_name(name):
        raise InvalidDocument(
            f"`{workspace.folder}/current` names the session `{shorten(one_line(name), 80)}`",
            "Run `gitguard session use KEY`",
        )
    return name


def use_session(workspace: Workspace, session: Session) -> None:
    """Make a session the current one."""
    path, line = os.path.join(workspace.folder, "current"), f"{session.name}\n".encode()
    if files.read_bytes(path, limit=4096) != line:
        files.write_bytes(path, line)
    from gitguard.store.session.anchor import CurrentFile

    CurrentFile(workspace.state_folder, workspace.place.git_dir).write(session.name)


def leave_session(workspace: Workspace) -> None:
    """Work at no session from now on."""
    from gitguard.store.session.anchor import CurrentFile

    CurrentFile(workspace.state_folder, workspace.place.git_dir).forget()
    files.remove(os.path.join(workspace.folder, "current"))


class ChosenBranch(Record):
    """`branch.json`: the branch on which a worktree's current session was chosen.

    As long as that branch is checked out, the choice stands.
    """

    session: str = fields.text("The session's name; the file counts for no other.", default="")
    branch: str = fields.text("The branch, or the commit of a detached HEAD.", default="")
    refused: str = fields.text(
        "A branch whose session could not be used, as the agent was told.", default=""
    )


def chosen_branch(workspace: Workspace, session: Session) -> ChosenBranch | None:
    """Return on which branch a session was chosen; None where nothing that reads tells."""
    path = os.path.join(workspace.folder, _CHOSEN)
    try:
        data = files.read_bytes(path, limit=LIMIT)
        document = load_json(data or b"{}", what=f"`{path}`", limit=LIMIT)
        chosen = ChosenBranch.from_document(document)
    except (InvalidDocument, InvalidInput, NotReadable):
        return None
    return chosen if chosen.session == session.name else None


def choose_branch(workspace: Workspace, chosen: ChosenBranch) -> None:
    """Note on which branch a session is chosen.

    It is written before the session becomes the current one: after a crash in between it names
    another session than the current one, and does not count.
    """
    # Anybody names branches; one whose name holds a secret is followed by no session.
    clean, _ = workspace.redactor.document(chosen.to_document())
    document = {"format": FORMAT, **clean}
    files.write_bytes(os.path.join(workspace.folder, _CHOSEN), dump_json(document))


class Owner(Record):
    """The worktree that works at a session."""

    git_dir: str = fields.text("The git directory of the worktree.", default="")
    key: str = fields.text("The session's key as it was given.", default="")


def read_owner(workspace: Workspace, session: Session) -> Owner:
    """Return which worktree owns a session, an empty one if none does."""
    path = _owner_path(workspace, session)
    data = files.read_bytes(path, limit=LIMIT)
    if data is None:
        return Owner()
    try:
        document = load_json(data, what="the session's owner", limit=LIMIT)
        check_format(document, FORMAT, what=f"`{path}`")
        del document["format"]
        return Owner.from_document(document)
    except NewerFormat:
        raise
    except (InvalidDocument, InvalidInput):
        return Owner()


def own_session(workspace: Workspace, session: Session) -> None:
    """Make the worktree the owner of a session that no other one owns."""
    git_dir = workspace.place.git_dir
    owner = Owner(git_dir=git_dir, key=session.key)
    before = read_owner(workspace, session)
    path = _owner_path(workspace, session)
    may_own = before.git_dir in ("", git_dir) and files.is_writable(os.path.dirname(path))
    if may_own and before != owner:
        files.make_folder(os.path.dirname(path))
        files.write_bytes(path, dump_json({**owner.to_document(), "format": FORMAT}))


def _owner_path(workspace: Workspace, session: Session) -> str:
    return os.path.join(workspace.anchor_folder(session), "owner.json")
