"""Hooks of the common dialect in a file of the host's user, as values, without the disk.

They run in every project, and do nothing where nobody ran `gitguard init`. Our entries are known by
the command they run.
"""

from __future__ import annotations

import re
from functools import partial
from shlex import quote

from gitguard.errors import InvalidDocument
from gitguard.hosts import HOSTS
from gitguard.hosts.base import HostPlan, WantedFile
from gitguard.hosts.dialect import FAILS, TIMEOUT
from gitguard.model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from gitguard.hosts.base import InstallOptions, InstallSite
    from gitguard.hosts.dialect import DialectHost

NAMED, BARE, TABLES = "named", "bare", "tables"
"""The shapes of such a file: groups of hooks by their event in `hooks`, or as the whole document;
or a list of hooks in `hooks`, each of which names its event."""


class UserHooks(Value):
    """The installation of one host: an `Installation` whose members are its fields."""

    dialect: DialectHost
    file: str
    """The file, relative to the folder of the host's user."""
    format: str
    shape: str = NAMED
    notes: tuple[str, ...] = ()
    """What the host cannot do, and what the person has to do, each without its full stop."""
    SKILL: str = ""
    SETTINGS: Mapping[str, str] = {}
    SHARED: str = ""
    OFFERS: tuple[str, ...] = ()

    def user_folder(self, environment: Mapping[str, str]) -> str:
        """Return the folder in which the host keeps what belongs to its user."""
        return HOSTS[self.dialect.name].marks.user_folder(environment)

    def command(self, executable: str = "") -> str:
        """Return the shell command of each hook; it does nothing where gitguard is not there.

        It never ends with a code of its own making: some hosts take any for a refusal.
        """
        name = self.dialect.name
        run = f"gitguard hook {name}"
        line = f"if command -v gitguard >/dev/null 2>&1; then {run}; fi"
        if executable:
            path = quote(executable)
            line = f"if [ -x {path} ]; then {path} hook {name}; el{line}"
        if self.dialect.refusal == FAILS:
            return f"{line}; test $? -ne 2 || exit 2"
        return f"{line} || true"

    def is_ours(self, value: Any) -> bool:
        """Say whether a hook runs gitguard for this host."""
        run = value.get("command") if isinstance(value, dict) else None
        pattern = rf"gitguard(\.exe)?['\"]*\s+hook\s+{self.dialect.name}(?![\w-])"
        return isinstance(run, str) and re.search(pattern, run) is not None

    def merge(self, settings: dict[str, Any], executable: str = "") -> dict[str, Any]:
        """Return settings that have no hooks of ours with all of them.

        Raises `InvalidDocument` for settings that are not shaped as the host reads them.
        """
        if self.shape == TABLES:
            listed = _expect(settings.get("hooks", []), list, "hooks")
            ours = [{"event": event, **self._hook(event, executable)} for event in self.events]
            return {**settings, "hooks": [*listed, *ours]}
        hooks = settings if self.shape == BARE else settings.get("hooks", {})
        hooks = dict(_expect(hooks, dict, "hooks"))
        for event in self.events:
            groups = _expect(hooks.get(event, []), list, f"hooks.{event}")
            entry = {"type": "command", **self._hook(event, executable)}
            hooks[event] = [*groups, {"hooks": [entry]}]
        return hooks if self.shape == BARE else {**settings, "hooks": hooks}

    @property
    def events(self) -> tuple[str, ...]:
        """The events that get a hook."""
        return tuple(self.dialect.kinds)

    def _hook(self, event: str, executable: str) -> dict[str, Any]:
        # No matcher: the empty one matches no tool in one host, and `*` fires nothing in another.
        timeout = self.dialect.timeouts.get(event, TIMEOUT)
        return {"command": self.command(executable), "timeout": timeout}

    def plan(self, site: InstallSite, options: InstallOptions) -> HostPlan:
        """Return the file with our hooks, and what the person should know."""
        merged = partial(self.merge, executable=options.executable)
        file = WantedFile(self.file, self.format, merge=merged)
        return HostPlan(in_user_folder=(file,), notes=self.notes)


_TYPES: dict[type, str] = {dict: "an object", list: "a list"}


def _expect(value: Any, kind: type, where: str) -> Any:
    if not isinstance(value, kind):
        raise InvalidDocument(
            f"`{where}` must be {_TYPES[kind]}, not `{repr(value)[:80]}`",
            "Correct it and run the command again; nothing was changed",
        )
    return value
