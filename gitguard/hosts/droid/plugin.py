"""How Droid installs and removes plugins; a marketplace has the name of its folder."""

from __future__ import annotations

from gitguard.hosts.plugin import NAME, HostPlugin, enabled_plugins

PLUGIN = HostPlugin(
    (
        "droid plugin marketplace add {folder}",
        f"droid plugin install {NAME}@{{name}}",
    ),
    "droid plugin uninstall {id}",
    enabled_plugins,
)
