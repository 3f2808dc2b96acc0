"""What every host adapter offers: translation in, translation out, and its installation."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, Protocol

    from gitguard.model.events import HookEvent, HookReply

    class Host(Protocol):
        """An adapter is a module with these members."""

        NAME: str
        OFFERS_PRESSURE: bool

        def parse_event(
            self, payload: dict[str, Any], environment: Mapping[str, str], now: float
        ) -> HookEvent:
            """Translate what the host sent."""

        def render_reply(self, event: HookEvent, reply: HookReply) -> str:
            """Translate what we answer; empty text is neutral."""

        def host_session(self, environment: Mapping[str, str]) -> str:
            """Return the conversation in which a command runs, empty outside the host."""
