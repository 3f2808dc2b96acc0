"""Keeps in the session what was advised and changed, so that later conversations know of it."""

from __future__ import annotations

from gitguard.errors import GitguardError
from gitguard.model.task import APPEND
from gitguard.policy.history import APPLIED, ROLLED_BACK, GivenAdvice
from gitguard.usecases.changing import change
from gitguard.usecases.learning import record_advice

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from gitguard.store.settings_changes import MadeChange
    from gitguard.usecases.advising import Advice, Desk
    from gitguard.usecases.applying import Applied
    from gitguard.usecases.learning import Past


def remember_advice(desk: Desk, advice: Advice, outcome: str) -> str:
    """Record an advice; return why the session does not know of it, empty where it does.

    A session that is not begun, or is no longer, is no fault: nobody relies on its memory.
    """
    return _record(desk, advice.pattern, outcome, _words(advice))


def with_lessons(advice: Advice, past: Past) -> Advice:
    """Note beside an advice what came of the same one in past sessions."""
    lessons = past.habit.lessons_on(_words(advice))
    notes = tuple(f"`{lesson.change}`: {lesson.verdict}" for lesson in lessons)
    return advice.replace(offer=advice.offer.replace(notes=(*advice.offer.notes, *notes)))


def _words(advice: Advice) -> list[str]:
    return [f"{advice.host} {one.key} {one.after}" for one in advice.changes]


def remember_change(desk: Desk, applied: Applied) -> str:
    """Record a change that was made, as a decision of the session too."""
    made = applied.made
    values = ", ".join(
        f"{key} {before or 'not set'} → {after}" for key, before, after in made.changes
    )
    what = f"Settings of {made.host} changed in {made.file}: {values}"
    why = f"advised for {made.pattern} work; `gitguard config rollback {made.host}` goes back"
    return _decide_and_record(desk, made, APPLIED, what, why)


def remember_rollback(desk: Desk, made: MadeChange) -> str:
    """Record that a change was taken back."""
    keys = ", ".join(key for key, _, _ in made.changes)
    what = f"Settings of {made.host} put back as they were before {made.at}: {keys}"
    return _decide_and_record(desk, made, ROLLED_BACK, what, "the change was taken back")


def _decide_and_record(desk: Desk, made: MadeChange, outcome: str, what: str, why: str) -> str:
    """Do both: a state that has no room for a decision leaves the history its advice."""
    problem = _decide(desk, what, why)
    said = (f"{made.host} {key} {after}" for key, _, after in made.changes)
    return _record(desk, made.pattern, outcome, said) or problem


def _decide(desk: Desk, what: str, why: str) -> str:
    if desk.store is None:
        return ""
    try:
        with desk.store.lock():
            decision = {"decisions": [{"what": what, "why": why}]}
            change(desk.store, decision, new_task=False, lists=APPEND)
    except GitguardError as error:
        return error.message
    return ""


def _record(desk: Desk, pattern: str, outcome: str, said: Iterable[str]) -> str:
    if desk.store is None:
        return ""
    try:
        recorded = record_advice(desk.store, GivenAdvice(pattern, outcome, tuple(said)))
    except GitguardError as error:
        return error.message
    return recorded.problem or recorded.saved.pending
