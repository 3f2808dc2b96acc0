"""Where Codex reads the hooks of its user."""

from __future__ import annotations

from gitguard.hosts.codex.hooks import HOST
from gitguard.hosts.user_hooks import UserHooks
from gitguard.model.document_edits import JSON

INSTALLATION = UserHooks(
    HOST,
    "hooks.json",
    JSON,
    notes=(
        "Codex runs no hook before you approve it: start `codex` and choose to trust the hooks, or "
        "type `/hooks` there",
        "Codex has no way to end a turn at a call: a halt denies every further tool, and ends the "
        "turn where Codex would compact by itself",
    ),
)
