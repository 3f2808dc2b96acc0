"""What every host adapter offers: translation in, translation out, and its installation."""

from __future__ import annotations

from gitguard.model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any, Protocol

    from typing_extensions import TypeIs

    from gitguard.model.events import Abilities, HookAnswer, HookEvent, HookReply
    from gitguard.store.disk.program import ProgramOutcome

    class Host(Protocol):
        """How a host is spoken with; the `HOST` of its module has these members."""

        @property
        def name(self) -> str:
            """The host's name, as in the table."""

        @property
        def abilities(self) -> Abilities:
            """What it does by itself."""

        def parse_event(
            self, payload: dict[str, Any], environment: Mapping[str, str], now: float
        ) -> HookEvent:
            """Translate what the host sent."""

        def render_reply(self, event: HookEvent, reply: HookReply) -> HookAnswer:
            """Translate what we answer; the empty answer is neutral."""

        def project_dir(self, environment: Mapping[str, str]) -> str:
            """Return the project's folder, empty where only a payload tells."""

        def time_limit(self, kind: str) -> float:
            """Return for how many seconds the host waits for the answer to a kind of event."""

    class Installation(Protocol):
        """How gitguard is put into a host: a module with these members."""

        SKILL: str
        """The skill's file, relative to the worktree; empty for none."""
        SETTINGS: Mapping[str, str]
        """The other files in a worktree that may hold something of ours, with their formats."""
        SHARED: str
        """The one of them that everybody who works at the project has, empty for none."""
        OFFERS: tuple[str, ...]
        """The options of `init` that it knows: `--shared` and the others that not all do."""

        def user_folder(self, environment: Mapping[str, str]) -> str:
            """Return the folder of the user's own files, empty where the host needs none."""

        def is_ours(self, value: Any) -> bool:
            """Say whether a value in settings is a whole entry of ours, such as a hook."""

        def merge(self, settings: dict[str, Any], executable: str = "") -> dict[str, Any]:
            """Return settings that have no entries of ours with all of them.

            executable is an installation's absolute path; empty is PATH alone.
            Raises `InvalidDocument` for settings that are not shaped as the host reads them.
            """

        def plan(self, site: InstallSite, options: InstallOptions) -> HostPlan:
            """Decide which files gitguard needs; nothing is written."""

    class SettingsProgram(Installation, Protocol):
        """A host whose own program makes settings, one at a time."""

        PROGRAM: str
        """The host's own command."""

        def read_settings(self, ask: Ask) -> dict[str, Any]:
            """Return what the host's program says of the settings in force; nothing is written."""

        def plan_settings(
            self, answers: dict[str, Any], options: InstallOptions, ours: Mapping[str, str]
        ) -> SettingsPlan:
            """Decide what is to be set.

            answers is what `look` returned, empty for no program; ours are the JSON texts of the
            settings that we made before, by name.
            """

        def read_command(self, name: str) -> tuple[str, ...]:
            """Return the arguments that show a setting."""

        def write_command(self, name: str, value: str) -> tuple[str, ...]:
            """Return the arguments that give a setting a JSON value, or none where it is empty."""

        def value_of(self, answer: ProgramOutcome) -> str:
            """Return the JSON text that `read_command` showed, empty where nothing is set."""

        def is_unknown(self, answer: ProgramOutcome) -> bool:
            """Say whether a host refused a setting because its version does not have it."""

    Ask = Callable[[tuple[str, ...]], ProgramOutcome]


def has_program(installation: Installation) -> TypeIs[SettingsProgram]:
    """Say whether a host's own program makes settings for us."""
    return hasattr(installation, "PROGRAM")


def belongs_to_user(installation: Installation) -> bool:
    """Say whether a host is set up once for a user instead of in each project."""
    return not installation.SETTINGS


SHARED, DIRECTORY_HOOK = "--shared", "--directory-hook"
NO_TRIGGER = "--no-compaction-trigger"


class InstallOptions(Value):
    """What the person who installs asks for, and what their configuration says besides."""

    executable: str = ""
    """The absolute path of the installation that personal settings name."""
    shared: bool = False
    """Into the settings of everybody who works at the project, instead of one's own."""
    with_trigger: bool = True
    """Whether the host is to compact by itself before a halt."""
    directory_hook: bool = False
    """Whether a hook in a folder answers what the host has such hooks for, where it does."""
    checkpoint_at: float = 0.0
    critical: float = 0.0
    """The shares of the window between which the host is to compact; the configuration's."""
    window: int = 0
    """The window that is assumed where the host names none, in tokens; the configuration's."""

    @property
    def wishes(self) -> frozenset[str]:
        """The options of `init` that were given and that not all hosts know."""
        given = {
            SHARED: self.shared,
            DIRECTORY_HOOK: self.directory_hook,
            NO_TRIGGER: not self.with_trigger,
        }
        return frozenset(name for name, is_given in given.items() if is_given)


class InstallSite(Value):
    """What a host may look at to decide."""

    root: str
    """The worktree's folder."""
    current: Callable[[str], dict[str, Any]]
    """Returns what a settings file of the worktree says; raises `InvalidDocument`."""
    without_ours: Callable[[str], dict[str, Any]]
    """Returns what it would say without us; nothing where it cannot be read."""
    of_user: Callable[[str], dict[str, Any]]
    """Returns what JSON settings below the home folder say; nothing where they cannot be read."""
    tracked: Callable[[tuple[str, ...]], frozenset[str]]
    """Returns which files of the worktree git tracks."""
    template: Callable[[str], str]
    """Returns a template's text."""
    is_on_path: bool
    """Whether `gitguard` on PATH is this program."""


LETS_HOST_DECIDE = (
    "the host decides when to compact; gitguard halts the agent if the context fills up"
)
"""The note on a trigger that was declined."""
CHANNEL = "channel.js"
"""The template by which every plugin of ours runs gitguard."""
WITHOUT_HOOKS = "none"
"""Stands in the place of a host's name for agents whose host has no hooks."""
WHOLE, SECTION = "whole", "section"
"""The formats of a file that is ours as a whole, and of one in which a section is."""


class WantedFile(Value):
    """A file that an installation needs."""

    name: str
    """Relative to the worktree or to the user's folder."""
    format: str
    """`WHOLE`, `SECTION`, or the format of settings."""
    content: bytes = b""
    """Of a whole file, or the section's text."""
    merge: Callable[[dict[str, Any]], dict[str, Any]] | None = None
    """Returns settings without our entries with them."""


class HostPlan(Value):
    """Which files a host needs, and what the person who installs should know."""

    in_worktree: tuple[WantedFile, ...] = ()
    not_in_worktree: tuple[str, ...] = ()
    """Settings files that are given back."""
    in_user_folder: tuple[WantedFile, ...] = ()
    status_line: str = ""
    """The command of the status line that ours stands in for."""
    status_line_file: str = ""
    """The file of the worktree that it stands in, empty where it stands in another."""
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    after_change: str = ""
    """What has to be done before a change of the user's files counts, without its full stop."""


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
