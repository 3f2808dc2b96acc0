"""What lines of Claude Code's transcript say of their origin (recorded with 2.1.330)."""

from __future__ import annotations

BY_THE_HOST = ("isSidechain", "isMeta", "isCompactSummary", "isApiErrorMessage")
"""Marks of lines that neither the user nor the agent of the main conversation wrote."""
NOT_THE_USERS = (
    "<command-name>",
    "<command-message>",
    "<local-command-",
    "<task-notification>",
    "<system-reminder>",
    "<bash-",
    "[Request interrupted by user",
)
"""How texts begin that stand in the user's name: echoes of commands, notes and reminders."""
ENVIRONMENT = ("userType", "entrypoint", "cwd", "sessionId", "version", "gitBranch", "slug")
"""What every line repeats of the conversation it belongs to."""
