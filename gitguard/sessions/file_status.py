"""What is kept of the worktree's files, what was left out and why, and how much disk it takes."""

from __future__ import annotations

from gitguard.errors import GitguardError
from gitguard.model.text import timestamp
from gitguard.model.value import Value
from gitguard.store.worktree.manifest import unescaped
from gitguard.store.worktree.snapshot import read_snapshot

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitguard.store.session.store import SessionStore


class LeftOut(Value):
    """A file that is not in the newest snapshot."""

    path: str
    reason: str


class FileStatus(Value):
    """The snapshots of one session."""

    kept: int
    """How many snapshots are kept."""
    new_bytes: int
    """Bytes of content that were stored for them, before compression."""
    oldest: str = ""
    """When the oldest was taken; empty where there is none."""
    newest: str = ""
    left_out: tuple[LeftOut, ...] = ()
    """What is not in the newest one."""
    unseen: tuple[str, ...] = ()
    refusal: str = ""
    """Why the newest checkpoint has none."""


def file_status(store: SessionStore) -> FileStatus:
    """Return what is kept of a session's files; raise `GitguardError` where that does not read."""
    kept = store.worktree.kept_snapshots().list()
    times = [timestamp(snapshot.at) for snapshot in (*kept[:1], *kept[-1:])]
    status = FileStatus(
        len(kept), sum(snapshot.new_bytes for snapshot in kept), *(times if kept else ())
    )
    anchor = store.chain.anchors.read()
    look = store.worktree.kept_at(anchor.committed) if anchor is not None else None
    if look is None or not look.snapshot:
        return status.replace(refusal=look.refusal if look is not None else "")
    try:
        with store.repository().reader() as reader:
            manifest = read_snapshot(reader, look.snapshot).manifest
    except GitguardError as error:
        return status.replace(refusal=f"it does not read: {error.message}")
    left_out = tuple(LeftOut(unescaped(file.path), file.reason) for file in manifest.skipped)
    return status.replace(left_out=left_out, unseen=manifest.unseen)
