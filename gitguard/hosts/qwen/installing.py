"""Where Qwen Code reads the hooks of its user."""

from __future__ import annotations

from gitguard.hosts.qwen.hooks import HOST
from gitguard.hosts.user_hooks import UserHooks
from gitguard.model.document_edits import JSON

INSTALLATION = UserHooks(
    HOST,
    "settings.json",
    JSON,
)
