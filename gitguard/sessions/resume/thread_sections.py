"""What the user and the agent said, as sections of a resume block."""

from __future__ import annotations

import re

from gitguard.model.text import late_pattern, one_line, shorten
from gitguard.sessions.resume.filling import BlockItem, BlockSection
from gitguard.sessions.resume.reader import BlockReader, item_of, present, single
from gitguard.state import roles
from gitguard.state.items import (
    AGENT_KINDS,
    CONCLUSION,
    CORRECTION,
    ROUTINE,
    SMALL_TALK,
    UNFINISHED,
    Exchange,
)
from gitguard.state.thread import MARKED, is_heard, is_refusal
from gitguard.state.words import is_replaced, next_step_of, sentences, words_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from gitguard.state.task import TaskState

_PASTED = late_pattern(r"```.*?(?:```|$)", re.DOTALL)
_PASTE = 60
"""Characters that stay of what the user pasted."""
REQUEST, EARLIER_WORDS = 320, 135
_CONCLUSION, _EARLIER_ANSWER = 420, 200
"""Characters that are shown of the newest request, of each earlier prompt, of the last answer and
of each before it, until all sections have as much."""
_FIRST_WORDS = 6
"""Corrections and limits that go beside what was noted; other prompts come after it."""
_TOLD = 40
"""Characters that two texts begin with alike if both are cut from the same words."""
_FEWEST_WORDS = 3
"""Words of an answer that is worth a line when it is not the last."""


def newest_request(state: TaskState) -> Exchange | None:
    """Return what the user said last that is more than small talk."""
    for exchange in reversed(state.exchanges):
        if is_heard(exchange) and exchange.kind != SMALL_TALK and not is_refusal(exchange):
            return exchange
    return None


def newest_answer(state: TaskState) -> Exchange | None:
    """Return what the agent said last, whether or not that ended a turn."""
    for exchange in reversed(state.exchanges):
        if exchange.kind in AGENT_KINDS:
            return exchange
    return None


def is_before_request(answer: Exchange, state: TaskState) -> bool:
    """Whether the user has asked for more since an answer."""
    # Both may be of the same second, so their order tells, not their times.
    request = newest_request(state)
    if request is None:
        return False
    return state.exchanges.index(answer) < state.exchanges.index(request)


def announced(state: TaskState) -> str:
    """Return the sentence of the last answer that stands as the next action, empty if none does."""
    is_noted = state.is_noted("next_action") and state.stated_next_action.strip()
    if is_noted or any(not step.is_done for step in state.plan):
        return ""
    answer = newest_answer(state)
    if answer is None or answer.kind != CONCLUSION:
        return ""
    return next_step_of(answer.text)


def words_of_the_user(state: TaskState, reader: BlockReader) -> tuple[BlockSection, ...]:
    """Return the running request, and what was said before it, corrections and limits first."""
    newest = newest_request(state)
    if newest is None:
        return ()
    is_goal = says(one_line(state.stated_goal), newest) and not newest.settles
    request = "" if is_goal else _without_pastes(newest.text)
    earlier = (
        said_item(exchange.replace(text=_without_pastes(exchange.text)), reader).replace(
            is_derived=place >= _FIRST_WORDS or exchange.kind not in MARKED
        )
        for place, exchange in enumerate(_each_once(_earlier_words(state, newest), newest))
    )
    return (
        single(
            "The user's last request",
            said_item(newest.replace(text=request), reader) if request else BlockItem(""),
            14,
            paragraph=REQUEST,
        ),
        BlockSection(
            "The user said before", present(earlier), 16, has_stub=False, paragraph=EARLIER_WORDS
        ),
    )


def _earlier_words(state: TaskState, newest: Exchange) -> list[Exchange]:
    """Return what the user said before the newest request and is in force, in order of weight."""
    earlier = [
        exchange
        for exchange in reversed(state.exchanges)
        if is_heard(exchange)
        and exchange.kind not in (SMALL_TALK, ROUTINE)
        and exchange is not newest
    ]
    # A task is told by its goal, this one's above and earlier ones' in a section of their own.
    goals = [task.goal for task in state.earlier if task.goal]
    if not state.is_noted("goal"):
        goals.append(one_line(state.stated_goal))
    earlier = [e for e in earlier if not any(says(goal, e) for goal in goals)]
    # A correction takes the place of older words even where the agent noted it.
    earlier = _not_noted(_in_force(earlier, newest), state)
    began = state.goal_from.when if state.goal_from is not None else ""
    # What limits the work goes first, and what was asked for in an earlier task last.
    earlier.sort(key=lambda e: (e.when < began and e.kind not in MARKED, e.kind not in MARKED))
    return earlier


def _each_once(earlier: list[Exchange], newest: Exchange) -> list[Exchange]:
    """Return exchanges without those that another one says in full."""
    texts = [_plain(e.text) for e in (newest, *earlier)]
    return [
        exchange
        for exchange in earlier
        if exchange.settles
        or not any(_plain(exchange.text) in text for text in texts if text != _plain(exchange.text))
    ]


def _without_pastes(text: str) -> str:
    """Return what the user said with little of the output and code that was pasted into it."""
    return _PASTED.sub(lambda paste: shorten(paste[0], _PASTE), text)


def _not_noted(exchanges: Iterable[Exchange], state: TaskState) -> list[Exchange]:
    """Return exchanges without the sentences that the agent noted just so; a note stands anyway.

    What answers something stays: its words alone, such as "refused", do not say what is meant.
    """
    noted_texts = [d.what for d in state.decisions if d.is_noted and not d.origin.elsewhere]
    for field in state.noted(*roles.SENTENCES):
        noted_texts += [n.text for n in field.items_in(state) if not n.origin.elsewhere]
    noted = {_plain(sentence) for text in noted_texts for sentence in sentences(text)}
    if not noted:
        return list(exchanges)
    left = []
    for exchange in exchanges:
        if exchange.settles:
            left.append(exchange)
            continue
        parts = [s for s in sentences(exchange.text) if _plain(s) not in noted]
        if parts:
            left.append(exchange.replace(text=" ".join(parts)))
    return left


def _plain(sentence: str) -> str:
    return one_line(sentence).strip(" .!").lower()


def _in_force(earlier: list[Exchange], newest: Exchange) -> list[Exchange]:
    """Return exchanges, newest first, without the sentences that a later correction replaced."""
    corrections = [newest.text] if newest.kind == CORRECTION else []
    in_force = []
    for exchange in earlier:
        parts = [
            sentence
            for sentence in sentences(exchange.text)
            if not any(is_replaced(sentence, correction) for correction in corrections)
        ]
        if parts:
            in_force.append(exchange.replace(text=" ".join(parts)))
        if exchange.kind == CORRECTION:
            corrections.append(exchange.text)
    return in_force


def says(text: str, exchange: Exchange) -> bool:
    """Whether a text is what an exchange says, or one of them is the other's beginning, cut."""
    words = one_line(exchange.text)
    if words == text:
        return bool(text)
    begun, cut, _ = min(text.partition("…"), words.partition("…"), key=lambda part: len(part[0]))
    begun = begun.rstrip()
    is_told = len(begun) >= _TOLD and text.startswith(begun) and words.startswith(begun)
    return bool(cut) and is_told


def said_item(exchange: Exchange, reader: BlockReader) -> BlockItem:
    """Return what was said as it is shown, with the question that it answers."""
    answered = f" — to: {exchange.settles}" if exchange.settles else ""
    return item_of(f"{exchange.text}{answered}", exchange.origin, reader, is_derived=True)


def answers_of(state: TaskState, reader: BlockReader) -> tuple[BlockSection, ...]:
    """Return what the agent said last, and what it stated before that."""
    answers = [e for e in reversed(state.exchanges) if e.kind in AGENT_KINDS]
    last = BlockItem("")
    for newest in _not_noted(answers[:1], state):
        # What stands as the next action is not said once more.
        rest = newest.text.replace(announced(state), "").strip()
        if rest:
            last = said_item(newest.replace(text=rest), reader)
    is_cut_off = bool(answers) and answers[0].kind == UNFINISHED
    ended = _ended_before(answers[0], state) if is_cut_off else []
    last_ended = [said_item(answer, reader) for answer in _not_noted(ended, state)]
    # One or two words, such as "Done.", say nothing once another answer has come.
    earlier: dict[str, Exchange] = {}
    for answer in _not_noted(answers[1 + len(ended) :], state):
        if len(words_of(answer.text)) >= _FEWEST_WORDS:
            earlier.setdefault(answer.text, answer)
    title = "Said before the turn was cut off" if is_cut_off else "The last answer"
    if answers and not is_cut_off and is_before_request(answers[0], state):
        title = "The answer before that request"
    section = single(title, last, 12, paragraph=_CONCLUSION).replace(has_stub=False)
    older = present(said_item(e, reader) for e in earlier.values())
    return (
        section.replace(keeps_end=not is_cut_off),
        section.replace(title="The answer before that", items=present(last_ended), keeps_end=True),
        BlockSection("Earlier answers", older, 8, has_stub=False, paragraph=_EARLIER_ANSWER),
    )


def _ended_before(cut_off: Exchange, state: TaskState) -> list[Exchange]:
    """Return the answer that a cut-off turn followed without a request between, if one is there."""
    place = state.exchanges.index(cut_off)
    return [e for e in state.exchanges[max(place - 1, 0) : place] if e.kind == CONCLUSION]
