"""`Guard.looking`: what a reviewer reads of checkpoints."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitguard.review.looking import CheckpointChange, Comparison
    from gitguard.sessions.workspace_sessions import WorkspaceSessions


class Looking:
    """Lists checkpoints and says in sentences what changed; nothing is written."""

    def __init__(self, sessions: WorkspaceSessions) -> None:
        """Look at the sessions of one workspace."""
        self._sessions = sessions

    def change(self, checkpoint: str, *, untrusted: bool = False) -> CheckpointChange:
        """Return what a checkpoint of the current session changed since the one before."""
        from gitguard.review.looking import checkpoint_change

        store = self._sessions.store(self._sessions.any_session())
        return checkpoint_change(store, checkpoint, untrusted=untrusted)

    def diff(
        self,
        older: str = "",
        newer: str = "",
        *,
        with_text: bool = False,
        untrusted: bool = False,
    ) -> Comparison:
        """Compare two checkpoints; by default the newest with the current state.

        with_text adds the unified diff of the stored files.
        """
        from gitguard.review.looking import comparison

        store = self._sessions.store(self._sessions.any_session())
        return comparison(store, older, newer, with_text=with_text, untrusted=untrusted)
