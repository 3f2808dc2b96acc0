"""`Guard.history`: what a reviewer reads of checkpoints."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from gitguard.review.comparing import CheckpointChange, Comparison
    from gitguard.review.listing import Log
    from gitguard.review.sentences import Sentence
    from gitguard.sessions.file_changes import FileChanges, FileLog
    from gitguard.sessions.host_summaries import ShownSummary
    from gitguard.sessions.state_comparison import StateChange
    from gitguard.sessions.workspace_sessions import WorkspaceSessions
    from gitguard.store.git.code_history import CodeCommit
    from gitguard.store.session.store import SessionStore


class CheckpointHistory:
    """Lists checkpoints and says in sentences what changed; nothing is written."""

    def __init__(self, sessions: WorkspaceSessions) -> None:
        """Look at the sessions of one workspace."""
        self._sessions = sessions

    def log(
        self,
        most: int = 20,
        *,
        session: str = "",
        every_session: bool = False,
        since: str = "",
        matches: Callable[[str], bool] | None = None,
        untrusted: bool = False,
        writer: str = "",
    ) -> Log:
        """List checkpoints, newest first: of a session by its key or name, or of every session.

        By default it is the current session. since is a time such as `2h` or `2026-11-01`; matches
        says whether a subject or message is looked for. writer names another writer's lane of the
        session; every session means all lanes as well. Raises `InvalidInput` for an unknown time or
        writer.
        """
        from gitguard.review.listing import Query, log_of, log_of_all
        from gitguard.review.times import parse_since

        now = self._sessions.clock()
        query = Query(most, parse_since(since, now) if since else None, matches)
        if every_session:
            from gitguard.sessions.lane_reading import readable_lanes

            lanes = readable_lanes(self._sessions)
            return log_of_all(self._sessions.every_store(), query, untrusted=untrusted, lanes=lanes)
        return log_of(self._viewed(writer, session), query, untrusted=untrusted)

    def change(
        self, checkpoint: str, *, untrusted: bool = False, writer: str = ""
    ) -> CheckpointChange:
        """Return what a checkpoint of the current session changed since the one before.

        writer is as in `log`.
        """
        from gitguard.review.comparing import checkpoint_change

        store = self._viewed(writer)
        return checkpoint_change(store, checkpoint, untrusted=untrusted)

    def show(
        self, name: str, checkpoint: str = "", *, untrusted: bool = False, writer: str = ""
    ) -> bytes:
        """Return a checkpoint's file, or the working one when no checkpoint is named.

        writer is as in `log`; of a lane the newest checkpoint stands for the working files.
        """
        from gitguard.sessions.history import show

        return show(self._viewed(writer), name, checkpoint, untrusted=untrusted)

    def code_of(
        self,
        checkpoint: str = "",
        older: str = "",
        *,
        untrusted: bool = False,
        writer: str = "",
    ) -> CodeCommit:
        """Describe the code commit of a checkpoint, or HEAD's when none is named.

        Files are counted from an older checkpoint's code commit, by default the one before. writer
        is as in `log`.
        """
        from gitguard.sessions.history import code_of

        return code_of(self._viewed(writer), checkpoint, older, untrusted=untrusted)

    def why_not_ours(self, *checkpoints: str, writer: str = "") -> str:
        """Say why the session's branch, a checkpoint kept aside or a lane is not ours.

        Empty if it is; writer is as in `log`.
        """
        from gitguard.sessions.history import why_not_ours

        return why_not_ours(self._viewed(writer), *checkpoints)

    def _viewed(self, writer: str, session: str = "") -> SessionStore:
        if writer:
            from gitguard.sessions.lane_reading import lane_of

            return lane_of(self._sessions, session or self._sessions.any_session().key, writer)
        if session:
            return self._sessions.known_store(session)
        return self._sessions.store(self._sessions.any_session())

    def host_summary(self, checkpoint: str = "", *, untrusted: bool = False) -> ShownSummary:
        """Return the host's whole summary that a checkpoint names, or the current state does.

        Raises `NothingFound` where there is none, or not on this machine.
        """
        from gitguard.sessions.host_summaries import shown_summary

        store = self._sessions.store(self._sessions.any_session())
        return shown_summary(store, checkpoint, untrusted=untrusted)

    def now(self, *, untrusted: bool = False, writer: str = "") -> tuple[Sentence, ...]:
        """Say in sentences what the state of the current session holds; writer is as in `log`."""
        from gitguard.review.comparing import current_state

        return current_state(self._viewed(writer), untrusted=untrusted)

    def sentences(self, change: StateChange) -> tuple[Sentence, ...]:
        """Say in sentences what a restore or a repair changes in the state."""
        from gitguard.review.sentences import sentences

        return sentences(change.before, change.after)

    def files(self, older: str, newer: str = "", paths: tuple[str, ...] = ()) -> FileChanges:
        """Return the files that changed between two checkpoints, or since one, and by whom.

        Without an older one it is the newest.

        paths are files and folders, from the worktree's root. Raises `NothingFound` for a
        checkpoint without a snapshot of the files.
        """
        from gitguard.sessions.file_changes import file_changes

        store = self._sessions.store(self._sessions.any_session())
        return store.at_one_moment(lambda: file_changes(store, older, newer, paths))

    def file_log(
        self, older: str = "", newer: str = "", paths: tuple[str, ...] = (), *, most: int = 20
    ) -> FileLog:
        """Return which files changed in each checkpoint and by whom, newest first.

        Checkpoints in which none did are left out; paths are as for `files`.
        """
        from gitguard.sessions.file_changes import file_log

        store = self._sessions.store(self._sessions.any_session())
        return store.at_one_moment(lambda: file_log(store, older, newer, paths, most=most))

    def files_of(self, checkpoint: str = "", paths: tuple[str, ...] = ()) -> FileChanges:
        """Return the files that changed in one checkpoint since the one before, and by whom.

        By default it is the newest; paths are as for `files`.
        """
        from gitguard.sessions.file_changes import changes_in

        store = self._sessions.store(self._sessions.any_session())
        return store.at_one_moment(lambda: changes_in(store, checkpoint, paths))

    def diff(
        self,
        older: str = "",
        newer: str = "",
        *,
        with_text: bool = False,
        untrusted: bool = False,
        writer: str = "",
    ) -> Comparison:
        """Compare two checkpoints; by default the newest with the current state.

        with_text adds the unified diff of the stored files. writer is as in `log`; of a lane the
        newest checkpoint stands for the current state.
        """
        from gitguard.review.comparing import comparison

        store = self._viewed(writer)
        return comparison(store, older, newer, with_text=with_text, untrusted=untrusted)
