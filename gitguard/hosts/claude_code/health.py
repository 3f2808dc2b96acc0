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
from gitguard.hosts.health import HookHealth
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
    if not problems and not _runs(site):
        program = f"`{site.executable}` is not there, and " if site.executable else ""
        problems.append(f"{program}no `gitguard` is on PATH, so the hooks do nothing; {_AGAIN}")
    for level in _levels(site):
        try:
            is_managed = level in MANAGED
            settings, shown = read(level), _shown(level, site.root)
            problems += switches(settings, shown, managed=is_managed)
            problems += folder_changes(settings, shown, site.environment)
        except GitguardError as error:
            notes.append(f"what that file sets is unknown: {error.message}")
    if site.environment.get(HOOKS_VARIABLE) == HOOKS_OFF:
        problems.append(f"`{HOOKS_VARIABLE}={HOOKS_OFF}` is set in this environment; unset it")
    notes += [] if site.is_trusted else _trust(site, read)
    return HookHealth(NAME, name, tuple(dict.fromkeys(problems)), tuple(dict.fromkeys(notes)))


def hook_problems(settings: dict[str, Any], name: str, executable: str) -> list[str]:
    """Say which of our hooks are missing from settings, and which were changed there."""
    missing, changed = [], []
    for event in HOOK_EVENTS:
        groups = [group for group in _groups(settings, event) if any(map(is_ours, _hooks(group)))]
        differences = [_differences(group, event, executable) for group in groups]
        if not groups:
            missing.append(event)
        elif all(differences):  # one group as it was installed is enough
            changed.append(f"{event} ({', '.join(differences[0])})")
    if len(missing) == len(HOOK_EVENTS):
        return [f"all are missing from `{name}`; {_AGAIN}"]
    problems = []
    if missing:
        problems.append(f"{', '.join(missing)} missing from `{name}`; {_AGAIN}")
    if changed:
        problems.append(f"changed in `{name}`: {', '.join(changed)}; {_AGAIN}")
    return problems


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


def _runs(site: InstalledSite) -> bool:
    folders = site.environment.get("PATH", os.defpath).split(os.pathsep)
    on_path = (os.path.join(folder, "gitguard") for folder in folders)
    return any(os.access(path, os.X_OK) for path in (site.executable, *on_path) if path)


def _trust(site: InstalledSite, read: Read) -> list[str]:
    """Say whether the host was told to trust the folder; its terminal program asks first."""
    environment = site.environment
    folder = environment.get("CLAUDE_CONFIG_DIR") or environment.get("HOME")
    if not folder:
        return ["whether the host trusts this folder is unknown: HOME is not set"]
    path = os.path.join(folder, ".claude.json")
    try:
        document = read(path)
    except GitguardError as error:
        return [f"whether the host trusts this folder is unknown: {error.message}"]
    if not document:
        return ["whether the host trusts this folder is unknown"]
    projects = document.get("projects")
    folder = site.worktree
    while isinstance(projects, dict):
        project = projects.get(folder)
        if isinstance(project, dict) and project.get("hasTrustDialogAccepted") is True:
            return []
        if folder == os.path.dirname(folder):
            break
        folder = os.path.dirname(folder)
    return ["the host was not told to trust this folder, and asks when it is started here"]
