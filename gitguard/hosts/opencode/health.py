"""Whether opencode's plugin is there as it was installed."""

from __future__ import annotations

from gitguard.hosts.opencode.hooks import NAME
from gitguard.hosts.user_plugin_health import UserPluginHealth

HEALTH = UserPluginHealth(NAME, ("1.18.34",))
