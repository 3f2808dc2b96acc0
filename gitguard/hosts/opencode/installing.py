"""Where opencode loads the plugins of its user."""

from __future__ import annotations

import os

from gitguard.hosts.opencode.hooks import HOST
from gitguard.hosts.user_plugins import UserPlugin

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


def _folder(environment: Mapping[str, str]) -> str:
    home = os.path.join(environment.get("HOME", ""), ".config")
    return os.path.join(environment.get("XDG_CONFIG_HOME", "") or home, "opencode")


INSTALLATION = UserPlugin(
    HOST,
    _folder,
    "plugins/gitguard.js",
    "gitguard",
    notes=(
        "opencode says how full the context is after an answer's tool calls: a halt begins with "
        "the calls of the next answer",
    ),
)
