"""What is looked at to tell whether a host runs the hooks that were installed.

A host's module `health` compares an installation with the host's settings as they are now. It
decides over values: reading is handed to it. What cannot be read is unknown, and never healthy.
"""

from __future__ import annotations

import os

from gitguard.model.events import HOOKS_OFF, HOOKS_VARIABLE
from gitguard.model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any, Protocol

    from typing_extensions import TypeIs

    Read = Callable[[str], dict[str, Any]]
    """Returns the settings in the file at a path, none without a file; raises `GitguardError`."""

    class HealthOfHost(Protocol):
        """A host's module `health`."""

        TRIED: tuple[str, ...]
        """The versions of the host that this gitguard was tried with."""

        def hook_health(self, site: InstalledSite, read: Read) -> HookHealth:
            """Compare an installation with the host's settings as they are now."""

    class AskedHealth(HealthOfHost, Protocol):
        """The same for a host whose own program says whether it trusts hooks."""

        PROGRAM: str
        """The host's own command."""

        def ask_program(
            self, health: HookHealth, site: InstalledSite, exchange: Exchange
        ) -> HookHealth:
            """Return the health with what the program says; it takes a part of a second."""

    Exchange = Callable[[tuple[str, ...], tuple[str, ...], Callable[[str], bool]], tuple[str, ...]]
    """Runs the program with arguments, gives it lines, and returns its lines up to the last one,
    which the function tells; fewer where it ends before, or takes too long."""


_NAMED = 3
"""Files that a sentence names."""
TRUSTED, UNTRUSTED, MODIFIED, OFF = "trusted", "untrusted", "modified", "off"
NOT_ASKED, UNKNOWN = "not asked", "unknown"
"""Whether a host runs hooks as far as its user's consent goes; one may not ask for any."""


class InstalledSite(Value):
    """An installation as it is remembered."""

    root: str
    """The folder that the files' names are relative to."""
    worktree: str
    """The folder that the host works in."""
    files: tuple[str, ...]
    """The names of what was installed."""
    executable: str
    """The path that the hooks' commands name; empty for PATH alone."""
    environment: Mapping[str, str]
    """The variables of whoever looks, with HOME."""
    gone: tuple[str, ...] = ()
    """Those of the files that are not there."""
    changed: tuple[str, ...] = ()
    """Those that are there with another content."""
    is_trusted: bool = False
    """Whether the host is known to run hooks in the folder; its trust is not looked for then."""
    settings: Mapping[str, str] = {}
    """The JSON texts of the settings that the host's own program made, by name."""


class HookHealth(Value):
    """Whether a host runs the hooks that were installed."""

    host: str
    where: str
    """The file or folder that holds them, or the plugin that does."""
    problems: tuple[str, ...] = ()
    """What keeps hooks from running, each a sentence without its period."""
    notes: tuple[str, ...] = ()
    """What is unknown, and what else a person should know, in the same way."""
    trust: str = NOT_ASKED
    version: str = ""
    """The host's, where its program was asked for it."""

    @property
    def sentences(self) -> tuple[str, ...]:
        """Return each problem with the host's name, without its period."""
        return tuple(f"hooks of {self.host}: {problem}" for problem in self.problems)

    @property
    def sentence(self) -> str:
        """Return all problems in one sentence; empty without any."""
        return f"hooks of {self.host}: {'; '.join(self.problems)}" if self.problems else ""


def asks_program(health: HealthOfHost) -> TypeIs[AskedHealth]:
    """Say whether a host's program is asked for its trust."""
    return hasattr(health, "PROGRAM")


# What the hosts' modules share


def comparison(events: Mapping[str, list[str] | None], place: str, again: str) -> list[str]:
    """Say which events' hooks are missing, and which were changed.

    events has the names of what was changed of each event's hook, none where it is as it was
    installed, None where there is no hook.
    """
    missing = [event for event, changed in events.items() if changed is None]
    if len(missing) == len(events):
        return [f"all are missing from `{place}`; {again}"]
    problems = []
    if missing:
        problems.append(f"{', '.join(missing)} missing from `{place}`; {again}")
    named = [f"{event} ({', '.join(names)})" for event, names in events.items() if names]
    if named:
        problems.append(f"changed in `{place}`: {', '.join(named)}; {again}")
    return problems


def program_problems(site: InstalledSite, again: str) -> list[str]:
    """Say where no `gitguard` is where the hooks look for it."""
    folders = site.environment.get("PATH", os.defpath).split(os.pathsep)
    on_path = (os.path.join(folder, "gitguard") for folder in folders)
    if any(os.access(path, os.X_OK) for path in (site.executable, *on_path) if path):
        return []
    program = f"`{site.executable}` is not there, and " if site.executable else ""
    return [f"{program}no `gitguard` is on PATH, so the hooks do nothing; {again}"]


def variable_problems(environment: Mapping[str, str]) -> list[str]:
    """Say where our own switch is set in an environment."""
    if environment.get(HOOKS_VARIABLE) != HOOKS_OFF:
        return []
    return [f"`{HOOKS_VARIABLE}={HOOKS_OFF}` is set in this environment; unset it"]


def file_problems(site: InstalledSite, again: str) -> list[str]:
    """Say which files of ours are not there, or have another content."""
    return [
        f"{_named(names)} {what} in `{site.root}`; {again}"
        for names, what in ((site.gone, "missing"), (site.changed, "changed"))
        if names
    ]


def _named(names: tuple[str, ...]) -> str:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(f"`{name}`" for name in names[:_NAMED]) + more
