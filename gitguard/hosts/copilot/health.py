"""Whether Copilot CLI runs the hooks that were installed; the user's own need no trust."""

from __future__ import annotations

from gitguard.hosts.copilot.installing import INSTALLATION
from gitguard.hosts.user_hook_health import Switch, UserHookHealth

HEALTH = UserHookHealth(
    INSTALLATION,
    ("1.0.102",),
    (
        Switch(
            "disableAllHooks",
            of_user=(INSTALLATION.file,),
            in_project=(
                ".github/copilot/settings.json",
                ".github/copilot/settings.local.json",
                ".claude/settings.json",
                ".claude/settings.local.json",
            ),
        ),
    ),
)
