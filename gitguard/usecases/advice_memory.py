"""Keeps in the session what was advised and changed, so that later conversations know of it."""

from __future__ import annotations

from gitguard.errors import GitguardError
from gitguard.model.task import APPEND
from gitguard.policy.history import (
    APPLIED,
    GIVEN,
    NOTHING_NEW,
    NOTHING_TO_ADVISE,
    NOTHING_TO_CHANGE,
    ROLLED_BACK,
    GivenAdvice,
)
from gitguard.usecases.advising import Withheld
from gitguard.usecases.changing import change
from gitguard.usecases.learning import is_newest, record_advice

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitguard.model.host_settings import Setting
    from gitguard.store.settings_changes import MadeChange
    from gitguard.usecases.advising import Advice, Desk
    from gitguard.usecases.applying import Applied
    from gitguard.usecases.learning import Past


def remember_advice(desk: Desk, advice: Advice, outcome: str) -> str:
    """Record an advice; return why the session does not know of it, empty where it does.

    A session that is not begun, or is no longer, is no fault: nobody relies on its memory.
    """
    words = tuple(_words(advice.host, one.key, one.after) for one in advice.changes)
    nothing = NOTHING_TO_CHANGE if advice.right else NOTHING_TO_ADVISE
    nothing = NOTHING_NEW if advice.withheld else nothing
    return _record(desk, GivenAdvice(advice.pattern, outcome, words, nothing, advice.is_named))


def with_lessons(advice: Advice, past: Past, *, again: bool = False) -> Advice:
    """Withhold changes that past sessions speak against, unless again; note what else they tell."""
    kept: list[Setting] = []
    withheld: list[Withheld] = []
    notes = []
    for one in advice.changes:
        words = _words(advice.host, one.key, one.after)
        lesson = past.habit.lesson_on(advice.pattern, words)
        if lesson and lesson.is_against and not again:
            withheld.append(Withheld(one, lesson.verdict))
            continue
        kept.append(one)
        notes += [f"`{words}` {lesson.verdict}"] if lesson else []
    offer = advice.offer.replace(notes=(*advice.offer.notes, *notes))
    return advice.replace(
        changes=tuple(kept), withheld=tuple(withheld), offer=offer, is_again=again
    )


def _words(host: str, key: str, value: str) -> str:
    return f"{host} {key} {value}"


def remember_change(desk: Desk, advice: Advice, applied: Applied) -> str:
    """Record a change that was made, as a decision of the session too."""
    made = applied.made
    values = ", ".join(
        f"{key} {before or 'not set'} → {after}" for key, before, after in made.changes
    )
    what = f"Settings of {made.host} changed in {made.file}: {values}"
    why = f"advised for {made.pattern} work; `gitguard config rollback {made.host}` goes back"
    recorded = GivenAdvice(made.pattern, APPLIED, _made(made), is_named=advice.is_named)
    return _decide_and_record(desk, recorded, what, why)


def remember_rollback(desk: Desk, made: MadeChange) -> str:
    """Record that a change was taken back; one that was cut off was never tried."""
    keys = ", ".join(key for key, _, _ in made.changes)
    what = f"Settings of {made.host} put back as they were before {made.at}: {keys}"
    if not made.is_finished:
        return _decide(desk, what, "the change was cut off")
    recorded = GivenAdvice(made.pattern, ROLLED_BACK, _made(made))
    return _decide_and_record(desk, recorded, what, "the change was taken back")


def _made(made: MadeChange) -> tuple[str, ...]:
    return tuple(_words(made.host, key, after) for key, _, after in made.changes)


def _decide_and_record(desk: Desk, advice: GivenAdvice, what: str, why: str) -> str:
    """Do both: a state that has no room for a decision leaves the history its advice."""
    problem = _decide(desk, what, why)
    return _record(desk, advice) or problem


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


def _record(desk: Desk, advice: GivenAdvice) -> str:
    if desk.store is None:
        return ""
    try:
        # What is asked for twice is one advice; what is applied or declined twice is a lesson.
        if advice.outcome == GIVEN and is_newest(desk.store, advice):
            return ""
        recorded = record_advice(desk.store, advice)
    except GitguardError as error:
        return error.message
    return recorded.problem or recorded.saved.pending
