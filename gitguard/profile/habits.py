"""What advice was given in past sessions, to which pattern of work, and what it adds up to.

Each advice is one sentence, which reads back.
"""

from __future__ import annotations

from collections.abc import Sequence

from gitguard.errors import InvalidInput
from gitguard.model.text import one_line, timestamp
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
_NOTHINGS = (NOTHING_TO_CHANGE, NOTHING_TO_ADVISE, NOTHING_NEW)
_BEGIN, _BETWEEN, _NAMED, _USUAL, _END = "Advice for ", " work (", "named, ", "usual, ", "): "


class GivenAdvice(Value):
    """One advice as a session keeps it."""

    pattern: str
    outcome: str
    changes: tuple[str, ...] = ()
    """What was advised, in words."""
    nothing: str = NOTHING_TO_CHANGE
    """Why there are no changes, where there are none."""
    is_named: bool = False
    """Whether somebody named the pattern, and no conversation showed it."""
    is_usual: bool = False
    """Whether it was taken because it is the usual one, and no conversation showed it."""

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
        return "; ".join(filter(None, map(_kept, self.changes))) or self.nothing


class Advised(Value):
    """An advice, and where and when it was given."""

    session: str
    """Its key, and of one that was put away the newest checkpoint as well."""
    at: int
    """Unix seconds."""
    advice: GivenAdvice


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
        about = _style(pattern), _kept(change)
        with_verdict = (each for each in self.lessons if each.verdict)
        return next((each for each in with_verdict if (each.pattern, each.change) == about), None)


def sentence(advice: GivenAdvice) -> str:
    """Write an advice down; raise `InvalidInput` for a pattern or an outcome that is none."""
    if advice.pattern not in (*PATTERNS, UNKNOWN) or advice.outcome not in OUTCOMES:
        raise InvalidInput(
            f"`{advice.pattern:.40}` and `{advice.outcome:.40}` are not a pattern and an outcome",
            f"Patterns: {', '.join((*PATTERNS, UNKNOWN))}; outcomes: {', '.join(OUTCOMES)}",
        )
    how = _NAMED if advice.is_named else _USUAL if advice.is_usual else ""
    return f"{_BEGIN}{advice.pattern}{_BETWEEN}{how}{advice.outcome}{_END}{advice.words}"


def _kept(change: str) -> str:
    """Return a change as the sentence keeps it."""
    return one_line(change).replace(";", ",")


def advice_in(text: str) -> GivenAdvice | None:
    """Read a sentence back; None for any other text."""
    head, end, words = text.partition(_END)
    pattern, between, became = head.removeprefix(_BEGIN).partition(_BETWEEN)
    outcome = became.removeprefix(_NAMED).removeprefix(_USUAL)
    if not (end and between and head.startswith(_BEGIN)):
        return None
    if pattern not in (*PATTERNS, UNKNOWN) or outcome not in OUTCOMES:
        return None
    is_named, is_usual = became.startswith(_NAMED), became.startswith(_USUAL)
    advice = GivenAdvice(pattern, outcome, is_named=is_named, is_usual=is_usual)
    if words in _NOTHINGS:
        return advice.replace(nothing=words)
    return advice.replace(changes=tuple(filter(None, words.split("; "))))


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
