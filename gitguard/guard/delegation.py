"""What goes to a sub-agent, and what the sub-agent has to know."""

from __future__ import annotations

from gitguard.errors import NotInitialised

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitguard.delegation.brief import BriefOptions
    from gitguard.delegation.spawn_answer import ConversationStanding
    from gitguard.delegation.spawn_policy import SpawnDecision, Task
    from gitguard.sessions.workspace_sessions import WorkspaceSessions


class Delegation:
    """`Guard.delegation`: the spawn policy of a workspace.

    Its rules come from `.context-policy.yml` at the workspace's root, which a clone may bring.
    """

    def __init__(self, sessions: WorkspaceSessions) -> None:
        """Answer for the current session of a workspace."""
        self._sessions = sessions

    def standing(self, conversation: str = "", around: str = "") -> ConversationStanding:
        """Say how full a conversation is, and what is advised for the work that remains.

        conversation names one by its id; else it is the one around this call, else the newest.
        Raises `InvalidInput` for a named one that is not known.
        """
        from gitguard.delegation.spawn_answer import standing

        return standing(self._sessions.store(), conversation, around)

    def spawn(
        self, task: Task, pressure: float | None = None, *, conversation: str = "", around: str = ""
    ) -> SpawnDecision:
        """Say whether a task goes to a sub-agent, with the rule that decided.

        pressure is a share of the window, 0.0 to 1.0; without it the newest known one counts, of
        the conversation that `standing` would take. Raises `InvalidInput` for a category that the
        rules do not have.
        """
        from gitguard.delegation.spawn_answer import ReportedPressure, answer, reported_pressure

        reported = ReportedPressure(pressure, "option")
        if pressure is None:
            try:
                store = self._sessions.store()
            except NotInitialised:
                store = None
            reported = reported_pressure(store, conversation, around)
        return answer(self._sessions.workspace, self._sessions.config.gauge, task, reported)

    def brief(self, task: str, options: BriefOptions | None = None) -> str:
        """Return what a sub-agent has to know of a task, at most 8,000 characters, no secrets.

        Raises `InvalidInput` for a task that says nothing.
        """
        from gitguard.delegation.brief import BriefOptions, brief

        return brief(self._sessions.store(), task, options or BriefOptions())
