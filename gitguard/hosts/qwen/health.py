"""Whether Qwen Code runs the hooks that were installed; the user's own need no trust."""

from __future__ import annotations

from gitguard.hosts.qwen.installing import INSTALLATION
from gitguard.hosts.user_hook_health import Switch, UserHookHealth

HEALTH = UserHookHealth(
    INSTALLATION,
    ("0.24.4",),
    (
        Switch(
            "disableAllHooks",
            of_user=(INSTALLATION.file,),
            in_project=(".qwen/settings.json",),
        ),
    ),
)
