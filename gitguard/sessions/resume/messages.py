"""Single messages as the block shows them, and which of them no other line tells."""

from __future__ import annotations

from gitguard.model.host_additions import QUOTED
from gitguard.model.text import one_line, shorten
from gitguard.model.tokens import fit, quarters_of
from gitguard.sessions.resume.filling import BlockItem
from gitguard.sessions.resume.reader import BlockReader, item_of, plain, safe
from gitguard.sessions.resume.standing import is_former_goal, says
from gitguard.sessions.resume.weighing import GAP, says_little
from gitguard.state import roles
from gitguard.state.answers import conclusions
from gitguard.state.items import Exchange
from gitguard.state.prompts import is_few_words
from gitguard.state.sentences import (
    in_one_line,
    is_question,
    sentences,
    telling_terms,
    without_sentences,
)
from gitguard.state.thread import is_refusal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from gitguard.state.items import Origin
    from gitguard.state.task import TaskState

AFTER = 100
"""Characters of what the user's words follow, if that is no question."""
_PASTE = 60
"""Characters that stay of what the user pasted into earlier prompts."""
_QUESTION_MARKS = frozenset("?？؟՞፧⸮")
_WITHOUT_BLANKS = "\u2e80"
"""From here on are the scripts of East Asia, which put no blanks between words."""


# How they read


def said_item(exchange: Exchange, reader: BlockReader) -> BlockItem:
    """Return what was said as it is shown, with the question that it answers or what it follows."""
    return item_of(in_context(exchange, exchange.settles), exchange.origin, reader, is_derived=True)


def agents_item(text: str, origin: Origin | None, reader: BlockReader) -> BlockItem:
    """Return what the agent, or a sub-agent, said as it is shown in one line."""
    item = item_of(in_one_line(text), origin, reader, is_derived=True)
    return item.replace(lines=text)


def in_context(exchange: Exchange, about: str) -> str:
    """Return a message with what it is about, the question that it answers or what it follows."""
    text = exchange.text
    if about and is_refusal(exchange):
        return f"{text} — {about}"
    if _QUESTION_MARKS & set(about) and _is_answer(text, about):
        return f"{text} — to: {about}"
    return f"{text} — after: {shorten(about, AFTER)}" if about else text


def _is_answer(text: str, question: str) -> bool:
    """Whether a prompt is known to answer a question: few words, or some that the question has."""
    return is_few_words(text) or not telling_terms(text).isdisjoint(telling_terms(question))


def is_reply(exchange: Exchange) -> bool:
    """Whether a message says nothing without the question, or the call, that it answers."""
    return is_refusal(exchange) or is_question(exchange.settles)


def without_pastes(text: str, limit: int = _PASTE) -> str:
    """Return what the user said with little of the output and code that was pasted into it."""
    return QUOTED.sub(lambda paste: shorten(paste[0], limit), text)


def heaviest(text: str, quarters: int, *, is_open: bool = True) -> str:
    """Cut a text to the sentences that weigh most, in one line."""
    stated = conclusions(text, quarters, size_of=quarters_of, cut=fit, is_open=is_open)
    return safe(in_one_line(stated))


# Which are shown


def each_once(earlier: list[Exchange], newest: Exchange) -> list[Exchange]:
    """Return exchanges, newest first, without those that another one says in full.

    A reply is another one to each question. It goes only where a newer message says more.
    """
    texts = [plain(exchange.text) for exchange in (newest, *earlier)]
    kept: list[Exchange] = []
    for place, exchange in enumerate(earlier, start=1):
        text, newer = texts[place], texts[:place]
        if is_reply(exchange):
            is_its_own = is_refusal(exchange) or says_little(exchange.text)
            longer = [] if is_its_own else [other for other in newer if other != text]
            is_told = any(_is_part_of(text, other) for other in longer)
        else:
            longer = [other for other in texts if other != text]
            is_told = text in newer or any(_is_part_of(text, other) for other in longer)
        if not is_told:
            kept.append(exchange)
    return kept


def _is_part_of(text: str, other: str) -> bool:
    """Whether a text stands in another one, and not within its words."""
    begin = other.find(text)
    if begin < 0:
        return False
    around = f" {other} "[begin : begin + len(text) + 2]
    return not any(
        edge.isalnum() and beside.isalnum() and edge < _WITHOUT_BLANKS
        for beside, edge in ((around[0], text[:1]), (around[-1], text[-1:]))
    )


def not_noted(exchanges: Iterable[Exchange], state: TaskState) -> list[Exchange]:
    """Return exchanges without the sentences that the agent noted just so; a note stands anyway.

    What answers something stays: its words alone, such as "refused", do not say what is meant.
    """
    noted_texts = [d.what for d in state.decisions if d.is_noted and not d.origin.elsewhere]
    for field in state.noted(*roles.SENTENCES):
        noted_texts += [n.text for n in field.items_in(state) if not n.origin.elsewhere]
    noted = {plain(sentence) for text in noted_texts for sentence in sentences(text)}
    if not noted:
        return list(exchanges)
    kept = []
    for exchange in exchanges:
        if exchange.settles:
            kept.append(exchange)
            continue
        text = without_sentences(exchange.text, lambda s: plain(s) in noted, GAP)
        if text:
            kept.append(exchange.replace(text=text))
    return kept


def not_the_goal(prompts: Iterable[Exchange], state: TaskState) -> list[Exchange]:
    """Return prompts without those that stand as a goal.

    This task's stands above, and those of earlier tasks in a section of their own.
    """
    goals = [task.goal for task in state.earlier if task.goal]
    if not (state.is_noted("goal") or is_former_goal(state)):
        goals.append(one_line(state.stated_goal))
    return [prompt for prompt in prompts if not any(says(goal, prompt) for goal in goals)]
