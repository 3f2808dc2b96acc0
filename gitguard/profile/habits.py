"""What advice was given in past sessions, to which pattern of work, and what it adds up to."""

from __future__ import annotations

from collections.abc import Sequence

from gitguard.model import fields
from gitguard.model.record import Record
from gitguard.model.text import timestamp
from gitguard.model.value import Value
from gitguard.profile.patterns import MIXED, PATTERNS, UNKNOWN

GIVEN, APPLIED, DECLINED, ROLLED_BACK = "given", "applied", "declined", "rolled back"
OUTCOMES = (GIVEN, APPLIED, DECLINED, ROLLED_BACK)
"""What became of an advice."""
LEAST_SESSIONS = 3
"""Fewer sessions are no habit."""
OFTEN = 2
"""What was applied or declined so often is a lesson."""
NOTHING_TO_CHANGE = "nothing to change"
NOTHING_TO_ADVISE = "nothing to advise"
NOTHING_NEW = "only what was rolled back or declined before"


class GivenAdvice(Record):
    """One advice as a session keeps it."""

    pattern: str = fields.text("Pattern of work.", choices=(*PATTERNS, UNKNOWN))
    outcome: str = fields.text("What became of it.", choices=OUTCOMES)
    changes: tuple[str, ...] = fields.texts("What was advised, in words.", default=())
    nothing: str = fields.text(
        "Why there are no changes, where there are none.", default=NOTHING_TO_CHANGE
    )
    is_named: bool = fields.flag(
        "Somebody named the pattern, and no conversation showed it.", default=False, always=True
    )
    is_usual: bool = fields.flag(
        "It was taken because it is the usual one, and no conversation showed it.",
        default=False,
        always=True,
    )

    @property
    def is_shown(self) -> bool:
        """Whether the session's work showed the pattern.

        A rollback tells that of the advice that is taken back, which may be another session's.
        """
        is_told = self.is_named or self.is_usual
        return self.pattern != UNKNOWN and self.outcome != ROLLED_BACK and not is_told

    @property
    def words(self) -> str:
        """What was advised, for people."""
        return "; ".join(self.changes) or self.nothing


class Advised(Record):
    """An advice, and where and when it was given."""

    session: str = fields.text(
        "Key of the session, and of one that was archived its newest checkpoint as well."
    )
    at: int = fields.count("Unix seconds.")
    advice: GivenAdvice = fields.record("The advice.", of=GivenAdvice)
    head: str = fields.text(
        "The session's newest checkpoint then, where the log says it.", default="", sparse=True
    )


class Lesson(Value):
    """What became of one change for one way of working, over all sessions."""

    pattern: str
    """The one whose settings it is of; where none is known, those for mixed work are advised."""
    change: str
    times: int
    newest: str
    """The outcome of the newest advice of it."""
    verdict: str
    """What is known by that, empty where it is too little to say."""
    is_against: bool
    """Whether the change is not to be advised again."""


class Habit(Value):
    """What past sessions have in common."""

    sessions: int
    """That showed a pattern."""
    patterns: tuple[tuple[str, int], ...]
    """How many sessions showed each, the most frequent first."""
    usual: str
    """The pattern of most sessions, empty where there is none or too few sessions."""
    why: str
    lessons: tuple[Lesson, ...]

    def lesson_on(self, pattern: str, change: str) -> Lesson | None:
        """Return what is known of a change, worded as it was, before it is advised again."""
        about = _style(pattern), change
        with_verdict = (each for each in self.lessons if each.verdict)
        return next((each for each in with_verdict if (each.pattern, each.change) == about), None)


def add_up(advised: Sequence[Advised]) -> Habit:
    """Say what past advice adds up to; of each session the newest pattern that it showed counts.

    Of what was advised within one second the newest comes first.
    """
    newest: dict[str, str] = {}
    in_order = sorted(advised, key=lambda each: -each.at)[::-1]
    for each in in_order:
        if each.advice.is_shown:
            newest[each.session] = each.advice.pattern
    counts = {name: list(newest.values()).count(name) for name in PATTERNS}
    frequent = sorted(((n, c) for n, c in counts.items() if c), key=lambda counted: -counted[1])
    usual, why = _usual(frequent, len(newest))
    return Habit(len(newest), tuple(frequent), usual, why=why, lessons=_lessons(in_order))


def _usual(frequent: Sequence[tuple[str, int]], sessions: int) -> tuple[str, str]:
    if sessions < LEAST_SESSIONS:
        return "", f"not enough to tell: {sessions} of at least {LEAST_SESSIONS} sessions"
    name, count = frequent[0]
    if count * 2 <= sessions:
        return "", f"no pattern is usual: {count} of {sessions} sessions were {name}"
    return name, f"{count} of {sessions} sessions were {name}"


def _lessons(in_order: Sequence[Advised]) -> tuple[Lesson, ...]:
    by_change: dict[tuple[str, str], list[Advised]] = {}
    for each in in_order:
        for change in each.advice.changes:
            by_change.setdefault((_style(each.advice.pattern), change), []).append(each)
    lessons = (_lesson(*about, advised) for about, advised in by_change.items())
    return tuple(sorted(lessons, key=lambda lesson: (not lesson.verdict, -lesson.times)))


def _style(pattern: str) -> str:
    return MIXED if pattern == UNKNOWN else pattern


def _lesson(pattern: str, change: str, advised: Sequence[Advised]) -> Lesson:
    became = [each.advice.outcome for each in advised]
    rolled_back = max((i for i, what in enumerate(became) if what == ROLLED_BACK), default=-1)
    # To be given once more is no outcome, so it takes no lesson away.
    since = [outcome for outcome in became[rolled_back + 1 :] if outcome != GIVEN]
    verdict, is_against = "", False
    if rolled_back >= 0 and APPLIED not in since:
        day = timestamp(advised[rolled_back].at)[:10]
        verdict, is_against = f"was rolled back on {day}", True
    elif since and since.count(since[-1]) >= OFTEN:
        is_against = since[-1] == DECLINED
        addition = "" if is_against else " and not rolled back"
        verdict = f"was {since[-1]} {since.count(since[-1])} times{addition}"
    return Lesson(
        pattern, change, len(became), newest=became[-1], verdict=verdict, is_against=is_against
    )
