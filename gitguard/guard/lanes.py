"""Syncing sessions with git remotes, and whose lanes are believed."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from gitguard.sessions.conflicts import SettledConflict
    from gitguard.sessions.live import LiveConversation
    from gitguard.sessions.sync_record import OtherLane
    from gitguard.sessions.syncing import Leaving, Synced, SyncRequest
    from gitguard.sessions.trusted_keys import TrustedKey
    from gitguard.sessions.workspace_sessions import WorkspaceSessions
    from gitguard.state.conflicts import OpenConflict


class Lanes:
    """`Guard.lanes`: what this machine and others show each other of their sessions."""

    def __init__(self, sessions: WorkspaceSessions) -> None:
        """Sync the sessions of a workspace."""
        self._sessions = sessions

    def sync(
        self,
        request: SyncRequest,
        may_leave: Callable[[Leaving], bool | None],
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

    def forget_queued(self) -> tuple[str, ...]:
        """Forget which syncs wait, and return the remotes with which; sessions stay as they are."""
        from gitguard.sessions.sync_record import forget_queued

        return forget_queued(self._sessions.workspace)

    def live(self) -> tuple[LiveConversation, ...]:
        """Return who is at work in all worktrees, and of whom other machines' lanes tell."""
        from gitguard.sessions.live import live_conversations

        return live_conversations(self._sessions.workspace, self._sessions.config)

    def others(self) -> tuple[OtherLane, ...]:
        """Return the lanes of other machines that are kept here."""
        from gitguard.sessions.belief import other_lanes

        return other_lanes(self._sessions.workspace, self._sessions.repository())

    def conflicts(self) -> tuple[OpenConflict, ...]:
        """Return what writers noted without knowing of each other, and nobody settled."""
        from gitguard.sessions.conflicts import conflicts_in

        store = self._sessions.store()
        return conflicts_in(store, store.read_unlocked().state)

    def settle(self, conflict: str, variant: int) -> SettledConflict:
        """Keep one variant of a conflict, which settles it for all machines.

        conflict is the beginning of its id, variant a number from 1. Raises `InvalidInput` for what
        is not there.
        """
        from gitguard.sessions.conflicts import settle_conflict
        from gitguard.store.session.state_file import Durable

        store = self._sessions.store()
        with Durable(), store.lock():
            store.states.require_writable()
            return settle_conflict(store, conflict, variant)

    def writer_named(self, writer: str) -> str:
        """Return a writer's id by its beginning; raises what `trust` raises."""
        from gitguard.sessions.belief import writer_named

        return writer_named(self._sessions.workspace, self._sessions.repository(), writer)

    def trust(self, writer: str) -> str:
        """Join a writer's lanes from now on, named by the beginning of its id; return the id.

        Raises `InvalidInput` where it names none of those kept here, or several.
        """
        from gitguard.sessions.belief import trust_writer

        return trust_writer(self._sessions.workspace, self._sessions.repository(), writer)

    def keys(self) -> tuple[TrustedKey, ...]:
        """Return the keys whose signatures are believed, on every repository of this user's."""
        from gitguard.sessions.trusted_keys import KeyFile

        return KeyFile(self._sessions.workspace.places.config_home).read().keys

    def trust_key(self, key: str) -> TrustedKey:
        """Join from now on what a key signed; return the key.

        key is a public key's text, the path of its file, or the fingerprint of one at hand. Raises
        `InvalidInput` for what names no key.
        """
        from gitguard.sessions.trusted_keys import trust_key

        return trust_key(self._sessions.workspace, self._sessions.repository(), key)

    def distrust_key(self, key: str) -> TrustedKey:
        """Join no more of what a key signs; return the key. What was joined stays.

        key is the beginning of a fingerprint, or a public key's text or file. Raises `InvalidInput`
        for what names none of the trusted keys, or several.
        """
        from gitguard.sessions.trusted_keys import distrust_key

        return distrust_key(self._sessions.workspace, self._sessions.repository(), key)
