"""How Qwen Code installs and removes extensions.

From the folder of a marketplace it would leave a copy of the plugin there; the plugin's own folder
stays as it is.
"""

from __future__ import annotations

from gitguard.hosts.plugin import NAME, HostPlugin

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any


def _switches(store: Mapping[str, Any]) -> dict[str, bool]:
    """Read which extensions are on; a rule for some folders alone counts as off."""
    listed = store.get("extensions")
    parts = listed.values() if isinstance(listed, dict) else ()
    return {
        str(part.get("name")): part.get("defaultActivation") == "enabled"
        and not _has_exceptions(part)
        for part in parts
        if isinstance(part, dict)
    }


def _has_exceptions(extension: Mapping[str, Any]) -> bool:
    rules = extension.get("legacyPathRules")
    is_off_somewhere = isinstance(rules, list) and any(str(rule)[:1] == "!" for rule in rules)
    return is_off_somewhere or bool(extension.get("workspaceOverrides"))


PLUGIN = HostPlugin(
    (f"qwen extensions install {{folder}}/{NAME} --consent",),
    "qwen extensions uninstall {id}",
    _switches,
    record="extension-store/state.json",
)
