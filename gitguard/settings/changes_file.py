"""Which changes of hosts' settings gitguard made, so that each can be taken back.

Kept in the user's state directory. A change is written down before its first setting is made: one
that a crash cut off is found by the next run.
"""

from __future__ import annotations

import os
import shlex
from typing import Any

from gitguard.model.value import Value
from gitguard.store.session.install_ledger import RecordFile

_MOST = 50
"""Changes that are remembered; the oldest go first, and their backups stay."""


class MadeChange(Value):
    """One change of a host's settings."""

    host: str
    file: str
    at: str
    """When, as UTC in ISO 8601."""
    backup: str
    """Where the file's bytes are as they were; empty where there was no file."""
    document: str
    """Where people find how to take it back."""
    before: str
    """The SHA-256 of the file as it was; empty where there was none."""
    mode: int
    """The file's permissions as they were."""
    pattern: str
    """The way of working that it is for."""
    project: str
    """The worktree that the file lies in, empty for one of the user's own."""
    changes: tuple[tuple[str, str, str], ...]
    """Key, value before, value after; values are JSON texts."""
    after: str = ""
    """The SHA-256 of the file as it was left; empty until all settings are made."""

    hidden: tuple[str, ...] = ()
    """The lines that it brought into the project's `info/exclude`."""
    wrote: str = ""
    """The SHA-256 of the file as gitguard itself wrote it; empty where the host's command did."""

    @property
    def is_finished(self) -> bool:
        """Whether all of its settings were made."""
        return bool(self.after)

    @property
    def rollback_command(self) -> str:
        """What to type, in whatever folder, to take it back."""
        project = f" --root {shlex.quote(self.project)}" if self.project else ""
        return f"gitguard config rollback {self.host}{project}"

    @classmethod
    def from_document(cls, document: dict[str, Any]) -> MadeChange:
        """Read what the file holds."""
        changes = tuple(map(tuple, document["changes"]))
        return cls(**{**document, "changes": changes, "hidden": tuple(document["hidden"])})


class ChangesFile(RecordFile):
    """The file that they are remembered in."""

    def __init__(self, state_home: str) -> None:
        """Name the file in gitguard's folder of the user's state directory."""
        super().__init__(
            os.path.join(state_home, "_settings.json"),
            "changes",
            "Move it away; the backups beside the hosts' files stay",
        )
        self.lock_path = os.path.join(state_home, "_settings.lock")

    def read(self) -> tuple[MadeChange, ...]:
        """Return the changes, oldest first."""
        return self.load(lambda changes: tuple(map(MadeChange.from_document, changes))) or ()

    def of(self, host: str, project: str) -> tuple[MadeChange, ...]:
        """Return the changes of a host, or of all where it is empty, oldest first.

        Those in another project's files are left out.
        """
        return tuple(
            change
            for change in self.read()
            if host in ("", change.host) and change.project in ("", project)
        )

    def put(self, change: MadeChange) -> None:
        """Remember a change, or what became of it."""
        self._write((*self._without(change), change)[-_MOST:])

    def forget(self, change: MadeChange) -> None:
        """Forget a change that was taken back."""
        self._write(self._without(change))

    def _without(self, change: MadeChange) -> tuple[MadeChange, ...]:
        # Two changes may fall into one second, but never into one document.
        return tuple(earlier for earlier in self.read() if earlier.document != change.document)

    def _write(self, changes: tuple[MadeChange, ...]) -> None:
        self.save([{name: getattr(each, name) for name in each.field_names} for each in changes])
