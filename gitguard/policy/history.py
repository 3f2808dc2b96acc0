"""What advice was given in past sessions, to which pattern of work, and what it adds up to.

Each advice is one sentence in the message of a checkpoint, so it lies in git beside the state.
"""

from __future__ import annotations

from gitguard.errors import InvalidInput
from gitguard.model.text import one_line
from gitguard.model.value import Value
from gitguard.policy.patterns import PATTERNS, UNKNOWN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

GIVEN, APPLIED, DECLINED, ROLLED_BACK = "given", "applied", "declined", "rolled back"
OUTCOMES = (GIVEN, APPLIED, DECLINED, ROLLED_BACK)
"""What became of an advice."""
LEAST_SESSIONS = 3
"""Fewer sessions are no habit."""
OFTEN = 2
"""What was applied or declined so often is a lesson."""
_BEGIN, _BETWEEN, _END = "Advice for ", " work (", "): "
_NOTHING = "nothing to change"


class GivenAdvice(Value):
    """One advice as a session keeps it."""

    pattern: str
    outcome: str
    changes: tuple[str, ...] = ()
    """What was advised, in words; none where everything was right."""


class Advised(Value):
    """An advice, and where and when it was given."""

    session: str
    """Its key, and of one that was put away the newest checkpoint as well."""
    at: int
    """Unix seconds."""
    advice: GivenAdvice


class Lesson(Value):
    """What became of one change over all sessions."""

    change: str
    times: int
    newest: str
    """The outcome of the newest advice of it."""
    verdict: str
    """What follows from it, empty where that is too little to say."""


class Habit(Value):
    """What past sessions have in common."""

    sessions: int
    """With a pattern that is known."""
    patterns: tuple[tuple[str, int], ...]
    """How many sessions showed each, the most frequent first."""
    usual: str
    """The pattern of most sessions, empty where there is none or too few sessions."""
    why: str
    lessons: tuple[Lesson, ...]

    def lessons_on(self, changes: Sequence[str]) -> tuple[Lesson, ...]:
        """Return the lessons about changes that are to be advised again, worded as they were.

        Only those from which something follows.
        """
        wanted = set(map(_kept, changes))
        return tuple(each for each in self.lessons if each.verdict and each.change in wanted)


def sentence(advice: GivenAdvice) -> str:
    """Write an advice down; raise `InvalidInput` for a pattern or an outcome that is none."""
    if advice.pattern not in (*PATTERNS, UNKNOWN) or advice.outcome not in OUTCOMES:
        raise InvalidInput(
            f"`{advice.pattern:.40}` and `{advice.outcome:.40}` are no pattern and outcome",
            f"Patterns: {', '.join((*PATTERNS, UNKNOWN))}; outcomes: {', '.join(OUTCOMES)}",
        )
    said = "; ".join(filter(None, map(_kept, advice.changes))) or _NOTHING
    return f"{_BEGIN}{advice.pattern}{_BETWEEN}{advice.outcome}{_END}{said}"


def _kept(change: str) -> str:
    """Return a change as the sentence keeps it."""
    return one_line(change).replace(";", ",")


def advice_in(text: str) -> GivenAdvice | None:
    """Read a sentence back; None for any other text."""
    head, end, said = text.partition(_END)
    pattern, between, outcome = head.removeprefix(_BEGIN).partition(_BETWEEN)
    if not (end and between and head.startswith(_BEGIN)):
        return None
    if pattern not in (*PATTERNS, UNKNOWN) or outcome not in OUTCOMES:
        return None
    changes = () if said == _NOTHING else said.split("; ")
    # Of a very long advice the message of a commit holds the beginning; half a change is none.
    return GivenAdvice(pattern, outcome, tuple(c for c in changes if c and not c.endswith("…")))


def add_up(advised: Sequence[Advised]) -> Habit:
    """Say what past advice adds up to; of each session its newest pattern counts.

    Of what was advised within one second the newest comes first.
    """
    newest: dict[str, str] = {}
    in_order = sorted(advised, key=lambda each: -each.at)[::-1]
    for each in in_order:
        if each.advice.pattern != UNKNOWN:
            newest[each.session] = each.advice.pattern
    counts = {name: list(newest.values()).count(name) for name in PATTERNS}
    frequent = sorted(((n, c) for n, c in counts.items() if c), key=lambda found: -found[1])
    usual, why = _usual(frequent, len(newest))
    return Habit(len(newest), tuple(frequent), usual, why, _lessons(in_order))


def _usual(frequent: Sequence[tuple[str, int]], sessions: int) -> tuple[str, str]:
    if sessions < LEAST_SESSIONS:
        return "", f"too little to say: {sessions} of at least {LEAST_SESSIONS} sessions"
    name, count = frequent[0]
    if count * 2 <= sessions:
        return "", f"no pattern is usual: {count} of {sessions} sessions were {name}"
    return name, f"{count} of {sessions} sessions were {name}"


def _lessons(in_order: Sequence[Advised]) -> tuple[Lesson, ...]:
    outcomes: dict[str, list[str]] = {}
    for each in in_order:
        for change in each.advice.changes:
            outcomes.setdefault(change, []).append(each.advice.outcome)
    lessons = (
        Lesson(change, len(became), became[-1], _verdict(became))
        for change, became in outcomes.items()
    )
    return tuple(sorted(lessons, key=lambda lesson: (not lesson.verdict, -lesson.times)))


def _verdict(became: list[str]) -> str:
    # To be given once more is no outcome, so it takes no lesson away.
    newest = next((outcome for outcome in reversed(became) if outcome != GIVEN), GIVEN)
    if newest == ROLLED_BACK:
        return "was rolled back: do not advise it again without a new reason"
    if newest == APPLIED and became.count(APPLIED) >= OFTEN:
        return f"applied {became.count(APPLIED)} times: make it the default"
    if newest == DECLINED and became.count(DECLINED) >= OFTEN:
        return f"declined {became.count(DECLINED)} times: leave it"
    return ""
