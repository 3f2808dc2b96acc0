"""A session's own journal: nothing that somebody else wrote or began is read."""

from __future__ import annotations

import os

from gitguard.errors import EditedState
from gitguard.model.codec import dump_line
from gitguard.model.config.config import WORDS_WHOLE
from gitguard.store.disk import files
from gitguard.store.session.journal import SEALED, JournalFile, JournalPart, header_of, id_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitguard.state.entries import JournalEntry
    from gitguard.store.session.moment import ConsistentRead
    from gitguard.store.session.naming import Session
    from gitguard.store.session.workspace import Workspace


def make_session_files(workspace: Workspace, session: Session) -> None:
    """Create a session's working folders, and its journal in them.

    The journal begins here because its id is noted in the state directory, and a calm hook, which
    appends to it, has no time for that.
    """
    workspace.make_folders(session)
    OwnJournal(workspace, session).begin()


class OwnJournal(JournalFile):
    """A session's journal, of which those that somebody else began are never read."""

    def __init__(self, workspace: Workspace, session: Session, *, words: str = WORDS_WHOLE) -> None:
        """Use the session's working file; words is how much is kept of what was said."""
        super().__init__(workspace.working_file(session, "journal.jsonl"), workspace.clock)
        self._workspace = workspace
        self._session = session
        self._words = words

    def begin(self) -> None:
        """Make the file if it is not there, so that only entries are left to append."""
        if self._is_new():
            files.append(self.path, self._header())

    def _line(self, entry: JournalEntry) -> bytes:
        if self._words != WORDS_WHOLE:
            from gitguard.state.spoken import kept_entry

            entry = kept_entry(entry, self._words)
        return dump_line(self._workspace.redactor.document(entry.line())[0])

    def read(self, folded_id: str, folded_offset: int) -> JournalPart:
        """Read the journal as it was at one moment."""
        return self._moment.look(lambda: self._read(folded_id, folded_offset))

    def open_calls(self) -> tuple[JournalEntry, ...]:
        """Return the tool calls that began and never ended, as it was at one moment."""
        return self._moment.look(self._read_open_calls)

    @property
    def _moment(self) -> ConsistentRead:
        return self._workspace.moment(self._session)

    def _refuse_unsettled(self) -> None:
        """Refuse to call foreign what another process may be replacing at this very moment."""
        if not self._moment.is_settled:
            from gitguard.store.session.moment import Unsettled

            raise Unsettled(f"`{self.path}` changes while it is read", "Try again in a moment")

    def restart(self, entries: tuple[JournalEntry, ...]) -> JournalPart:
        """Begin a new file; the one before is nobody's from then on, should it come back."""
        from gitguard.store.session import journal_ids

        replaced = id_in(self._begins())
        part = super().restart(entries)
        journal_ids.forget(self._workspace, self._session, replaced)
        return part

    def _is_to_end(self, part: JournalPart) -> bool:
        """Say whether a journal is large, or was begun when there was no key to seal it with."""
        unsealed = bool(part.id) and not part.id.endswith(SEALED)
        return super()._is_to_end(part) or (unsealed and self._workspace.seal.is_there)

    def _sealed(self, line: bytes, journal_id: str, offset: int) -> bytes:
        return self._workspace.seal.put_on(line, self._place(journal_id, offset))

    def _place(self, journal_id: str, offset: int) -> str:
        # With the offset in it, a sealed line cannot be copied or moved to another place.
        return f"journal {self._session.name} {journal_id} {offset}"

    def _trusted(self, lines: list[tuple[int, bytes]], journal_id: str) -> list[bytes]:
        """Leave out what somebody wrote into a sealed journal by hand, and leave a mark."""
        holds = self._workspace.seal.holds
        if not journal_id.endswith(SEALED):
            return [line for _, line in lines]
        # The header, at byte 0, carries no seal: its id is among those that we began.
        trusted = [line for at, line in lines if not at or holds(line, self._place(journal_id, at))]
        if len(trusted) < len(lines):
            self._refuse_unsettled()
            count = len(lines) - len(trusted)
            foreign = EditedState(
                f"{count} lines of `{self.path}` were not written by gitguard and are not used"
            )
            self._workspace.note_fault("reading the journal", foreign)
        return trusted

    def _begun(self) -> str:
        """Return the journal's id; one that somebody else began is set aside first."""
        begun = super()._begun()
        if begun or not self._is_new():
            from gitguard.store.session import journal_ids

            if not journal_ids.is_ours(self._workspace, self._session, begun):
                self._refuse_unsettled()
                journal_ids.refuse_foreign(self._workspace, self._session, begun, self.path)
        return begun if os.path.exists(self.path) else ""

    def _header(self) -> bytes:
        from gitguard.store.session import journal_ids

        sealed = self._workspace.seal.is_there
        begun = journal_ids.new_id(self._workspace, self._unique(), sealed=sealed)
        journal_ids.remember(self._workspace, self._session, begun)
        return header_of(begun)
