"""Where Droid reads the hooks of its user."""

from __future__ import annotations

from gitguard.hosts.droid.hooks import HOST
from gitguard.hosts.user_hooks import BARE, UserHooks
from gitguard.model.document_edits import JSON

INSTALLATION = UserHooks(
    HOST,
    "hooks.json",
    JSON,
    BARE,
    notes=("`droid exec` tells hooks of no prompt: gitguard reads it out of the transcript",),
)
