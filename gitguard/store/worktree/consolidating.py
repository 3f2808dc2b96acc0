"""Packs the file snapshots that are kept together, and gives the disk of the others back.

It changes no list but to leave out what is forgotten by then. Whoever dies in between leaves packs
that hold the same objects twice, and the next run removes them.
"""

from __future__ import annotations

from gitguard.errors import GitFailed
from gitguard.store.worktree.file_store import PACKING_LIMIT, FileStore
from gitguard.store.worktree.kept import KeptSnapshots, session_names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


_PATIENCE = 30.0
"""Seconds to wait for those who write snapshots."""


def consolidate(
    store: FileStore, *, patience: float = _PATIENCE, limit: float = PACKING_LIMIT
) -> None:
    """Leave one pack with what is kept, and nothing else in the store.

    patience is how many seconds to wait for whoever writes, limit how many git may take. Raises
    `Locked` where somebody writes on, and `GitguardError` where something kept cannot be read; then
    nothing is removed.
    """
    if not store.is_there:
        return
    with store.alone(patience):
        # First what is removed, then what stays: what is not listed here is not touched.
        packs = store.packs()
        _require_readable(store, store.index_packs())
        lists = [KeptSnapshots(store, name) for name in sorted(session_names(store))]
        contents = [(snapshots, snapshots.list()) for snapshots in lists]
        roots = dict.fromkeys(snapshot.root for _, listed in contents for snapshot in listed)
        readable = _readable(store, tuple(roots)) if roots else ()
        packed = store.pack(readable, limit) if readable else ""
        store.at_step("files-packed")
        for snapshots, listed in contents:
            # Durable before the packs go, by which a list that was lost is made again.
            snapshots.write(listed)
        store.at_step("lists-written")
        # A summary of a host stays in its pack until it is removed by itself.
        store.remove(packs - {packed, *store.summaries()})
        for snapshots, listed in contents:
            if not listed:
                snapshots.drop()


def _require_readable(store: FileStore, unsound: Iterable[str]) -> None:
    """Raise where a pack is whole and git cannot read it now, as on a full disk."""
    for name in sorted(unsound):
        if store.is_whole(name):
            raise GitFailed(
                f"`git index-pack` makes no index of `{name}.pack`, which is whole",
                "Free some space and run `gitguard session maintain --mode enforce`",
            )


def _readable(store: FileStore, roots: tuple[str, ...]) -> tuple[str, ...]:
    """Return the roots that are there; somebody may have removed a pack by hand."""
    with store.reader() as reader:
        return tuple(root for root in roots if reader.exists(root))
