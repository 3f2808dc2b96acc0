"""Finds the status line that ours stands in for."""

from __future__ import annotations

from gitguard import hosts
from gitguard.settings.install_plan import user_settings
from gitguard.store.git.worktree import Worktree
from gitguard.store.session.install_ledger import LedgerFile

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gitguard.hosts.base import Host
    from gitguard.store.session.workspace import Workspace


def called_status_line(workspace: Workspace, host: Host) -> str:
    """Return the command of the status line that ours stands in for, empty if there is none.

    Where this machine installed nothing, our line came with the project's shared settings, and
    the user's own is the one that it hides. One in a file that git tracks by now is no user's own.
    """
    ledger = LedgerFile(workspace.state_folder, host.name).read()
    if not ledger:
        installing: Any = hosts.load(host.name, hosts.INSTALLING)
        line: str = installing.users_status_line(lambda n: user_settings(workspace.places.home, n))
        return line
    # A linked worktree without an installation uses the settings of the main one.
    installed = ledger.get(workspace.place.worktree)
    parts = [part for part in ([installed] if installed else ledger.values()) if part.status_line]
    worktree = Worktree(workspace.place, workspace.places.environment, workspace.clock)
    for part in parts:
        if not part.status_line_file or not worktree.tracked((part.status_line_file,)):
            return part.status_line
    return ""
