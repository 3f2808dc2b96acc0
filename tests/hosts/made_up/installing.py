"""The made-up host's installation: hooks in a user's TOML, and a plugin beside it."""

from __future__ import annotations

import os
from functools import partial
from shlex import quote

from gitguard.hosts.base import WHOLE, HostPlan, WantedFile
from gitguard.model.document_edits import TOML

from .hooks import KINDS, NAME

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from gitguard.hosts.base import InstallOptions, InstallSite

SKILL = ".made-up/skills/gitguard/SKILL.md"
SETTINGS: Mapping[str, str] = {}
SHARED = ""
OFFERS = ()
PLUGIN = """\
export default {{ name: "gitguard", on(event) {{ return this.run("{run}", event) }} }}
"""


def command(executable: str) -> str:
    return f"{quote(executable or 'gitguard')} hook {NAME}"


def user_folder(environment: Mapping[str, str]) -> str:
    """Return the host's folder of its user."""
    return os.path.join(environment["HOME"], ".made-up")


def is_ours(value: Any) -> bool:
    """Say whether a hook runs gitguard."""
    return isinstance(value, dict) and str(value.get("run", "")).endswith(f"gitguard hook {NAME}")


def merge(settings: dict[str, Any], executable: str = "") -> dict[str, Any]:
    """Return settings with our hooks, and with hooks switched on."""
    hooks = dict(settings.get("hooks", {}))
    for event in KINDS:
        hooks[event] = [*hooks.get(event, []), {"run": command(executable), "seconds": 10}]
    return {**settings, "features": {**settings.get("features", {}), "hooks": True}, "hooks": hooks}


def plan(site: InstallSite, options: InstallOptions) -> HostPlan:
    """Return the settings and the plugin."""
    plugin = PLUGIN.format(run=command(options.executable)).encode()
    merged = partial(merge, executable=options.executable)
    return HostPlan(
        in_user_folder=(
            WantedFile("config.toml", TOML, merge=merged),
            WantedFile("plugins/gitguard.js", WHOLE, plugin),
        ),
        after_change="restart the host",
    )
