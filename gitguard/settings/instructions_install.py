"""Tells agents of hosts without hooks about gitguard, in the repository's instructions for them.

These files are the user's and belong to everybody in the project, so they change on a person's
explicit command alone, and only our section of them.
"""

from __future__ import annotations

import os
import shutil

from gitguard.errors import InvalidInput
from gitguard.settings.installer import NOT_BEGUN, Outcome, begun, install_lock
from gitguard.settings.instructions_plan import (
    InstructionsPlan,
    plan_sections,
    plan_sections_removal,
)
from gitguard.settings.repository_notes import push_warnings, refuse_blocking_branch, remains
from gitguard.store.disk.changes import make_all
from gitguard.store.git.worktree import Worktree

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from gitguard.model.config.config import Config
    from gitguard.sessions.startup import Startup
    from gitguard.settings.project_install import InstallOptions
    from gitguard.store.session.workspace import Workspace

_TEXT = "instructions.md"


class InstructionsInstaller:
    """Installs gitguard in one worktree for agents whose host has no hooks."""

    def __init__(self, workspace: Workspace, config: Config) -> None:
        """Describe the installation; nothing is read yet."""
        self._workspace = workspace
        self._config = config
        place = workspace.place
        self._root = place.worktree
        self._worktree = Worktree(place, workspace.places.environment, workspace.clock)

    def install(self, options: InstallOptions, begin: Callable[[], Startup] | None) -> Outcome:
        """Install, after begin has brought the session up; without it, only say what would be.

        Raises `InvalidInput` for options that are about a host's settings.
        """
        _refuse_host_options(options)
        refuse_blocking_branch(self._worktree, self._config)
        plan, startup, doubt = self._plan(), None, NOT_BEGUN
        if begin is not None:
            startup, doubt = begun(begin)
            with install_lock(self._workspace):
                plan = self._plan()
                make_all(plan.changes)
        notes = (*plan.notes, *self._to_commit(plan), *([doubt] if doubt else []))
        warnings = (*push_warnings(self._worktree, self._config), *self._unreachable(options))
        return Outcome(plan.changes, notes, warnings, startup)

    def uninstall(self, *, dry_run: bool) -> Outcome:
        """Take the section out of the files that hold it."""
        plan = plan_sections_removal(self._root)
        if not dry_run:
            with install_lock(self._workspace):
                plan = plan_sections_removal(self._root)
                make_all(plan.changes)
        left = remains(self._workspace, self._worktree, self._config)
        return Outcome(plan.changes, (*plan.notes, *left))

    def _plan(self) -> InstructionsPlan:
        from gitguard.rendering import template_source

        return plan_sections(self._root, template_source(_TEXT))

    def _to_commit(self, plan: InstructionsPlan) -> tuple[str, ...]:
        names = ", ".join(f"`{change.name}`" for change in plan.changes)
        return (f"commit {names} to share the section",) if names else ()

    def _unreachable(self, options: InstallOptions) -> tuple[str, ...]:
        path = self._workspace.places.environment.get("PATH", os.defpath)
        if shutil.which("gitguard", path=path) is not None:
            return ()
        folder = os.path.dirname(options.executable)
        way = f"add `{folder}` to it" if folder else "install it there"
        return (f"`gitguard` is not on PATH, where the agent looks for it; {way}",)


def _refuse_host_options(options: InstallOptions) -> None:
    given = {
        "--shared": options.shared,
        "--no-compaction-trigger": not options.with_trigger,
        "--directory-hook": options.directory_hook,
    }
    for name, is_given in given.items():
        if is_given:
            raise InvalidInput(
                f"{name} is about a host's settings, and `--host none` has none",
                f"Leave out {name}",
            )
