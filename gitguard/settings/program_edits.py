"""Settings that a host's own program makes for us, one at a time, and gives back.

What the program refuses because its version does not have it is no fault.
"""

from __future__ import annotations

import json
from shlex import join

from gitguard.hosts.base import HostSetting, SettingsPlan, has_program
from gitguard.model.document_edits import GONE, taken_out
from gitguard.store.disk.program import Program, find_program

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from gitguard.hosts.base import Installation, InstallOptions, SettingsProgram


class PlannedSettings(SettingsPlan):
    """What a program is to set, and what the ledger will remember of it."""

    remembered: Mapping[str, HostSetting] = {}
    commands: tuple[str, ...] = ()
    """What the program is to do, as people would type it."""


class ProgramEdits:
    """The settings that one host's program makes, none for a host that has no such program."""

    def __init__(
        self,
        installation: Installation,
        made: Mapping[str, HostSetting],
        environment: Mapping[str, str],
        worktree: str,
    ) -> None:
        """Find the program; made holds what we set before, and what stood there before us."""
        self._made = made
        self._host: SettingsProgram | None = None
        self._program: Program | None = None
        if has_program(installation):
            self._host = installation
            self._program = find_program(installation.PROGRAM, environment, worktree)

    def plan(self, options: InstallOptions | None) -> PlannedSettings:
        """Plan what is not as it should be, and what we made and nobody wants any more.

        Without options nothing is wanted.
        """
        host, program, settings_plan = self._host, self._program, SettingsPlan()
        if host is None:
            return PlannedSettings()
        if options:
            answers = host.read_settings(program.run) if program else {}
            ours = {name: setting.after for name, setting in self._made.items()}
            settings_plan = host.plan_settings(answers, options, ours)
        names = {setting.name for setting in settings_plan.settings}
        unwanted = [setting for name, setting in self._made.items() if name not in names]
        settings = tuple(each for each in settings_plan.settings if each.before != each.after)
        notes = settings_plan.notes
        if program is None:
            back = (HostSetting(each.within or each.name, "", each.before) for each in unwanted)
            runs = dict.fromkeys(self._commands((*settings, *back)))
            shown = ", ".join(f"`{run}`" for run in runs)
            by_hand = f"`{host.PROGRAM}` is not on PATH; run by hand: {shown}"
            notes = (*[by_hand] * bool(runs), *notes)
            remembered = self._remembered(settings)
            return PlannedSettings(settings, notes, settings_plan.warnings, remembered)
        # One object may hold several of them.
        given_back = {each.name: each for each in self._given_back(unwanted, host, program)}
        settings = (*settings, *given_back.values())
        return PlannedSettings(
            settings,
            notes,
            settings_plan.warnings,
            remembered=self._remembered(settings),
            commands=self._commands(settings),
        )

    def _remembered(self, settings: tuple[HostSetting, ...]) -> dict[str, HostSetting]:
        """Return what stood there before us; what we set before is not what stood there."""
        remembered = dict(self._made)
        for setting in settings:
            made = remembered.pop(setting.name, setting)
            if setting.after == made.before:
                continue
            first = made if made.after == setting.before else setting
            remembered[setting.name] = first.replace(after=setting.after)
        return remembered

    def _given_back(
        self, made: list[HostSetting], host: SettingsProgram, program: Program
    ) -> Iterator[HostSetting]:
        """Yield how settings become what they were; what somebody set anew since stays."""
        for setting in made:
            now = host.value_of(program.run(host.read_command(setting.name)))
            if now == setting.after:
                whole = setting.within if not setting.before else ""
                yield HostSetting(whole or setting.name, now, setting.before)
                continue
            texts = (setting.before, setting.after, now)
            was, ours, current = (json.loads(text) if text else GONE for text in texts)
            left = taken_out(was, ours, current, lambda _: False)
            if isinstance(current, list) and left != current:
                yield HostSetting(setting.name, now, "" if left is GONE else json.dumps(left))

    def _commands(self, settings: tuple[HostSetting, ...]) -> tuple[str, ...]:
        host = self._host
        assert host is not None
        commands = (host.write_command(each.name, each.after) for each in settings)
        return tuple(join((host.PROGRAM, *command)) for command in commands)

    def make(self, planned: PlannedSettings) -> PlannedSettings:
        """Make settings; return the plan as it could be carried out, with what went wrong."""
        host, program = self._host, self._program
        if host is None or program is None:
            return planned  # the plan names the commands to run by hand
        refused: set[str] = set()
        failures: list[str] = []
        for setting, line in zip(planned.settings, planned.commands, strict=True):
            answer = program.run(host.write_command(setting.name, setting.after))
            if answer.returncode == 0:
                continue
            refused.add(setting.name)
            if not host.is_unknown(answer):
                failures.append(f"`{line}` failed; run it yourself: {answer.complaint}")
        accepted = tuple(setting for setting in planned.settings if setting.name not in refused)
        remembered = {n: item for n, item in planned.remembered.items() if n not in refused}
        before = {n: item for n, item in self._made.items() if n in refused}
        return planned.replace(
            settings=accepted,
            remembered={**remembered, **before},
            warnings=(*planned.warnings, *failures),
            commands=self._commands(accepted),
        )
