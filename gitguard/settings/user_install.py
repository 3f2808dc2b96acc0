"""Plans what a host needs that is set up once for a user, and does it.

Several workspaces share it, so that it is remembered beside all repositories, and the last one to
leave takes it away. Settings are never written into the host's file: its own program sets them, one
at a time, and what it refuses because its version does not have it is no fault.
"""

from __future__ import annotations

import json
import os
from shlex import join

from gitguard.model.value import Value
from gitguard.store.disk.changes import FileEdit, content, make_all, missing_folders
from gitguard.store.disk.program import find_program
from gitguard.store.session.install_ledger import Installed, InstalledFile, InstalledSetting

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from gitguard.hosts.base import HostSetting, SettingsOptions, SettingsPlan, UserHostSettings
    from gitguard.settings.project_install import InstallOptions
    from gitguard.store.disk.program import Program
    from gitguard.store.session.install_ledger import LedgerFile


class UserPlan(Value):
    """What is to be done outside of the worktree."""

    changes: tuple[FileEdit, ...] = ()
    settings: tuple[HostSetting, ...] = ()
    ledger: Mapping[str, Installed] = {}
    leaving: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    """What the host's own program is to do, as people would type it."""


class UserPart:
    """The part of an installation that belongs to the user, for one host."""

    def __init__(
        self,
        settings: UserHostSettings,
        ledger: LedgerFile,
        worktree: str,
        environment: Mapping[str, str],
    ) -> None:
        """Read what is installed already, and find the host's program."""
        self._settings = settings
        self._file = ledger
        self._ledger = ledger.read()
        self._worktree = worktree
        self._folder = settings.folder(environment)
        self._known = self._ledger.get(self._folder, Installed())
        self._program: Program | None = find_program(settings.PROGRAM, environment, worktree)

    # Installing

    def plan(self, options: InstallOptions, decided_by: SettingsOptions) -> UserPlan:
        """Plan to install; what is as it should be needs nothing."""
        from gitguard.rendering import template_source

        contents = self._settings.files(
            options.executable, template_source, directory_hook=options.directory_hook
        )
        entries, changes, notes = self._files(contents)
        planned = self._planned_settings(decided_by)
        settings = self._to_make(planned)
        folders = [f for name in contents for f in missing_folders(self._folder, name)]
        users = dict.fromkeys([*self._others(), self._worktree])
        installed = Installed(
            entries,
            tuple(dict.fromkeys([*self._known.folders, *folders])),
            settings=self._remembered(settings),
            users=tuple(users),
        )
        ledger = {**self._ledger, self._folder: installed}
        notes_for_user = (*notes, *self._to_do_by_hand(settings, changes), *planned.notes)
        runs = self._commands(settings)
        return UserPlan(changes, settings, ledger, (), notes_for_user, planned.warnings, runs)

    def _files(
        self, contents: dict[str, bytes]
    ) -> tuple[dict[str, InstalledFile], tuple[FileEdit, ...], list[str]]:
        entries, changes, notes = dict(self._known.files), [], []
        for name in dict.fromkeys([*self._known.files, *contents]):
            current, after = content(self._folder, name), contents.get(name)
            if current is not None and current != after and not self._is_ours(name, current):
                path = os.path.join(self._folder, name)
                notes.append(f"`{path}` was edited, so gitguard leaves it unchanged")
                continue
            entries.pop(name, None)
            if after is not None:
                entries[name] = InstalledFile.of(None, after)
            if current != after:
                changes.append(self._change(name, current, after))
        return entries, tuple(changes), notes

    def _is_ours(self, name: str, current: bytes) -> bool:
        entry = self._known.files.get(name)
        return entry is not None and entry.is_unchanged(current)

    def _change(self, name: str, before: bytes | None, after: bytes | None) -> FileEdit:
        path = os.path.join(self._folder, name)
        return FileEdit(path, path, before, after)

    def _planned_settings(self, decided_by: SettingsOptions) -> SettingsPlan:
        program = self._program
        values = self._settings.look(program.run) if program else {}
        ours = {name: entry.written for name, entry in self._known.settings.items()}
        return self._settings.plan(values, decided_by.replace(ours=ours))

    def _to_make(self, planned: SettingsPlan) -> tuple[HostSetting, ...]:
        """Return what is not as it should be, and what we made and nobody wants any more."""
        names = {setting.name for setting in planned.settings}
        unwanted = {n: entry for n, entry in self._known.settings.items() if n not in names}
        changed = (setting for setting in planned.settings if setting.before != setting.after)
        program = self._program
        return (*changed, *(self._given_back(unwanted, program) if program else ()))

    def _remembered(self, settings: tuple[HostSetting, ...]) -> dict[str, InstalledSetting]:
        """Return what stood there before us; what we set before is not what stood there."""
        remembered = dict(self._known.settings)
        for setting in settings:
            entry = remembered.pop(setting.name, None)
            if entry is not None and setting.after == entry.original:
                continue
            is_ours = entry is not None and entry.written == setting.before
            first = entry.original if entry is not None and is_ours else setting.before
            within = entry.within if entry is not None and is_ours else setting.within
            remembered[setting.name] = InstalledSetting(first, setting.after, within)
        return remembered

    def _to_do_by_hand(
        self, settings: tuple[HostSetting, ...], changes: tuple[FileEdit, ...]
    ) -> list[str]:
        if self._program is None:
            runs = [self._command(setting.name, setting.after) for setting in settings]
            return [
                f"`{self._settings.PROGRAM}` is not on PATH; run by hand: "
                + ", ".join(f"`{run}`" for run in runs)
            ]
        return [self._settings.RESTART] if settings or changes else []

    def _commands(self, settings: tuple[HostSetting, ...]) -> tuple[str, ...]:
        if self._program is None:
            return ()
        return tuple(self._command(setting.name, setting.after) for setting in settings)

    def _command(self, name: str, value: str) -> str:
        return join((self._settings.PROGRAM, *self._settings.write_command(name, value)))

    def carry_out(self, plan: UserPlan) -> UserPlan:
        """Write files and make settings; return the plan as it could be carried out."""
        # The ledger comes first: whatever is written later can then be given back.
        self._file.write(plan.ledger)
        make_all(plan.changes)
        refused, failures = self._set_all(plan.settings)
        installed = plan.ledger[self._folder]
        remembered = {n: item for n, item in installed.settings.items() if n not in refused}
        before = {n: item for n, item in self._known.settings.items() if n in refused}
        ledger = {**plan.ledger, self._folder: installed.replace(settings={**remembered, **before})}
        self._file.write(ledger)
        done = tuple(setting for setting in plan.settings if setting.name not in refused)
        idle = () if done or plan.changes else (self._settings.RESTART,)
        return plan.replace(
            settings=done,
            commands=self._commands(done),
            notes=tuple(note for note in plan.notes if note not in idle),
            warnings=(*plan.warnings, *failures),
        )

    def _set_all(self, settings: tuple[HostSetting, ...]) -> tuple[set[str], list[str]]:
        """Make settings; return those that were not made, and what went wrong.

        A setting that the host's version does not have is not made, and nothing went wrong.
        """
        refused: set[str] = set()
        failures: list[str] = []
        program = self._program
        if program is None:
            return refused, failures  # the plan names the commands to run by hand
        for setting in settings:
            answer = program.run(self._settings.write_command(setting.name, setting.after))
            if answer.returncode == 0:
                continue
            refused.add(setting.name)
            if not self._settings.is_unknown(answer):
                line = self._command(setting.name, setting.after)
                failures.append(f"`{line}` failed; run it yourself: {answer.complaint}")
        return refused, failures

    # Giving back

    def plan_removal(self) -> UserPlan:
        """Plan to take everything out again, unless other workspaces need it."""
        users = self._others()
        ledger_of_others = {
            path: item for path, item in self._ledger.items() if path != self._folder
        }
        if users:
            named = ", ".join(f"`{user}`" for user in users)
            note = f"other workspaces still use `{self._folder}`, so it is kept: {named}"
            ledger = {**ledger_of_others, self._folder: self._known.replace(users=users)}
            return UserPlan(ledger=ledger, notes=(note,))
        changes, notes = [], []
        for name, entry in self._known.files.items():
            current = content(self._folder, name)
            if current is not None and entry.is_unchanged(current):
                changes.append(self._change(name, current, None))
            elif current is not None:
                path = os.path.join(self._folder, name)
                notes.append(f"`{path}` was edited after it was installed, so it is kept")
        settings, by_hand = self._settings_given_back()
        leaving = tuple(os.path.join(self._folder, f) for f in self._known.folders)
        runs = self._commands(settings)
        notes_for_user = (*notes, *by_hand)
        return UserPlan(
            tuple(changes), settings, ledger_of_others, leaving, notes_for_user, commands=runs
        )

    def carry_out_removal(self, plan: UserPlan) -> UserPlan:
        """Give settings back and remove files; return the plan with what went wrong."""
        _, failures = self._set_all(plan.settings)
        make_all(plan.changes)
        self._file.write(plan.ledger)
        return plan.replace(warnings=(*plan.warnings, *failures))

    def _others(self) -> tuple[str, ...]:
        """Return the other worktrees that rely on this, as far as they are still there."""
        users = self._known.users
        return tuple(user for user in users if user != self._worktree and os.path.isdir(user))

    def _settings_given_back(self) -> tuple[tuple[HostSetting, ...], list[str]]:
        entries = self._known.settings
        if self._program is None:
            runs = {
                self._command(item.within or n, item.original): 0 for n, item in entries.items()
            }
            by_hand = f"`{self._settings.PROGRAM}` is not on PATH; run by hand: "
            return (), [by_hand + ", ".join(f"`{run}`" for run in runs)] if runs else []
        return self._given_back(entries, self._program), []

    def _given_back(
        self, entries: Mapping[str, InstalledSetting], program: Program
    ) -> tuple[HostSetting, ...]:
        settings = {}
        for name, item in entries.items():
            answer = program.run(self._settings.read_command(name))
            setting = given_back(name, item, self._settings.value_of(answer))
            if setting is not None:
                settings[setting.name] = setting  # one object may hold several of them
        return tuple(settings.values())


def given_back(name: str, entry: InstalledSetting, now: str) -> HostSetting | None:
    """Return how a setting becomes what it was; None where somebody set it anew since."""
    from gitguard.hosts.base import HostSetting

    if now == entry.written:
        whole = entry.within if not entry.original else ""
        return HostSetting(whole or name, now, entry.original)
    was, ours, current = (json.loads(text or "[]") for text in (entry.original, entry.written, now))
    if not all(isinstance(value, list) for value in (was, ours, current)):
        return None
    added = [item for item in ours if item not in was]
    without_ours = [item for item in current if item not in added]
    return HostSetting(name, now, json.dumps(without_ours)) if without_ours != current else None
