"""Where Copilot CLI reads the hooks of its user."""

from __future__ import annotations

from gitguard.hosts.copilot.hooks import HOST
from gitguard.hosts.user_hooks import UserHooks
from gitguard.model.document_edits import JSON

INSTALLATION = UserHooks(
    HOST,
    "hooks/gitguard.json",
    JSON,
    notes=("Copilot CLI has no way to end a turn: a halt denies every further tool",),
)
