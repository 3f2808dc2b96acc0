"""Edits of somebody's files: planned and shown before they are made, and taken back exactly.

What stood in a file before is kept in the ledger, so that a file that nobody changed since comes
back byte for byte. Out of one that somebody changed, only our entries are taken.
"""

from __future__ import annotations

import os

from gitguard.errors import GitguardError, InvalidDocument
from gitguard.hosts.base import SECTION, WHOLE
from gitguard.model.document_edits import GONE, has_entries, is_same, taken_out, without_entries
from gitguard.settings.instructions_section import split, with_section, without_section
from gitguard.store.disk import settings_text
from gitguard.store.disk.changes import FileEdit, content, missing_folders
from gitguard.store.session.install_ledger import EditedFile, Installed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from gitguard.hosts.base import Installation, WantedFile


class FolderEdits:
    """Edits of the files in one folder while they are planned; nothing is written."""

    def __init__(
        self,
        root: str,
        worktree: str,
        installed: Installed,
        installation: Installation,
        is_tracked: Callable[[str], bool],
    ) -> None:
        """Begin a plan; installed is what we made in the folder before.

        The names of files in the worktree are shown relative to it.
        """
        self.root = root
        self.entries = dict(installed.files)
        self.folders = dict.fromkeys(installed.folders)
        self.changes: list[FileEdit] = []
        self.notes: list[str] = []
        self._installation = installation
        self._is_tracked = is_tracked
        self._worktree = worktree

    def put(self, file: WantedFile) -> None:
        """Plan to put a file of ours, or our entries, in place; twice is once."""
        name, format, now = file.name, file.format, content(self.root, file.name)
        if format == WHOLE:
            self._put_whole(name, now, file.content)
            return
        if format == SECTION:
            if now is not None and split(now, name).is_edited:
                shown = f"the section in `{self._shown(name)}`"
                self.notes.append(f"{shown} was edited, so gitguard leaves it unchanged")
            self._edit(name, now, with_section(now or b"", name, file.content.decode()))
            return
        assert file.merge is not None
        original = self.given_back(name, format)
        what = f"`{self._shown(name)}`"
        document = settings_text.load(format, original, what=what)
        try:
            merged = file.merge(document)
        except InvalidDocument as error:
            raise InvalidDocument(f"{what}: {error.message}", error.hint) from error
        after = settings_text.rewritten(format, now, merged, what=what)
        self.entries[name] = EditedFile(original, after, format)
        self._edit(name, now, after)

    def _put_whole(self, name: str, now: bytes | None, data: bytes) -> None:
        entry = self.entries.get(name)
        is_ours = now is None or (entry is not None and entry.is_unchanged(now))
        if not is_ours and now != data:
            self.notes.append(f"`{self._shown(name)}` was edited, so gitguard leaves it unchanged")
        elif is_ours or not self._is_tracked(name):
            self.entries[name] = EditedFile(None, data, WHOLE)
            self.change(name, now, data)

    def take_out(self, name: str, format: str, data: bytes | None = None) -> None:
        """Plan to take a file of ours, or our entries, out; data is what a whole file holds."""
        entry, shown = self.entries.get(name), f"`{self._shown(name)}`"
        format = entry.format if entry else format
        if format == SECTION:
            self._take_out_section(name, shown)
            return
        now = content(self.root, name)
        if format != WHOLE:
            self._edit(name, now, self.given_back(name, format))
        elif now is not None:
            is_same = now == data and not self._is_tracked(name)
            if entry.is_unchanged(now) if entry else is_same:
                self.change(name, now, None)
            elif entry:
                self.notes.append(f"{shown} was edited after it was installed, so it is kept")
        self.entries.pop(name, None)

    def _take_out_section(self, name: str, shown: str) -> None:
        try:
            now = content(self.root, name)
            parts = split(now or b"", name)
        except GitguardError:
            return  # nothing was ever written through a link, nor into what cannot be read
        if parts.is_edited:
            self.notes.append(
                f"the section in {shown} was edited, so it is kept; delete it with an editor"
            )
        elif parts.section:
            self._edit(name, now, without_section(now or b"", name))

    def given_back(self, name: str, format: str) -> bytes | None:
        """Return settings as they were before us, with whatever else was changed since."""
        now, entry = content(self.root, name), self.entries.get(name)
        if now is None:
            return None
        if entry is not None and entry.is_unchanged(now):
            return entry.original
        what, is_ours = f"`{self._shown(name)}`", self._installation.is_ours
        current = settings_text.load(format, now, what=what)
        if entry is None:
            remaining = without_ours(current, self._installation)
            if is_same(remaining, current):
                return now
            # Installed from another home folder; where nobody else wrote into it, it was not there.
            return settings_text.rewritten(format, now, remaining, what=what) if remaining else None
        original = settings_text.load(format, entry.original, what=what)
        written = settings_text.load(format, entry.written, what=what)
        remaining = taken_out(original, written, current, is_ours)
        remaining = _or_empty(without_entries(remaining, is_ours))
        if is_same(remaining, original):
            return entry.original
        return settings_text.rewritten(format, now, remaining, what=what)

    def without_ours(self, name: str, format: str) -> dict[str, Any]:
        """Return what settings would say without us; nothing where they cannot be read."""
        try:
            return settings_text.load(format, self.given_back(name, format), what=name)
        except InvalidDocument:
            return {}

    def _edit(self, name: str, before: bytes | None, after: bytes | None) -> None:
        """Plan a change of a file that is somebody's."""
        if before != after:
            self.change(name, before, after)
            self.changes[-1].refuse_hard_link()

    def change(self, name: str, before: bytes | None, after: bytes | None) -> None:
        """Plan a change, unless it would change nothing."""
        if before == after:
            return
        self.changes.append(
            FileEdit(os.path.join(self.root, name), self._shown(name), before, after)
        )
        if after is not None:
            self.folders |= dict.fromkeys(missing_folders(self.root, name))

    def _shown(self, name: str) -> str:
        path = os.path.join(self.root, name)
        inside = path.startswith(self._worktree + os.sep)
        return os.path.relpath(path, self._worktree) if inside else path


def without_ours(
    document: dict[str, Any], installation: Installation, beneath: dict[str, Any] | None = None
) -> dict[str, Any]:
    """Return settings without our entries and with nothing else that we set, without a ledger.

    beneath has what our entries stand in for, where that is known.
    """
    is_ours = installation.is_ours
    if not has_entries(document, is_ours):
        return document
    ours = installation.merge({})
    was = {name: value for name, value in (beneath or {}).items() if is_ours(ours.get(name))}
    remaining = taken_out(was, ours, document, is_ours)
    return _or_empty(without_entries(remaining, is_ours))


def _or_empty(document: Any) -> dict[str, Any]:
    return {} if document is GONE else document
