"""What is looked at to tell whether a host runs the hooks that were installed.

A host's module `health` compares an installation with the host's settings as they are now. It
decides over values: reading is handed to it. What cannot be read is unknown, and never healthy.
"""

from __future__ import annotations

from gitguard.model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any, Protocol

    Read = Callable[[str], dict[str, Any]]
    """Returns the settings in the file at a path, none without a file; raises `GitguardError`."""

    class HealthOfHost(Protocol):
        """A host's module `health`."""

        TRIED: tuple[str, ...]
        """The versions of the host that this gitguard was tried with."""

        def hook_health(self, site: InstalledSite, read: Read) -> HookHealth:
            """Compare an installation with the host's settings as they are now."""


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
    """The file or folder that holds them."""
    problems: tuple[str, ...] = ()
    """What keeps hooks from running, each a sentence without its period."""
    notes: tuple[str, ...] = ()
    """What is unknown, and what else a person should know, in the same way."""

    @property
    def sentence(self) -> str:
        """Return all problems in one sentence; empty without any."""
        return f"hooks of {self.host}: {'; '.join(self.problems)}" if self.problems else ""
