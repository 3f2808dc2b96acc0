"""What every host adapter offers: translation in, translation out, and its installation."""

from __future__ import annotations

from gitguard.model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any, Protocol

    from typing_extensions import TypeIs

    from gitguard.model.events import Abilities, HookEvent, HookReply
    from gitguard.store.disk.program import ProgramOutcome

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

        def in_agents_shell(self, environment: Mapping[str, str]) -> bool:
            """Say whether the host's agent runs a command, by any mark that the host sets."""

        def has_tool_marks(self, environment: Mapping[str, str]) -> bool:
            """Say whether this process has the marks that the host gives to its tool calls.

            A host that sets no such marks answers no.
            """

        def project_dir(self, environment: Mapping[str, str]) -> str:
            """Return the project's folder, empty where only a payload tells."""

        def time_limit(self, kind: str) -> float:
            """Return for how many seconds the host waits for the answer to a kind of event."""

    class HostSettings(Protocol):
        """A host that reads JSON files in each project; names are relative to the worktree."""

        SKILL: str
        PERSONAL: str
        SHARED: str
        USER: str
        """The user's settings for all projects, relative to the home folder."""
        TRIGGER: str
        """The setting that makes the host compact by itself, as `name=value`."""
        COMPACTS_AT: tuple[float, float]
        """The lowest and highest share of a window at which it then compacts."""

        def command(self, executable: str) -> str:
            """Return the shell command of most events; an empty executable is PATH alone."""

        def is_installed(self, settings: dict[str, Any]) -> bool:
            """Say whether settings hold an entry of ours."""

        def merge(
            self,
            settings: dict[str, Any],
            executable: str,
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

    class UserHostSettings(Protocol):
        """A host that is set up once for a user: files in their folder, settings by its program."""

        SKILL: str
        """Relative to the worktree all the same."""
        PROGRAM: str
        """The host's own command."""
        RESTART: str
        """What has to be done before a change counts, as a sentence."""

        def folder(self, environment: Mapping[str, str]) -> str:
            """Return the folder that the files lie in."""

        def files(
            self, executable: str, read: Callable[[str], str], *, directory_hook: bool
        ) -> dict[str, bytes]:
            """Return our files by their names below the folder; read returns a template's text."""

        def look(self, ask: Ask) -> dict[str, Any]:
            """Return what the host's program says of the settings in force; nothing is written."""

        def plan(self, answers: dict[str, Any], options: SettingsOptions) -> SettingsPlan:
            """Decide what is to be set; answers is what `look` returned, empty for no program."""

        def read_command(self, name: str) -> tuple[str, ...]:
            """Return the arguments that show a setting."""

        def write_command(self, name: str, value: str) -> tuple[str, ...]:
            """Return the arguments that give a setting a JSON value, or none where it is empty."""

        def value_of(self, answer: ProgramOutcome) -> str:
            """Return the JSON text that `read_command` showed, empty where nothing is set."""

        def is_unknown(self, answer: ProgramOutcome) -> bool:
            """Say whether a host refused a setting because its version does not have it."""

    Ask = Callable[[tuple[str, ...]], ProgramOutcome]


def belongs_to_user(settings: HostSettings | UserHostSettings) -> TypeIs[UserHostSettings]:
    """Say whether a host is set up once for a user instead of in each project."""
    return hasattr(settings, "PROGRAM")


class HostSetting(Value):
    """A setting that the host's own program is to make."""

    name: str
    before: str
    """What stands there, as JSON text; empty where nothing is set."""
    after: str
    within: str = ""
    """The object that is taken out instead of the setting alone, where it was not there before."""


class SettingsPlan(Value):
    """What a host's settings need, and what the person who installs should know."""

    settings: tuple[HostSetting, ...] = ()
    """All that are wanted, also where they are there; what we made besides is given back."""
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


class SettingsOptions(Value):
    """What decides about a host's settings besides the host."""

    with_trigger: bool
    """Whether the host is to compact by itself before a halt."""
    checkpoint_at: float
    critical: float
    """The shares of the window between which it is to compact."""
    window: int
    """The window that is assumed where the host names none, in tokens."""
    directory_hook: bool = False
    """Whether a hook in a folder answers the events that the host has such hooks for."""
    ours: Mapping[str, str] = {}
    """The JSON texts of the settings that we made before, by name."""
