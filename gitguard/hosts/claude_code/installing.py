"""Claude Code's settings: our entries put in and taken out again, as values, without the disk.

Our hooks and our status line are known by the command they run, so that those of
another installation are replaced and nobody else's are touched.
"""

from __future__ import annotations

import os
import re
from functools import partial
from shlex import quote

from gitguard.errors import InvalidDocument
from gitguard.hosts.base import LETS_HOST_DECIDE, HostPlan, InstallOptions, InstallSite, WantedFile
from gitguard.hosts.claude_code.hooks import HOOK_EVENTS, NAME
from gitguard.hosts.dialect import TIMEOUT, TIMEOUTS
from gitguard.model.document_edits import JSON, has_entries

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any


PERSONAL = ".claude/settings.local.json"
"""Settings of one person in one project, which Claude Code keeps out of git."""
SHARED = ".claude/settings.json"
"""Settings of everybody who works at a project."""
USER = ".claude/settings.json"
"""Settings of one person in all projects, relative to the home folder."""
SETTINGS = {PERSONAL: JSON, SHARED: JSON}
SKILL = ".claude/skills/gitguard/SKILL.md"
OFFERS = ("--shared", "--no-compaction-trigger")

_TRIGGER = "CLAUDE_CODE_AUTO_COMPACT_WINDOW"
# The value does not follow a configured halt: one variable holds for windows of both sizes. A
# higher one changes nothing for 200,000 tokens, and one low enough to matter there would compact a
# window of 1,000,000 before it is a fifth full. `init` warns where the halt does not fit. Removal
# recognises this value as ours, so a new value would also leave the old one behind.
_TRIGGER_TOKENS = 858_000
_TRIGGER_VALUE = str(_TRIGGER_TOKENS)
_KEPT_FREE = 33_000
"""The host compacts at min(trigger, window) minus these tokens (measured with 2.1.330)."""
_SMALL_WINDOW, _LARGE_WINDOW = 200_000, 1_000_000
"""The windows of the host's models."""
COMPACTS_AT = (
    (min(_TRIGGER_TOKENS, _LARGE_WINDOW) - _KEPT_FREE) / _LARGE_WINDOW,
    (min(_TRIGGER_TOKENS, _SMALL_WINDOW) - _KEPT_FREE) / _SMALL_WINDOW,
)
"""Lowest and highest share of the window at which the host compacts with our trigger."""
_PRINTED = ("PreCompact", "PostCompact")
"""Events after which the host prints each hook's command below "Compacted" (2.1.330)."""
_OURS = re.compile(rf"gitguard(\.exe)?['\"]*\s+hook\s+{NAME}(?![\w-])")


def command(executable: str) -> str:
    """Return the shell command that runs our hook, and that does nothing where we are not.

    executable is an installation's absolute path, which goes before PATH; empty is PATH alone.
    """
    if not executable:
        return f"command -v gitguard >/dev/null 2>&1 && gitguard hook {NAME} || true"
    path = quote(executable)
    return (
        f"if [ -x {path} ]; then {path} hook {NAME}; "
        f"elif command -v gitguard >/dev/null 2>&1; then gitguard hook {NAME}; fi || true"
    )


def _printed_command(executable: str) -> str:
    """Return our command for events whose command the host prints to its user, as short as it goes.

    It does the same as `command`, but where we are not, its shell says so on standard error, which
    the host shows to nobody.
    """
    folder, program = os.path.split(executable)
    if not folder or os.pathsep in folder:
        return command(executable)
    return f"PATH={quote(folder)}:$PATH {quote(program)} hook {NAME} || true"


def is_ours(entry: Any) -> bool:
    """Say whether a hook or a status line runs gitguard."""
    run = entry.get("command") if isinstance(entry, dict) else None
    return isinstance(run, str) and _OURS.search(run) is not None


def user_folder(environment: Mapping[str, str]) -> str:
    """Return nothing: gitguard is put into each project."""
    return ""


def merge(
    settings: dict[str, Any],
    executable: str = "",
    *,
    status_line: Mapping[str, Any] | None = None,
    with_trigger: bool = True,
) -> dict[str, Any]:
    """Return settings with our hooks, our status line and, where there is none, the trigger.

    executable is an installation's absolute path; empty is whichever is on PATH.
    status_line is the one that ours stands in for; what it says besides its command is kept.
    Raises `InvalidDocument` for settings that are not shaped as Claude Code reads them.
    """
    _check(settings)
    hooks = dict(settings.get("hooks", {}))
    for event in HOOK_EVENTS:
        hooks[event] = [*hooks.get(event, []), {"hooks": [hook_of(event, executable)]}]
    line = {**(status_line or {}), "type": "command", "command": command(executable)}
    merged = {**settings, "hooks": hooks, "statusLine": line}
    if with_trigger and _TRIGGER not in settings.get("env", {}):
        merged["env"] = {**settings.get("env", {}), _TRIGGER: _TRIGGER_VALUE}
    return merged


def hook_of(event: str, executable: str) -> dict[str, Any]:
    """Return our hook at an event, as it stands in settings."""
    run = (_printed_command if event in _PRINTED else command)(executable)
    return {"type": "command", "command": run, "timeout": TIMEOUTS.get(event, TIMEOUT)}


def plan(site: InstallSite, options: InstallOptions) -> HostPlan:
    """Decide which settings get our entries, and what to say of trigger and status lines."""
    if not options.shared and site.is_on_path and has_entries(site.current(SHARED), is_ours):
        # Shared settings run gitguard here already: two entries would answer twice.
        note = f"`{SHARED}` already runs gitguard, so it is not installed twice"
        beneath = _line_beneath(site, SHARED)[1]
        return beneath.replace(not_in_worktree=(PERSONAL,), notes=(note, *beneath.notes))
    target, other = (SHARED, PERSONAL) if options.shared else (PERSONAL, SHARED)
    line, beneath = _line_beneath(site, target)
    levels = (site.without_ours(target), site.without_ours(other), site.of_user(USER))
    theirs = next(filter(None, map(trigger_of, levels)), "")
    current = site.current(target).get("statusLine")
    merged = partial(
        merge,
        executable="" if options.shared else options.executable,
        status_line=current if is_ours(current) else line,
        with_trigger=options.with_trigger and not theirs,
    )
    hidden = options.shared and _line_of(site.without_ours(PERSONAL)) is not None
    trigger_note, warnings = _trigger_notes(options, theirs)
    return beneath.replace(
        in_worktree=(WantedFile(target, JSON, merge=merged),),
        not_in_worktree=(PERSONAL,) if options.shared else (),
        notes=(*[_HIDDEN] * hidden, trigger_note, *beneath.notes),
        warnings=warnings,
    )


_HIDDEN = (
    f"the status line in `{PERSONAL}` hides gitguard's, so pressure is read from transcripts alone"
)


def _line_beneath(site: InstallSite, target: str) -> tuple[dict[str, Any] | None, HostPlan]:
    """Return the status line that ours hides, of the file itself, the project or the user.

    What git tracks came with the repository, so its command is not one of the user's own.
    """
    lines = {name: _line_of(site.without_ours(name)) for name in (target, SHARED)}
    tracked = site.tracked(tuple(lines))
    notes = [
        f"the status line in `{name}` is not shown beside gitguard's, because git "
        "tracks that file; copy it to your own settings to show it"
        for name in sorted(tracked)
        if lines[name]
    ]
    file = next((name for name, line in lines.items() if line and name not in tracked), "")
    line = lines[file] if file else _line_of(site.of_user(USER))
    if line is not None:
        notes.append(f"gitguard shows your status line above its own: `{_run_by(line)}`")
    plan = HostPlan(status_line=_run_by(line), status_line_file=file, notes=tuple(notes))
    return line, plan


def _trigger_notes(options: InstallOptions, theirs: str) -> tuple[str, tuple[str, ...]]:
    """Say when the host compacts, and warn where that is not between checkpoint and halt."""
    lowest, highest = COMPACTS_AT
    if theirs:
        return f"a compaction trigger is already set and is kept: `{theirs}`", ()
    if not options.with_trigger:
        return LETS_HOST_DECIDE, ()
    note = (
        f"Claude Code will compact at about {50 * (lowest + highest):.0f} %; gitguard stops the "
        f"agent at {100 * options.critical:.0f} %. To keep your setting: `gitguard init "
        "--no-compaction-trigger`"
    )
    if options.checkpoint_at < lowest < highest < options.critical:
        return note, ()
    warning = (
        f"the compaction trigger is at {lowest:.1%} to {highest:.1%} of the window, not "
        f"between `gauge.checkpoint_at` {options.checkpoint_at} and `thresholds.critical` "
        f"{options.critical}"
    )
    return note, (warning,)


def _line_of(settings: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return a status line that is not ours, None if there is none that could be called."""
    line = settings.get("statusLine")
    if not isinstance(line, dict) or not isinstance(line.get("command"), str) or is_ours(line):
        return None
    return line


def _run_by(line: Mapping[str, Any] | None) -> str:
    return str(line["command"]) if line else ""


def users_status_line(of_user: Callable[[str], dict[str, Any]]) -> str:
    """Return the command of the user's own status line for all projects, empty for none."""
    return _run_by(_line_of(of_user(USER)))


def trigger_of(settings: Mapping[str, Any]) -> str:
    """Return the compaction trigger that settings contain, empty if they have none."""
    env = settings.get("env")
    value = env.get(_TRIGGER, "") if isinstance(env, dict) else ""
    return "" if value == "" else f"{_TRIGGER}={value}"


def _check(settings: dict[str, Any]) -> None:
    _expect(settings.get("hooks", {}), dict, "hooks")
    _expect(settings.get("env", {}), dict, "env")
    line = settings.get("statusLine", {})
    _expect(line, dict, "statusLine")
    _expect(line.get("command", ""), str, "statusLine.command")
    for event in HOOK_EVENTS:
        groups = settings.get("hooks", {}).get(event, [])
        _expect(groups, list, f"hooks.{event}")
        for index, group in enumerate(groups):
            _expect(group, dict, f"hooks.{event}[{index}]")
            _expect(group.get("hooks", []), list, f"hooks.{event}[{index}].hooks")


_TYPES: dict[type, str] = {dict: "an object", list: "a list", str: "text"}


def _expect(value: Any, kind: type, where: str) -> None:
    if not isinstance(value, kind):
        raise InvalidDocument(
            f"`{where}` must be {_TYPES[kind]}, not `{repr(value)[:80]}`",
            "Correct it and run the command again; nothing was changed",
        )
