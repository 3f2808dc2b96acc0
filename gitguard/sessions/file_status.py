"""What is kept of the worktree's files, what was left out and why, and how much disk it takes."""

from __future__ import annotations

from gitguard.errors import GitguardError
from gitguard.model.text import timestamp
from gitguard.model.value import Value
from gitguard.sessions.history import newest_own
from gitguard.store.session.restore_records import RestoreRecords
from gitguard.store.worktree.manifest import unescaped

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitguard.store.session.store import SessionStore


class LeftOut(Value):
    """A file that is not in the newest snapshot."""

    path: str
    reason: str


class Gaps(Value):
    """What the newest snapshot lacks; nothing in any part where it has every file."""

    left_out: tuple[LeftOut, ...] = ()
    """What is not in the newest one."""
    unseen: tuple[str, ...] = ()
    """What was not looked at."""
    refusal: str = ""
    """Why there is none."""


class PastRestore(Value):
    """A restore of files in this worktree, which can be undone."""

    at: str
    """When it began, by which an undo names it."""
    source: str
    """What was restored: a checkpoint's name, or another restore that was undone."""
    files: tuple[str, ...]
    """The paths that it put, replaced or removed."""


class FileStatus(Value):
    """The snapshots of one session."""

    snapshots: int
    """How many are kept."""
    new_bytes: int
    """Bytes of content that were stored for them, before compression."""
    oldest: str
    """When the oldest was taken; empty where there is none."""
    newest: str
    gaps: Gaps
    restores: tuple[PastRestore, ...] = ()
    """Those whose record is kept, the newest first."""
    pinned: tuple[str, ...] = ()
    """The checkpoints whose files are kept for good, the oldest first."""


def file_status(store: SessionStore) -> FileStatus:
    """Return what is kept of a session's files; raise `GitguardError` where that cannot be read."""
    newest_own(store)
    snapshots = store.worktree.kept_snapshots().list()
    times = [timestamp(snapshot.at) for snapshot in snapshots]
    return FileStatus(
        len(snapshots),
        sum(snapshot.new_bytes for snapshot in snapshots),
        times[0] if times else "",
        newest=times[-1] if times else "",
        gaps=newest_gaps(store),
        restores=_past_restores(store),
        pinned=tuple(snapshot.pinned_by for snapshot in snapshots if snapshot.pinned_by),
    )


def _past_restores(store: SessionStore) -> tuple[PastRestore, ...]:
    records = RestoreRecords(store.workspace, store.session).all()
    return tuple(
        PastRestore(
            record.at,
            record.source,
            tuple(unescaped(file.path) for file in record.files),
        )
        for _, record in records
    )


def newest_gaps(store: SessionStore) -> Gaps:
    """Return what the newest checkpoint's snapshot lacks; nothing where nobody knows."""
    look = store.last_look()
    if look is None or not look.snapshot:
        return Gaps(refusal=look.refusal if look is not None else "")
    try:
        with store.worktree.reader() as reader:
            manifest = reader.snapshot(look.snapshot).manifest
    except GitguardError as error:
        return Gaps(refusal=f"it cannot be read: {error.message}")
    left_out = tuple(LeftOut(unescaped(file.path), file.reason) for file in manifest.skipped)
    return Gaps(left_out, manifest.unseen)
