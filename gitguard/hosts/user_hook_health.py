"""Whether a host runs the hooks that stand in a file of its user, by its settings as they are now.

Which settings switch hooks off was seen in runs of the versions in `TRIED`.
"""

from __future__ import annotations

import os

from gitguard.errors import GitguardError
from gitguard.hosts.health import HookHealth, comparison, program_problems, variable_problems
from gitguard.hosts.user_hooks import BARE, TABLES
from gitguard.model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from gitguard.hosts.health import InstalledSite, Read
    from gitguard.hosts.user_hooks import UserHooks


class Switch(Value):
    """A setting that switches all hooks off."""

    key: str
    """Its names, with dots between them."""
    of_user: tuple[str, ...] = ()
    """The files in which it counts, relative to the user's folder of the host."""
    in_project: tuple[str, ...] = ()
    """The same, relative to the worktree."""
    value: bool = True
    """The value that switches hooks off."""


class UserHookHealth(Value):
    """How one host's hooks are looked over: a `HealthOfHost` whose members are its fields."""

    hooks: UserHooks
    TRIED: tuple[str, ...]
    switches: tuple[Switch, ...] = ()

    def hook_health(self, site: InstalledSite, read: Read) -> HookHealth:
        """Compare an installation with the host's settings as they are now."""
        name = self.hooks.dialect.name
        again = f"run `gitguard init --host {name}` again"
        path = os.path.join(site.root, self.hooks.file)
        problems: list[str] = []
        notes = []
        try:
            problems += comparison(self._changes(read(path), site.executable), path, again)
        except GitguardError as error:
            problems.append(f"{error.message}, so it is unknown whether the host runs them")
        problems = problems or program_problems(site, again)
        for file, switch in self._switches(site):
            try:
                is_off = _value(read(file), switch.key) is switch.value
            except GitguardError as error:
                notes.append(f"what that file sets is unknown: {error.message}")
                continue
            if is_off:
                problems.append(f"`{switch.key}` in `{file}` switches them off; remove it there")
        problems += variable_problems(site.environment)
        return HookHealth(name, path, tuple(problems), tuple(dict.fromkeys(notes)))

    def _changes(self, settings: dict[str, Any], executable: str) -> dict[str, list[str] | None]:
        """Name by event what of our hook is not as it was installed; None where there is none."""
        expected = dict(self._hooks(self.hooks.merge({}, executable)))
        changes: dict[str, list[str] | None] = dict.fromkeys(expected)
        for event, hook in self._hooks(settings):
            if event in expected and changes[event] != [] and self.hooks.is_ours(hook):
                names = {**expected[event], **hook}
                changes[event] = sorted(n for n in names if hook.get(n) != expected[event].get(n))
        return changes

    def _hooks(self, settings: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield each hook with its event and what its group says."""
        hooks = settings if self.hooks.shape == BARE else settings.get("hooks")
        if self.hooks.shape == TABLES:
            for hook in _objects(hooks):
                yield str(hook.get("event")), hook
            return
        for event, groups in hooks.items() if isinstance(hooks, dict) else ():
            for group in _objects(groups):
                rules = {name: value for name, value in group.items() if name != "hooks"}
                for hook in _objects(group.get("hooks")):
                    yield event, {**rules, **hook}

    def _switches(self, site: InstalledSite) -> Iterator[tuple[str, Switch]]:
        for switch in self.switches:
            for name in switch.of_user:
                yield os.path.join(site.root, name), switch
            for name in switch.in_project:
                yield os.path.join(site.worktree, name), switch


def _objects(value: Any) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _value(settings: Any, key: str) -> Any:
    for name in key.split("."):
        settings = settings.get(name) if isinstance(settings, dict) else None
    return settings
