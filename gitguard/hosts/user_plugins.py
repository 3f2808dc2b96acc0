"""Plugins that speak the common dialect, in the folder of the host's user, as values.

They run in every project, and do nothing where nobody ran `gitguard init`. All their files are ours
as a whole.
"""

from __future__ import annotations

import json

from gitguard.hosts.base import CHANNEL, WHOLE, HostPlan, WantedFile
from gitguard.hosts.dialect import TIMEOUT
from gitguard.model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from gitguard.hosts.base import InstallOptions, InstallSite
    from gitguard.hosts.dialect import DialectHost

_SHARED = (CHANNEL, "dialect.js")
"""Templates that lie beside each other."""


class UserPlugin(Value):
    """The installation of one host: an `Installation` whose members are its fields."""

    dialect: DialectHost
    folder: Callable[[Mapping[str, str]], str]
    """Returns the folder of the host's user, for an environment."""
    entry: str
    """The file that the host loads, relative to that folder."""
    beside: str
    """The folder of the other files, likewise."""
    notes: tuple[str, ...] = ()
    """What the host cannot do, each without its full stop."""
    SKILL: str = ""
    SETTINGS: Mapping[str, str] = {}
    SHARED: str = ""
    OFFERS: tuple[str, ...] = ()

    def user_folder(self, environment: Mapping[str, str]) -> str:
        """Return the folder in which the host keeps what belongs to its user."""
        return self.folder(environment)

    def is_ours(self, value: Any) -> bool:
        """Say no: the host has no settings of ours."""
        return False

    def merge(self, settings: dict[str, Any], executable: str = "") -> dict[str, Any]:
        """Return settings as they are, for the same reason."""
        return settings

    def plan(self, site: InstallSite, options: InstallOptions) -> HostPlan:
        """Return the plugin's files, and what the person should know."""
        named = self.files(options.executable, site.template)
        plugin_files = tuple(WantedFile(name, WHOLE, data) for name, data in named.items())
        return HostPlan(in_user_folder=plugin_files, notes=self.notes)

    def files(self, executable: str, read: Callable[[str], str]) -> dict[str, bytes]:
        """Return the plugin's files by their names; read returns a template's text."""
        host = self.dialect
        seconds = {event: host.timeouts.get(event, TIMEOUT) for event in host.kinds}
        limits = {event: limit * 1000 for event, limit in seconds.items()}
        config = json.dumps({"executable": executable, "limits": limits}, indent=2) + "\n"
        contents = {f"{self.beside}/config.json": config.encode()}
        contents |= {f"{self.beside}/{name}": read(name).encode() for name in _SHARED}
        template = f"{host.name}/{self.entry.rpartition('/')[2]}"
        return {**contents, self.entry: read(template).encode()}
