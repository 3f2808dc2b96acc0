"""The files around a session's history that may hold what it held: looked through and cleaned."""

from __future__ import annotations

import os

from gitguard.errors import GitguardError
from gitguard.profile import advice_log
from gitguard.sessions.secrets.leaks import UNREAD, Leak
from gitguard.store.disk import files
from gitguard.store.git.place import locate
from gitguard.store.session.conversations import holds_folder
from gitguard.store.session.host_session import read_record, write_record
from gitguard.store.session.store import SessionStore
from gitguard.store.session.workspace import Workspace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from gitguard.model.redaction.redactor import Redactor

_FILE_LIMIT = 64 << 20
_READ_BACK = frozenset({"anchor.json", "state.json", "session.json", "journal.jsonl"})
"""Files that only their own doors write, since they are held against hashes or seals."""


class SessionFiles:
    """A session's files in every worktree, and this machine's copies."""

    def __init__(self, store: SessionStore, redactor: Redactor) -> None:
        """Look and clean by a redactor."""
        self._store = store
        self._redactor = redactor

    def leaks(self) -> Iterator[Leak]:
        """Yield what the files hold, and which of them could not be read."""
        for path in self._paths():
            text = _read(path)
            if text is None:
                yield Leak(path, "", "", rule=UNREAD, path=path)
                continue
            for finding in self._redactor.find(text):
                yield Leak(path, "", "", rule=finding.rule, path=os.path.basename(path))

    def rewrite(self) -> None:
        """Write what is read back through its own doors, which take secrets out.

        What another worktree's files hold that cannot be written stays, and is found by `leaks`.
        """
        for store in self._stores():
            try:
                _rewrite(store, self._redactor)
            except GitguardError:
                if store is self._store:
                    raise

    def clean(self) -> None:
        """Take secrets out of the files that nobody reads back."""
        for path in self._paths():
            text = None if os.path.basename(path) in _READ_BACK else _read(path)
            clean = self._redactor.text(text) if text else text
            if clean is not None and clean != text:
                files.write_bytes(path, clean.encode("utf-8", "surrogateescape"))

    def _stores(self) -> Iterator[SessionStore]:
        """Yield the session's store, and those of other worktrees that work at it as well."""
        yield self._store
        workspace, session = self._store.workspace, self._store.session
        folder = os.path.relpath(workspace.folder, workspace.place.worktree)
        for root in self._store.repository().worktrees():
            if os.path.realpath(root) == workspace.place.worktree or not os.path.isdir(root):
                continue
            other = Workspace(locate(root), workspace.places, folder, workspace.clock)
            if os.path.isdir(other.session_folder(session)):
                yield SessionStore(other, session, self._store.config)

    def _paths(self) -> Iterator[str]:
        workspace, session = self._store.workspace, self._store.session
        yield from _below(workspace.anchor_folder(session))
        yield os.path.join(workspace.state_folder, "faults.jsonl")
        yield advice_log.path_in(workspace.state_folder)
        yield os.path.join(workspace.places.state_home, "crash.log")
        yield from _below(holds_folder(workspace.places.state_home))
        for store in self._stores():
            store_workspace = store.workspace
            yield from _below(store_workspace.session_folder(session))
            yield from _below(os.path.join(store_workspace.folder, "archive"))
            yield os.path.join(store_workspace.folder, "faults.jsonl")
            for name in self._store.config.handoff.own_names:
                yield os.path.join(store_workspace.place.worktree, name)


def _rewrite(store: SessionStore, redactor: Redactor) -> None:
    store.workspace.redactor = redactor
    ready, part = store.fold(store.state())
    anew = store.journal.restart(part.entries)
    store.states.write(ready.state, ready, journal_id=anew.id, journal_offset=anew.end)
    store.write_summary(ready.state)
    record = read_record(store.workspace, store.session)
    write_record(store.workspace, store.session, record)


def _below(folder: str) -> Iterator[str]:
    for place, _, names in os.walk(folder):
        yield from (os.path.join(place, name) for name in sorted(names))


def _read(path: str) -> str | None:
    """Return a file as text, empty where there is none, None where it cannot be read."""
    try:
        data = files.read_bytes(path, limit=_FILE_LIMIT)
    except GitguardError:
        return None
    return (data or b"").decode("utf-8", "surrogateescape")
