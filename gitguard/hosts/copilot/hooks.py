"""Copilot CLI: what differs in its hooks (recorded with 1.0.102).

Hooks of a file in Claude Code's format get Claude Code's names for events and tools, and keep
Copilot's for parameters. A compaction runs in the background, and no event tells of its end.
"""

from __future__ import annotations

import os

from gitguard.hosts.dialect import TOP, DialectHost, code_behind
from gitguard.model import events
from gitguard.model.events import Abilities

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any


NAME = "copilot"


def _version(environment: Mapping[str, str]) -> str:
    return environment.get("COPILOT_CLI_BINARY_VERSION", "")[:40]


def _transcript(payload: dict[str, Any], folder: str) -> str:
    """Return where the conversation's events lie; a sub-agent's are in its parent's."""
    session = payload.get("parent_agent_id") or payload.get("session_id")
    if not isinstance(session, str) or os.sep in session or session in ("", ".", ".."):
        return ""
    return os.path.join(folder, "session-state", session, "events.jsonl")


HOST = DialectHost(
    NAME,
    Abilities(
        hears=(
            *(events.PROMPT, events.TOOL_START, events.TOOL_END, events.TOOL_FAILED),
            events.SESSION_START,
        ),
        forgets=(events.SESSION_START,),
        tells_answers=False,
        tells_compactions=False,
        ends_turns=False,
        compact_command="/compact",
        new_conversation="/clear",
    ),
    # A new conversation, which the engine takes for the end of an older one of the same name.
    sources={"new": "startup"},
    writing=frozenset(("Write", "Edit", "MultiEdit")),
    reading=frozenset(("Read",)),
    probes=frozenset(("Read", "Grep", "Glob", "WebFetch", "WebSearch")),
    planning=frozenset(("sql",)),
    project="COPILOT_PROJECT_DIR",
    version=_version,
    transcript=_transcript,
    shell_result=code_behind("completed with exit code ", ">"),
    context=TOP,
)
