"""Which files changed between two checkpoints, or since one, and who changed them."""

from __future__ import annotations

from functools import cached_property

from gitguard.errors import GitguardError, InvalidInput, NothingFound
from gitguard.model.actions import ADDED, CHANGED, REMOVED
from gitguard.model.value import Value
from gitguard.sessions.belief import written_in_lanes
from gitguard.sessions.file_authors import (
    AUTHORS,
    OTHERS,
    intervals,
    paths_unlike,
    snapshot_of,
    steps_between,
)
from gitguard.sessions.history import find, newest_own
from gitguard.store.git.trees import Trees, file_at
from gitguard.store.worktree.restore_record import is_below

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from gitguard.sessions.file_authors import Interval
    from gitguard.state.checkpoint import Checkpoint
    from gitguard.store.git.differences import Differences
    from gitguard.store.session.store import SessionStore
    from gitguard.store.worktree.overlays import StoredSnapshot


class CheckpointFile(Value):
    """A file that is not what it was."""

    path: str
    action: str
    """added, changed or removed."""
    by: tuple[str, ...]
    """Who changed it on the way: agent's tools, agent's shell, a restore, the agent of another
    machine whose lane says so, somebody else."""


class FileLog(Value):
    """What changed in each checkpoint, newest first; those in which no file did are left out."""

    entries: tuple[FileChanges, ...]
    has_more: bool
    """Whether there are earlier ones that are not listed."""


class FileChanges(Value):
    """What changed between two moments."""

    older: str
    newer: str
    """A checkpoint's name, or `now`."""
    files: tuple[CheckpointFile, ...]


def file_changes(
    store: SessionStore, older: str, newer: str, paths: Sequence[str] = ()
) -> FileChanges:
    """Return the files that changed between two checkpoints, or up to now without a newer one.

    Only below some paths, if any are given. Raises `NothingFound` for a checkpoint without a
    snapshot of the files.
    """
    newest = newest_own(store)
    since = find(store, older or newest)
    until = find(store, newer) if newer else None
    _refuse_backwards(since, until)
    look = store.worktree.compare(store.own_head().code.head) if until is None else None
    with store.worktree.reader() as reader:
        snapshot = snapshot_of(reader, since)
        steps = steps_between(store, reader, since, until=until, look=look)
        trees = Trees(reader)
        if until is not None:
            unlike = _unlike_then(trees, snapshot, snapshot_of(reader, until))
        else:
            assert look is not None
            unlike = paths_unlike(store, trees, snapshot, look)
        left_out = snapshot.manifest.skipped_paths
        newest_id = _content_ids(trees, snapshot_of(reader, until) if until else None, look)
        elsewhere = _Elsewhere(store)
        changes = []
        # What was changed back in between is no difference.
        for path in sorted(steps.keys() & unlike.keys()):
            was_left_out, is_there = path in left_out, unlike[path]
            was_there = was_left_out or file_at(trees, snapshot.tree, path) is not None
            # What was left out, and is there, may be as it was.
            is_unknown = was_left_out and is_there
            if is_unknown or not (was_there or is_there) or not is_below(path, paths):
                continue
            authors = {step.author for step in steps[path] if step.is_certain}
            action = _action(was_there=was_there, is_there=is_there)
            by = (
                elsewhere.author_of(path, newest_id(path)) if author == OTHERS else author
                for author in AUTHORS
                if author in authors
            )
            changes.append(CheckpointFile(path, action, tuple(by)))
    return FileChanges(since.name, until.name if until is not None else "now", tuple(changes))


def _content_ids(
    trees: Trees, until: StoredSnapshot | None, look: Differences | None
) -> Callable[[str], str]:
    """Return what tells the id of a file's content at a snapshot, or as the worktree has it."""
    if until is not None:
        return lambda path: _id_at(trees, until.tree, path)
    assert look is not None  # one of both is given
    head = trees.of_commit(look.commit) if look.commit else ""
    now = {file.path: file.id for file in look.files}
    return lambda path: now[path] if path in now else _id_at(trees, head, path)


def _id_at(trees: Trees, tree: str, path: str) -> str:
    entry = file_at(trees, tree, path)
    return entry[1] if entry is not None else ""


class _Elsewhere:
    """Who wrote what hooks here did not see, as believed lanes tell; read once it is asked for."""

    def __init__(self, store: SessionStore) -> None:
        self._store = store

    @cached_property
    def _written(self) -> Mapping[tuple[str, str], str]:
        try:
            return written_in_lanes(self._store)
        except GitguardError:
            return {}  # a sync says what is wrong with a lane

    def author_of(self, path: str, content_id: str) -> str:
        author = self._written.get((path, content_id)) if content_id else None
        return f"agent of {author}" if author else OTHERS


def _unlike_then(trees: Trees, older: StoredSnapshot, newer: StoredSnapshot) -> Mapping[str, bool]:
    """Return the paths at which two snapshots differ, and whether a file was there at the newer.

    One that the newer snapshot left out was.
    """
    left_out = newer.manifest.skipped_paths
    moved_out = left_out ^ older.manifest.skipped_paths
    return {
        path: path in left_out or file_at(trees, newer.tree, path) is not None
        for path in {*trees.differences(older.tree, newer.tree), *moved_out}
    }


def file_log(
    store: SessionStore, older: str, newer: str, paths: Sequence[str] = (), *, most: int
) -> FileLog:
    """Return the files that changed from checkpoint to checkpoint, at most so many, newest first.

    From an older checkpoint to a newer one, by default from the first to the newest; of paths, only
    what lies below one. Checkpoints without a snapshot of the files are passed over.
    """
    newest_own(store)
    since = find(store, older) if older else None
    until = find(store, newer) if newer else None
    _refuse_backwards(since, until)
    entries: list[FileChanges] = []
    elsewhere = _Elsewhere(store)
    with store.worktree.reader() as reader:
        trees = Trees(reader)
        for interval in intervals(store, reader, trees, since=since, until=until):
            changes = tuple(
                CheckpointFile(
                    path,
                    _action_in(trees, interval, path),
                    (elsewhere.author_of(path, _id_at(trees, interval.after, path)),)
                    if author == OTHERS
                    else (author,),
                )
                for path, author in sorted(interval.authors.items())
                if is_below(path, paths)
            )
            if changes and len(entries) == most:
                return FileLog(tuple(entries), has_more=True)
            if changes:
                entries.append(FileChanges(interval.older.name, interval.newer.name, changes))
    return FileLog(tuple(entries), has_more=False)


def _refuse_backwards(since: Checkpoint | None, until: Checkpoint | None) -> None:
    if since is not None and until is not None and until.sequence < since.sequence:
        raise InvalidInput(
            f"{since.name} is newer than {until.name}", f"Ask for {until.name}..{since.name}"
        )


def _action_in(trees: Trees, interval: Interval, path: str) -> str:
    before = file_at(trees, interval.before, path)
    after = file_at(trees, interval.after, path)
    return _action(
        was_there=before is not None or path in interval.left_out_before,
        is_there=after is not None or path in interval.left_out,
    )


def _action(*, was_there: bool, is_there: bool) -> str:
    if not was_there:
        return ADDED
    return CHANGED if is_there else REMOVED


def changes_in(store: SessionStore, name: str, paths: Sequence[str] = ()) -> FileChanges:
    """Return the files that changed in a checkpoint since the last one before with a snapshot.

    By default it is the newest one. Raises `NothingFound` where either has none.
    """
    newest = newest_own(store)
    newer = find(store, name or newest)
    for checkpoint in store.chain.history(newer.parent):
        if checkpoint.files:
            return file_changes(store, checkpoint.id, newer.id, paths)
    raise NothingFound(f"no checkpoint before {newer.name} has a snapshot of the files")
