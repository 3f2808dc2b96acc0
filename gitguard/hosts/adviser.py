"""What every host's adviser offers: which settings its version has, and how they are made.

Kept beside the adapters: a host can be advised of which no hooks are known, and hooks never need
any of this.
"""

from __future__ import annotations

from gitguard import hosts
from gitguard.errors import InvalidInput
from gitguard.model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Protocol

    from typing_extensions import TypeIs

    from gitguard.hosts.base import Ask
    from gitguard.model.host_settings import Figures, Setting
    from gitguard.store.disk.program import ProgramOutcome

    class _AnyAdviser(Protocol):
        """A module with these members and those of one of the two below."""

        NAME: str
        TITLE: str
        """As people call the host."""
        PROGRAM: str
        """The host's own command."""
        UNDO: UndoHelp

        def read_configuration(
            self, at: AdviserAccess, before: HostConfiguration | None = None
        ) -> HostConfiguration:
            """Return what the host has set; nothing is written.

            before is what was found earlier: its version and window are not asked for again, as a
            host's command may take seconds.

            Raises `InvalidDocument` for a configuration that the host or we cannot read.
            """

        def offer(self, configuration: HostConfiguration, figures: Figures) -> Offer:
            """Return the settings that this version has for the figures."""

    class FileAdviser(_AnyAdviser, Protocol):
        """The same for a host whose file gitguard edits."""

        FORMAT: str
        """Of `model/document_edits.py`."""

    class CommandAdviser(_AnyAdviser, Protocol):
        """The same for a host whose own command makes its settings, one key at a time."""

        def write_command(self, name: str, value: str) -> tuple[str, ...]:
            """Return the arguments that give a setting a JSON value, or none where it is empty."""

        def is_unknown(self, answer: ProgramOutcome) -> bool:
            """Say whether a setting was refused because this version does not have it."""

    Adviser = FileAdviser | CommandAdviser


class AdviserAccess(Value):
    """What an adviser may look at."""

    ask: Ask | None
    """Asks the host's own command; None where it is not on PATH."""
    read: Callable[[str], bytes | None]
    """Reads a file; None where there is none."""
    environment: Mapping[str, str]
    home: str
    worktree: str
    """The project's folder, empty outside of one."""


class HostConfiguration(Value):
    """What a host has set."""

    version: str
    """As the host says it, empty where it does not."""
    file: str
    """The file that the settings stand in, or will."""
    set_values: Mapping[str, str]
    """JSON texts by key, of those that are set."""
    window: int = 0
    """Tokens, where the host says how many; else 0."""
    checked_by: str = ""
    """The host's command that found its settings valid, empty where it has none."""
    model: str = ""
    """The model that is set, where the host does not say the window."""
    unfit: str = ""
    """Why gitguard makes no changes in the file, without its full stop; empty where it does."""
    exceptions: tuple[str, ...] = ()
    """Where the same settings mean something else, or nothing; sentences without full stop."""


class Offer(Value):
    """What a version of a host has for a way of working."""

    settings: tuple[Setting, ...] = ()
    notes: tuple[str, ...] = ()
    """What to know besides, and what this host has no setting for; sentences without full stop."""
    consequences: tuple[str, ...] = ()
    """What making the changes brings with it."""


class OwnBackup(Value):
    """A backup that a host puts in the place of a settings file that it distrusts."""

    suffix: str
    """What follows the file's name."""
    reading: tuple[str, ...]
    """Arguments with which the host's command reads the file to work with it."""


class UndoHelp(Value):
    """What is needed after a change of a host's settings."""

    counts: str
    """When a change counts, and what to do where it does not by itself; without its full stop."""
    health: tuple[str, ...]
    """Commands that show whether all is well."""
    repair: str
    """What to do besides going back when the host does not start; without its full stop."""
    own_backup: OwnBackup | None = None
    """What has to be outlasted in going back, None where the host takes none by itself."""


def find_adviser(name: str) -> Adviser:
    """Return the adviser of a host; only that one is imported."""
    adviser: Adviser = hosts.load(name, hosts.ADVICE)
    return adviser


def only_host(environment: Mapping[str, str], worktree: str) -> str:
    """Return the host around this command, else the one whose command is on PATH.

    Raises `InvalidInput` where there is none, or several.
    """
    from gitguard.store.disk.program import path_of

    for name, row in hosts.HOSTS.items():
        if row.marks.conversation(environment):
            return name
    advised = hosts.names(hosts.ADVICE)
    programs = {name: find_adviser(name).PROGRAM for name in advised}
    on_path = [name for name in advised if path_of(programs[name], environment, worktree)]
    if len(on_path) == 1:
        return on_path[0]
    if on_path:
        raise InvalidInput("several hosts are on PATH, so name one", "Hosts: " + ", ".join(on_path))
    raise InvalidInput(
        "no host's command is on PATH, so there are no settings to advise on",
        "Put the folder of one on PATH: " + ", ".join(programs.values()),
    )


def has_command(adviser: Adviser) -> TypeIs[CommandAdviser]:
    """Say whether the host's own command makes its settings."""
    return hasattr(adviser, "write_command")
