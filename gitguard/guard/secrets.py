"""The secrets that were written: found, and taken out."""

from __future__ import annotations

from gitguard.sessions.secrets.purging import Purged, SessionSecrets
from gitguard.store.session.workspace import Session

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from gitguard.sessions.secrets.leaks import Leak
    from gitguard.sessions.workspace_sessions import WorkspaceSessions


class WorkspaceSecrets:
    """`Guard.secrets`: those in the current session's history and files."""

    def __init__(self, sessions: WorkspaceSessions) -> None:
        """Look at the current session of a workspace, or the one that `ensure` would begin."""
        self._sessions = sessions

    def scan(self, tell: Callable[[int, int], None] | None = None) -> Iterator[Leak]:
        """Yield the secrets that the session's history and files hold.

        tell is called with how many checkpoints are looked through, of how many.
        """
        return self._current("").scan(tell)

    def purge(
        self,
        checkpoint_name: str,
        *,
        reason: str = "",
        value: str = "",
        tell: Callable[[int, int], None] | None = None,
        dry_run: bool = False,
    ) -> Purged:
        """Take secrets out of a checkpoint and all that follows it, or say what would be.

        value is one that no rule recognises. tell is called with how many checkpoints are written
        of how many. Raises `InvalidInput` where nothing holds a secret.
        """
        secrets = self._current(value)
        with secrets.lock():
            if dry_run:
                return secrets.plan(checkpoint_name)
            purged = secrets.purge(checkpoint_name, reason, tell)
        current = self._sessions.any_session().name
        file_store = self._sessions.store(self._sessions.any_session()).worktree.file_store
        # Of an archived session nothing but its files is beside the others.
        names = dict.fromkeys((*self._sessions.heads(), *file_store.sessions()))
        other_sessions = [Session(name, name) for name in names if name != current]
        findings = secrets.held_by(map(self._sessions.store, other_sessions))
        return purged.replace(elsewhere=purged.elsewhere + findings)

    def _current(self, value: str) -> SessionSecrets:
        store = self._sessions.store(self._sessions.any_session())
        return SessionSecrets(store, self._sessions.config.redaction, value)
