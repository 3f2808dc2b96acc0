"""Claude Code's settings: our entries put in and taken out again, as values, without the disk.

Our hooks and our status line are known by the command they run, so that an older version's are
replaced and nobody else's are touched.
"""

from __future__ import annotations

import os
import re
from shlex import quote

from gitguard.errors import InvalidDocument
from gitguard.hosts.claude_code.hooks import HOOK_EVENTS, NAME, TIMEOUT, TIMEOUTS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

PERSONAL = ".claude/settings.local.json"
"""Settings of one person in one project, which Claude Code keeps out of git."""
SHARED = ".claude/settings.json"
"""Settings of everybody who works at a project."""
USER = ".claude/settings.json"
"""Settings of one person in all projects, relative to the home folder."""
SKILL = ".claude/skills/gitguard/SKILL.md"

_TRIGGER = "CLAUDE_CODE_AUTO_COMPACT_WINDOW"
# The value does not follow a configured halt: one variable holds for windows of both sizes. A
# higher one changes nothing for 200,000 tokens, and one low enough to matter there would compact a
# window of 1,000,000 before it is a fifth full. `init` warns where the halt does not fit. Removal
# recognises this value as ours, so a new value would also leave the old one behind.
_TRIGGER_TOKENS = 858_000
_TRIGGER_VALUE = str(_TRIGGER_TOKENS)
TRIGGER = f"{_TRIGGER}={_TRIGGER_VALUE}"
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


def is_installed(settings: dict[str, Any]) -> bool:
    """Say whether settings hold a hook or a status line of ours."""
    groups = (group for _, entries in _lists(settings.get("hooks")) for group in entries)
    hooks = (hook for group in groups for _, entries in _lists(group) for hook in entries)
    return is_ours(settings.get("statusLine")) or any(map(is_ours, hooks))


def _lists(value: Any) -> list[tuple[str, list[Any]]]:
    items = value.items() if isinstance(value, dict) else ()
    return [(name, item) for name, item in items if isinstance(item, list)]


def merge(
    settings: dict[str, Any],
    executable: str,
    *,
    status_line: dict[str, Any] | None = None,
    with_trigger: bool = True,
) -> dict[str, Any]:
    """Return settings with our hooks, our status line and, where there is none, the trigger.

    executable is an installation's absolute path; empty is whichever is on PATH.
    status_line is the one that ours stands in for; what it says besides its command is kept.
    Raises `InvalidDocument` for settings that are not shaped as Claude Code reads them.
    """
    _check(settings)
    hooks = dict(settings.get("hooks", {}))
    for event in [*hooks, *(name for name in HOOK_EVENTS if name not in hooks)]:
        groups = _with_ours(event, hooks.get(event, []), executable)
        if groups or not hooks[event]:
            hooks[event] = groups
        else:
            del hooks[event]
    merged = {**settings, "hooks": hooks}
    merged["statusLine"] = {**_kept_line(settings, status_line), "type": "command"}
    merged["statusLine"]["command"] = command(executable)
    if with_trigger and _TRIGGER not in settings.get("env", {}):
        merged["env"] = {**settings.get("env", {}), _TRIGGER: _TRIGGER_VALUE}
    return merged


def _kept_line(settings: dict[str, Any], other: dict[str, Any] | None) -> dict[str, Any]:
    our_line: dict[str, Any] = settings.get("statusLine", {})
    return our_line or dict(other or {})


def hook_of(event: str, executable: str) -> dict[str, Any]:
    """Return our hook at an event, as it stands in settings."""
    run = (_printed_command if event in _PRINTED else command)(executable)
    return {"type": "command", "command": run, "timeout": TIMEOUTS.get(event, TIMEOUT)}


def _with_ours(event: str, groups: Any, executable: str) -> Any:
    if event not in HOOK_EVENTS:
        return _without_ours(groups) if isinstance(groups, list) else groups
    ours = {"hooks": [hook_of(event, executable)]}
    in_force = [group for group in groups if _without_ours([group]) != [group]]
    return groups if in_force == [ours] else [*_without_ours(groups), ours]


def _without_ours(groups: list[Any]) -> list[Any]:
    remaining = []
    for group in groups:
        hooks = group.get("hooks") if isinstance(group, dict) else None
        others = [hook for hook in hooks if not is_ours(hook)] if isinstance(hooks, list) else None
        if others is None or others == hooks:
            remaining.append(group)
        elif others:
            remaining.append({**group, "hooks": others})
    return remaining


def remove(settings: dict[str, Any], original: dict[str, Any]) -> dict[str, Any]:
    """Return settings without our entries; original says what stood in their places."""
    remaining = dict(settings)
    if isinstance(remaining.get("hooks"), dict):
        remaining["hooks"] = _hooks_without_ours(remaining["hooks"])
    if is_ours(remaining.get("statusLine")):
        remaining["statusLine"] = original.get("statusLine")
    remaining = {
        name: value
        for name, value in remaining.items()
        if value or name in original or value == settings[name]
    }
    return without_trigger(remaining, original)


def without_trigger(settings: dict[str, Any], original: dict[str, Any]) -> dict[str, Any]:
    """Return settings without the trigger, if it is ours: original has none of its own."""
    if trigger_of(settings) != TRIGGER or trigger_of(original):
        return settings
    env = {name: value for name, value in settings["env"].items() if name != _TRIGGER}
    remaining = {**settings, "env": env}
    if not env and "env" not in original:
        del remaining["env"]
    return remaining


def _hooks_without_ours(hooks: dict[str, Any]) -> dict[str, Any]:
    remaining = {}
    for event, groups in hooks.items():
        others = _without_ours(groups) if isinstance(groups, list) else groups
        if others or others == groups:
            remaining[event] = others
    return remaining


def other_status_line(settings: dict[str, Any]) -> dict[str, Any] | None:
    """Return a status line that is not ours, None if there is none that could be called."""
    line = settings.get("statusLine")
    if not isinstance(line, dict) or not isinstance(line.get("command"), str) or is_ours(line):
        return None
    return line


def trigger_of(settings: dict[str, Any]) -> str:
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
