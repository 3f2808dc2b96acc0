"""Who changed files between checkpoints: this session, as its hooks saw, or somebody else.

A change counts as the session's if hooks saw a tool or a shell command of it write or remove the
file between the two snapshots that differ. What somebody else did to the same file in between is
not told apart.
"""

from __future__ import annotations

from gitguard.errors import GitguardError, InvalidDocument, NothingFound
from gitguard.model.codec import STATE_FILE
from gitguard.model.value import Value
from gitguard.sessions.stopped_calls import unwritten_stops
from gitguard.state import entries
from gitguard.store.git.trees import Trees, file_at
from gitguard.store.session.state_file import decode_state
from gitguard.store.worktree.restore_record import BY_OTHERS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from gitguard.state.checkpoint import Checkpoint
    from gitguard.state.items import Artifact
    from gitguard.store.git.differences import Differences
    from gitguard.store.session.store import SessionStore
    from gitguard.store.worktree.manifest import Authors
    from gitguard.store.worktree.overlays import SnapshotReader, StoredSnapshot

TOOLS, SHELL, RESTORE, OTHERS = AUTHORS = (
    "agent's tools",
    "agent's shell",
    "a restore",
    "somebody else",
)
_MOST = 2_000
"""Checkpoints that are looked through."""


class AuthorInterval(Value):
    """One change of a file, between two moments that follow each other."""

    author: str
    older: str
    """The name of the checkpoint before it."""
    newer: str = ""
    """The name of the checkpoint after it; empty for now."""
    is_certain: bool = True
    """Whether it is one; what a snapshot left out may be as it was."""

    @property
    def when(self) -> str:
        """Say when it was, behind who changed what."""
        if not self.is_certain:
            return f", or may have: {self.older} left it out"
        return f" between {self.older} and {self.newer}" if self.newer else f" after {self.older}"


class _SnapshotCheckpoint(Value):
    """A checkpoint with a snapshot of the files."""

    checkpoint: Checkpoint
    snapshot: StoredSnapshot

    @property
    def tree(self) -> str:
        """The tree of its files."""
        return self.snapshot.tree


class Interval(Value):
    """What changed between two checkpoints with a snapshot, and none with one between them."""

    older: Checkpoint
    newer: Checkpoint
    before: str
    """The tree of the files at the older one."""
    after: str
    left_out_before: frozenset[str]
    """What the older snapshot lacks, though it lay there."""
    left_out: frozenset[str]
    """The same of the newer one."""
    authors: Mapping[str, str]
    """By path who changed a file."""


def require_snapshot(checkpoint: Checkpoint) -> str:
    """Return the id of the snapshot that a checkpoint names; raise `NothingFound` without one."""
    if not checkpoint.files:
        raise NothingFound(
            f"{checkpoint.name} has no snapshot of the files",
            "`gitguard status --files` says why the newest one has none",
        )
    return checkpoint.files


def snapshot_of(reader: SnapshotReader, checkpoint: Checkpoint) -> StoredSnapshot:
    """Return the snapshot that a checkpoint names; raise `NothingFound` where there is none."""
    try:
        return reader.snapshot(require_snapshot(checkpoint))
    except InvalidDocument as error:
        raise NothingFound(
            f"the snapshot of the files at {checkpoint.name} is not here: {error.message}",
            "Snapshots stay on the machine that took them, as long as `files.days` says",
        ) from error


def steps_between(
    store: SessionStore,
    reader: SnapshotReader,
    since: Checkpoint,
    until: Checkpoint | None,
    look: Differences | None,
) -> Mapping[str, tuple[AuthorInterval, ...]]:
    """Return the changes of each file between two checkpoints, newest first.

    Without until they go up to now, and look is what the worktree looks like. Raises
    `GitguardError` where there are too many checkpoints in between.
    """
    trees = Trees(reader)
    steps: dict[str, list[AuthorInterval]] = {}
    moments = list(_moments(store, reader, since, until))
    if look is not None and moments:
        newest = moments[0]
        written = _written_since(store)
        left_out = newest.snapshot.manifest.skipped_paths
        for path, is_there in paths_unlike(store, trees, newest.snapshot, look).items():
            step = AuthorInterval(
                written.get(path, OTHERS),
                newest.checkpoint.name,
                is_certain=not is_there or path not in left_out,
            )
            steps.setdefault(path, []).append(step)
    for interval in _intervals(store, trees, moments):
        for path, author in interval.authors.items():
            step = AuthorInterval(author, interval.older.name, interval.newer.name)
            steps.setdefault(path, []).append(step)
    return {path: tuple(each) for path, each in steps.items()}


def intervals(
    store: SessionStore,
    reader: SnapshotReader,
    trees: Trees,
    since: Checkpoint | None,
    until: Checkpoint | None,
) -> Iterator[Interval]:
    """Yield what changed from one checkpoint to the next, newest first, by default of all.

    Raises `GitguardError` where there are too many checkpoints down to since.
    """
    return _intervals(store, trees, _moments(store, reader, since, until))


def _intervals(
    store: SessionStore, trees: Trees, moments: Iterable[_SnapshotCheckpoint]
) -> Iterator[Interval]:
    newer: _SnapshotCheckpoint | None = None
    after: Mapping[str, Artifact] = {}
    for older in moments:
        before = _artifacts(store, older.checkpoint)
        if newer is not None:
            manifest = newer.snapshot.manifest
            left_out_before = older.snapshot.manifest.skipped_paths
            changed = {
                *trees.differences(older.tree, newer.tree),
                *_came_or_went(store, trees, older.snapshot, newer.snapshot),
            }
            authors = {
                path: _author(path, before.get(path), after.get(path), manifest.authors)
                for path in changed
            }
            yield Interval(
                older.checkpoint,
                newer.checkpoint,
                older.tree,
                after=newer.tree,
                left_out_before=left_out_before,
                left_out=manifest.skipped_paths,
                authors=authors,
            )
        newer, after = older, before


def _came_or_went(
    store: SessionStore, trees: Trees, older: StoredSnapshot, newer: StoredSnapshot
) -> Iterator[str]:
    """Yield what began or ended to be left out between two snapshots."""
    before, after = older.manifest.skipped_paths, newer.manifest.skipped_paths
    yield from after - before
    for path in before - after:
        # What is in neither and lies there all the same is ignored by now.
        if file_at(trees, newer.tree, path) is not None or not store.worktree.lies_at(path):
            yield path


def changed_by_others(
    store: SessionStore,
    reader: SnapshotReader,
    since: Checkpoint,
    look: Differences,
    paths: frozenset[str],
) -> Mapping[str, str]:
    """Return which paths somebody else changed since a checkpoint, and why that is said."""
    if not paths:
        return {}
    steps = steps_between(store, reader, since, until=None, look=look)
    theirs = {}
    for path in paths:
        by_others = [step.when for step in steps.get(path, ()) if step.author == OTHERS]
        if by_others or path not in steps:
            when = by_others[0] if by_others else f" since {since.name}"
            theirs[path] = f"{BY_OTHERS}{when}"
    return theirs


def _moments(
    store: SessionStore, reader: SnapshotReader, since: Checkpoint | None, until: Checkpoint | None
) -> Iterator[_SnapshotCheckpoint]:
    """Yield the checkpoints with a snapshot, newest first, from one down to the other."""
    last = since.id if since is not None else ""
    is_within = until is None
    for number, checkpoint in enumerate(store.chain.history(store.own_head().id)):
        is_within = is_within or (until is not None and checkpoint.id == until.id)
        if is_within and checkpoint.files:
            try:
                snapshot = snapshot_of(reader, checkpoint)
            except NothingFound:
                if checkpoint.id == last:
                    raise
                continue  # it is forgotten by now, and counts as not taken
            yield _SnapshotCheckpoint(checkpoint, snapshot)
        if checkpoint.id == last:
            return
        if number > _MOST:
            break
    if since is None:
        return
    raise GitguardError(
        f"{since.name} is too far back to say who changed files since",
        "Restore it with --theirs-too, after looking at --dry-run",
    )


def _artifacts(store: SessionStore, checkpoint: Checkpoint) -> Mapping[str, Artifact]:
    contents = store.chain.read(checkpoint.id).contents
    state = decode_state(contents[STATE_FILE], "the checkpoint's state")
    return {artifact.path: artifact for artifact in state.artifacts}


def _author(path: str, before: Artifact | None, after: Artifact | None, authors: Authors) -> str:
    if path in authors.restore:
        return RESTORE
    writes = before.writes if before is not None else 0
    if after is not None and after.writes > writes and not after.by_shell:
        return TOOLS
    return SHELL if path in authors.shell else OTHERS


def _written_since(store: SessionStore) -> Mapping[str, str]:
    """Return the files that hooks saw written since the newest checkpoint, and by what."""
    ready = store.state()
    part = store.journal.read(ready.journal_id, ready.journal_offset)
    # What shell commands changed is only journalled at the next checkpoint.
    edits = store.worktree.shell_edits(store.last_look(), unwritten_stops(store))
    authors = dict.fromkeys(edits.paths, SHELL)
    gone = store.worktree.gone_conversations(part)
    for entry in part.unfolded:
        if entry.event == entries.STARTED and entry.host_session not in gone:
            continue  # the person may not have let it run
        authors.update(dict.fromkeys(entry.written, SHELL if entry.is_shell else TOOLS))
    return authors


def paths_unlike(
    store: SessionStore, trees: Trees, snapshot: StoredSnapshot, look: Differences
) -> Mapping[str, bool]:
    """Return the paths at which the worktree is not as in a snapshot, and whether a file is there.

    What does not differ from the commit lies there as the commit has it. What the snapshot left out
    may be as it was.
    """
    head = trees.of_commit(look.commit) if look.commit else ""
    # A repository of its own ends with a slash in git's lists.
    now = {file.path.rstrip("/"): file for file in look.files}
    raw, left_out = snapshot.manifest.raw_paths, snapshot.manifest.skipped_paths
    unlike = {}
    for path in {*trees.differences(head, snapshot.tree), *now, *left_out}:
        entry, file = file_at(trees, snapshot.tree, path), now.get(path)
        if file is None:
            present = file_at(trees, head, path)
            # What was left out may be ignored by now.
            is_there = present is not None or (path in left_out and store.worktree.lies_at(path))
            is_same = present == entry
        else:
            is_there = file.mode != 0
            file_id = store.worktree.id_of(path) if entry is not None and path in raw else file.id
            is_same = (file.mode, file_id) == entry if entry is not None else not is_there
        if not is_same or path in left_out:
            unlike[path] = is_there
    return unlike
