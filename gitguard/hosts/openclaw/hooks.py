"""OpenClaw: what our plugin sends and what it is answered (recorded with 2026.9.6 and 2026.3.13).

The plugin wraps every event of the host as it is, without its large parts: typed ones as `{hook,
event, ctx}`, internal ones as `{type, action, sessionKey, context}`, both with the newest `usage`.
"""

from __future__ import annotations

import os

from gitguard.errors import InvalidDocument
from gitguard.hosts import HOSTS
from gitguard.hosts import payload as read
from gitguard.model import events
from gitguard.model.codec import encode_json
from gitguard.model.events import (
    Abilities,
    HookAnswer,
    HookEvent,
    HookReply,
    Reading,
    Transcript,
    is_token_count,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any


NAME = "openclaw"
KINDS = {
    "agent:bootstrap": events.BOOTSTRAP,
    "before_prompt_build": events.PROMPT,
    "before_tool_call": events.TOOL_START,
    "after_tool_call": events.TOOL_END,
    "agent_end": events.TURN_END,
    "session:compact:before": events.COMPACTION_START,
    "before_compaction": events.COMPACTION_START,
    "session:compact:after": events.COMPACTION_END,
    "after_compaction": events.COMPACTION_END,
    "command:new": events.SESSION_START,
    "command:reset": events.SESSION_START,
    "session_end": events.SESSION_END,
}
LIMIT = 8.0
"""Seconds that the plugin waits for an answer. The host refuses a tool call that got none within
15 s, and runs a prompt without it. Before a compaction the whole host stands still, because it does
not wait for promises there."""
WRAPPERS = ("tool_call", "tool_search", "tool_describe", "tool_search_code")
"""Tools that find and call others; what they call has events of its own, and those count."""
_USAGE = ("input", "cacheRead", "cacheWrite", "output")
_COMPACTED = "compaction"
"""Why a session ended that goes on after a compaction."""


def state_folder(environment: Mapping[str, str]) -> str:
    """Return the folder in which OpenClaw keeps what belongs to its user."""
    named = environment.get("OPENCLAW_STATE_DIR", "")
    home = environment.get("OPENCLAW_HOME", "") or environment.get("HOME", "")
    return os.path.abspath(_under_home(named, home) if named else os.path.join(home, ".openclaw"))


def _under_home(path: str, home: str) -> str:
    return os.path.join(home, path[2:]) if path.startswith("~/") else path


def _counts(key: str, event: dict[str, Any]) -> bool:
    """Say whether an event is of a session we keep: not a sub-agent's or a helper's of the host."""
    theirs = ":subagent:" in key or key.startswith("temp:")
    return not theirs and event.get("toolName") not in WRAPPERS


def _unwrapped(payload: dict[str, Any]) -> tuple[str, dict[str, Any], dict[str, Any]]:
    """Return an event's name, its own values, and where and in what it happened."""
    hook = read.text(payload, "hook")
    if hook:
        return hook, read.mapping(payload, "event"), read.mapping(payload, "ctx")
    name = f"{read.text(payload, 'type')}:{read.text(payload, 'action')}"
    context = read.mapping(payload, "context")
    key = read.text(payload, "sessionKey") or read.text(context, "sessionKey")
    return name, context, {**context, "sessionKey": key}


def _kind(name: str, event: dict[str, Any]) -> str:
    kind = KINDS.get(name, events.OTHER)
    if kind == events.TOOL_END:
        from gitguard.hosts.openclaw.tool_calls import has_failed

        return events.TOOL_FAILED if has_failed(event) else kind
    if kind == events.SESSION_END and read.text(event, "reason") == _COMPACTED:
        return events.OTHER
    return kind


def _source(kind: str, name: str, event: dict[str, Any]) -> str:
    if kind == events.SESSION_START:
        return events.STARTED_ANEW
    return read.name_of(event, "reason") or (name if kind == events.COMPACTION_START else "")


def _workspace(context: dict[str, Any], environment: Mapping[str, str]) -> str:
    folder = _under_home(read.path(context, "workspaceDir"), environment.get("HOME", ""))
    if not os.path.isabs(folder):
        raise InvalidDocument("the hook's input names no `workspaceDir`")
    return folder


def _prompt(context: dict[str, Any], event: dict[str, Any]) -> str:
    """Return what the user said; heartbeats and timers are prompts that the host wrote."""
    if read.text(context, "trigger") not in ("", "user"):
        return ""
    from gitguard.hosts.openclaw.tool_calls import words_of_the_user

    words = words_of_the_user(read.text(event, "prompt"))
    if not words.startswith("/"):
        return words
    from gitguard.hosts.openclaw.own_commands import OWN_COMMANDS
    from gitguard.model.host_additions import command_in

    return "" if command_in(words) in OWN_COMMANDS else words


def _tool(event: dict[str, Any], context: dict[str, Any]) -> events.ToolCall:
    from gitguard.hosts.openclaw.tool_calls import tool_call

    return tool_call(event, read.path(context, "workspaceDir"))


def _folder(event: dict[str, Any], context: dict[str, Any]) -> str:
    """Return in which folder a call runs; the host takes a relative one from the workspace."""
    named = read.path(read.mapping(event, "params"), "workdir")
    return os.path.join(read.path(context, "workspaceDir"), named) if named else ""


def _reading(
    payload: dict[str, Any], event: dict[str, Any], kind: str, now: float
) -> Reading | None:
    """Return what the host says of the context: after a compaction, what is left of it."""
    usage = read.mapping(payload, "usage")
    window = _count(usage.get("window"))
    if kind == events.COMPACTION_END:
        left = _count(event.get("tokensAfter")) or _count(event.get("tokenCount"))
        return Reading("hook", now, left, window, after_compaction=True) if left else None
    tokens = sum(_count(usage.get(name)) or 0 for name in _USAGE)
    if not is_token_count(tokens):
        return None
    model = _model(payload, {})
    return Reading("hook", _measured_at(usage, now), tokens, window, model=model)


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and is_token_count(value) else None


def _measured_at(usage: dict[str, Any], now: float) -> float:
    """Return when the host measured; never later than now, so that nothing outlives a newer one."""
    at = usage.get("at")
    if isinstance(at, int | float) and 0 <= at < 1e15:
        return min(now, at / 1000)
    return now


def _transcript(agent: str, session: str, environment: Mapping[str, str]) -> Transcript | None:
    if not agent or not session or "/" in agent or agent in (".", ".."):
        return None
    folder = os.path.join(state_folder(environment), "agents", agent)
    return Transcript(folder, NAME, session)


def _model(payload: dict[str, Any], context: dict[str, Any]) -> str:
    usage = read.mapping(payload, "usage")
    provider = read.name_of(context, "modelProviderId") or read.name_of(usage, "provider")
    model = read.name_of(context, "modelId") or read.name_of(usage, "model")
    return f"{provider}/{model}" if provider and model else model


def _dump(answer: dict[str, str]) -> HookAnswer:
    reply_texts = {name: text for name, text in answer.items() if text}
    return HookAnswer(encode_json(reply_texts) if reply_texts else "")


class OpenClaw:
    """The host, as our plugin speaks for it."""

    name = NAME
    abilities = Abilities(
        hears=(events.PROMPT, events.BOOTSTRAP),
        ends_turns=False,
        compact_command="/compact",
        new_conversation="/new",
    )

    def parse_event(
        self, payload: dict[str, Any], environment: Mapping[str, str], now: float
    ) -> HookEvent:
        """Translate an event that the plugin or the directory hook passed on."""
        name, event, context = _unwrapped(payload)
        key = read.required(context, "sessionKey")
        agent = read.name_of(context, "agentId")
        session = read.name_of(context, "sessionId")
        kind = _kind(name, event) if _counts(key, event) else events.OTHER
        return HookEvent(
            kind=kind,
            host_session=session or key,
            project_dir=_workspace(context, environment),
            folder=_folder(event, context),
            host=self.name,
            session=key,
            source=_source(kind, name, event),
            prompt=_prompt(context, event) if kind == events.PROMPT else "",
            answer=read.text(event, "answer"),
            tool=_tool(event, context) if "toolName" in event else None,
            sub_agent=key if ":subagent:" in key else "",
            from_tool=HOSTS[NAME].marks.has_tool_marks(environment),
            reading=_reading(payload, event, kind, now),
            transcript=_transcript(agent, session, environment),
            model=_model(payload, context),
            agent=agent,
            channel=read.name_of(context, "channelId"),
        )

    def render_reply(self, event: HookEvent, reply: HookReply) -> HookAnswer:
        """Translate our answer; nothing at all is neutral."""
        if event.kind == events.BOOTSTRAP:
            return _dump({"bootstrap": reply.context})
        if event.kind == events.TOOL_START:
            return _dump({"block": reply.refuse or reply.stop})
        block = reply.stop or reply.refuse
        if event.kind == events.PROMPT:
            # Versions that cannot stop a turn run it all the same: then the agent has to know why.
            return _dump({"context": reply.context or block, "block": block})
        return HookAnswer()

    def project_dir(self, environment: Mapping[str, str]) -> str:
        """Return nothing: only events tell in which workspace an agent works."""
        return ""

    def time_limit(self, kind: str) -> float:
        """Return for how many seconds the plugin waits for the answer to a kind of event."""
        return LIMIT


HOST = OpenClaw()
