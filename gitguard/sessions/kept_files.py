"""Which snapshots of files stay: a person pins some, and what is beyond the limits is forgotten."""

from __future__ import annotations

from gitguard.errors import GitguardError, NothingFound
from gitguard.model.value import Value
from gitguard.sessions.file_authors import require_snapshot
from gitguard.sessions.history import find
from gitguard.store.worktree.kept import retained

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from gitguard.store.session.store import SessionStore
    from gitguard.store.worktree.kept import KeptSnapshot, Retention


class Pin(Value):
    """Whether the files of a checkpoint are kept for good."""

    checkpoint: str
    """The checkpoint's name."""
    is_pinned: bool


def pin(store: SessionStore, name: str) -> Pin:
    """Keep the files of a checkpoint for good; the caller holds the session's lock.

    Raises `NothingFound` where they are not kept any more.
    """
    checkpoint = find(store, name)
    snapshot = require_snapshot(checkpoint)
    kept_snapshots = store.worktree.kept_snapshots()
    listed = kept_snapshots.list()
    if not any(item.id == snapshot for item in listed):
        raise NothingFound(
            f"the files of {checkpoint.name} are no longer kept",
            "`gitguard status --files` shows the oldest snapshot",
        )
    pinned = _with_pin(listed, snapshot, checkpoint.name)
    kept_snapshots.put(pinned)
    return Pin(checkpoint.name, is_pinned=True)


def unpin(store: SessionStore, name: str) -> Pin:
    """Keep the files of a checkpoint no longer than others; the caller holds the session's lock.

    Raises `NothingFound` where they are not pinned.
    """
    checkpoint = find(store, name)
    kept_snapshots = store.worktree.kept_snapshots()
    listed = kept_snapshots.list()
    if not any(item.id == checkpoint.files and item.pinned_by for item in listed):
        raise NothingFound(
            f"the files of {checkpoint.name} are not pinned",
            "`gitguard status --files` lists what is pinned",
        )
    unpinned = _with_pin(listed, checkpoint.files, "")
    kept_snapshots.put(unpinned)
    return Pin(checkpoint.name, is_pinned=False)


def _with_pin(
    listed: Iterable[KeptSnapshot], snapshot: str, pinned_by: str
) -> tuple[KeptSnapshot, ...]:
    return tuple(
        item.replace(pinned_by=pinned_by) if item.id == snapshot else item for item in listed
    )


def forget_old(store: SessionStore, retention: Retention, *, dry_run: bool = False) -> int:
    """Forget the snapshots that are beyond the limits; return how many they are.

    The caller holds the session's lock. A list that cannot be read stays as it is.
    """
    kept_snapshots = store.worktree.kept_snapshots()
    try:
        listed = kept_snapshots.list()
    except GitguardError:
        return 0
    stays = retained(listed, retention, store.clock())
    if len(stays) < len(listed) and not dry_run:
        kept_snapshots.put(stays)
    return len(listed) - len(stays)
