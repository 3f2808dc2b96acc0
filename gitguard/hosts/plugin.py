"""The plugin that several hosts install unchanged: how they install, record and remove it.

Recorded with Claude Code 2.1.330, Codex 0.171.0, Copilot CLI 1.0.102, Qwen Code 0.24.4 and Droid
0.225.2. A host's module `plugin` declares its `PLUGIN`.
"""

from __future__ import annotations

import os

from gitguard.model.document_edits import JSON
from gitguard.model.text import shell_word
from gitguard.model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

NAME = "gitguard"
"""Of the plugin, and of its marketplace where the host asks the folder for that."""
MANIFESTS = ".claude-plugin"
"""The folder of the plugin's manifest and of the marketplace's, which all these hosts read."""


def enabled_plugins(settings: Mapping[str, Any]) -> dict[str, bool]:
    """Return the plugins that settings switch on or off in `enabledPlugins`, by their ids."""
    listed = settings.get("enabledPlugins")
    if not isinstance(listed, dict):
        return {}
    return {name: value for name, value in listed.items() if isinstance(value, bool)}


class HostPlugin(Value):
    """One host's way with plugins."""

    install: tuple[str, ...]
    """The commands that install it: `{folder}` is its folder, `{name}` that folder's own name."""
    remove: str
    """The command that removes it: `{id}` is what the host calls it."""
    switches: Callable[[Mapping[str, Any]], Mapping[str, bool]]
    """Returns what a record says of each plugin, by its id: whether it is on."""
    record: str = "settings.json"
    """The file that says which plugins are on, relative to the folder of the host's user."""
    format: str = JSON
    in_project: tuple[str, ...] = ()
    """Settings of a project that may say otherwise, the one that counts most last."""
    after_install: str = ""
    """What the person has to do besides, without its full stop."""
    lacks: str = ""
    """What `gitguard init` sets up in this host and a plugin cannot, without its full stop."""

    def install_commands(self, folder: str) -> tuple[str, ...]:
        """Return the commands that install the plugin from its folder."""
        name = shell_word(os.path.basename(folder))
        return tuple(line.format(folder=shell_word(folder), name=name) for line in self.install)

    def remove_command(self, id: str) -> str:
        """Return the command that removes the plugin."""
        return self.remove.format(id=shell_word(id))


def switched_on(plugin: HostPlugin, records: tuple[Mapping[str, Any], ...]) -> str:
    """Return what the host calls our plugin, empty where it is not there or off.

    records are the user's and then those of the project; a later one counts more.
    """
    switches: dict[str, bool] = {}
    for record in records:
        switches.update(plugin.switches(record))
    ours = (id for id, is_on in switches.items() if is_on and id.partition("@")[0] == NAME)
    return next(ours, "")
