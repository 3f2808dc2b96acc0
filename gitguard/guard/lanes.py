"""Syncing sessions with git remotes, and whose lanes are believed."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from gitguard.sessions.live import LiveConversation
    from gitguard.sessions.sync_record import OtherLane
    from gitguard.sessions.syncing import Leaving, Synced, SyncRequest
    from gitguard.sessions.workspace_sessions import WorkspaceSessions


class Lanes:
    """`Guard.lanes`: what this machine and others show each other of their sessions."""

    def __init__(self, sessions: WorkspaceSessions) -> None:
        """Sync the sessions of a workspace."""
        self._sessions = sessions

    def sync(
        self,
        request: SyncRequest,
        may_leave: Callable[[Leaving], bool],
        tell: Callable[[str], object] = str,
        may_join: Callable[[tuple[OtherLane, ...]], bool | None] | None = None,
    ) -> Synced:
        """Fetch and join others' lanes, and push ours; what cannot be done now is queued.

        may_leave is asked before sessions go to a remote for the first time. may_join is asked once
        about each new writer, with its lanes; it returns None where there is nobody to ask. tell is
        called with what is done next. Raises `InvalidInput` for a remote that is not there.
        """
        from gitguard.sessions.syncing import nobody_says, sync

        may_join = may_join or nobody_says
        return sync(self._sessions, request, may_leave, tell=tell, may_join=may_join)

    def live(self) -> tuple[LiveConversation, ...]:
        """Return who is at work in all worktrees, and of whom other machines' lanes tell."""
        from gitguard.sessions.live import live_conversations

        return live_conversations(self._sessions.workspace, self._sessions.config)

    def others(self) -> tuple[OtherLane, ...]:
        """Return the lanes of other machines that are kept here."""
        from gitguard.sessions.sync_record import other_lanes

        return other_lanes(self._sessions.workspace, self._sessions.repository())

    def trust(self, writer: str) -> str:
        """Join a writer's lanes from now on, named by the beginning of its id; return the id.

        Raises `InvalidInput` where it names none of those kept here, or several.
        """
        from gitguard.sessions.syncing import trust_writer

        return trust_writer(self._sessions, writer)
