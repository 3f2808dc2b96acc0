"""`Guard.files`: the worktree's files at a checkpoint, and putting them back."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from gitguard.sessions.file_restore import FilePlan, FileRestore, FilesRestored
    from gitguard.sessions.file_status import FileStatus
    from gitguard.sessions.kept_files import Pin
    from gitguard.sessions.workspace_sessions import WorkspaceSessions
    from gitguard.store.session.store import SessionStore
    from gitguard.store.worktree.restore_record import RestoreRecord

    Tell = Callable[[int, int], object]


class Files:
    """Restores files of the worktree; nothing changes without a plan that somebody has seen."""

    def __init__(self, sessions: WorkspaceSessions) -> None:
        """Work for the current session of a workspace."""
        self._sessions = sessions

    def status(self) -> FileStatus:
        """Return what is kept of the files, and what was left out of the newest snapshot."""
        from gitguard.sessions.file_status import file_status

        return file_status(self._sessions.store())

    def pin(self, checkpoint: str) -> Pin:
        """Keep the files of a checkpoint for good, whatever the limits say.

        Raises `NothingFound` where they are not kept any more.
        """
        from gitguard.sessions.kept_files import pin

        store = self._sessions.store()
        with store.lock():
            return pin(store, checkpoint)

    def unpin(self, checkpoint: str) -> Pin:
        """Keep the files of a checkpoint no longer than others.

        Raises `NothingFound` where they are not pinned.
        """
        from gitguard.sessions.kept_files import unpin

        store = self._sessions.store()
        with store.lock():
            return unpin(store, checkpoint)

    def plan(
        self, checkpoint: str, paths: tuple[str, ...] = (), *, theirs_too: bool = False
    ) -> FilePlan:
        """Return what putting files back to a checkpoint would change; nothing is written.

        paths are names from the worktree's root, of files or folders; without any, all files. Files
        that somebody else changed since are refused, unless theirs_too is set. Raises
        `NothingFound` for a checkpoint without a snapshot.
        """
        store = self._sessions.store()
        with store.lock():
            return self._restore(store).plan(checkpoint, paths, theirs_too=theirs_too)

    def plan_undo(self, at: str = "", *, theirs_too: bool = False) -> FilePlan:
        """Return what undoing a restore would change: the last one, or that which began at a time.

        The time is as `status` lists it. Raises `NothingFound` without such a restore.
        """
        store = self._sessions.store()
        with store.lock():
            return self._restore(store).plan_undo(at, theirs_too=theirs_too)

    def restore(
        self, plan: FilePlan, *, force: bool = False, tell: Tell = lambda count, total: None
    ) -> FilesRestored:
        """Do what a plan says. What lies there is kept first; where that fails, nothing changes.

        tell is called with how many files are put back, of how many.

        Raises `GitguardError` where a file is not as the plan says, and, unless force is set, while
        git is in the middle of something or somebody else writes.
        """
        store = self._sessions.store()
        with store.lock():
            return self._restore(store, tell).restore(plan, force=force)

    def patch(self, plan: FilePlan) -> str:
        """Return what a plan would change as a patch that `git apply` reads."""
        return self._restore(self._sessions.store()).patch(plan)

    def commands(self, checkpoint: str, plan: FilePlan) -> tuple[str, ...]:
        """Return plain git commands that put a plan's files back; they keep nothing."""
        return self._restore(self._sessions.store()).commands(checkpoint, plan)

    def export(self, checkpoint: str, folder: str, paths: tuple[str, ...] = ()) -> int:
        """Write a checkpoint's files into a new folder; return how many there are.

        Raises `InvalidInput` where the folder holds something already.
        """
        return self._restore(self._sessions.store()).export(checkpoint, folder, paths)

    def unfinished(self) -> RestoreRecord | None:
        """Return the record of a restore that was cut off, None where there is none."""
        from gitguard.sessions.file_restore import unfinished_restore

        return unfinished_restore(self._sessions.store())

    def give_up(self) -> bool:
        """Close a restore that was cut off and has nothing to take back; say if there was one."""
        store = self._sessions.store()
        with store.lock():
            return self._restore(store).give_up()

    def finish(
        self, *, force: bool = False, tell: Tell = lambda count, total: None
    ) -> FilesRestored | None:
        """Go on with a restore that was cut off; return None where there is none.

        Raises what `restore` raises.
        """
        store = self._sessions.store()
        with store.lock():
            return self._restore(store, tell).finish(force=force)

    def _restore(self, store: SessionStore, tell: Tell = lambda count, total: None) -> FileRestore:
        from gitguard.sessions.file_restore import FileRestore
        from gitguard.store.worktree.kept import Retention

        config = self._sessions.config.files
        return FileRestore(store, Retention(config.most, config.days), tell)
