"""The made-up host: one event a hook, as `{"event", "id", "folder", …}`; answers are one object."""

from __future__ import annotations

from gitguard.hosts import payload as read
from gitguard.model import events
from gitguard.model.codec import encode_json
from gitguard.model.events import (
    Abilities,
    HookAnswer,
    HookEvent,
    HookReply,
    Reading,
    ToolCall,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

NAME = "made-up"
KINDS = {
    "asked": events.PROMPT,
    "before_call": events.TOOL_START,
    "after_call": events.TOOL_END,
    "answered": events.TURN_END,
}


class MadeUp:
    """The host."""

    name = NAME
    abilities = Abilities(ends_turns=False, compact_command="/squeeze", new_conversation="/fresh")

    def parse_event(
        self, payload: dict[str, Any], environment: Mapping[str, str], now: float
    ) -> HookEvent:
        """Translate what the host sent."""
        call = read.mapping(payload, "call")
        command = read.text(call, "command")
        share = payload.get("full")
        return HookEvent(
            kind=KINDS.get(read.text(payload, "event"), events.OTHER),
            host_session=read.required(payload, "id"),
            project_dir=read.path(payload, "folder"),
            host=NAME,
            prompt=read.text(payload, "words"),
            tool=ToolCall(read.text(call, "tool"), summary=command, command=command, is_shell=True)
            if call
            else None,
            reading=Reading("hook", now, share=share) if isinstance(share, float) else None,
        )

    def render_reply(self, event: HookEvent, reply: HookReply) -> HookAnswer:
        """Translate what we answer."""
        answer = {"tell": reply.context, "refuse": reply.refuse or reply.stop}
        texts = {name: text for name, text in answer.items() if text}
        return HookAnswer(encode_json(texts) if texts else "")

    def project_dir(self, environment: Mapping[str, str]) -> str:
        """Return nothing: each event names the folder."""
        return ""

    def time_limit(self, kind: str) -> float:
        """Return for how many seconds the host waits."""
        return 10.0


HOST = MadeUp()
