"""Whether Claude Code runs the hooks that were installed, by its settings as they are now.

Recorded with 2.1.330: settings are read again while a conversation runs, so a hook that is removed
stays away within seconds. `disableAllHooks` counts in any settings file.
"""

from __future__ import annotations

import os

from gitguard.errors import GitguardError
from gitguard.hosts import HOSTS
from gitguard.hosts.claude_code.hooks import HOOK_EVENTS, NAME
from gitguard.hosts.claude_code.installing import PERSONAL, SHARED, hook_of, is_ours
from gitguard.hosts.health import (
    TRUSTED,
    UNKNOWN,
    UNTRUSTED,
    HookHealth,
    comparison,
    program_problems,
    variable_problems,
)
from gitguard.model.events import HOOKS_OFF, HOOKS_VARIABLE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from gitguard.hosts.health import InstalledSite, Read

TRIED = ("2.1.330",)
MANAGED = (
    "/etc/claude-code/managed-settings.json",
    "/Library/Application Support/ClaudeCode/managed-settings.json",
)
"""Settings of an organization, which go before all others."""
_AGAIN = "run `gitguard init` again"
_FOLDERS = ("GITGUARD_ROOT", "GITGUARD_STATE_DIR", "HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME")
"""Variables that tell where the workspace, the user's configuration and state are."""


def hook_health(site: InstalledSite, read: Read) -> HookHealth:
    """Compare an installation with the host's settings as they are now."""
    name = PERSONAL if PERSONAL in site.files else SHARED
    path = os.path.join(site.root, name)
    problems: list[str] = []
    notes: list[str] = []
    try:
        problems += hook_problems(read(path), name, site.executable)
    except GitguardError as error:
        problems.append(f"{error.message}, so it is unknown whether the host runs them")
    problems = problems or program_problems(site, _AGAIN)
    for level in _levels(site):
        try:
            is_managed = level in MANAGED
            settings, shown = read(level), _shown(level, site.root)
            problems += switches(settings, shown, managed=is_managed)
            problems += folder_changes(settings, shown, site.environment)
        except GitguardError as error:
            notes.append(f"what that file sets is unknown: {error.message}")
    problems += variable_problems(site.environment)
    trust, doubt = (TRUSTED, "") if site.is_trusted else _trust(site, read)
    notes += [doubt] if doubt else []
    return HookHealth(
        NAME, name, tuple(dict.fromkeys(problems)), tuple(dict.fromkeys(notes)), trust=trust
    )


def hook_problems(settings: dict[str, Any], name: str, executable: str) -> list[str]:
    """Say which of our hooks are missing from settings, and which were changed there."""
    events: dict[str, list[str] | None] = {}
    for event in HOOK_EVENTS:
        groups = [group for group in _groups(settings, event) if any(map(is_ours, _hooks(group)))]
        differences = [_differences(group, event, executable) for group in groups]
        # One group as it was installed is enough.
        events[event] = min(differences, key=bool, default=None)
    return comparison(events, name, _AGAIN)


def _differences(group: dict[str, Any], event: str, executable: str) -> list[str]:
    """Name what of a group with our hook is not as it was installed."""
    hook = next(hook for hook in _hooks(group) if is_ours(hook))
    installed = hook_of(event, executable)
    names = [name for name in {**installed, **hook} if hook.get(name) != installed.get(name)]
    rules = {key: value for key, value in group.items() if key != "hooks"}
    names += [key for key, value in rules.items() if (key, value) not in _EVERYTHING]
    return sorted(names)


_EVERYTHING = (("matcher", ""), ("matcher", "*"), ("matcher", ".*"), ("matcher", None))
"""What in a group limits nothing."""


def _groups(settings: dict[str, Any], event: str) -> list[dict[str, Any]]:
    hooks = settings.get("hooks")
    return _objects(hooks.get(event)) if isinstance(hooks, dict) else []


def _hooks(group: dict[str, Any]) -> list[dict[str, Any]]:
    return _objects(group.get("hooks"))


def _objects(value: Any) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def switches(settings: dict[str, Any], name: str, *, managed: bool = False) -> list[str]:
    """Name what in one settings file switches hooks off; managed is whether a company wrote it."""
    keys = ("disableAllHooks", "allowManagedHooksOnly") if managed else ("disableAllHooks",)
    problems = [
        f"`{key}` in `{name}` switches them off; remove it there"
        for key in keys
        if settings.get(key) is True
    ]
    env = settings.get("env")
    if isinstance(env, dict) and env.get(HOOKS_VARIABLE) == HOOKS_OFF:
        switch = f"`{HOOKS_VARIABLE}={HOOKS_OFF}` in `env` of `{name}`"
        problems.append(f"{switch} switches them off; remove it there")
    return problems


def folder_changes(
    settings: dict[str, Any], name: str, environment: Mapping[str, str]
) -> list[str]:
    """Name the variables in one settings file by which hooks look elsewhere than this command.

    They decide which configuration counts, and where halts are kept.
    """
    env = settings.get("env")
    if not isinstance(env, dict):
        return []
    return [
        f"`{variable}` in `env` of `{name}` makes hooks use other folders than this command does; "
        "remove it there, or set it here too"
        for variable in _FOLDERS
        if variable in env and env[variable] != environment.get(variable)
    ]


def _levels(site: InstalledSite) -> list[str]:
    roots = dict.fromkeys((site.worktree, site.root))
    projects = [os.path.join(root, name) for root in roots for name in (PERSONAL, SHARED)]
    folder = HOSTS[NAME].marks.user_folder(site.environment)
    return [*projects, os.path.join(folder, "settings.json"), *MANAGED]


def _shown(path: str, root: str) -> str:
    inside = path.startswith(root + os.sep)
    return os.path.relpath(path, root) if inside else path


def _trust(site: InstalledSite, read: Read) -> tuple[str, str]:
    """Say whether the host was told to trust the folder, which its terminal program asks first.

    Returns the trust, and a sentence where there is none.
    """
    environment = site.environment
    folder = environment.get("CLAUDE_CONFIG_DIR") or environment.get("HOME")
    unknown = "whether the host trusts this folder is unknown"
    if not folder:
        return UNKNOWN, f"{unknown}: HOME is not set"
    path = os.path.join(folder, ".claude.json")
    try:
        document = read(path)
    except GitguardError as error:
        return UNKNOWN, f"{unknown}: {error.message}"
    if not document:
        return UNKNOWN, unknown
    projects = document.get("projects")
    folder = site.worktree
    while isinstance(projects, dict):
        project = projects.get(folder)
        if isinstance(project, dict) and project.get("hasTrustDialogAccepted") is True:
            return TRUSTED, ""
        if folder == os.path.dirname(folder):
            break
        folder = os.path.dirname(folder)
    doubt = "the host was not told to trust this folder, and asks when it is started here"
    return UNTRUSTED, doubt
