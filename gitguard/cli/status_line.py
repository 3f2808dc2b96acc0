"""Runs the status line that ours stands in for, so that installing gitguard hides nothing."""

from __future__ import annotations

import os

from gitguard.store.disk import child

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitguard.hosts.base import Host
    from gitguard.model.events import HookEvent

_TIME_LIMIT = 5.0
_ENDING = 1.0
"""Seconds in which a command that was killed has ended; the host waits for our line."""


def beside_the_other(host: Host, event: HookEvent, data: bytes, our_line: str) -> str:
    """Return what the other status line shows for the same input, and our own line below it."""
    return "\n".join(line for line in (_shown(_command(host, event), data), our_line) if line)


def _command(host: Host, event: HookEvent) -> str:
    from gitguard import process
    from gitguard.model.config.config import DEFAULTS
    from gitguard.settings.status_line import called_status_line
    from gitguard.store.git.place import locate
    from gitguard.store.session.workspace import Workspace

    # The folder of the working files does not matter here, so a broken configuration does not.
    place = locate(os.environ.get("GITGUARD_ROOT") or event.project_dir)
    workspace = Workspace(
        place, process.places(os.environ), DEFAULTS.store.directory, process.clock
    )
    return called_status_line(workspace, host)


def _shown(command: str, data: bytes) -> str:
    """Return what a command prints; one that fails or takes too long shows nothing."""
    if not command:
        return ""
    # The command is the user's own, written for the host's shell and kept out of the repository.
    process = child.start(command, stderr=child.NOTHING)
    try:
        stdout, _ = process.communicate(data, timeout=_TIME_LIMIT)
    except child.TimeoutExpired:
        process.end(patience=_ENDING)
        return ""
    return stdout.decode("utf-8", "replace").rstrip("\n") if process.returncode == 0 else ""
