"""OpenClaw's installation: our files in its user's folder, and what its own program has to set.

The plugin lies where OpenClaw looks by itself. It could be named in `plugins.load.paths`
as well, but 2026.3.13 refuses to run at all once a folder that is named there is gone.
"""

from __future__ import annotations

import json
import re

from gitguard.errors import HostFailed
from gitguard.hosts import HOSTS
from gitguard.hosts.base import (
    CHANNEL,
    LETS_HOST_DECIDE,
    WHOLE,
    HostPlan,
    HostSetting,
    SettingsPlan,
    WantedFile,
)
from gitguard.hosts.openclaw.hooks import KINDS, LIMIT, NAME, WRAPPERS, state_folder
from gitguard.model.host_settings import compaction_share

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from gitguard.hosts.base import Ask, InstallOptions, InstallSite
    from gitguard.store.disk.program import ProgramOutcome

PROGRAM = HOSTS[NAME].program
_RESTART = "a running Gateway picks up the change after `openclaw gateway restart`"
SKILL = "skills/gitguard/SKILL.md"
SETTINGS: Mapping[str, str] = {}
SHARED = ""
OFFERS = ("--directory-hook", "--no-compaction-trigger")
PLUGIN = "extensions/gitguard"
DIRECTORY_HOOK = "hooks/gitguard"
"""Both relative to OpenClaw's state folder."""

_PLUGIN_FILES = (
    "package.json",
    "openclaw.plugin.json",
    "index.js",
    "internal.js",
    "sessions.js",
)
_HOOK_FILES = ("HOOK.md", "handler.js", "internal.js", "sessions.js")
_ENTRY = "plugins.entries.gitguard"
_ENABLED = f"{_ENTRY}.enabled"
_ACCESS = f"{_ENTRY}.hooks.allowConversationAccess"
_INTERNAL_HOOKS = "hooks.internal.enabled"
_DIRECTORY_ENTRY = "hooks.internal.entries.gitguard"
_RESERVE = "agents.defaults.compaction.reserveTokensFloor"
_HOOKS_ON_BY_DEFAULT = (2026, 9)
"""From this version on internal hooks work unless they are switched off (seen in 2026.9.6)."""
_FIXED_RESERVE = (2026, 8)
"""From this version on the tokens kept free have no setting (refused by 2026.9.6)."""
_DEFAULT_RESERVE = 20_000
"""Tokens that the host keeps free by itself; 2026.9.6 never more than a quarter of the window."""
_UNSET = re.compile("Config path not found|Config path is valid but unset")


def user_folder(environment: Mapping[str, str]) -> str:
    """Return OpenClaw's state folder."""
    return state_folder(environment)


def is_ours(value: Any) -> bool:
    """Say no: our settings are made by OpenClaw's own program."""
    return False


def merge(settings: dict[str, Any], executable: str = "") -> dict[str, Any]:
    """Return settings as they are, for the same reason."""
    return settings


def plan(site: InstallSite, options: InstallOptions) -> HostPlan:
    """Return the plugin's files, and the directory hook's."""
    named = files(options.executable, site.template, directory_hook=options.directory_hook)
    plugin_files = tuple(WantedFile(name, WHOLE, data) for name, data in named.items())
    return HostPlan(in_user_folder=plugin_files, after_change=_RESTART)


def files(executable: str, read: Callable[[str], str], *, directory_hook: bool) -> dict[str, bytes]:
    """Return the plugin's files, and the directory hook's where it answers internal events."""
    limits = dict.fromkeys(KINDS, round(LIMIT * 1000))
    config = {
        "executable": executable,
        "limits": limits,
        "internal": not directory_hook,
        "wrappers": WRAPPERS,
    }
    settings = (json.dumps(config, indent=2) + "\n").encode()
    contents = {f"{PLUGIN}/config.json": settings}
    contents |= {f"{PLUGIN}/{name}": read(f"{NAME}/{name}").encode() for name in _PLUGIN_FILES}
    contents[f"{PLUGIN}/{CHANNEL}"] = channel = read(CHANNEL).encode()
    if directory_hook:
        contents[f"{DIRECTORY_HOOK}/config.json"] = settings
        contents[f"{DIRECTORY_HOOK}/{CHANNEL}"] = channel
        contents |= {f"{DIRECTORY_HOOK}/{n}": read(f"{NAME}/{n}").encode() for n in _HOOK_FILES}
    return contents


# What the host says


def read_settings(ask: Ask) -> dict[str, Any]:
    """Return version, plugin and hook settings, compaction, and the default model's window."""
    return {
        "version": version_of(ask(("--version",)).stdout),
        "plugins": _object(ask(read_command("plugins"))),
        "internal": _object(ask(read_command("hooks.internal"))),
        "compaction": _object(ask(read_command("agents.defaults.compaction"))),
        "window": window_of(ask(("models", "list", "--json"))),
    }


def version_of(output: str) -> tuple[int, ...]:
    """Return the numbers of a version, none where there is none."""
    numbers = re.search(r"(\d{4})\.(\d+)\.(\d+)", output)
    return tuple(map(int, numbers.groups())) if numbers else ()


def _object(answer: ProgramOutcome) -> dict[str, Any]:
    value = json.loads(value_of(answer) or "{}")
    return value if isinstance(value, dict) else {}


def window_of(answer: ProgramOutcome) -> int:
    """Return the window of the default model that `models list` names, 0 where it names none."""
    models = json_in(answer.stdout)
    listed = models.get("models") if isinstance(models, dict) else None
    for model in listed if isinstance(listed, list) else ():
        if isinstance(model, dict) and "default" in (model.get("tags") or ()):
            window = model.get("contextWindow")
            return window if type(window) is int else 0
    return 0


def value_of(answer: ProgramOutcome) -> str:
    """Return the JSON text of a setting that was asked for, empty where nothing is set.

    Raises `HostFailed` where the program did not say which of the two it is.
    """
    if answer.returncode and _UNSET.search(answer.stdout + answer.stderr):
        return ""
    value = None if answer.returncode else json_in(answer.stdout)
    if value is None and (answer.returncode or answer.stdout.strip() != "null"):
        raise HostFailed(
            f"`{PROGRAM}` did not say what is set; it ended with {answer.returncode} and said: "
            f"{answer.complaint}",
            f"Run `{PROGRAM} config validate`, then try again; nothing was changed",
        )
    return "" if value is None else json.dumps(value, sort_keys=True)


def json_in(output: str) -> Any:
    """Read the JSON in an answer; plugins may write lines of their own before and behind it."""
    decoder = json.JSONDecoder()
    # Each line may be where the JSON begins; what follows it on its last line must be nothing, or
    # a plugin's line such as `[1] started` would be read as a list.
    start = 0
    for line in output.splitlines(keepends=True):
        try:
            value, end = decoder.raw_decode(output, start)
        except ValueError:
            end = -1
        if end >= 0 and not output[end:].partition("\n")[0].strip():
            return value
        start += len(line)
    return None


def is_unknown(answer: ProgramOutcome) -> bool:
    """Say whether a setting was refused because this version does not have it."""
    return answer.returncode != 0 and "Unrecognized key" in answer.stdout + answer.stderr


def read_command(name: str) -> tuple[str, ...]:
    """Return the arguments that show a setting."""
    return ("config", "get", name, "--json")


def write_command(name: str, value: str) -> tuple[str, ...]:
    """Return the arguments that set or unset a setting."""
    if not value:
        return ("config", "unset", name)
    return ("config", "set", name, value, "--strict-json")


# What is to be set


def plan_settings(
    answers: dict[str, Any], options: InstallOptions, ours: Mapping[str, str]
) -> SettingsPlan:
    """Decide what has to be set, one key at a time; a version refuses what it does not have."""
    if not answers:
        return _without_the_host(options)
    plugin, hooks = _plugin_settings(answers), _hook_settings(answers, options, ours)
    compaction = _compaction(answers, options, ours)
    parts = (plugin, hooks, compaction)
    return SettingsPlan(
        tuple(setting for part in parts for setting in part.settings),
        tuple(note for part in parts for note in part.notes),
        tuple(warning for part in parts for warning in part.warnings),
    )


def _without_the_host(options: InstallOptions) -> SettingsPlan:
    settings = [HostSetting(name, "", "true", _ENTRY) for name in (_ENABLED, _ACCESS)]
    settings += _directory_entry({}, {}) if options.directory_hook else []
    older = " ".join((PROGRAM, *write_command(_INTERNAL_HOOKS, "true")))
    return SettingsPlan(
        tuple(settings),
        (f"OpenClaw before 2026.9 has no conversation access; there, run `{older}` instead",),
    )


def _plugin_settings(answers: dict[str, Any]) -> SettingsPlan:
    plugins = answers["plugins"]
    entry = _member(_member(plugins, "entries"), "gitguard")
    access = _member(entry, "hooks").get("allowConversationAccess")
    within = "" if entry.keys() & {"enabled", "hooks"} else _ENTRY
    settings = [HostSetting(_ACCESS, _text(access), "true", within)]
    if entry.get("enabled") is not False:
        settings.insert(0, HostSetting(_ENABLED, _text(entry.get("enabled")), "true", within))
    allowed = plugins.get("allow")
    if isinstance(allowed, list) and allowed:
        after = allowed if "gitguard" in allowed else [*allowed, "gitguard"]
        settings.append(HostSetting("plugins.allow", _text(allowed), _text(after)))
    warnings = (
        f"`{name}` keeps the plugin from loading, and stays as it is"
        for name in switched_off(plugins)
    )
    return SettingsPlan(tuple(settings), (), tuple(warnings))


def switched_off(plugins: dict[str, Any]) -> list[str]:
    """Name the settings that keep our plugin from loading."""
    entry = _member(_member(plugins, "entries"), "gitguard")
    denied = plugins.get("deny")
    off = {
        "plugins.enabled": plugins.get("enabled") is False,
        "plugins.deny": isinstance(denied, list) and "gitguard" in denied,
        _ENABLED: entry.get("enabled") is False,
    }
    return [name for name, is_off in off.items() if is_off]


def _member(document: dict[str, Any], name: str) -> dict[str, Any]:
    value = document.get(name)
    return value if isinstance(value, dict) else {}


def _hook_settings(
    answers: dict[str, Any], options: InstallOptions, ours: Mapping[str, str]
) -> SettingsPlan:
    internal = answers["internal"]
    settings = _directory_entry(internal, ours) if options.directory_hook else []
    if internal.get("enabled") is False:
        warning = f"`{_INTERNAL_HOOKS}` is `false`: without them the state is not handed back"
        return SettingsPlan(tuple(settings), (), (warning,))
    if answers["version"] >= _HOOKS_ON_BY_DEFAULT:
        return SettingsPlan(tuple(settings))
    if internal.get("enabled") is True:
        return SettingsPlan((HostSetting(_INTERNAL_HOOKS, "true", "true"), *settings))
    note = (
        f"`{_INTERNAL_HOOKS}` also switches on the hooks that came with OpenClaw, as far as you "
        "did not disable them (`openclaw hooks list`)"
    )
    return SettingsPlan((HostSetting(_INTERNAL_HOOKS, "", "true"), *settings), (note,))


def _directory_entry(internal: dict[str, Any], ours: Mapping[str, str]) -> list[HostSetting]:
    named = _member(internal, "entries")
    if internal.get("enabled") is True and not named and _INTERNAL_HOOKS not in ours:
        return []  # all hooks are loaded, and only as long as none is named
    return [HostSetting(_DIRECTORY_ENTRY, _text(named.get("gitguard")), _text({"enabled": True}))]


def _compaction(
    answers: dict[str, Any], options: InstallOptions, ours: Mapping[str, str]
) -> SettingsPlan:
    window = answers["window"] or options.window
    named = f"a window of {window:,} tokens"
    current = _text(answers["compaction"].get("reserveTokensFloor"))
    theirs = "" if current == ours.get(_RESERVE, "") else current
    if answers["version"] >= _FIXED_RESERVE:
        return _fixed_compaction(window, named, options)
    if theirs:
        return SettingsPlan((), (f"a compaction trigger is set and stays: `{_RESERVE}={theirs}`",))
    trigger = compaction_share(options.checkpoint_at, options.critical)
    reserve = round(window * (1 - trigger))
    if reserve <= _DEFAULT_RESERVE:
        return SettingsPlan((), (f"the host compacts {named} before gitguard has to halt",))
    if not options.with_trigger:
        return SettingsPlan((), (LETS_HOST_DECIDE,))
    if not answers["window"]:
        return SettingsPlan(
            (), ("the host reports no window, so gitguard sets no compaction trigger",)
        )
    note = (
        f"OpenClaw will compact {named} at {100 * trigger:.1f} %; gitguard stops the agent at "
        f"{100 * options.critical:.0f} %. To keep your setting: `gitguard init --host openclaw "
        "--no-compaction-trigger`"
    )
    warnings: tuple[str, ...] = ()
    if not options.checkpoint_at < trigger < options.critical:
        warnings = (
            f"the compaction trigger is at {trigger:.1%} of the window, not between "
            f"`gauge.checkpoint_at` {options.checkpoint_at} and `thresholds.critical` "
            f"{options.critical}",
        )
    return SettingsPlan((HostSetting(_RESERVE, current, str(reserve)),), (note,), warnings)


def _fixed_compaction(window: int, named: str, options: InstallOptions) -> SettingsPlan:
    share = 1 - min(_DEFAULT_RESERVE, window // 4) / window
    if share < options.critical:
        return SettingsPlan((), (f"the host compacts {named} at {share:.0%}, before a halt",))
    return SettingsPlan(
        (),
        (),
        (
            f"the host compacts {named} at {share:.0%} and has no setting for it, but gitguard "
            f"halts the agent at `thresholds.critical` {options.critical}: compact by hand before, "
            "or raise the threshold in your config.yaml",
        ),
    )


def _text(value: Any) -> str:
    return "" if value is None else json.dumps(value, sort_keys=True)
