"""Finds the status line that ours stands in for."""

from __future__ import annotations

from gitguard import hosts
from gitguard.errors import InvalidDocument
from gitguard.settings.install_plan import user_settings
from gitguard.store.disk import settings_text
from gitguard.store.disk.changes import content
from gitguard.store.git.worktree import Worktree
from gitguard.store.session.install_ledger import LedgerFile

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from gitguard.hosts.base import Host
    from gitguard.store.session.install_ledger import Installed
    from gitguard.store.session.workspace import Workspace


def called_status_line(workspace: Workspace, host: Host) -> str:
    """Return the command of the status line that ours stands in for, empty if there is none.

    Where this machine installed nothing, our line came with the project's shared settings, and
    the user's own is the one that it hides.
    """
    installing: Any = hosts.load(host.NAME, hosts.INSTALLING)
    if not hasattr(installing, "users_status_line"):
        return ""
    ledger = LedgerFile(workspace.state_folder, host.NAME).read()
    if not ledger:
        line: str = installing.users_status_line(lambda n: user_settings(workspace.places.home, n))
        return line
    # A linked worktree without an installation uses the settings of the main one.
    here = ledger.get(workspace.place.worktree)
    parts = [part for part in ([here] if here else ledger.values()) if part.status_line]
    lines = (p.status_line for p in parts if not _is_tracked(workspace, installing, p))
    return next(lines, "")


def _is_tracked(workspace: Workspace, installing: Any, part: Installed) -> bool:
    """Say whether the status line stands in a file that git tracks, which is no user's own.

    git is asked only where the command is found in such a file.
    """

    def versions(name: str) -> Iterator[bytes | None]:
        yield content(workspace.place.worktree, name)
        yield part.files[name].original if name in part.files else None

    def line_in(name: str, data: bytes | None) -> str:
        try:
            settings = settings_text.load(installing.SETTINGS[name], data, what=name)
        except InvalidDocument:
            return ""
        return str(installing.other_status_line(settings))

    names = tuple(
        name
        for name in installing.SETTINGS
        if any(line_in(name, data) == part.status_line for data in versions(name))
    )
    worktree = Worktree(workspace.place, workspace.places.environment, workspace.clock)
    return bool(names and worktree.tracked(names))
