"""Kimi Code: what differs in its hooks (recorded with 2.1.0).

Only what a hook prints at a prompt reaches the agent, as it is. The ends of tool calls are not
waited for and may be lost, and a sub-agent's events look like its parent's.
"""

from __future__ import annotations

import os

from gitguard.hosts import payload as read
from gitguard.hosts.dialect import FAILS, KINDS, PLAIN, DialectHost, ShellResult
from gitguard.model import events
from gitguard.model.events import Abilities, SubAgentReport

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


NAME = "kimi"
_EXITED = "Process exited with code "


def _transcript(payload: dict[str, Any], folder: str) -> str:
    """Return the conversation's log, which lies below the folder of its workspace."""
    session = payload.get("session_id")
    if not isinstance(session, str) or os.sep in session or session in ("", ".", ".."):
        return ""
    sessions = os.path.join(folder, "sessions")
    try:
        workspaces = os.listdir(sessions)
    except OSError:
        return ""
    for workspace in workspaces:
        path = os.path.join(sessions, workspace, session, "agents", "main", "wire.jsonl")
        if os.path.exists(path):
            return path
    return ""


def _shell_result(text: str) -> ShellResult:
    """Read an exit code that stands in the first line; a command that ended well has none."""
    if not text.startswith(_EXITED):
        return ShellResult(text)
    first, _, output = text.removeprefix(_EXITED).partition("\n")
    return ShellResult(output, int(first)) if first.strip().isdigit() else ShellResult(text)


def _report(payload: dict[str, Any]) -> SubAgentReport | None:
    agent, text = read.name_of(payload, "agent_name"), read.text(payload, "response")
    return SubAgentReport(agent, "", text) if agent and text else None


HOST = DialectHost(
    NAME,
    Abilities(
        hears=(events.PROMPT,),
        tells_answers=False,
        tells_results=False,
        ends_turns=False,
        marks_sub_agents=False,
        compact_command="/compact",
        new_conversation="/new",
    ),
    kinds={
        **KINDS,
        "SubagentStart": events.SUB_AGENT_START,
        "SubagentStop": events.SUB_AGENT_END,
    },
    ids=("tool_call_id",),
    writing=frozenset(("Write", "Edit")),
    reading=frozenset(("Read",)),
    probes=frozenset(("Read", "Grep", "Glob", "FetchURL", "WebSearch")),
    planning=frozenset(("TodoList",)),
    transcript=_transcript,
    shell_result=_shell_result,
    report=_report,
    context=PLAIN,
    refusal=FAILS,
)
