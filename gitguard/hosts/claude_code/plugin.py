"""How Claude Code installs and removes plugins."""

from __future__ import annotations

from gitguard.hosts.claude_code.installing import PERSONAL, SHARED
from gitguard.hosts.plugin import NAME, HostPlugin, enabled_plugins

PLUGIN = HostPlugin(
    (
        "claude plugin marketplace add {folder}",
        f"claude plugin install {NAME}@{NAME}",
    ),
    "claude plugin uninstall {id}",
    enabled_plugins,
    in_project=(SHARED, PERSONAL),
    lacks="a plugin has no status line, and Claude Code decides when to compact",
)
