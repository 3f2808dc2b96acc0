"""Lays file snapshots on other commits where the user gives theirs up.

A commit that was amended or rebased away, or whose branch is gone, is collected by git sooner or
later, and nothing of ours holds it: a ref would carry it away with a push. So what the snapshots
need of it is stored while it is still there.
"""

from __future__ import annotations

from gitguard.errors import InvalidDocument
from gitguard.store.worktree.overlays import SnapshotReader, on_another_base

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from gitguard.store.git.repository import Repository
    from gitguard.store.worktree.kept import KeptSnapshot, KeptSnapshots


def move_from_unreachable(
    repository: Repository,
    open_reader: Callable[[], SnapshotReader],
    snapshots: KeptSnapshots,
    has_time: Callable[[], bool] = lambda: True,
) -> int:
    """Lay the snapshots on HEAD whose commits no ref of the user's reaches; return how many.

    The newest come first, as long as there is time. A snapshot whose commit is gone already stays
    as it is.
    """
    listed = snapshots.list()
    base = repository.head_commit()
    unreachable = repository.unreachable(frozenset(s.base for s in listed if s.base), base)
    if not unreachable:
        return 0
    moved: dict[str, KeptSnapshot] = {}
    with snapshots.lock(), open_reader() as reader:
        for snapshot in reversed(listed):
            if snapshot.base in unreachable and has_time():
                moved |= _moved(reader, snapshots, snapshot, base)
        if moved:
            snapshots.write([moved.get(snapshot.id, snapshot) for snapshot in listed])
    return len(moved)


def _moved(
    reader: SnapshotReader, snapshots: KeptSnapshots, snapshot: KeptSnapshot, base: str
) -> dict[str, KeptSnapshot]:
    """Return a snapshot on another commit, by its id; nothing where what it needs is gone."""
    writer = snapshots.writer(len(snapshot.id))
    try:
        stored = reader.snapshot(snapshot.id)
        if stored.is_base_lost:
            return {}
        tree = on_another_base(reader, stored, base, writer.write)
    except InvalidDocument:
        return {}
    return {snapshot.id: snapshots.keep(snapshot.replace(base=base), writer, tree)}
