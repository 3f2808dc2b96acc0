"""What serves a reviewer: the sessions searched, and what stands behind the code."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from gitguard.review.search import Results
    from gitguard.review.why import Why
    from gitguard.sessions.workspace_sessions import WorkspaceSessions


class Reviews:
    """`Guard.review`: everything here reads, and leaves sessions and code as they are."""

    def __init__(self, sessions: WorkspaceSessions) -> None:
        """Review the sessions of a workspace."""
        self._sessions = sessions

    def search(
        self,
        words: tuple[str, ...],
        *,
        fields: tuple[str, ...] = (),
        since: str = "",
        session: str = "",
        most: int = 20,
        untrusted: bool = False,
        tell: Callable[[int, int], None] | None = None,
    ) -> Results:
        """Search all sessions and archives for words, or the one with a key or name.

        since is a date, a time in UTC or an age such as `3d`. untrusted is whether sessions that
        this machine did not write are searched as well. tell is called with how many checkpoints
        were read that no search read before, of how many. Raises `InvalidInput` for what cannot
        be asked.
        """
        from gitguard.review.histories import histories
        from gitguard.review.search import question, search

        asked = question(words, fields, since, most, self._sessions.clock())
        searchable = histories(self._sessions, session=session, untrusted=untrusted, tell=tell)
        return search(searchable, asked, self._sessions.workspace.redactor.text)

    def why(
        self,
        target: str,
        *,
        session: str = "",
        untrusted: bool = False,
        tell: Callable[[int, int], None] | None = None,
    ) -> Why:
        """Return the decisions and failures that stand behind `FILE` or `FILE:LINE`.

        The options are those of `search`. Raises `InvalidInput` for what has no committed lines.
        """
        from gitguard.review.histories import histories
        from gitguard.review.why import blamed, read_target, why

        repository = self._sessions.repository()
        code = read_target(target, repository.place.worktree)
        commits = blamed(repository, code)
        searchable = histories(self._sessions, session=session, untrusted=untrusted, tell=tell)
        redact = self._sessions.workspace.redactor.text
        return why(code, commits, searchable, repository.is_ancestor, redact)

    def forget_indexes(self) -> None:
        """Remove the indexes of all sessions; the next search makes them again."""
        from gitguard.review.histories import forget_indexes

        forget_indexes(self._sessions.workspace)
