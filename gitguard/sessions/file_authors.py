"""Who changed files since a checkpoint: this session, as its hooks saw, or somebody else."""

from __future__ import annotations

from gitguard.errors import GitguardError
from gitguard.model.codec import STATE_FILE
from gitguard.model.value import Value
from gitguard.store.git.trees import Trees
from gitguard.store.session.state_file import decode_state
from gitguard.store.worktree.snapshot import read_snapshot

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from gitguard.store.git.differences import Differences
    from gitguard.store.git.reader import ObjectReader
    from gitguard.store.session.checkpoint import Checkpoint
    from gitguard.store.session.store import SessionStore

_MOST = 2_000
"""Checkpoints that are looked through."""


class _Moment(Value):
    """A checkpoint with a snapshot of the files."""

    checkpoint: Checkpoint
    tree: str


def changed_by_others(
    store: SessionStore,
    reader: ObjectReader,
    since: Checkpoint,
    look: Differences,
    paths: frozenset[str],
) -> Mapping[str, str]:
    """Return which paths somebody else changed since a checkpoint, and why that is said.

    look is what the worktree looks like now. A change counts as the session's if hooks saw a tool
    or a shell command of it write the file between the two snapshots that differ.
    """
    if not paths:
        return {}
    trees = Trees(reader)
    moments = list(_moments(store, reader, since))
    writes = {moment.checkpoint.id: _writes(store, moment.checkpoint) for moment in moments}
    theirs: dict[str, str] = {}
    for newer, older in zip(moments, moments[1:], strict=False):
        after, before = writes[newer.checkpoint.id], writes[older.checkpoint.id]
        for path in paths.intersection(trees.differences(older.tree, newer.tree)):
            if after.get(path, 0) <= before.get(path, 0):
                named = f"{older.checkpoint.name} and {newer.checkpoint.name}"
                theirs[path] = f"somebody else changed it between {named}"
    newest = moments[0]
    for path in _different(trees, newest.tree, look):
        if path in paths and path not in _written_since(store):
            theirs[path] = f"somebody else changed it after {newest.checkpoint.name}"
    return theirs


def _moments(store: SessionStore, reader: ObjectReader, since: Checkpoint) -> Iterator[_Moment]:
    """Yield the checkpoints with a snapshot, newest first, down to the one that is restored."""
    for number, checkpoint in enumerate(store.chain.history(store.own_head().id)):
        if checkpoint.files:
            yield _Moment(checkpoint, read_snapshot(reader, checkpoint.files).tree)
        if checkpoint.id == since.id:
            return
        if number > _MOST:
            break
    raise GitguardError(
        f"{since.name} is too far back to say who changed its files",
        "Restore it with --theirs-too, after looking at --dry-run",
    )


def _writes(store: SessionStore, checkpoint: Checkpoint) -> Mapping[str, int]:
    """Return how often each file had been seen to be written at a checkpoint."""
    contents = store.chain.read(checkpoint.id).contents
    state = decode_state(contents[STATE_FILE], "the checkpoint's state")
    return {artifact.path: artifact.writes for artifact in state.artifacts}


def _written_since(store: SessionStore) -> frozenset[str]:
    """Return the files that hooks saw written since the newest checkpoint."""
    ready = store.state()
    part = store.journal.read(ready.journal_id, ready.journal_offset)
    return frozenset(path for entry in part.unfolded for path in entry.written)


def _different(trees: Trees, tree: str, look: Differences) -> Iterator[str]:
    """Yield the paths at which the worktree is not as in a snapshot."""
    head = trees.of_commit(look.commit) if look.commit else ""
    now = {file.path: file for file in look.files}
    for path in {*trees.differences(head, tree), *now}:
        entry = trees.at(tree, path)
        file = now.get(path)
        present = trees.at(head, path) if file is None else None
        if file is not None:
            is_same = entry is not None and (file.mode, file.id) == (entry.mode, entry.id)
            is_same = is_same or (entry is None and file.mode == 0)
        else:
            is_same = present == entry
        if not is_same:
            yield path
