"""The settings of hosts: advised, changed, and put back."""

from __future__ import annotations

from gitguard import hosts
from gitguard.hosts.adviser import UndoHelp, find_adviser, only_host
from gitguard.model.config.redaction import redactor_of
from gitguard.profile.habits import DECLINED, GIVEN
from gitguard.profile.patterns import PATTERNS
from gitguard.settings.figures import LONG

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from gitguard.guard.profile import Profiles
    from gitguard.model.redaction.redactor import Redactor
    from gitguard.profile.profiling import Profiled
    from gitguard.settings.advice import Advice, AdviceQuestion, Desk
    from gitguard.settings.apply_advice import Applied
    from gitguard.settings.changes_file import MadeChange
    from gitguard.settings.rollback import Rollback

__all__ = ["HOSTS", "LONG", "PATTERNS", "Settings"]
HOSTS = hosts.names(hosts.ADVICE)
"""The hosts that can be advised on."""


class Settings:
    """`Guard.settings`: which settings suit the work, in a repository or outside of one.

    Each method that a host's own program answers may take seconds, and raises `HostFailed` with the
    program's words where it fails.
    """

    def __init__(self, desk: Desk, profiles: Profiles) -> None:
        """Advise at a desk; profiles tell what was advised before."""
        self.desk = desk
        self._profiles = profiles

    @property
    def redactor(self) -> Redactor:
        """Takes secrets out of what is shown of a host's settings."""
        return redactor_of(self.desk.config.redaction)

    def only_host(self) -> str:
        """Return the host around this process, else the one whose command is on PATH.

        Raises `InvalidInput` where there is none, or several.
        """
        return only_host(self.desk.places.environment, self.desk.worktree)

    def undo_help(self, host: str) -> UndoHelp:
        """Return what a person needs after a change of a host's settings."""
        return find_adviser(host).UNDO

    def question(
        self,
        pattern: str = "",
        hours: float = 0.0,
        protect: tuple[str, ...] = (),
        window: int = 0,
        profiled: Profiled | None = None,
    ) -> AdviceQuestion:
        """Return a question about the way of working; profiled is a conversation that shows it.

        hours is how long the work goes on, protect names tools, window is in tokens.
        """
        from gitguard.settings.advice import AdviceQuestion, work_of

        work = work_of(profiled) if profiled else None
        return AdviceQuestion(pattern, hours, protect, window=window, work=work)

    def advise(
        self,
        host: str,
        question: AdviceQuestion,
        *,
        again: bool = False,
        at_question: Callable[[str], object] = str,
    ) -> Advice:
        """Compare what is set with what suits the work; nothing is written.

        What past sessions speak against is withheld, unless again. at_question is called with each
        command that the host's program is asked, before it runs.
        """
        from gitguard.settings.advice import advise
        from gitguard.settings.remembered_advice import with_lessons

        past = self._profiles.past_advice()
        question = question.replace(usual=past.habit.usual, why_usual=past.habit.why)
        desk = self.desk.replace(at_question=at_question)
        advice = advise(desk, find_adviser(host), question)
        return with_lessons(advice, past, again=again)

    def remember_given(self, advice: Advice) -> str:
        """Remember that advice was given; return why that could not be, empty where it was."""
        from gitguard.settings.remembered_advice import remember_advice

        return remember_advice(self.desk, advice, GIVEN)

    def remember_declined(self, advice: Advice) -> str:
        """Remember that a person declined advice; return why that could not be."""
        from gitguard.settings.remembered_advice import remember_advice

        return remember_advice(self.desk, advice, DECLINED)

    def plan_change(self, advice: Advice, folder: str) -> MadeChange:
        """Say where backup and rollback document will be; nothing is written.

        folder is where people reach the document. Raises what keeps the change from being made.
        """
        from gitguard.settings.apply_advice import plan_change

        return plan_change(self.desk, find_adviser(advice.host), advice, folder)

    def apply(
        self, advice: Advice, planned: MadeChange, tell: Callable[[int, int], None] | None = None
    ) -> Applied:
        """Make the planned change, let the host check it, and take it back if anything fails."""
        from gitguard.settings.apply_advice import apply

        adviser = find_adviser(advice.host)
        if tell is None:
            return apply(self.desk, adviser, advice, planned)
        return apply(self.desk, adviser, advice, planned=planned, tell=tell)

    def remember_change(self, advice: Advice, applied: Applied) -> str:
        """Remember that a change was made; return why that could not be, empty where it was."""
        from gitguard.settings.remembered_advice import remember_change

        return remember_change(self.desk, advice, applied)

    def plan_rollback(self, host: str = "") -> Rollback:
        """Say what taking the newest change of a host's settings back would do."""
        from gitguard.settings.rollback import plan_rollback

        return plan_rollback(self.desk, host)

    def refuse_moved(self, planned: Rollback, *, even_if_moved: bool = False) -> None:
        """Raise `SettingsMoved` where the file is not as the change left it."""
        from gitguard.settings.rollback import refuse_moved_since

        refuse_moved_since(planned, even_if_moved=even_if_moved)

    def roll_back(self, planned: Rollback, *, even_if_moved: bool = False) -> str:
        """Put the file back; return where what was in it is kept, empty where nothing was."""
        from gitguard.settings.rollback import roll_back

        return roll_back(self.desk, planned, even_if_moved=even_if_moved)

    def remember_rollback(self, change: MadeChange) -> str:
        """Remember that a change was taken back; return why that could not be."""
        from gitguard.settings.remembered_advice import remember_rollback

        return remember_rollback(self.desk, change)

    def newest_change(self, host: str = "") -> MadeChange:
        """Return the newest change of a host's settings; raise `InvalidInput` for none."""
        from gitguard.settings.rollback import newest_change

        return newest_change(self.desk, host)

    def forget_change(self, change: MadeChange) -> None:
        """Forget a change, and leave the file as it is."""
        from gitguard.settings.rollback import forget

        forget(self.desk, change)
