"""What gitguard can do for each host: their names, and the plugin that several of them install."""

from __future__ import annotations

from gitguard import hosts
from gitguard.hosts.base import WITHOUT_HOOKS
from gitguard.model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitguard.store.disk.changes import FileEdit

__all__ = [
    "ANSWERED",
    "INSTALLABLE",
    "WITHOUT_HOOKS",
    "WITH_CONTEXT_FILES",
    "PluginInstall",
    "plugin_installs",
    "write_plugin_folder",
]

INSTALLABLE = hosts.names(hosts.INSTALLING)
"""Those whose settings `Guard.install` can put gitguard into, the default first."""
WITH_CONTEXT_FILES = hosts.names(hosts.CONTEXT_FILES)
"""Those whose context files `Guard.bundle` can add."""
ANSWERED = hosts.names(hosts.HOOKS)
"""Those whose events are answered."""


class PluginInstall(Value):
    """How one host installs the plugin."""

    host: str
    commands: tuple[str, ...]
    after: str
    """What the person has to do besides, without its full stop."""


def plugin_installs(folder: str) -> tuple[PluginInstall, ...]:
    """Return how each host that takes the plugin installs it from its folder."""
    plugins = ((name, hosts.find_plugin(name)) for name in hosts.names(hosts.PLUGIN))
    return tuple(
        PluginInstall(name, plugin.install_commands(folder), plugin.after_install)
        for name, plugin in plugins
    )


def write_plugin_folder(
    folder: str, executable: str = "", *, dry_run: bool = False
) -> list[FileEdit]:
    """Write the plugin into a folder, or only return what would change.

    executable is the path of the `gitguard` that the hooks run; empty leaves it to be found.
    Raises `InvalidInput` for a folder that holds something else.
    """
    from gitguard.settings.plugin_folder import write_plugin

    return write_plugin(folder, executable, dry_run=dry_run)
