"""Whether a plugin in the folder of a host's user is there as it was installed.

The host loads what lies there; nothing tells whether it does.
"""

from __future__ import annotations

from gitguard.hosts.health import (
    HookHealth,
    file_problems,
    program_problems,
    variable_problems,
)
from gitguard.model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitguard.hosts.health import InstalledSite, Read


class UserPluginHealth(Value):
    """How one host's plugin is looked over: a `HealthOfHost` whose members are its fields."""

    name: str
    TRIED: tuple[str, ...]

    def hook_health(self, site: InstalledSite, read: Read) -> HookHealth:
        """Compare the plugin's files with what was installed."""
        again = f"run `gitguard init --host {self.name}` again"
        problems = file_problems(site, again) or program_problems(site, again)
        problems += variable_problems(site.environment)
        return HookHealth(self.name, site.root, tuple(problems))
