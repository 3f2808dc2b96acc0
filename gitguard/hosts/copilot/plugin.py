"""How Copilot CLI installs and removes plugins; one from a local folder runs from there."""

from __future__ import annotations

from gitguard.hosts.plugin import NAME, HostPlugin, enabled_plugins

PLUGIN = HostPlugin(
    (
        "copilot plugin marketplace add {folder}",
        f"copilot plugin install {NAME}@{NAME}",
    ),
    "copilot plugin uninstall {id}",
    enabled_plugins,
)
