"""Whether OpenClaw runs the plugin that was installed, by its files and settings as they are now.

Its program takes seconds to say what is set, so its file is read. What stands in a file that this
one includes, or in one that is no plain JSON, is unknown.
"""

from __future__ import annotations

import os

from gitguard.errors import GitguardError
from gitguard.hosts.health import HookHealth, file_problems, variable_problems
from gitguard.hosts.openclaw.hooks import NAME
from gitguard.hosts.openclaw.installing import switched_off

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gitguard.hosts.health import InstalledSite, Read

TRIED = ("2026.9.6", "2026.3.13")
_AGAIN = f"run `gitguard init --host {NAME}` again"


def hook_health(site: InstalledSite, read: Read) -> HookHealth:
    """Compare an installation with the host's files and settings as they are now."""
    problems = file_problems(site, _AGAIN)
    notes = []
    path = site.environment.get("OPENCLAW_CONFIG_PATH") or os.path.join(site.root, "openclaw.json")
    try:
        document = read(path)
        problems += _settings_problems(site, document)
        if not document or "$include" in str(document):
            notes.append(f"the settings in force are unknown: not all of them are in `{path}`")
    except GitguardError as error:
        notes.append(f"the settings in force are unknown: {error.message}")
    problems += variable_problems(site.environment)
    return HookHealth(NAME, site.root, tuple(problems), tuple(notes))


def _settings_problems(site: InstalledSite, document: dict[str, Any]) -> list[str]:
    plugins = document.get("plugins")
    off = switched_off(plugins) if isinstance(plugins, dict) else []
    problems = [f"`{name}` keeps the plugin from loading; change it there" for name in off]
    internal = document.get("hooks")
    internal = internal.get("internal") if isinstance(internal, dict) else None
    if isinstance(internal, dict) and internal.get("enabled") is False:
        problems.append("`hooks.internal.enabled` is `false`, so no state is handed back")
    for name in site.settings:
        if document and name not in off and _value(document, name) is None:
            problems.append(f"`{name}` is not set any more; {_AGAIN}")
    return problems


def _value(document: dict[str, Any], name: str) -> Any:
    value: Any = document
    for key in name.split("."):
        value = value.get(key) if isinstance(value, dict) else None
    return value
