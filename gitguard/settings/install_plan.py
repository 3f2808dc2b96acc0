"""What a plan to install or uninstall consists of: everything is read, nothing is written.

What stood in a file before is kept in the ledger, so that an unchanged file comes back byte for
byte; out of a file that somebody changed since, only our entries are taken.
"""

from __future__ import annotations

import os
import shutil

from gitguard.errors import InvalidDocument
from gitguard.hosts.base import belongs_to_user
from gitguard.model.codec import load_json
from gitguard.model.layout import Layout
from gitguard.model.value import Value
from gitguard.store.disk.changes import FileEdit, content, missing_folders
from gitguard.store.git import exclude
from gitguard.store.session.install_ledger import Installed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from gitguard.hosts.base import HostSettings, UserHostSettings
    from gitguard.settings.changes_file import MadeChange
    from gitguard.store.git.worktree import Worktree
    from gitguard.store.session.install_ledger import InstalledFile

_LIMIT = 4 << 20
EXCLUDE = "info/exclude"


class Sites(Value):
    """Everything that a plan looks at."""

    settings: HostSettings | UserHostSettings
    worktree: Worktree
    ledger: Mapping[str, Installed]
    home: str
    path: str
    """Where commands are looked for."""
    skill: bytes
    """The skill's text."""
    settings_changes: tuple[MadeChange, ...] = ()
    """The changes of hosts' settings in the repository's worktrees that are not taken back."""

    @property
    def root(self) -> str:
        """The worktree's folder."""
        return self.worktree.place.worktree

    @property
    def common(self) -> str:
        """The git directory that all worktrees share."""
        return self.worktree.place.common_dir

    @property
    def is_on_path(self) -> bool:
        """Whether `gitguard` is a command without its folder being named."""
        return shutil.which("gitguard", path=self.path) is not None

    @property
    def others(self) -> dict[str, Installed]:
        """The ledger's part about worktrees other than this one."""
        mine = (self.root, self.common)
        return {k: v for k, v in self.ledger.items() if k not in mine and os.path.isdir(k)}


class InstallPlan(Value):
    """All that is to be done, in order."""

    changes: tuple[FileEdit, ...]
    notes: tuple[str, ...]
    ledger: Mapping[str, Installed]
    leaving: tuple[str, ...] = ()
    """Folders that go if nothing is left in them, outer ones first."""
    sets_trigger: bool = False
    """Whether the host will compact at our trigger."""


class PlanDraft:
    """A plan while it is made, and the questions that all plans ask."""

    def __init__(self, sites: Sites) -> None:
        """Begin an empty plan."""
        self.sites = sites
        self.settings = sites.settings
        self.own = sites.ledger.get(sites.root, Installed())
        self.shared = sites.ledger.get(sites.common, Installed())
        """What belongs to all worktrees."""
        self.changes: list[FileEdit] = []
        self.notes: list[str] = []
        self._folders: dict[str, list[str]] = {sites.root: [], sites.common: []}

    def read(self, name: str) -> bytes | None:
        """Return a file of the worktree."""
        return content(self.sites.root, name)

    def change(self, root: str, name: str, before: bytes | None, after: bytes | None) -> None:
        """Plan a change, unless it would change nothing."""
        if before == after:
            return
        path = os.path.join(root, name)
        inside = path.startswith(self.sites.root + os.sep)
        shown = os.path.relpath(path, self.sites.root) if inside else path
        self.changes.append(FileEdit(path, shown, before, after))
        if after is not None:
            self._folders[root] += missing_folders(root, name)

    def folders(self, root: str, installed: Installed) -> tuple[str, ...]:
        """Return the folders under root that we made or are about to make."""
        return tuple(dict.fromkeys([*installed.folders, *self._folders[root]]))

    def settings_in(self, settings: HostSettings, name: str) -> dict[str, Any]:
        """Return settings as they would be without us, empty where they cannot be read."""
        try:
            return settings_of(self.given_back(settings, name), name)
        except InvalidDocument:
            return {}

    def given_back(self, settings: HostSettings, name: str) -> bytes | None:
        """Return a settings file as it was before us, with whatever else was changed since."""
        before, entry = self.read(name), self.own.files.get(name)
        if before is None:
            return None
        if entry is not None and entry.is_unchanged(before):
            return entry.original
        current = settings_of(before, name)
        if entry is None and not settings.is_installed(current):
            return before
        original = settings_of(entry.original if entry else None, name)
        without_ours = settings.remove(current, original)
        if without_ours == current:
            return before
        if entry is not None and without_ours == original:
            return entry.original
        if entry is None and not without_ours:
            return None  # installed from another home folder, and nobody else wrote into it
        return Layout.of(before).dump(without_ours)

    def take_out(self, settings: HostSettings, name: str) -> None:
        """Plan to give a settings file back."""
        self.change(self.sites.root, name, self.read(name), self.given_back(settings, name))

    def is_our_skill(self, data: bytes) -> bool:
        """Say whether the skill's file is one that we wrote and nobody changed."""
        name = self.settings.SKILL
        entry = self.own.files.get(name)
        if entry is not None:
            return entry.is_unchanged(data)
        return data == self.sites.skill and name not in self.sites.worktree.tracked((name,))

    def is_line_of_host(self, line: str) -> bool:
        """Say whether a line of our block is about this host's files, and about nothing else.

        Not about another host's, nor one that stays as its settings were changed on advice.
        """
        if self._hides_changed_settings(line):
            return False
        settings = self.settings
        names = {settings.SKILL}
        if not belongs_to_user(settings):
            names |= {settings.PERSONAL, settings.SHARED}
        return line.removeprefix("/") in names

    def _hides_changed_settings(self, line: str) -> bool:
        removed_paths = {change.path for change in self.changes if change.after is None}
        return any(
            line == f"/{os.path.relpath(settings_change.file, settings_change.project)}"
            and settings_change.file not in removed_paths
            and os.path.lexists(settings_change.file)
            for settings_change in self.sites.settings_changes
        )

    def exclude_without_host(self, before: bytes | None) -> bytes | None:
        """Return the exclude file with the lines of other hosts alone."""
        lines = tuple(n for n in exclude.lines_of(before) if not self.is_line_of_host(n))
        return exclude.with_block(before, lines) if lines else self.exclude_given_back(before)

    def exclude_given_back(self, before: bytes | None) -> bytes | None:
        """Return the exclude file without our block."""
        entry: InstalledFile | None = self.shared.files.get(EXCLUDE)
        if entry is not None and before is not None and entry.is_unchanged(before):
            return entry.original
        return exclude.without_block(before)

    def finish(
        self,
        mine: Mapping[str, Installed],
        *,
        leaving: tuple[str, ...] = (),
        sets_trigger: bool = False,
    ) -> InstallPlan:
        """Return the plan; mine is the ledger's part about this worktree."""
        ledger = {**self.sites.others, **mine}
        return InstallPlan(tuple(self.changes), tuple(self.notes), ledger, leaving, sets_trigger)


def plan_removal(sites: Sites) -> InstallPlan:
    """Plan to give everything back."""
    draft = PlanDraft(sites)
    settings = sites.settings
    if not belongs_to_user(settings):
        for name in (settings.PERSONAL, settings.SHARED):
            draft.take_out(settings, name)
    _remove_skill(draft)
    # Another home folder's installation may have made the skill's folder.
    folders = dict.fromkeys([*draft.own.folders, os.path.dirname(settings.SKILL)])
    leaving = [os.path.join(sites.root, folder) for folder in folders]
    if sites.others:
        return draft.finish({sites.common: draft.shared}, leaving=tuple(leaving))
    before = content(sites.common, EXCLUDE)
    draft.change(sites.common, EXCLUDE, before, draft.exclude_without_host(before))
    leaving += [os.path.join(sites.common, folder) for folder in draft.shared.folders]
    return draft.finish({}, leaving=tuple(leaving))


def _remove_skill(draft: PlanDraft) -> None:
    name = draft.settings.SKILL
    data = draft.read(name)
    if data is None:
        return
    if draft.is_our_skill(data):
        draft.change(draft.sites.root, name, data, None)
    elif name in draft.own.files:
        draft.notes.append(f"`{name}` was edited after it was installed, so it is kept")


def settings_of(data: bytes | None, name: str) -> dict[str, Any]:
    """Read settings; no file and an empty one say nothing."""
    if data is None or not data.strip():
        return {}
    try:
        return load_json(data, what=f"`{name}`", limit=_LIMIT)
    except InvalidDocument as error:
        raise InvalidDocument(
            error.message, "Correct it and run the command again; nothing was changed"
        ) from error


def user_settings(settings: HostSettings, home: str) -> dict[str, Any]:
    """Return the user's settings for all projects, empty where they cannot be read."""
    if not home:
        return {}
    # A link here is the user's own affair: nothing is written through it.
    path = os.path.realpath(os.path.join(home, settings.USER))
    try:
        return settings_of(content(os.path.dirname(path), os.path.basename(path)), path)
    except InvalidDocument:
        return {}
