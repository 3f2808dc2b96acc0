"""The records of restores, each in a private folder of its own with what may not be in git.

None is replaced by a later one: what was kept for an undo stays as long as snapshots do.
"""

from __future__ import annotations

import os

from gitguard.errors import InvalidDocument
from gitguard.model.text import timestamp
from gitguard.store.disk import files, users_files
from gitguard.store.session.workspace import Session
from gitguard.store.worktree.restore_record import read_record, write_record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from gitguard.store.session.workspace import Workspace
    from gitguard.store.worktree.restore_record import RestoreRecord

_FOLDER, _RECORD = "restored", "restore.json"
_SWEPT = 3
"""Records beside which something unfinished may lie: one for each worktree that restores."""


def unfinished_names(workspace: Workspace) -> frozenset[str]:
    """Return the names of files that restores of any session were putting in place."""
    sessions = files.names_in(workspace.state_folder)
    records = (RestoreRecords(workspace, Session(name, name)) for name in sessions)
    readable = (record for each in records for _, record in each.readable())
    return frozenset(users_files.temporary_name(record.suffix) for record in readable)


class RestoreRecords:
    """The records of one session, beside its anchor."""

    def __init__(self, workspace: Workspace, session: Session) -> None:
        """Describe the folder; nothing is read yet."""
        self.folder = os.path.join(workspace.anchor_folder(session), _FOLDER)
        self._git_dir = workspace.place.git_dir
        self._clock = workspace.clock

    def new(self) -> str:
        """Make the folder of a new record; return the record's path.

        It is named for the milliseconds of its time; no other record has the same second, by which
        a person names it.
        """
        later = ((int(name) // 1000 + 1) * 1000 for name in self._names()[:1])
        number = max([int(self._clock() * 1000), *later])
        folder = os.path.join(self.folder, str(number))
        files.make_folder(folder)
        return os.path.join(folder, _RECORD)

    @staticmethod
    def time_of(path: str) -> str:
        """Return the time of a record that was made."""
        return timestamp(int(os.path.basename(os.path.dirname(path))) / 1000)

    def newest(self) -> tuple[str, RestoreRecord] | None:
        """Return path and content of this worktree's newest record, None where there is none."""
        return next(self.all(), None)

    def all(self) -> Iterator[tuple[str, RestoreRecord]]:
        """Yield path and content of each of this worktree's records, the newest first."""
        for name in self._names():
            path = os.path.join(self.folder, name, _RECORD)
            record = read_record(path)
            # What was begun in another worktree is that one's to finish, and to undo.
            if record is not None and record.git_dir == self._git_dir:
                yield path, record

    def snapshots(self) -> frozenset[str]:
        """Return the ids of the snapshots that keep what was there before, of all worktrees.

        A record that cannot be read is left out.
        """
        return frozenset(record.snapshot for _, record in self.readable())

    def exchange_snapshots(self, written_anew: Mapping[str, str]) -> None:
        """Let the records name other snapshots, each given by the id of the one before."""
        for path, record in self.readable():
            if record.snapshot in written_anew:
                write_record(path, record.replace(snapshot=written_anew[record.snapshot]))

    def readable(self) -> Iterator[tuple[str, RestoreRecord]]:
        """Yield path and content of each record of all worktrees that reads, the newest first."""
        for name in self._names():
            path = os.path.join(self.folder, name, _RECORD)
            try:
                record = read_record(path)
            except InvalidDocument:
                continue
            if record is not None:
                yield path, record

    def remove(self, path: str) -> None:
        """Remove a record, with what was kept beside it."""
        files.remove_tree(os.path.dirname(path))

    def forget_older(self, before: float) -> None:
        """Remove the records that were made before a time in Unix seconds, but for the newest."""
        for name in self._names()[1:]:
            if int(name) < before * 1000:
                files.remove_tree(os.path.join(self.folder, name))

    def sweep(self) -> None:
        """Remove what processes that died left unfinished beside the newest records."""
        for name in self._names()[:_SWEPT]:
            files.sweep(os.path.join(self.folder, name), self._clock())

    def _names(self) -> list[str]:
        """Return the folders' names, the newest first."""
        numbers = [name for name in files.names_in(self.folder) if name.isdecimal()]
        return sorted(numbers, key=int, reverse=True)
