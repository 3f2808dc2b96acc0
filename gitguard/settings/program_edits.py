"""Settings that a host's own program makes for us, one at a time, and gives back.

What the program refuses because its version does not have it is no fault.
"""

from __future__ import annotations

import json
from shlex import join

from gitguard.hosts.base import HostSetting, SettingsPlan, has_program
from gitguard.model.document_edits import GONE, taken_out
from gitguard.model.value import Value
from gitguard.store.disk.program import find_program
from gitguard.store.session.install_ledger import InstalledSetting

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from gitguard.hosts.base import Installation, InstallOptions, SettingsProgram
    from gitguard.store.disk.program import Program


class PlannedSettings(Value):
    """What a program is to set, and what the ledger will remember of it."""

    settings: tuple[HostSetting, ...] = ()
    remembered: Mapping[str, InstalledSetting] = {}
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    """What the program is to do, as people would type it."""


class ProgramEdits:
    """The settings of one host that has a program; made holds those that we made before."""

    def __init__(
        self,
        installation: SettingsProgram,
        made: Mapping[str, InstalledSetting],
        environment: Mapping[str, str],
        worktree: str,
    ) -> None:
        """Find the program; nothing is asked yet."""
        self._host = installation
        self._made = made
        self._program: Program | None = find_program(installation.PROGRAM, environment, worktree)

    def plan(self, options: InstallOptions | None) -> PlannedSettings:
        """Plan what is not as it should be, and what we made and nobody wants any more.

        Without options nothing is wanted.
        """
        program, wanted = self._program, SettingsPlan()
        if options:
            answers = self._host.look(program.run) if program else {}
            ours = {name: entry.written for name, entry in self._made.items()}
            wanted = self._host.plan_settings(answers, options, ours)
        names = {setting.name for setting in wanted.settings}
        unwanted = {name: entry for name, entry in self._made.items() if name not in names}
        settings = tuple(each for each in wanted.settings if each.before != each.after)
        notes, warnings = wanted.notes, wanted.warnings
        if program is not None:
            settings = (*settings, *self._given_back(unwanted, program))
            runs = self._commands(settings)
            return PlannedSettings(settings, self._remembered(settings), notes, warnings, runs)
        by_hand = [self._command(item.within or n, item.original) for n, item in unwanted.items()]
        runs = tuple(dict.fromkeys((*self._commands(settings), *by_hand)))
        if runs:
            shown = ", ".join(f"`{run}`" for run in runs)
            notes = (f"`{self._host.PROGRAM}` is not on PATH; run by hand: {shown}", *notes)
        return PlannedSettings(settings, self._remembered(settings), notes, warnings)

    def _remembered(self, settings: tuple[HostSetting, ...]) -> dict[str, InstalledSetting]:
        """Return what stood there before us; what we set before is not what stood there."""
        remembered = dict(self._made)
        for setting in settings:
            entry = remembered.pop(setting.name, None)
            if entry is not None and setting.after == entry.original:
                continue
            is_ours = entry is not None and entry.written == setting.before
            first = entry.original if entry is not None and is_ours else setting.before
            within = entry.within if entry is not None and is_ours else setting.within
            remembered[setting.name] = InstalledSetting(first, setting.after, within)
        return remembered

    def _given_back(
        self, entries: Mapping[str, InstalledSetting], program: Program
    ) -> tuple[HostSetting, ...]:
        settings = {}
        for name, entry in entries.items():
            now = self._host.value_of(program.run(self._host.read_command(name)))
            setting = _given_back(name, entry, now)
            if setting is not None:
                settings[setting.name] = setting  # one object may hold several of them
        return tuple(settings.values())

    def _command(self, name: str, value: str) -> str:
        return join((self._host.PROGRAM, *self._host.write_command(name, value)))

    def _commands(self, settings: tuple[HostSetting, ...]) -> tuple[str, ...]:
        return tuple(self._command(setting.name, setting.after) for setting in settings)

    def make(self, planned: PlannedSettings) -> PlannedSettings:
        """Make settings; return the plan as it could be carried out, with what went wrong."""
        program = self._program
        if program is None:
            return planned  # the plan names the commands to run by hand
        refused: set[str] = set()
        failures: list[str] = []
        for setting in planned.settings:
            answer = program.run(self._host.write_command(setting.name, setting.after))
            if answer.returncode == 0:
                continue
            refused.add(setting.name)
            if not self._host.is_unknown(answer):
                line = self._command(setting.name, setting.after)
                failures.append(f"`{line}` failed; run it yourself: {answer.complaint}")
        done = tuple(setting for setting in planned.settings if setting.name not in refused)
        remembered = {n: item for n, item in planned.remembered.items() if n not in refused}
        before = {n: item for n, item in self._made.items() if n in refused}
        return planned.replace(
            settings=done,
            remembered={**remembered, **before},
            warnings=(*planned.warnings, *failures),
            commands=self._commands(done),
        )


def _given_back(name: str, entry: InstalledSetting, now: str) -> HostSetting | None:
    """Return how a setting becomes what it was; None where somebody set it anew since."""
    was, ours, current = (
        json.loads(text) if text else GONE for text in (entry.original, entry.written, now)
    )
    if now == entry.written:
        whole = entry.within if not entry.original else ""
        return HostSetting(whole or name, now, entry.original)
    left = taken_out(was, ours, current, lambda _: False)
    if not isinstance(current, list) or left == current:
        return None
    return HostSetting(name, now, "" if left is GONE else json.dumps(left))


def program_edits(
    installation: Installation,
    made: Mapping[str, InstalledSetting],
    environment: Mapping[str, str],
    worktree: str,
) -> ProgramEdits | None:
    """Return the settings of a host's program, None for a host that has none."""
    if not has_program(installation):
        return None
    return ProgramEdits(installation, made, environment, worktree)
