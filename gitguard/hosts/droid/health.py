"""Whether Droid runs the hooks that were installed; the user's own need no trust."""

from __future__ import annotations

from gitguard.hosts.droid.installing import INSTALLATION
from gitguard.hosts.user_hook_health import Switch, UserHookHealth

HEALTH = UserHookHealth(
    INSTALLATION,
    ("0.225.2",),
    (
        Switch("hooksDisabled", (INSTALLATION.file,), (".factory/hooks.json",)),
        Switch("hooks.hooksDisabled", ("settings.json",), (".factory/settings.json",)),
    ),
)
