"""Which worktree a session belongs to; kept outside the repository."""

from __future__ import annotations

import os

from gitguard.errors import InvalidDocument, InvalidInput, NewerFormat
from gitguard.model import fields
from gitguard.model.codec import check_format, dump_json, load_json
from gitguard.model.record import Record
from gitguard.store.disk import files
from gitguard.store.session.workspace import FORMAT, LIMIT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitguard.store.session.naming import Session
    from gitguard.store.session.workspace import Workspace


class Owner(Record):
    """The worktree that works at a session."""

    git_dir: str = fields.text("The git directory of the worktree.", default="")
    key: str = fields.text("The session's key as it was given.", default="")


def read(workspace: Workspace, session: Session) -> Owner:
    """Return which worktree owns a session, an empty one if none does."""
    path = _path(workspace, session)
    data = files.read_bytes(path, limit=LIMIT)
    if data is None:
        return Owner()
    try:
        document = load_json(data, what="the session's owner", limit=LIMIT)
        check_format(document, FORMAT, what=f"`{path}`")
        document.pop("format", None)
        return Owner.from_document(document)
    except NewerFormat:
        raise
    except (InvalidDocument, InvalidInput):
        return Owner()


def own(workspace: Workspace, session: Session) -> None:
    """Make the worktree the owner of a session that no other one owns."""
    git_dir = workspace.place.git_dir
    owner = Owner(git_dir=git_dir, key=session.key)
    known = read(workspace, session)
    path = _path(workspace, session)
    free = known.git_dir in ("", git_dir) and files.is_writable(os.path.dirname(path))
    if free and known != owner:
        files.make_folder(os.path.dirname(path))
        files.write_bytes(path, dump_json({**owner.to_document(), "format": FORMAT}))


def _path(workspace: Workspace, session: Session) -> str:
    return os.path.join(workspace.anchor_folder(session), "owner.json")
