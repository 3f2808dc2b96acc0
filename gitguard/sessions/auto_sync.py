"""Syncs by itself after a turn, in a process that goes on after the hook has answered."""

from __future__ import annotations

import os

from gitguard.errors import GitguardError, Locked, NotWritable
from gitguard.model import fields
from gitguard.model.codec import dump_json
from gitguard.model.record import Record
from gitguard.sessions.sync_record import SyncFile
from gitguard.store.disk import files
from gitguard.store.disk.lock import Lock
from gitguard.store.session.anchor import FORMAT, load_record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from gitguard.store.session.workspace import Session, Workspace

MOST_A_MINUTE = 6
"""Automatic syncs of one machine; forges take about as many pushes to a repository."""
_MINUTE = 60.0
_NAME = "_auto_sync.json"
_LOCK_TIMEOUT = 0.05
"""Seconds; the agent waits for them."""


class AutoSyncs(Record):
    """When this machine synced by itself in the last minute."""

    times: tuple[str, ...] = fields.texts("Unix seconds of each.", default=())


def in_last_minute(times: Iterable[float], now: float) -> list[float]:
    """Return the times that count; one that is still to come is of a clock that was set back."""
    return [at for at in times if now - _MINUTE < at <= now]


def begin_sync(workspace: Workspace, session: Session) -> bool:
    """Start `gitguard sync` for a session, and wait for nothing; return whether it was started.

    It is not started where nobody ever synced, because the first sync asks, nor where this machine
    synced too often in the last minute: the next turn's end does it then. Raises `NotWritable`
    where it does not start.
    """
    if not SyncFile(workspace).is_there or not workspace.places.program:
        return False
    if not _take_place(workspace):
        return False
    from gitguard.store.disk import child

    command = [workspace.places.program, "sync", "--session", session.key]
    environment = workspace.places.environment
    try:
        child.start_detached(command, environment=environment, folder=workspace.place.worktree)
    except OSError as error:
        raise NotWritable(f"`gitguard sync` was not started: {error.strerror}") from error
    return True


def _take_place(workspace: Workspace) -> bool:
    """Count one more automatic sync of this machine, if that many may be."""
    folder, now = workspace.places.state_home, workspace.clock()
    path = os.path.join(folder, _NAME)
    try:
        with Lock(f"{path}.lock", timeout=_LOCK_TIMEOUT, clock=workspace.clock):
            times = in_last_minute(_read(path), now)
            if len(times) >= MOST_A_MINUTE:
                return False
            # Exact, because a time that is rounded up is still to come and would not count.
            record = AutoSyncs(tuple(str(at) for at in (*times, now)))
            files.write_bytes(path, dump_json({"format": FORMAT, **record.to_document()}))
    except Locked:
        return False
    return True


def _read(path: str) -> list[float]:
    """Return what is known; where it cannot be read, nothing counts."""
    try:
        record = load_record(path, "the record of automatic syncs", AutoSyncs)
        return [float(at) for at in (record.times if record is not None else ())]
    except (GitguardError, ValueError):
        return []
