"""Where Kimi Code reads the hooks of its user."""

from __future__ import annotations

from gitguard.hosts.kimi.hooks import HOST
from gitguard.hosts.user_hooks import TABLES, UserHooks
from gitguard.model.document_edits import TOML

INSTALLATION = UserHooks(
    HOST,
    "config.toml",
    TOML,
    TABLES,
    notes=(
        "Kimi Code reads what hooks say at prompts alone, so a warning waits for the next one",
        "Kimi Code has no way to end a turn: a halt denies every further tool",
    ),
)
