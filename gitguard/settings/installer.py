"""Puts gitguard into a host's settings, and gives everything back.

All changes are planned and checked before the first is made, and when one cannot be made, those
before it are taken back.
"""

from __future__ import annotations

import os
from contextlib import nullcontext, suppress

from gitguard import hosts
from gitguard.errors import InvalidDocument, InvalidInput, Untrusted
from gitguard.hosts.base import SettingsOptions, belongs_to_user
from gitguard.model.config.config import DEFAULT_WINDOW
from gitguard.model.value import Value
from gitguard.settings.changes_file import ChangesFile
from gitguard.settings.install_plan import Sites, plan_removal, settings_of, user_settings
from gitguard.settings.instructions_plan import sections_left
from gitguard.settings.project_install import plan_installation
from gitguard.settings.repository_notes import push_warnings, refuse_blocking_branch, remains
from gitguard.settings.rollback_document import rollback_command
from gitguard.settings.user_install import UserPart, UserPlan
from gitguard.store.disk.changes import content, make_all
from gitguard.store.disk.lock import Lock
from gitguard.store.git import exclude
from gitguard.store.git.place import worktree_roots
from gitguard.store.git.worktree import Worktree
from gitguard.store.session.install_ledger import LedgerFile

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager
    from typing import Any

    from gitguard.hosts.base import Host, HostSettings
    from gitguard.model.config.config import Config
    from gitguard.sessions.startup import Startup
    from gitguard.settings.changes_file import MadeChange
    from gitguard.settings.install_plan import InstallPlan
    from gitguard.settings.project_install import InstallOptions
    from gitguard.store.disk.changes import FileEdit
    from gitguard.store.session.install_ledger import Installed
    from gitguard.store.session.workspace import Workspace

_LOCK_TIMEOUT = 10.0
_USER_LOCK_TIMEOUT = 60.0
"""Longer, because a host's own program is asked while the lock is held."""
_SKILL = "SKILL.md"
NOT_BEGUN = "`gitguard init` would also begin the session, or continue it"


class Outcome(Value):
    """What installing or uninstalling changed, or would change."""

    changes: tuple[FileEdit, ...]
    notes: tuple[str, ...]
    """Sentences for the person who asked."""
    warnings: tuple[str, ...] = ()
    startup: Startup | None = None
    """How the session came up; None when nothing was done."""
    commands: tuple[str, ...] = ()
    """What the host's own program was asked to do, or would be."""


class Installer:
    """Installs gitguard for one host in one worktree."""

    def __init__(self, workspace: Workspace, config: Config, host: Host) -> None:
        """Describe the installation; nothing is read yet."""
        self._workspace = workspace
        self._config = config
        self._host = host.NAME
        self._settings = hosts.find_installing(host.NAME)
        self._ledger = LedgerFile(workspace.state_folder, host.NAME)
        self._user_ledger = LedgerFile(workspace.places.state_home, host.NAME)
        place = workspace.place
        self._worktree = Worktree(place, workspace.places.environment, workspace.clock)

    def _sites(self) -> Sites:
        from gitguard.rendering import template_source

        places = self._workspace.places
        return Sites(
            settings=self._settings,
            worktree=self._worktree,
            ledger=self._ledger.read(),
            home=places.home,
            path=places.environment.get("PATH", os.defpath),
            skill=template_source(_SKILL).encode(),
            settings_changes=self._settings_changes(),
        )

    def _settings_changes(self) -> tuple[MadeChange, ...]:
        place = self._workspace.place
        roots = worktree_roots(place.common_dir) | {place.worktree}
        changes = ChangesFile(self._workspace.places.state_home).read()
        return tuple(change for change in changes if change.project in roots)

    def _user_lock(self, *, dry_run: bool) -> AbstractContextManager[object]:
        if dry_run or not belongs_to_user(self._settings):
            return nullcontext()
        path = os.path.join(self._workspace.places.state_home, "_install.lock")
        return Lock(path, timeout=_USER_LOCK_TIMEOUT, clock=self._workspace.clock)

    def _user_part(self) -> UserPart | None:
        if not belongs_to_user(self._settings):
            return None
        places, root = self._workspace.places, self._workspace.place.worktree
        environment = {"HOME": places.home, **places.environment}
        return UserPart(self._settings, self._user_ledger, root, environment)

    def install(self, options: InstallOptions, begin: Callable[[], Startup] | None) -> Outcome:
        """Install, after begin has brought the session up; without it, only say what would be."""
        refuse_blocking_branch(self._worktree, self._config)
        self._refuse_what_is_not_offered(options)
        with self._user_lock(dry_run=begin is None):
            part = self._user_part()
            user = part.plan(options, self._decisive(options)) if part else UserPlan()
            sites = self._sites()
            plan = _checked(plan_installation(sites, options))
            _refuse_unwritable(user.changes)
            startup, doubt = None, NOT_BEGUN
            if begin is not None:
                startup, doubt = begun(begin)
                plan = self._carry_out(options)
                user = part.carry_out(user) if part else user
        warnings = (*self._warnings(plan), *user.warnings, *_unreachable(sites, options))
        notes = (*plan.notes, *user.notes, *([doubt] if doubt else []))
        changes = (*plan.changes, *user.changes)
        return Outcome(changes, notes, warnings, startup, user.commands)

    def _carry_out(self, options: InstallOptions) -> InstallPlan:
        with install_lock(self._workspace):
            plan = _checked(plan_installation(self._sites(), options))
            # The ledger comes first: whatever is written later can then be given back.
            self._ledger.write(plan.ledger)
            make_all(plan.changes)
        return plan

    def _decisive(self, options: InstallOptions) -> SettingsOptions:
        return SettingsOptions(
            options.with_trigger,
            self._config.gauge.checkpoint_at,
            self._config.thresholds.critical,
            self._config.window.default or DEFAULT_WINDOW,
            options.directory_hook,
        )

    def uninstall(self, *, dry_run: bool) -> Outcome:
        """Give back what the host's settings were."""
        with self._user_lock(dry_run=dry_run):
            part = self._user_part()
            user = part.plan_removal() if part else UserPlan()
            plan = _checked(plan_removal(self._sites()))
            _refuse_unwritable(user.changes)
            if not dry_run:
                user = part.carry_out_removal(user) if part else user
                _remove_empty(user.leaving)
                plan = self._remove()
        stays = (
            *self._advised(),
            *self._other_hosts(),
            *sections_left(self._workspace.place.worktree),
            *remains(self._workspace, self._worktree, self._config),
        )
        notes = (*plan.notes, *user.notes, *stays)
        changes = (*plan.changes, *user.changes)
        return Outcome(changes, notes, user.warnings, commands=user.commands)

    def _advised(self) -> tuple[str, ...]:
        """Name what `config advise --apply` changed, which is not the installation's to take."""
        root = self._workspace.place.worktree
        return tuple(
            f"`{change.file}` keeps what `config advise` changed on {change.at[:10]}: "
            f"{', '.join(key for key, _, _ in change.changes)}; undo it with "
            f"`{rollback_command(change)}`"
            for change in ChangesFile(self._workspace.places.state_home).read()
            if change.host == self._host and change.project in ("", root)
        )

    def _other_hosts(self) -> tuple[str, ...]:
        state, root = self._workspace.state_folder, self._workspace.place.worktree
        names = (name for name in hosts.names(hosts.INSTALLING) if name != self._host)
        return tuple(
            f"it is still installed for `{name}`; remove it with `gitguard uninstall --host {name}`"
            for name in names
            if root in LedgerFile(state, name).read()
        )

    def _remove(self) -> InstallPlan:
        with install_lock(self._workspace):
            plan = _checked(plan_removal(self._sites()))
            make_all(plan.changes)
            _remove_empty(plan.leaving)
            self._ledger.write(plan.ledger)
        return plan

    def _refuse_what_is_not_offered(self, options: InstallOptions) -> None:
        of_user = belongs_to_user(self._settings)
        if options.shared and of_user:
            raise InvalidInput(
                "this host has no settings that are shared within a project",
                "Leave out --shared; each person runs `gitguard init` on their own machine",
            )
        if options.directory_hook and not of_user:
            raise InvalidInput("this host has no directory hooks", "Leave out --directory-hook")

    def _warnings(self, plan: InstallPlan) -> tuple[str, ...]:
        return (*self._trigger_warnings(plan), *push_warnings(self._worktree, self._config))

    def _trigger_warnings(self, plan: InstallPlan) -> tuple[str, ...]:
        if not plan.sets_trigger or belongs_to_user(self._settings):
            return ()
        gauge, limits = self._config.gauge, self._config.thresholds
        lowest, highest = self._settings.COMPACTS_AT
        if gauge.checkpoint_at < lowest < highest < limits.critical:
            return ()
        return (
            f"the compaction trigger is at {lowest:.1%} to {highest:.1%} of the window, not "
            f"between `gauge.checkpoint_at` {gauge.checkpoint_at} and `thresholds.critical` "
            f"{limits.critical}",
        )


def install_lock(workspace: Workspace) -> Lock:
    """Return the lock of everybody who installs anything in a repository."""
    return exclude.lock_of(workspace.place.common_dir, timeout=_LOCK_TIMEOUT, clock=workspace.clock)


def begun(begin: Callable[[], Startup]) -> tuple[Startup | None, str]:
    """Bring the session up; where another home folder began it, hooks save until it is trusted."""
    try:
        return begin(), ""
    except Untrusted as error:
        return (
            None,
            f"{error.message}; until you run `gitguard repair --trust`, hooks save the work",
        )


def _checked(plan: InstallPlan) -> InstallPlan:
    _refuse_unwritable(plan.changes)
    return plan


def _refuse_unwritable(changes: tuple[FileEdit, ...]) -> None:
    for change in changes:
        change.refuse_unwritable()


def _unreachable(sites: Sites, options: InstallOptions) -> tuple[str, ...]:
    if sites.is_on_path:
        return ()
    folder = os.path.dirname(options.executable)
    way = f"add `{folder}` to it" if folder else "install it there"
    return (f"`gitguard` is not on PATH, where the agent and shared hooks look for it; {way}",)


def _remove_empty(folders: tuple[str, ...]) -> None:
    for folder in reversed(folders):
        with suppress(OSError):  # somebody else keeps something there
            os.rmdir(folder)


def called_status_line(workspace: Workspace, host: Host) -> str:
    """Return the command of the status line that ours stands in for, empty if there is none.

    Where this machine installed nothing, our line came with the project's shared settings, and
    the user's own is the one that it hides.
    """
    ledger = LedgerFile(workspace.state_folder, host.NAME).read()
    installed_here = ledger.get(workspace.place.worktree)
    settings = hosts.find_installing(host.NAME)
    if belongs_to_user(settings):
        return ""
    if installed_here is not None:
        return (
            ""
            if _came_with_project(workspace, settings, installed_here)
            else installed_here.status_line
        )
    if ledger:
        # A linked worktree without an installation uses the settings of the main one.
        installed = (part for part in ledger.values() if part.status_line)
        lines = (
            part.status_line
            for part in installed
            if not _came_with_project(workspace, settings, part)
        )
        return next(lines, "")
    line = settings.other_status_line(user_settings(settings, workspace.places.home))
    return str(line["command"]) if line else ""


def _came_with_project(workspace: Workspace, settings: HostSettings, installed: Installed) -> bool:
    """Say whether an installation stands in for the status line of a file that git tracks.

    Earlier versions did; git is asked only where the command is found in such a file.
    """
    names = []
    for name in (settings.SHARED, settings.PERSONAL):
        entry = installed.files.get(name)
        versions = (content(workspace.place.worktree, name), entry.original if entry else None)
        lines = (settings.other_status_line(_readable(data, name)) for data in versions)
        if any(line and line["command"] == installed.status_line for line in lines):
            names.append(name)
    if not names:
        return False
    worktree = Worktree(workspace.place, workspace.places.environment, workspace.clock)
    return bool(worktree.tracked(tuple(names)))


def _readable(data: bytes | None, name: str) -> dict[str, Any]:
    try:
        return settings_of(data, name)
    except InvalidDocument:
        return {}
