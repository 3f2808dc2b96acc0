"""Puts the worktree's files back to how they were at a checkpoint, and undoes that.

Only what this session changed since is put back, unless a person says otherwise. What lies there
is kept first, however large; where that fails, nothing changes.
"""

from __future__ import annotations

import os

from gitguard.errors import Busy, GitguardError, InvalidInput, NothingFound
from gitguard.model import triggers
from gitguard.model.actions import ADDED
from gitguard.model.text import counted, local_times, shell_word
from gitguard.model.value import Value
from gitguard.sessions.file_authors import changed_by_others, snapshot_of
from gitguard.sessions.file_obstacles import Obstacle, obstacle_to
from gitguard.sessions.stopped_calls import journal_stops
from gitguard.state.circumstances import Circumstances
from gitguard.state.items import Origin
from gitguard.state.thread import extend, happened
from gitguard.store.git.trees import TreeEntry
from gitguard.store.session.restore_records import RestoreRecords
from gitguard.store.session.workspace import Session
from gitguard.store.worktree.kept import DAY, KeptSnapshot, Retention, retained, with_newest
from gitguard.store.worktree.manifest import REPOSITORY, Manifest, unescaped
from gitguard.store.worktree.overlays import write_overlay
from gitguard.store.worktree.restore_record import (
    BY_OTHERS,
    FileRecord,
    PlannedFile,
    RestoreRecord,
    is_below,
    write_record,
)
from gitguard.store.worktree.restoring import Restorer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from gitguard.state.checkpoint import Checkpoint
    from gitguard.store.git.differences import Differences
    from gitguard.store.git.trees import Write
    from gitguard.store.session.store import Saved, SessionStore
    from gitguard.store.session.workspace import Workspace
    from gitguard.store.worktree.overlays import SnapshotReader, StoredSnapshot

_NOTHING = Circumstances()
_RESTORE, _UNDO = "the restore of ", "the undo at "
_NAMED = 5
"""Files that the next conversation is told by name."""


class FilePlan(Value):
    """What restoring files would change."""

    source: str
    """What is restored: a checkpoint's name, or a restore that is undone."""
    files: tuple[PlannedFile, ...]
    unseen: tuple[str, ...] = ()
    """What could not be looked at."""
    remark: str = ""
    """What is otherwise than at that moment: another commit is checked out."""
    obstacle: Obstacle | None = None
    """Why it is not to be carried out now, None where it may be."""

    @property
    def chosen(self) -> tuple[PlannedFile, ...]:
        """The files that are put back."""
        return tuple(file for file in self.files if not file.refusal)

    @property
    def refused(self) -> tuple[PlannedFile, ...]:
        """The files that stay as they are."""
        return tuple(file for file in self.files if file.refusal)


class FilesRestored(Value):
    """What became of a restore."""

    source: str
    files: tuple[str, ...]
    """The paths that were put back."""
    stayed: dict[str, str]
    """Those that were not, and why."""
    saved: Saved | None = None


def unfinished_restore(store: SessionStore) -> RestoreRecord | None:
    """Return the record of a restore that was cut off in this worktree, None where none was."""
    return _unfinished(store.workspace, store.session)


def unfinished_elsewhere(store: SessionStore) -> tuple[str, RestoreRecord] | None:
    """Return another session whose restore was cut off in this worktree, and the record of it."""
    workspace = store.workspace
    for name in workspace.session_names():
        if name == store.session.name:
            continue
        session = Session(name, name)
        try:
            if _unfinished(workspace, session) is None:
                continue
            # Who is at work with it now holds the lock.
            with workspace.lock(session, timeout=0):
                record = _unfinished(workspace, session)
        except GitguardError:
            continue
        if record is not None:
            return name, record
    return None


def _unfinished(workspace: Workspace, session: Session) -> RestoreRecord | None:
    newest = RestoreRecords(workspace, session).newest()
    return newest[1] if newest is not None and not newest[1].is_done else None


def _other_commit(then: str, now: str) -> str:
    if then == now:
        return ""
    before = f"at commit {then[:12]}" if then else "before the first commit"
    return f"the snapshot was taken {before}, and {now[:12] or 'none'} is checked out now"


def _passed_over(hidden: Iterable[str], paths: Sequence[str]) -> str:
    number = sum(is_below(path, paths) for path in hidden)
    return f"{counted(number, 'file')} that git is set to ignore" if number else ""


def _meet(path: str, paths: Sequence[str]) -> bool:
    """Say whether a folder lies in one of some paths, or one of them lies in it."""
    return is_below(path, paths) or any(is_below(name, [path]) for name in paths)


def _times_of(record: RestoreRecord) -> tuple[str, ...]:
    """Return what names a restore: nothing, its time in UTC, or as the reader's clock has it."""
    return "", record.at, local_times(record.at)


def _source_of_undo(record: RestoreRecord) -> str:
    """Say to when an undo goes back: to just before a restore, or before another undo."""
    is_undo = record.source.startswith((_RESTORE, _UNDO))
    return f"{_UNDO}{record.at}" if is_undo else f"{_RESTORE}{record.source} at {record.at}"


def _write_snapshot(records: Sequence[FileRecord], write: Write) -> str:
    """Write a snapshot of what is about to be replaced, as it lies there; return its id."""
    stored = [file for file in records if file.before.source.startswith("blob:")]
    entries = {unescaped(f.path): TreeEntry(f.before.mode, f.before.id) for f in stored}
    return write_overlay(entries, Manifest(commit="", raw=tuple(f.path for f in stored)), write)


class FileRestore:
    """Restores files for one session, whose lock the caller holds."""

    def __init__(
        self,
        store: SessionStore,
        retention: Retention,
        tell: Callable[[int, int], object] = lambda count, total: None,
    ) -> None:
        """Work for a session; retention is how long its snapshots are kept.

        tell is called with how many files are put back, of how many.
        """
        self._tell = tell
        self._store = store
        self._retention = retention
        self._repository = store.repository()
        workspace = store.workspace
        self._records = RestoreRecords(workspace, store.session)
        self._restorer = Restorer(
            self._repository,
            store.worktree.file_store,
            workspace.redactor,
            folder=self._records.folder,
            at_step=workspace.at_step,
        )

    # What would change

    def plan(self, name: str, paths: Sequence[str] = (), *, theirs_too: bool = False) -> FilePlan:
        """Return what restoring a checkpoint's files would change.

        Raises `NothingFound` for a checkpoint without a snapshot, and what reading the state does.
        """
        self._require_state()
        checkpoint = self._checkpoint(name)
        look = self._store.worktree.compare(self._store.own_head().code.head)
        hidden = frozenset(self._repository.hidden_paths())
        with self._store.worktree.reader() as reader:
            target = snapshot_of(reader, checkpoint)
            planned = self._restorer.plan(reader, target, look, hidden=hidden, paths=paths)
            if not theirs_too:
                planned = self._without_theirs(
                    reader, checkpoint, look, planned=planned, named=paths
                )
            left_alone = self._left_alone(target, look, paths)
        unseen = (*target.manifest.unseen, look.new_unseen, _passed_over(hidden, paths))
        unseen = (*unseen, *left_alone)
        remark = _other_commit(target.manifest.commit, look.commit)
        named_unseen = tuple(what for what in unseen if what)
        return self._planned(FilePlan(checkpoint.name, planned, named_unseen, remark))

    def plan_undo(self, at: str = "", *, theirs_too: bool = False) -> FilePlan:
        """Return what undoing a restore would change, by default the last one.

        at is when it began, in UTC or on the reader's clock. Raises `NothingFound` without one.
        """
        self._require_state()
        record = self._record_of(at)
        planned = self._restorer.plan_versions(
            {unescaped(f.path): (f.after, f.before) for f in record.files}, theirs_too=theirs_too
        )
        return self._planned(FilePlan(_source_of_undo(record), planned))

    def _record_of(self, at: str) -> RestoreRecord:
        records = [record for _, record in self._records.all()]
        if not records:
            raise NothingFound(
                f"no restore of files to undo in the session `{self._store.session.key}`",
                "See `gitguard log` for checkpoints, `gitguard session list` for other sessions",
            )
        newest = records[0]
        if not newest.is_done and at not in _times_of(newest):
            raise GitguardError(
                f"a restore of {newest.source} at {newest.at} was cut off",
                "`gitguard restore --undo` takes it back, and any other `gitguard restore --files` "
                "finishes it",
            )
        for record in records:
            if at in _times_of(record):
                return record
        raise NothingFound(
            f"no restore of files began at `{at:.80}`", "`gitguard status --files` lists them"
        )

    def _require_state(self) -> None:
        """Raise now what a restore would raise later, when the plan was already agreed to."""
        self._store.state()

    def _planned(self, plan: FilePlan) -> FilePlan:
        return plan.replace(obstacle=self._obstacle(file.path for file in plan.chosen))

    def _checkpoint(self, name: str) -> Checkpoint:
        head = self._store.own_head()
        checkpoint = self._store.chain.find(head.id, name)
        doubt = self._store.chain.doubt_of(head, checkpoint)
        if doubt:
            raise GitguardError(doubt, "Files are restored from checkpoints of this machine only")
        return checkpoint

    def _without_theirs(
        self,
        reader: SnapshotReader,
        checkpoint: Checkpoint,
        look: Differences,
        planned: tuple[PlannedFile, ...],
        named: Sequence[str],
    ) -> tuple[PlannedFile, ...]:
        # What a person named and what lies nowhere comes back: nothing is overwritten.
        paths = frozenset(
            file.path
            for file in planned
            if not file.refusal and not (named and file.action == ADDED)
        )
        theirs = changed_by_others(self._store, reader, checkpoint, look=look, paths=paths)
        return tuple(
            file.replace(refusal=theirs[file.path]) if file.path in theirs else file
            for file in planned
        )

    def _left_alone(
        self, target: StoredSnapshot, look: Differences, paths: Sequence[str]
    ) -> tuple[str, ...]:
        """Say what no snapshot has: files of other repositories, and of a commit that is gone."""
        skipped = (path for path in look.new_files if path.endswith("/"))
        repositories = {path.rstrip("/") for path in skipped}
        # One that is gone by now is not brought back, either.
        repositories |= {
            unescaped(file.path) for file in target.manifest.skipped if file.reason == REPOSITORY
        }
        submodules = self._repository.submodules(look.commit)
        left_alone = [
            f"files in the submodule `{path}`" for path in submodules if _meet(path, paths)
        ]
        left_alone += [
            f"files in `{path}`, a repository of its own"
            for path in sorted(repositories - set(submodules))
            if _meet(path, paths)
        ]
        if target.is_base_lost:
            left_alone.append(f"files that were as in commit {target.base[:12]}, which is gone")
        return tuple(left_alone)

    def _obstacle(self, paths: Iterable[str]) -> Obstacle | None:
        elsewhere = unfinished_elsewhere(self._store)
        if elsewhere is not None:
            return Obstacle(
                f"a restore of files in the session {elsewhere[0]} was cut off in this worktree",
                f"`gitguard --session {elsewhere[0]} restore --undo` takes it back",
            )
        return obstacle_to(self._store.workspace, self._repository, tuple(paths))

    def _refuse_now(self, paths: Iterable[str]) -> None:
        obstacle = self._obstacle(paths)
        if obstacle is not None:
            raise Busy(f"{obstacle.reason}, so no file is put back", obstacle.way_out)

    # Without changing the worktree

    def patch(self, plan: FilePlan) -> str:
        """Return what a plan would change as a patch that `git apply` reads."""
        with self._store.worktree.reader() as reader:
            return "".join(self._restorer.patch(reader, plan.chosen))

    def commands(self, name: str, plan: FilePlan) -> tuple[str, ...]:
        """Return git commands that put a plan's files back; they keep nothing."""
        checkpoint = self._checkpoint(name)
        root = self._store.workspace.place.worktree
        gone = [shell_word(os.path.join(root, f.path)) for f in plan.chosen if not f.after.mode]
        # Paths are taken as they are, and not as patterns.
        git = f"git -C {shell_word(root)} --literal-pathspecs"
        put: dict[str, list[str]] = {}
        with self._store.worktree.reader() as reader:
            target = snapshot_of(reader, checkpoint)
        for file in plan.chosen:
            if file.after.mode:
                restore = self._restorer.git_restore(target, file.path, git)
                put.setdefault(restore, []).append(shell_word(file.path))
        # A file may stand where another one needs a folder.
        commands = [f"rm -- {' '.join(gone)}"] if gone else []
        return (*commands, *(f"{restore} -- {' '.join(paths)}" for restore, paths in put.items()))

    def export(self, name: str, folder: str, paths: Sequence[str] = ()) -> int:
        """Write a checkpoint's files into an empty or new folder; return how many.

        Raises `InvalidInput` where the folder holds something.
        """
        checkpoint = self._checkpoint(name)
        folder = os.path.abspath(folder)
        if os.path.lexists(folder) and (not os.path.isdir(folder) or os.listdir(folder)):
            raise InvalidInput(f"`{folder}` is not an empty folder", "Name a new one")
        with self._store.worktree.reader() as reader:
            target = snapshot_of(reader, checkpoint)
            return self._restorer.export(reader, target, folder, paths)

    # Doing it

    def restore(self, plan: FilePlan, *, force: bool = False) -> FilesRestored:
        """Do what a plan says; the files are as they were, or every byte of them is kept.

        Raises `GitguardError` where something stands in the way now, unless force is set.
        """
        chosen = plan.chosen
        if not chosen:
            is_theirs = any(file.refusal.startswith(BY_OTHERS) for file in plan.refused)
            raise InvalidInput(
                "nothing is left to restore",
                "--theirs-too takes what somebody else changed; --dry-run lists what stays"
                if is_theirs
                else "--dry-run lists what stays, and why",
            )
        if not force:
            self._refuse_now(file.path for file in chosen)
        store = self._store
        journal_stops(store)
        safety = store.checkpoint(
            triggers.PRE_RESTORE, f"Before files of {plan.source} are restored.", _NOTHING
        )
        if safety.pending:
            raise GitguardError(
                f"nothing was restored, because the safety checkpoint is pending: {safety.pending}",
                safety.way_out,
            )
        cut_off = unfinished_restore(store)
        path = self._records.new()
        record = self._kept(plan, chosen, path)
        write_record(path, record)
        store.workspace.at_step("restore-recorded")
        if cut_off is not None:
            # Nobody finishes that one any more.
            self._restorer.remove_unfinished(cut_off)
        return self._finish(path, record)

    def _kept(self, plan: FilePlan, chosen: tuple[PlannedFile, ...], path: str) -> RestoreRecord:
        """Keep what lies there, as a snapshot of its own, and return the record."""
        store = self._store
        aside = os.path.basename(os.path.dirname(path))
        snapshots = store.worktree.kept_snapshots()
        with snapshots.lock():
            writer = snapshots.writer(self._repository.id_length())
            records = self._restorer.keep(chosen, writer.write, aside)
            snapshot = _write_snapshot(records, writer.write)
            listed = snapshots.list()
            *older, new = with_newest(listed, KeptSnapshot(int(store.clock()), 0, snapshot))
            if not new.root:
                new = snapshots.keep(new, writer)
            store.workspace.at_step("restore-kept")
            snapshots.write(retained((*older, new), self._retention, store.clock()))
        return RestoreRecord(
            at=self._records.time_of(path),
            source=plan.source,
            snapshot=snapshot,
            git_dir=store.workspace.place.git_dir,
            # Another session may begin a restore in this worktree at the same moment.
            suffix=f"{aside}-{os.urandom(4).hex()}",
            files=records,
        )

    def _finish(self, path: str, record: RestoreRecord) -> FilesRestored:
        store = self._store
        with self._store.worktree.reader() as reader:
            stayed = self._restorer.apply(reader, record, self._tell)
        self._restorer.remove_unfinished(record)
        record = record.replace(is_done=True)
        write_record(path, record)
        store.workspace.at_step("restore-done")
        self._records.forget_older(store.clock() - self._retention.days * DAY)
        paths = [unescaped(file.path) for file in record.files]
        restored = tuple(path for path in paths if path not in stayed)
        saved = self._note_and_checkpoint(record, restored)
        return FilesRestored(record.source, restored, stayed, saved)

    def _note_and_checkpoint(self, record: RestoreRecord, restored: tuple[str, ...]) -> Saved:
        """Let the next conversation know, and take a checkpoint of the files as they are."""
        store = self._store
        ready = store.state()
        named = ", ".join(restored[:_NAMED]) + (", …" if len(restored) > _NAMED else "")
        what = f"{counted(len(restored), 'file')} as at {record.source} ({named})"
        # An undo may follow, so this says what was done and nothing of how the files are now.
        text = f"`gitguard restore` put back {what}. Read that again before you edit it."
        message = happened(text, Origin(when=store.now))
        state = ready.state.replace(
            exchanges=extend(ready.state.exchanges, [message]), updated_at=store.now
        )
        ready = store.save(state, ready)
        why = f"Files restored from {record.source}."
        return store.checkpoint(
            triggers.MANUAL,
            why,
            _NOTHING,
            ready=ready,
            restored=lambda: self._restorer.still_in_place(record),
        )

    def give_up(self) -> bool:
        """Close a restore that was cut off and has nothing to take back; say if there was one."""
        newest = self._records.newest()
        if newest is None or newest[1].is_done or self.plan_undo().files:
            return False
        path, record = newest
        self._restorer.remove_unfinished(record)
        # There is nothing in it to undo, so the next undo is of the one before.
        self._records.remove(path)
        return True

    def finish(self, *, force: bool = False) -> FilesRestored | None:
        """Go on with a restore that was cut off, None where there is none.

        Raises what `restore` raises.
        """
        newest = self._records.newest()
        if newest is None or newest[1].is_done:
            return None
        self._require_state()
        if not force:
            self._refuse_now(unescaped(file.path) for file in newest[1].files)
        journal_stops(self._store)
        return self._finish(*newest)
