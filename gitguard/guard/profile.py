"""What eats a conversation's context, and what past sessions advise."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from gitguard.model.config.config import Config
    from gitguard.model.conversation import TranscriptEntry
    from gitguard.model.events import Transcript
    from gitguard.profile.learning import Past
    from gitguard.profile.profiling import Profiled
    from gitguard.sessions.workspace_sessions import WorkspaceSessions
    from gitguard.store.session.host_session import HostSession


class Profiles:
    """`Guard.profile`: conversations taken apart, in a repository or outside of one."""

    def __init__(
        self,
        config: Config,
        record: Callable[[Transcript], HostSession],
        sessions: WorkspaceSessions | None = None,
    ) -> None:
        """Judge by a configuration; record tells what a session knows of a conversation."""
        self._config = config
        self._record_of = record
        self._sessions = sessions

    def of(
        self,
        transcript: Transcript,
        *,
        model: str = "",
        seen: Callable[[TranscriptEntry], object] = bool,
    ) -> Profiled:
        """Take a conversation's context apart: usage, components, tools, runway and pattern.

        model stands in where the transcript names none; seen is shown each entry as it is read.
        Raises `InvalidDocument` where the transcript cannot be read.
        """
        from gitguard.model.config.redaction import redactor_of
        from gitguard.profile.profiling import profile_of

        redactor = redactor_of(self._config.redaction)
        record = self._record_of(transcript)
        return profile_of(
            transcript, self._config, redactor, host_session=record, model=model, seen=seen
        )

    def past_advice(self) -> Past:
        """Return the advice on hosts' settings of all sessions, and what became of it.

        Outside of a repository there is none.
        """
        from gitguard.profile.habits import add_up
        from gitguard.profile.learning import Past, past_advice

        sessions = self._sessions
        if sessions is None:
            return Past((), add_up(()))
        return past_advice(sessions.store, sessions.archived(), sessions.workspace.state_folder)
