"""Tells talk from requests by what a turn does, in any language and by no language's words.

Talk is thanks, a greeting, "go on": short, without a name, a path, a number or code, about nothing
that the conversation knows, and without work of its own. The rules stand in
references/design/capture.md ("Talk").
"""

from __future__ import annotations

from gitguard.model.transcript import USER
from gitguard.model.value import Value
from gitguard.state.items import ANSWER, SMALL_TALK
from gitguard.state.prompts import is_brief, is_few_words, kind_of_prompt
from gitguard.state.sentences import (
    is_question,
    parts_of,
    sentences,
    telling_terms,
    terms_of,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from gitguard.state.entries import JournalEntry
    from gitguard.state.items import Exchange, Origin
    from gitguard.state.task import TaskState

_READ = 2_000
"""Characters of a call and of an answer in which a prompt's terms are looked for."""
_GIT = frozenset({"git", "gh", "cd", "echo", "true"})
_FROM_AN_ANSWER = 2
"""Terms that an answer shares with a prompt by more than chance."""


class TurnSeen(Value):
    """What the journal tells so far of the turn that a prompt began."""

    has_calls: bool = False
    is_only_git: bool = False
    """Whether all that it did was to commit, push, merge and the like."""
    call_words: frozenset[str] = frozenset()
    """The words of its calls: paths and commands."""
    answer_terms: frozenset[str] = frozenset()
    """The terms of its answer, without the greeting at its beginning."""


def turn_seen(calls: Iterable[JournalEntry], answer: str) -> TurnSeen:
    """Return what a turn's calls and its answer tell, the latter empty if there is none yet."""
    calls = tuple(calls)
    lines = [line for call in calls for line in (call.summary[:_READ], *call.read, *call.written)]
    answered = sentences(answer[:_READ])
    return TurnSeen(
        has_calls=bool(calls),
        is_only_git=bool(calls) and all(map(_is_git, calls)),
        call_words=frozenset().union(*map(parts_of, lines)),
        answer_terms=terms_of(" ".join(answered[1:] or answered)),
    )


def _is_git(call: JournalEntry) -> bool:
    from gitguard.model.shell.programs import programs_of

    if not call.is_shell or call.written:
        return False
    return {program.name for program in programs_of(call.shell_line)} <= _GIT


def kind_in_turn(
    text: str,
    turn: TurnSeen,
    *,
    settles: str = "",
    work_terms: frozenset[str] = frozenset(),
    opens: bool = False,
    is_only: bool = False,
) -> str:
    """Say what a prompt is, as far as its turn tells; talk until something shows a request.

    settles is what it answers. work_terms are those of the work. opens says that nothing was asked
    for before in its conversation, and is_only that nothing was asked for in any.
    """
    if not is_brief(text):
        return kind_of_prompt(text, settles=bool(settles))
    if turn.is_only_git:
        return SMALL_TALK
    is_few = is_few_words(text)
    if is_question(settles):
        return ANSWER if turn.has_calls or not is_few else SMALL_TALK
    kind, terms, words = kind_of_prompt(text), telling_terms(text), terms_of(text)
    if _has_most(work_terms, terms) or (opens and not is_few and not is_question(text)):
        return kind
    is_told = (
        _has_most(turn.answer_terms, words) and len(words & turn.answer_terms) >= _FROM_AN_ANSWER
    )
    if not turn.has_calls:
        return kind if is_told and not is_few and not is_question(text) else SMALL_TALK
    is_taken_up = is_told or not terms.isdisjoint(turn.call_words)
    if is_taken_up or not is_few:
        return kind
    if settles:
        return ANSWER
    return kind if is_only else SMALL_TALK


def _has_most(vocabulary: frozenset[str], terms: frozenset[str]) -> bool:
    return len(terms & vocabulary) * 2 > len(terms)


class Prompt(Value):
    """What the user said, and where."""

    text: str
    conversation: str
    settles: str = ""
    """What of the agent's words it answers."""
    since: str = ""
    """When its conversation began; a host may begin another one under the same name."""

    def is_beside(self, origin: Origin) -> bool:
        """Say whether something comes from the same conversation."""
        return origin.conversation == self.conversation and origin.when >= self.since


def kind_by_work(
    prompt: Prompt, turn: TurnSeen, state: TaskState, others: Iterable[Exchange]
) -> str:
    """Say what a prompt is in the light of the work that a state tells of.

    others are the messages beside it.
    """
    requests = [e for e in others if e.origin.by == USER and e.kind != SMALL_TALK]
    goal = "" if state.stated_goal == prompt.text else state.stated_goal
    is_own_goal = state.goal_from is not None and prompt.is_beside(state.goal_from)
    is_provisional = is_own_goal and not state.is_noted("goal")
    return kind_in_turn(
        prompt.text,
        turn,
        settles=prompt.settles,
        work_terms=_known_terms(state, goal, requests),
        opens=not any(prompt.is_beside(e.origin) for e in requests),
        is_only=not requests and (is_provisional or not goal),
    )


def _known_terms(state: TaskState, goal: str, requests: Iterable[Exchange]) -> frozenset[str]:
    """Return the terms of what is worked at: the goal, what was asked for, and the files."""
    terms = set(telling_terms(goal))
    for exchange in requests:
        terms |= telling_terms(exchange.text)
    for path in (*(artifact.path for artifact in state.artifacts), *state.files_read):
        terms |= parts_of(path)
    return frozenset(terms)
