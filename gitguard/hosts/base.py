"""What every host adapter offers: translation in, translation out, and its installation."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, Protocol

    from gitguard.model.events import Abilities, HookEvent, HookReply

    class Host(Protocol):
        """An adapter is a module with these members."""

        NAME: str
        ABILITIES: Abilities

        def parse_event(
            self, payload: dict[str, Any], environment: Mapping[str, str], now: float
        ) -> HookEvent:
            """Translate what the host sent."""

        def render_reply(self, event: HookEvent, reply: HookReply) -> str:
            """Translate what we answer; empty text is neutral."""

        def host_session(self, environment: Mapping[str, str]) -> str:
            """Return the conversation in which a command runs, empty outside the host."""

        def project_dir(self, environment: Mapping[str, str]) -> str:
            """Return the project's folder, empty where only a payload tells."""

        def time_limit(self, kind: str) -> float:
            """Return for how many seconds the host waits for the answer to a kind of event."""

        def settings(self) -> HostSettings:
            """Return how gitguard is put into the host's settings; imported only now."""

    class HostSettings(Protocol):
        """What installation needs to know of a host; names are relative to the worktree."""

        PERSONAL: str
        SHARED: str
        USER: str
        """The user's settings for all projects, relative to the home folder."""
        SKILL: str
        TRIGGER: str
        """The setting that makes the host compact by itself, as `name=value`."""
        COMPACTS_AT: tuple[float, float]
        """The lowest and highest share of a window at which it then compacts."""

        def command(self, executable: str) -> str:
            """Return the shell command to install; an empty executable is PATH alone."""

        def is_installed(self, settings: dict[str, Any]) -> bool:
            """Say whether settings hold an entry of ours."""

        def merge(
            self,
            settings: dict[str, Any],
            run: str,
            *,
            status_line: dict[str, Any] | None = None,
            with_trigger: bool = True,
        ) -> dict[str, Any]:
            """Return settings with our entries, once."""

        def remove(self, settings: dict[str, Any], original: dict[str, Any]) -> dict[str, Any]:
            """Return settings without our entries."""

        def without_trigger(
            self, settings: dict[str, Any], original: dict[str, Any]
        ) -> dict[str, Any]:
            """Return settings without our compaction trigger."""

        def other_status_line(self, settings: dict[str, Any]) -> dict[str, Any] | None:
            """Return a status line that is not ours."""

        def trigger_of(self, settings: dict[str, Any]) -> str:
            """Return a compaction trigger that is set, as `name=value`."""
