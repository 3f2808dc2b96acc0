"""Where pi loads the extensions of its user."""

from __future__ import annotations

from gitguard.hosts import HOSTS
from gitguard.hosts.pi.hooks import HOST, NAME
from gitguard.hosts.user_plugins import UserPlugin

INSTALLATION = UserPlugin(
    HOST,
    HOSTS[NAME].marks.user_folder,
    "extensions/gitguard/index.js",
    "extensions/gitguard",
    notes=("pi has no to-do list and no sub-agents of its own: there are none to keep",),
)
