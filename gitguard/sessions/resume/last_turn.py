"""The last request, prompts before it without an answer, and what the agent said last."""

from __future__ import annotations

from functools import partial

from gitguard.model.text import one_line
from gitguard.model.tokens import fit, quarters_of
from gitguard.model.transcript import USER
from gitguard.model.value import Value
from gitguard.sessions.resume.filling import BlockItem, BlockSection
from gitguard.sessions.resume.messages import (
    agents_item,
    heaviest,
    not_noted,
    said_item,
    without_pastes,
)
from gitguard.sessions.resume.reader import BlockReader, present, safe, single
from gitguard.sessions.resume.standing import (
    awaited,
    is_before_request,
    newest_answer,
    newest_request,
    says,
)
from gitguard.state.items import CONCLUSION, EVENT, UNFINISHED, Exchange
from gitguard.state.prompts import gist
from gitguard.state.sentences import BULLET, is_question
from gitguard.state.thread import is_full, is_heard, is_refusal, is_talk

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from gitguard.state.task import TaskState

REQUEST, _PROMPT, _ANSWER = 320, 140, 900
"""Quarters that are shown of the last request, of each prompt beside it, and of the last answer,
until all sections have as much."""
_REQUEST_PERCENT = 8
"""The percent of the room that the last request has in a larger block."""
_NEWEST_PASTE = 240
"""Characters that stay of what the user pasted into the last request."""
SHARE_OF_ANSWER = 40
_MOST_PROMPTS = 3
"""Prompts right before the last request that are shown if the agent said nothing to them, and
replies since it."""


class LastTurn(Value):
    """The running request, and what the agent has said to it."""

    request: Exchange | None = None
    answer: Exchange | None = None
    middle: tuple[Exchange, ...] = ()
    """What stands beside an answer that says little."""
    unanswered: frozenset[str] = frozenset()
    """The ids of the prompts before the request since the agent last spoke."""
    replies: frozenset[str] = frozenset()
    """The ids of the user's newest replies since the request, which ask for nothing."""

    @property
    def is_answered(self) -> bool:
        """Whether an answer ended the turn of the request."""
        if self.request is None or self.answer is None or self.answer.kind != CONCLUSION:
            return False
        return self.answer.origin.conversation == self.request.origin.conversation


def last_turn(state: TaskState) -> LastTurn:
    """Return the last request, and the last answer if none is of an earlier turn."""
    request, answer = newest_request(state), newest_answer(state)
    last = LastTurn(request)
    if request is not None:
        unanswered, replies = _unanswered_before(request, state), _replies_since(request, state)
        last = last.replace(unanswered=unanswered, replies=replies)
    if answer is None or _is_of_earlier_turn(answer, request, state):
        return last
    middle = [] if is_full(answer) else _middle(answer, state)
    return last.replace(answer=answer, middle=tuple(middle))


def _unanswered_before(request: Exchange, state: TaskState) -> frozenset[str]:
    """Return the ids of the newest prompts since the agent last spoke in a request's conversation.

    None where it never did: such a host may tell of no answers. What the user chose in a dialog is
    no prompt: the agent asked for it within the turn.
    """
    earlier = _of_conversation(request, state.exchanges[: state.exchanges.index(request)])
    begin = len(earlier)
    while begin and earlier[begin - 1].origin.by == USER:
        begin -= 1
    if begin == 0:
        return frozenset()
    behind_first = [e for e in earlier[begin + 1 :] if not is_question(e.settles)]
    prompts = [*earlier[begin : begin + 1], *behind_first]
    prompts = [e for e in prompts if is_heard(e) and not (is_talk(e) or is_refusal(e))]
    return frozenset(e.id for e in prompts[-_MOST_PROMPTS:])


def _replies_since(request: Exchange, state: TaskState) -> frozenset[str]:
    """Return the ids of what the user replied to questions since a request, in its conversation."""
    later = _of_conversation(request, state.exchanges[state.exchanges.index(request) + 1 :])
    replies = [e for e in later if is_heard(e) and is_question(e.settles)]
    return frozenset(e.id for e in replies[-_MOST_PROMPTS:])


def _of_conversation(request: Exchange, exchanges: Iterable[Exchange]) -> list[Exchange]:
    """Return what was said in a request's conversation."""
    conversation = request.origin.conversation
    return [e for e in exchanges if e.origin.conversation == conversation and e.kind != EVENT]


def _is_of_earlier_turn(answer: Exchange, newest: Exchange | None, state: TaskState) -> bool:
    """Whether the user has asked for more since the agent ended a turn with an answer."""
    return newest is not None and answer.kind == CONCLUSION and is_before_request(answer, state)


def _middle(answer: Exchange, state: TaskState) -> list[Exchange]:
    """Return what the agent said in the middle of the turn that an answer ended."""
    place = state.exchanges.index(answer)
    middle: list[Exchange] = []
    for exchange in reversed(state.exchanges[:place]):
        if exchange.kind != UNFINISHED:
            break
        middle.insert(0, exchange)
    return middle


def unanswered_section(
    last: LastTurn, words: Iterable[Exchange], reader: BlockReader
) -> BlockSection:
    """Return the section of prompts before the last request to which the agent said nothing.

    words are the user's, the newest first. What answered the request may have answered them too.
    """
    title = "Before the last request" if last.is_answered else "No answer recorded to"
    return _prompts(title, [e for e in words if e.id in last.unanswered], reader)


def replies_section(last: LastTurn, words: Iterable[Exchange], reader: BlockReader) -> BlockSection:
    """Return the section of what the user replied to the agent's questions since the request."""
    return _prompts("Replied since", [e for e in words if e.id in last.replies], reader)


def _prompts(title: str, prompts: list[Exchange], reader: BlockReader) -> BlockSection:
    """Return the section of prompts, which come newest first and are shown oldest first.

    They have the room of the user's first words, because nothing else tells of them.
    """
    items = []
    for prompt in reversed(prompts):
        item = said_item(prompt, reader).replace(is_derived=False)
        items.append(item.replace(lines=safe(prompt.text)))
    section = BlockSection(title, present(items), 8, has_stub=False)
    return section.replace(paragraph=_PROMPT, cut=_gist_within)


def request_section(newest: Exchange | None, state: TaskState, reader: BlockReader) -> BlockSection:
    """Return the running request, empty where it stands as the goal."""
    item = BlockItem("")
    if newest is not None and (newest.settles or not says(one_line(state.stated_goal), newest)):
        text = without_pastes(newest.text, _NEWEST_PASTE)
        item = said_item(newest.replace(text=text), reader)
        item = item.replace(lines=safe(text))
    section = single("Last request", item, 14, paragraph=REQUEST)
    cut = partial(_weightiest_words, item.text)
    return section.replace(paragraph_percent=_REQUEST_PERCENT, cut=cut)


def _weightiest_words(whole: str, prompt: str, quarters: int) -> str:
    """Cut a prompt to its beginning and the sentences behind it that weigh most.

    whole is the prompt with what it answers: those are the agent's words, and are cut first.
    """
    if quarters_of(prompt) <= quarters:
        return fit(whole, quarters)
    return _gist_within(prompt, quarters)


def _gist_within(prompt: str, quarters: int) -> str:
    return fit(gist(prompt, len(fit(prompt, quarters))), quarters)


def answer_sections(
    last: LastTurn, state: TaskState, reader: BlockReader
) -> tuple[BlockSection, ...]:
    """Return the last answer; if it is short, what was said before it in its turn as well."""
    item = BlockItem("")
    answer = last.answer
    for unnoted in not_noted([answer] if answer else [], state):
        # What stands as the next action is not said once more.
        text = unnoted.text.replace(awaited(state), "").strip().rstrip(f"{BULLET}\n")
        if text:
            item = agents_item(text, unnoted.origin, reader)
    is_cut_off = answer is not None and answer.kind == UNFINISHED
    title = "Said before the cut-off" if is_cut_off else "Last answer"
    if is_cut_off and reader.may_go_on:
        title = "Said in an open turn"
    section = single(title, item, SHARE_OF_ANSWER, paragraph=_ANSWER)
    section = section.replace(has_stub=False, cut=heaviest)
    if answer is None or not last.middle:
        return (section,)
    middle_text = "\n".join(exchange.text for exchange in last.middle)
    item = agents_item(middle_text, answer.origin, reader)
    return (section.replace(title="Said before it", items=present([item]), share=20), section)
