"""Plans to install or uninstall: everything is read, nothing is written.

Two folders get files: the worktree, whose ledger lies in the repository's part of the state
directory, and the user's folder of a host, which several worktrees may share; the last of them to
leave takes it away.
"""

from __future__ import annotations

import os

from gitguard.errors import InvalidDocument
from gitguard.hosts.base import SECTION, WHOLE, HostPlan, InstallOptions, InstallSite, WantedFile
from gitguard.model.document_edits import JSON
from gitguard.model.text import enumerated
from gitguard.model.value import Value
from gitguard.rendering import template_source
from gitguard.settings.folder_edits import FolderEdits
from gitguard.settings.hidden_lines import changed_settings, with_lines
from gitguard.settings.path_program import program_on_path
from gitguard.settings.program_edits import PlannedSettings, ProgramEdits
from gitguard.store.disk import settings_text
from gitguard.store.disk.changes import FileEdit, content
from gitguard.store.git import exclude
from gitguard.store.session.install_ledger import Installed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from gitguard.hosts.base import Installation
    from gitguard.settings.changes_file import MadeChange
    from gitguard.store.git.worktree import Worktree

_SKILL = "SKILL.md"


class Sites(Value):
    """Everything that a plan looks at."""

    installation: Installation
    worktree: Worktree
    ledger: Mapping[str, Installed]
    """Of this repository's worktrees, by folder."""
    user_ledger: Mapping[str, Installed]
    """Of the host's folders of this user."""
    home: str
    environment: Mapping[str, str]
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
    def shared(self) -> Installed:
        """The ledger's part about what belongs to all worktrees."""
        return self.ledger.get(self.common, Installed())

    @property
    def others(self) -> dict[str, Installed]:
        """The ledger's part about worktrees other than this one."""
        mine = (self.root, self.common)
        return {k: v for k, v in self.ledger.items() if k not in mine and os.path.isdir(k)}

    @property
    def user_folder(self) -> str:
        """The folder of the host's that belongs to the user, empty where it needs none."""
        return self.installation.user_folder({"HOME": self.home, **self.environment})

    @property
    def known_to_user(self) -> Installed:
        """What the ledger knows of that folder."""
        return self.user_ledger.get(self.user_folder, Installed())

    def edits(self, root: str, installed: Installed) -> FolderEdits:
        """Begin to plan edits in a folder."""
        return FolderEdits(
            root,
            self.root,
            installed,
            installation=self.installation,
            is_tracked=lambda name: root == self.root and bool(self.worktree.tracked((name,))),
        )

    def program(self) -> ProgramEdits:
        """Return the settings that the host's program makes."""
        environment = {"HOME": self.home, **self.environment}
        made = self.known_to_user.settings
        return ProgramEdits(self.installation, made, environment, self.root)


class InstallPlan(Value):
    """All that is to be done, in order."""

    changes: tuple[FileEdit, ...] = ()
    ledger: Mapping[str, Installed] = {}
    leaving: tuple[str, ...] = ()
    """Folders that go if nothing is left in them, outer ones first."""
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    program: PlannedSettings = PlannedSettings()
    after_change: str = ""
    """What has to be done before a change counts, without its full stop."""


def _host_plan(sites: Sites, options: InstallOptions) -> HostPlan:
    """Return which files the host needs here."""
    installation = sites.installation
    edits = sites.edits(sites.root, sites.ledger.get(sites.root, Installed()))
    program = program_on_path(sites.environment)

    def current(name: str) -> dict[str, Any]:
        data = content(sites.root, name)
        return settings_text.load(installation.SETTINGS[name], data, what=f"`{name}`")

    site = InstallSite(
        root=sites.root,
        current=current,
        without_ours=lambda name: edits.without_ours(name, installation.SETTINGS[name]),
        of_user=lambda name: user_settings(sites.home, name),
        tracked=sites.worktree.tracked,
        template=template_source,
        is_on_path=program is not None and program.is_ours(options.executable),
    )
    return installation.plan(site, options)


def user_settings(home: str, name: str) -> dict[str, Any]:
    """Return JSON settings of the user's for all projects, empty where they cannot be read."""
    if not home:
        return {}
    # A link here is the user's own affair: nothing is written through it.
    path = os.path.realpath(os.path.join(home, name))
    try:
        data = content(os.path.dirname(path), os.path.basename(path))
        return settings_text.load(JSON, data, what=f"`{path}`")
    except InvalidDocument:
        return {}


def plan_worktree(sites: Sites, options: InstallOptions | None) -> InstallPlan:
    """Plan what an installation needs in the worktree and its git directory; twice is once.

    Without options everything is given back.
    """
    installation, own = sites.installation, sites.ledger.get(sites.root, Installed())
    edits = sites.edits(sites.root, own)
    host_plan = HostPlan(not_in_worktree=tuple(installation.SETTINGS))
    if options:
        host_plan = _host_plan(sites, options)
    for name in host_plan.not_in_worktree:
        edits.take_out(name, installation.SETTINGS[name])
    for file in host_plan.in_worktree:
        edits.put(file)
    if installation.SKILL:
        skill = WantedFile(installation.SKILL, WHOLE, template_source(_SKILL).encode())
        if options:
            edits.put(skill)
        else:
            edits.take_out(skill.name, WHOLE, skill.content)
    excluded, notes = _hidden(sites, edits, options)
    plan = InstallPlan(
        (*edits.changes, *excluded.changes),
        notes=(*host_plan.notes, *edits.notes, *notes),
        warnings=host_plan.warnings,
    )
    if options:
        personal = edits.entries.keys() & installation.SETTINGS.keys() - {installation.SHARED}
        installed = Installed(
            edits.entries,
            tuple(edits.folders),
            host_plan.status_line,
            executable=options.executable if personal else "",
            status_line_file=host_plan.status_line_file,
        )
        ledger = {sites.root: installed, sites.common: _installed(excluded)}
        parts = {path: part for path, part in ledger.items() if part != Installed()}
        return plan.replace(ledger={**sites.others, **parts})
    # Another home folder's installation may have made the skill's folder.
    skill_folder = [os.path.dirname(installation.SKILL)] if installation.SKILL else []
    leaving = [
        os.path.join(sites.root, name) for name in dict.fromkeys([*own.folders, *skill_folder])
    ]
    if sites.others:
        ledger = {**sites.others, sites.common: sites.shared}
        return plan.replace(ledger=ledger, leaving=tuple(leaving))
    leaving += [os.path.join(sites.common, name) for name in sites.shared.folders]
    return plan.replace(leaving=tuple(leaving))


def _installed(edits: FolderEdits) -> Installed:
    return Installed(edits.entries, tuple(edits.folders)) if edits.entries else Installed()


def _hidden(
    sites: Sites, edits: FolderEdits, options: InstallOptions | None
) -> tuple[FolderEdits, tuple[str, ...]]:
    """Plan our lines: what we create and git neither tracks nor ignores already.

    What is meant for everybody is to be committed, so git has to see it.
    """
    installation = sites.installation
    for_all = (installation.SHARED, installation.SKILL)
    is_shared = installation.SHARED in edits.entries
    names = tuple(n for n in edits.entries if not (is_shared and n in for_all))
    tracked = sites.worktree.tracked(names) if names else frozenset()
    before = content(sites.common, exclude.NAME)  # first, since git would wait at a pipe there
    ignored = sites.worktree.ignored(names) if names else frozenset()
    present = exclude.lines_of(before)
    created = [n for n in names if edits.entries[n].original is None and n not in tracked]
    mine = [f"/{n}" for n in created if f"/{n}" in present or n not in ignored]
    removed = frozenset(change.path for change in edits.changes if change.after is None)
    # Those stay as well that hide settings which were changed on advice.
    advised = changed_settings(sites.settings_changes, removed)
    ours = {f"/{name}" for name in (installation.SKILL, *installation.SETTINGS)} - advised
    stays = [n for n in present if n in mine or sites.others or n not in ours]
    excluded = sites.edits(sites.common, sites.shared.replace(files={}))
    lines = tuple(dict.fromkeys([*stays, *mine]))
    after, entry = with_lines(before, lines, sites.shared.files.get(exclude.NAME))
    excluded.change(exclude.NAME, before, after)
    if entry is not None and mine:
        excluded.entries[exclude.NAME] = entry
    changed = {change.name for change in edits.changes}
    notes = [
        f"git tracks `{name}`, so its change shows in `git status`"
        for name in sorted(changed & tracked)
    ]
    committed = [name for name in edits.entries if name in for_all]
    if options and options.shared and changed.intersection(committed):
        shown = enumerated([f"`{name}`" for name in committed], "and")
        notes.append(f"commit {shown}, so that others get the same setup")
    sections = [name for name in changed if installation.SETTINGS.get(name) == SECTION]
    if options and sections:
        shown = ", ".join(f"`{name}`" for name in sorted(sections))
        notes.append(f"commit {shown} to share the section")
    return excluded, tuple(notes)


def plan_user_folder(sites: Sites, options: InstallOptions | None) -> InstallPlan:
    """Plan what an installation needs in the host's folder of the user, and of its program.

    Without options everything is taken out, unless other worktrees need it.
    """
    folder, recorded = sites.user_folder, sites.known_to_user
    users = tuple(user for user in recorded.users if user != sites.root and os.path.isdir(user))
    others = {path: part for path, part in sites.user_ledger.items() if path != folder}
    if users and not options:
        named = ", ".join(f"`{user}`" for user in users)
        note = f"other workspaces still use `{folder}`, so it stays, and does nothing here: {named}"
        return InstallPlan(ledger={**others, folder: recorded.replace(users=users)}, notes=(note,))
    host_plan = _host_plan(sites, options or InstallOptions())
    edits = sites.edits(folder, recorded)
    names = {file.name for file in host_plan.in_user_folder} if options else frozenset()
    for name in recorded.files:
        if name not in names:
            edits.take_out(name, WHOLE)
    for file in host_plan.in_user_folder:
        if options:
            edits.put(file)
        elif not recorded.files:  # what is recognized goes without a ledger, too
            edits.take_out(file.name, file.format, file.content)
    planned = sites.program().plan(options)
    plan = InstallPlan(tuple(edits.changes), others, notes=tuple(edits.notes), program=planned)
    if not options:
        leaving = tuple(os.path.join(folder, name) for name in recorded.folders)
        return plan.replace(leaving=leaving)
    installed = _installed(edits).replace(
        executable=options.executable, settings=planned.remembered, users=(*users, sites.root)
    )
    ledger = {**others, folder: installed}
    return plan.replace(ledger=ledger, after_change=host_plan.after_change)
