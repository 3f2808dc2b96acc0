"""What lines of Claude Code's transcript say of their origin (recorded with 2.1.330)."""

from __future__ import annotations

from gitguard.model.host_additions import outside_of

BY_THE_HOST = ("isSidechain", "isMeta", "isCompactSummary", "isApiErrorMessage")
"""Marks of lines that neither the user nor the agent of the main conversation wrote."""
FROM_OTHERS = (
    *("teammate-message", "agent-message", "cross-session-message", "coordinator-relay"),
    *("channel", "slack-ping", "slack-tag-message", "webhook-payload", "ci-monitor-event"),
    *("fetched-web-content", "untrusted-widget-state", "remote-review", "tick"),
    *("artifact-type-instructions", "artifact-file-content", "artifact-origin-notes"),
)
"""Tags around messages of other agents, programs and people, which stand where prompts stand.

The program names them (2.1.330); `ci-monitor-event` was seen in transcripts of older versions.
"""
INTERRUPTED = "[Request interrupted by user"
"""How the text begins that the host writes in the user's name when they cut a turn off."""
NOT_THE_USERS = (
    "<command-name>",
    "<command-message>",
    "<local-command-",
    "<task-notification>",
    "<system-reminder>",
    "<bash-",
    INTERRUPTED,
    *(f"<{tag}" for tag in FROM_OTHERS),
)
"""How texts begin that stand in the user's name: echoes of commands, notes and reminders."""
ENVIRONMENT = ("userType", "entrypoint", "cwd", "sessionId", "version", "gitBranch", "slug")
"""What every line repeats of the conversation it belongs to."""
BESIDE_THE_WORDS = (
    *("ide_opened_file", "ide_selection", "system-reminder", "task-notification"),
    *("local-command-caveat", "local-command-stdout", "local-command-stderr"),
    *("bash-input", "bash-stdout", "bash-stderr"),
    *FROM_OTHERS,
)
"""Tags around what the host adds to the user's words; its hooks know the same."""


def words_of_the_user(text: str) -> str:
    """Return a text in the user's name without what the host added to it."""
    return outside_of(text, BESIDE_THE_WORDS, NOT_THE_USERS)
