"""Which journals gitguard began here, kept outside the repository.

A branch can bring a journal in: git overwrites ignored files without a word when it checks one out.
What such a journal says must never become state.
"""

from __future__ import annotations

import os

from gitguard.errors import EditedState, InvalidDocument, NotWritable
from gitguard.model.codec import dump_json, load_json
from gitguard.store.disk import files
from gitguard.store.session.journal import SEALED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitguard.store.session.naming import Session
    from gitguard.store.session.workspace import Workspace

_FORMAT = 1
_LIMIT = 1 << 16
_MOST = 50
"""Every worktree that works at a session has a journal, and a large one is followed by another."""


def remember(workspace: Workspace, session: Session, journal_id: str) -> None:
    """Keep the id of a journal that we begin; where nothing can be written it stays unknown."""
    path = _path(workspace, session)
    _keep(path, [*_listed(path), journal_id])


def forget(workspace: Workspace, session: Session, journal_id: str) -> None:
    """Drop the id of a journal that another one took the place of."""
    path = _path(workspace, session)
    listed = _listed(path)
    if journal_id in listed:
        _keep(path, [item for item in listed if item != journal_id])


def _keep(path: str, ids: list[str]) -> None:
    try:
        files.make_folder(os.path.dirname(path))
        files.write_bytes(path, dump_json({"format": _FORMAT, "journals": ids[-_MOST:]}))
    except NotWritable as error:
        if not files.is_refusal(error):
            raise


def is_ours(workspace: Workspace, session: Session, journal_id: str) -> bool:
    """Say whether a journal is known as one that we began."""
    listed = _listed(_path(workspace, session))
    return bool(journal_id) and (journal_id in listed or journal_id == _folded(workspace, session))


def refuse_foreign(workspace: Workspace, session: Session, journal_id: str, path: str) -> None:
    """Set a journal aside that is not known as ours, and leave a mark; the lock is held.

    Where nothing is known of any, as in a sandbox, one that was begun here is taken, unless git
    tracks it; an archive may have brought in any other.
    """
    is_any_known = bool(_listed(_path(workspace, session)) or _folded(workspace, session))
    if not is_any_known and _is_begun_here(workspace, journal_id, path):
        remember(workspace, session, journal_id)
        return
    bad_file = workspace.set_aside(path)
    workspace.note_fault(
        "reading the journal",
        EditedState(
            f"`{path}` was not begun by gitguard in this place; it is kept as `{bad_file}`"
        ),
    )


def new_id(workspace: Workspace, unique: str, *, sealed: bool) -> str:
    """Return the id of a journal that is begun here, and where every line carries a seal."""
    return f"{unique}@{_whereabouts(workspace)}{SEALED if sealed else ''}"


def _is_begun_here(workspace: Workspace, journal_id: str, path: str) -> bool:
    begun = journal_id.removesuffix(SEALED).rpartition("@")[2]
    return begun == _whereabouts(workspace) and not _is_tracked(workspace, path)


def _whereabouts(workspace: Workspace) -> str:
    from gitguard.store.session.anchor import whereabouts

    return whereabouts(workspace.place.common_dir)


def _listed(path: str) -> list[str]:
    try:
        data = files.read_bytes(path, limit=_LIMIT)
        document = {} if data is None else load_json(data, what=f"`{path}`", limit=_LIMIT)
    except InvalidDocument:
        return []
    ids = document.get("journals")
    return [item for item in ids if isinstance(item, str)] if isinstance(ids, list) else []


def _folded(workspace: Workspace, session: Session) -> str:
    from gitguard.store.session.anchor import AnchorFile

    try:
        written = AnchorFile(workspace.anchor_folder(session)).read_copy()
    except InvalidDocument:
        return ""
    return written.journal_id if written else ""


def _is_tracked(workspace: Workspace, path: str) -> bool:
    folder = os.path.relpath(os.path.dirname(path), workspace.place.worktree)
    return bool(workspace.repository().tracked_under(folder))


def _path(workspace: Workspace, session: Session) -> str:
    return os.path.join(workspace.anchor_folder(session), "journals.json")
