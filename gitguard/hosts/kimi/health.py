"""Whether Kimi Code runs the hooks that were installed; it has no switch for them."""

from __future__ import annotations

from gitguard.hosts.kimi.installing import INSTALLATION
from gitguard.hosts.user_hook_health import UserHookHealth

HEALTH = UserHookHealth(INSTALLATION, ("2.1.0",))
