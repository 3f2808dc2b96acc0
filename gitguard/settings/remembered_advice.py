"""Remembers what was advised and changed, so that later advice knows of it."""

from __future__ import annotations

from gitguard.errors import GitguardError
from gitguard.model.host_settings import Setting
from gitguard.profile.habits import (
    APPLIED,
    GIVEN,
    NOTHING_NEW,
    NOTHING_TO_ADVISE,
    NOTHING_TO_CHANGE,
    ROLLED_BACK,
    GivenAdvice,
)
from gitguard.profile.learning import Past, is_newest, record_advice
from gitguard.settings.advice import Advice, Desk, Withheld
from gitguard.settings.apply_advice import Applied
from gitguard.settings.changes_file import MadeChange


def remember_advice(desk: Desk, advice: Advice, outcome: str) -> str:
    """Record an advice; return why it is not remembered, empty where it is.

    Without a session nothing is remembered, and that is no fault.
    """
    words = tuple(_words(advice.host, setting.key, setting.after) for setting in advice.changes)
    nothing = NOTHING_TO_CHANGE if advice.right else NOTHING_TO_ADVISE
    nothing = NOTHING_NEW if advice.withheld else nothing
    return _record(
        desk,
        GivenAdvice(
            advice.pattern,
            outcome,
            words,
            nothing=nothing,
            is_named=advice.is_named,
            is_usual=advice.is_usual,
        ),
    )


def with_lessons(advice: Advice, past: Past, *, again: bool = False) -> Advice:
    """Withhold changes that past sessions speak against, unless again; note what else they tell."""
    advised: list[Setting] = []
    withheld: list[Withheld] = []
    notes = []
    for setting in advice.changes:
        words = _words(advice.host, setting.key, setting.after)
        lesson = past.habit.lesson_on(advice.pattern, words)
        if lesson and lesson.is_against and not again:
            withheld.append(Withheld(setting, lesson.verdict))
            continue
        advised.append(setting)
        notes += [f"`{words}` {lesson.verdict}"] if lesson else []
    offer = advice.offer.replace(notes=(*advice.offer.notes, *notes))
    return advice.replace(
        changes=tuple(advised), withheld=tuple(withheld), offer=offer, is_again=again
    )


def _words(host: str, key: str, value: str) -> str:
    return f"{host} {key} {value}"


def remember_change(desk: Desk, advice: Advice, applied: Applied) -> str:
    """Record a change that was made; return why it is not remembered, empty where it is."""
    change = applied.made
    advice_given = GivenAdvice(change.pattern, APPLIED, _made(change))
    return _record(desk, advice_given.replace(is_named=advice.is_named, is_usual=advice.is_usual))


def remember_rollback(desk: Desk, change: MadeChange) -> str:
    """Record that a change was taken back; one that was cut off was never tried."""
    if not change.is_finished:
        return ""
    return _record(desk, GivenAdvice(change.pattern, ROLLED_BACK, _made(change)))


def _made(change: MadeChange) -> tuple[str, ...]:
    return tuple(_words(change.host, key, after) for key, _, after in change.changes)


def _record(desk: Desk, advice: GivenAdvice) -> str:
    if desk.store is None:
        return ""
    try:
        # What is asked for twice is one advice; what is applied or declined twice is a lesson.
        if advice.outcome == GIVEN and is_newest(desk.store, advice):
            return ""
        record_advice(desk.store, advice)
    except GitguardError as error:
        return error.message
    return ""
