"""Keeps what is captured in a repository whose state this machine does not know, until it does.

Under another home folder, or on another machine, nothing vouches for the working files: they are
not used, and not written either, as whoever wrote them may come back. What hooks capture and an
agent notes is kept in the state directory instead, and follows when somebody trusts the repository.
"""

from __future__ import annotations

import os
from contextlib import suppress

from gitguard.errors import GitguardError, InvalidDocument
from gitguard.model.codec import dump_line, load_json
from gitguard.model.value import Value
from gitguard.store.disk import files
from gitguard.store.session import state_file
from gitguard.store.session.current import current_name
from gitguard.store.session.host_session import decode_record
from gitguard.store.session.journal import OwnJournal, make_session_files
from gitguard.store.session.workspace import LIMIT, Session

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gitguard.state.entries import JournalEntry
    from gitguard.store.session.workspace import Workspace

_NOTES = "notes.jsonl"
_NOTES_LIMIT = 1 << 20


class PendingNote(Value):
    """A change of the state that waits until the state is known."""

    document: dict[str, Any]
    new_task: bool
    lists: str


def is_unknown(workspace: Workspace) -> bool:
    """Say whether the workspace has a session's state that nothing on this machine vouches for."""
    if workspace.is_recorded:
        return False
    if os.path.isdir(workspace.apart().folder):
        return True
    from gitguard.store.session.moves import anchored_sessions

    state = workspace.state_folder
    if anchored_sessions(state) or not files.is_writable(state):
        return False
    session = session_of(workspace)
    if session is None:
        return False
    reading = state_file.StateFiles(workspace, session).read()
    is_edited = isinstance(reading, state_file.UnusableState) and reading.edited is not None
    is_foreign = is_edited and state_file.newest_own(reading) is None and not reading.problem
    return is_foreign and not _is_tracked(workspace)  # a clone may bring anything in


def _is_tracked(workspace: Workspace) -> bool:
    folder = os.path.relpath(os.path.join(workspace.folder, "sessions"), workspace.place.worktree)
    return bool(workspace.repository().tracked_under(folder))


def session_of(workspace: Workspace) -> Session | None:
    """Return the session that the workspace names, by a key that fits its name; None if none is."""
    if workspace.places.session:
        return Session.of(workspace.places.session)
    name = current_name(workspace)
    if not name:
        return None
    path = workspace.working_file(Session(name, name), "session.json")
    try:
        data = files.read_bytes(path, limit=LIMIT)
        key = decode_record(data, path).key if data else name
    except GitguardError:
        key = name
    return Session(key, name) if Session(name, name).is_known_as(key) else Session(name, name)


def keep_note(workspace: Workspace, session: Session, note: PendingNote) -> None:
    """Keep a note for later; the lock is held."""
    other = workspace.apart()
    make_session_files(other, session)
    document, _ = workspace.redactor.document(
        {"document": note.document, "new_task": note.new_task, "lists": note.lists}
    )
    files.append(other.working_file(session, _NOTES), dump_line(document))


def is_any_kept(workspace: Workspace, session: Session) -> bool:
    """Say whether something was kept apart of a session."""
    return os.path.isdir(workspace.apart().session_folder(session))


def entries_of(workspace: Workspace, session: Session) -> tuple[JournalEntry, ...]:
    """Return what hooks captured of a session, oldest first."""
    return OwnJournal(workspace.apart(), session).read("", 0).unfolded


def notes_of(workspace: Workspace, session: Session) -> tuple[PendingNote, ...]:
    """Return what was noted in a session, oldest first."""
    path = workspace.apart().working_file(session, _NOTES)
    lines, _ = files.complete_lines(path, offset=0, limit=_NOTES_LIMIT)
    notes = []
    for line in lines:
        try:
            document = load_json(line, what="a note")
            notes.append(PendingNote(document["document"], document["new_task"], document["lists"]))
        except (InvalidDocument, KeyError):
            continue  # torn by a crash before it was acknowledged
    return tuple(notes)


def bring_records(workspace: Workspace, session: Session) -> None:
    """Put what was recorded apart of conversations in the place of what nothing vouches for.

    The working files of whoever wrote here before are kept beside.
    """
    other = workspace.apart()
    for name in ("session.json", "journal.jsonl"):
        workspace.set_aside(workspace.working_file(session, name))
    data = files.read_bytes(other.working_file(session, "session.json"), limit=LIMIT)
    if data is not None:
        files.write_bytes(workspace.working_file(session, "session.json"), data)


def remove(workspace: Workspace, session: Session) -> None:
    """Forget what was kept apart of a session, once it is in its state and journal."""
    other = workspace.apart()
    with suppress(OSError):
        files.remove_tree(other.session_folder(session))
    if not files.names_in(os.path.join(other.folder, "sessions")):
        with suppress(OSError):
            files.remove_tree(other.folder)
