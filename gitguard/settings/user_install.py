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
from gitguard.settings.install_ledger import Installed, Kept, KeptSetting
from gitguard.store.disk.changes import FileChange, content, make_all, missing_folders
from gitguard.store.disk.program import find_program

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from gitguard.hosts.base import HostSetting, SettingsPlan, SettingsWishes, UserSettings
    from gitguard.settings.install_ledger import LedgerFile
    from gitguard.settings.project_install import InstallWishes
    from gitguard.store.disk.program import Program


class UserPlan(Value):
    """What is to be done outside of the worktree."""

    changes: tuple[FileChange, ...] = ()
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
        settings: UserSettings,
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

    def plan(self, wishes: InstallWishes, decided_by: SettingsWishes) -> UserPlan:
        """Plan to install; what is as it should be needs nothing."""
        from gitguard.rendering import template_source

        wanted = self._settings.files(
            wishes.executable, template_source, directory_hook=wishes.directory_hook
        )
        kept, changes, notes = self._files(wanted)
        planned = self._planned_settings(decided_by)
        settings = self._to_make(planned)
        made = [f for name in wanted for f in missing_folders(self._folder, name)]
        users = dict.fromkeys([*self._others(), self._worktree])
        installed = Installed(
            kept,
            tuple(dict.fromkeys([*self._known.folders, *made])),
            settings=self._remembered(settings),
            users=tuple(users),
        )
        ledger = {**self._ledger, self._folder: installed}
        said = (*notes, *self._to_do_by_hand(settings, changes), *planned.notes)
        runs = self._commands(settings)
        return UserPlan(changes, settings, ledger, (), said, planned.warnings, runs)

    def _files(
        self, wanted: dict[str, bytes]
    ) -> tuple[dict[str, Kept], tuple[FileChange, ...], list[str]]:
        kept, changes, notes = dict(self._known.files), [], []
        for name in dict.fromkeys([*self._known.files, *wanted]):
            found, after = content(self._folder, name), wanted.get(name)
            if found is not None and found != after and not self._is_ours(name, found):
                path = os.path.join(self._folder, name)
                notes.append(f"`{path}` was edited, so gitguard leaves it unchanged")
                continue
            kept.pop(name, None)
            if after is not None:
                kept[name] = Kept.of(None, after)
            if found != after:
                changes.append(self._change(name, found, after))
        return kept, tuple(changes), notes

    def _is_ours(self, name: str, found: bytes) -> bool:
        kept = self._known.files.get(name)
        return kept is not None and kept.is_unchanged(found)

    def _change(self, name: str, before: bytes | None, after: bytes | None) -> FileChange:
        path = os.path.join(self._folder, name)
        return FileChange(path, path, before, after)

    def _planned_settings(self, decided_by: SettingsWishes) -> SettingsPlan:
        program = self._program
        found = self._settings.look(program.run) if program else {}
        ours = {name: kept.written for name, kept in self._known.settings.items()}
        return self._settings.plan(found, decided_by.replace(ours=ours))

    def _to_make(self, planned: SettingsPlan) -> tuple[HostSetting, ...]:
        """Return what is not as it should be, and what we made and nobody wants any more."""
        wanted = {setting.name for setting in planned.settings}
        unwanted = {n: kept for n, kept in self._known.settings.items() if n not in wanted}
        changed = (setting for setting in planned.settings if setting.before != setting.after)
        return (*changed, *(self._given_back(unwanted) if self._program else ()))

    def _remembered(self, settings: tuple[HostSetting, ...]) -> dict[str, KeptSetting]:
        """Return what stood there before us; what we set before is not what stood there."""
        remembered = dict(self._known.settings)
        for setting in settings:
            known = remembered.pop(setting.name, None)
            if known is not None and setting.after == known.original:
                continue
            is_ours = known is not None and known.written == setting.before
            first = known.original if known is not None and is_ours else setting.before
            within = known.within if known is not None and is_ours else setting.within
            remembered[setting.name] = KeptSetting(first, setting.after, within)
        return remembered

    def _to_do_by_hand(
        self, settings: tuple[HostSetting, ...], changes: tuple[FileChange, ...]
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
        kept = {n: item for n, item in installed.settings.items() if n not in refused}
        before = {n: item for n, item in self._known.settings.items() if n in refused}
        ledger = {**plan.ledger, self._folder: installed.replace(settings={**kept, **before})}
        self._file.write(ledger)
        made = tuple(setting for setting in plan.settings if setting.name not in refused)
        idle = () if made or plan.changes else (self._settings.RESTART,)
        return plan.replace(
            settings=made,
            commands=self._commands(made),
            notes=tuple(note for note in plan.notes if note not in idle),
            warnings=(*plan.warnings, *failures),
        )

    def _set_all(self, settings: tuple[HostSetting, ...]) -> tuple[set[str], list[str]]:
        """Make settings; return those that were not made, and what went wrong.

        A setting that the host's version does not have is not made, and nothing went wrong.
        """
        refused, failures = set(), []
        for setting in settings if self._program else ():
            assert self._program is not None
            answer = self._program.run(self._settings.write_command(setting.name, setting.after))
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
        others = self._others()
        rest = {path: item for path, item in self._ledger.items() if path != self._folder}
        if others:
            named = ", ".join(f"`{user}`" for user in others)
            note = f"other workspaces still use `{self._folder}`, so it is kept: {named}"
            ledger = {**rest, self._folder: self._known.replace(users=others)}
            return UserPlan(ledger=ledger, notes=(note,))
        changes, notes = [], []
        for name, kept in self._known.files.items():
            found = content(self._folder, name)
            if found is not None and kept.is_unchanged(found):
                changes.append(self._change(name, found, None))
            elif found is not None:
                path = os.path.join(self._folder, name)
                notes.append(f"`{path}` was edited after it was installed, so it is kept")
        settings, by_hand = self._settings_given_back()
        leaving = tuple(os.path.join(self._folder, f) for f in self._known.folders)
        runs = self._commands(settings)
        said = (*notes, *by_hand)
        return UserPlan(tuple(changes), settings, rest, leaving, said, commands=runs)

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
        kept = self._known.settings
        if self._program is None:
            runs = {self._command(item.within or n, item.original): 0 for n, item in kept.items()}
            said = f"`{self._settings.PROGRAM}` is not on PATH; run by hand: "
            return (), [said + ", ".join(f"`{run}`" for run in runs)] if runs else []
        return self._given_back(kept), []

    def _given_back(self, kept: Mapping[str, KeptSetting]) -> tuple[HostSetting, ...]:
        found = {}
        for name, item in kept.items():
            assert self._program is not None
            answer = self._program.run(self._settings.read_command(name))
            setting = given_back(name, item, self._settings.value_of(answer))
            if setting is not None:
                found[setting.name] = setting  # one object may hold several of them
        return tuple(found.values())


def given_back(name: str, kept: KeptSetting, now: str) -> HostSetting | None:
    """Return how a setting becomes what it was; None where somebody set it anew since."""
    from gitguard.hosts.base import HostSetting

    if now == kept.written:
        whole = kept.within if not kept.original else ""
        return HostSetting(whole or name, now, kept.original)
    was, ours, found = (json.loads(text or "[]") for text in (kept.original, kept.written, now))
    if not all(isinstance(value, list) for value in (was, ours, found)):
        return None
    added = [item for item in ours if item not in was]
    rest = [item for item in found if item not in added]
    return HostSetting(name, now, json.dumps(rest)) if rest != found else None
