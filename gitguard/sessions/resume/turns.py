"""What was said, turn by turn: each prompt with the answer that followed it, the newest last.

The running request and the last answer stand by themselves behind the turns before them.
"""

from __future__ import annotations

from functools import partial
from itertools import groupby

from gitguard.model.text import one_line, shorten
from gitguard.model.tokens import fit, quarters_of
from gitguard.model.transcript import USER
from gitguard.sessions.resume.filling import BlockItem, BlockSection, JoinedLines
from gitguard.sessions.resume.last_turn import (
    SHARE_OF_ANSWER,
    LastTurn,
    answer_sections,
    last_turn,
    replies_section,
    request_section,
    unanswered_section,
)
from gitguard.sessions.resume.messages import (
    AFTER,
    each_once,
    in_context,
    is_reply,
    not_noted,
    not_the_goal,
    said_item,
    without_pastes,
)
from gitguard.sessions.resume.reader import BlockReader, item_of, present, safe
from gitguard.sessions.resume.standing import is_former_goal
from gitguard.sessions.resume.weighing import GAP, SaidSentence, in_order, says_little, sentences_of
from gitguard.state.answers import without_offer
from gitguard.state.items import AGENT_KINDS, CONCLUSION, EVENT, UNFINISHED, Exchange
from gitguard.state.sentences import is_question, sentences, without_sentences, words_of
from gitguard.state.subjects import Subjects
from gitguard.state.thread import is_full, is_heard, is_refusal, is_talk

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from gitguard.state.task import TaskState

_READ_PROMPT = 135
"""Quarters that are shown of each prompt that nobody heard, until all sections have as much."""
_FIRST_WORDS, _FIRST_ROOM = 5, 400
"""Sentences of earlier prompts, and quarters of them, that go beside what was noted; others come
after it."""
_MOST_SENTENCES = 160
"""Sentences of earlier turns that are shown."""
_LONGEST_SENTENCE = 400
"""Quarters to which a sentence is cut."""
_SHORT_PROMPT = 100
"""Characters up to which a prompt is shown with what it answers."""
_SHORT_ID = 7
"""Characters of a commit's id by which an answer names it."""
_FEWEST_WORDS = 3
"""Words of an answer that is worth a line when it is not the last."""
_ANSWERED = "→ "
"""What an answer begins with that stands below its prompt."""
_ANSWER_LEFT_OUT = " (answered)"
_BY_AGENT = "Agent: "
"""What an answer begins with whose prompt is not shown."""
_SINCE_REQUEST = "Since the last request: "
"""What an answer begins with that came behind the last request, which stands below."""
_SHARE = 34
"""Their share, without that of a last answer."""


def turns_of(state: TaskState, reader: BlockReader) -> tuple[BlockSection, ...]:
    """Return the turns before the last one, the running request, and what the agent said to it."""
    last, subjects = last_turn(state), Subjects(exchange.text for exchange in state.exchanges)
    words = _earlier_words(state, last.request, subjects)
    whole = _sentences(state, last, words, subjects)
    return (
        _earlier_turns(whole, state, last, reader),
        unanswered_section(last, words, reader),
        request_section(last.request, state, reader),
        replies_section(last, words, reader),
        *answer_sections(last, state, reader),
    )


def _earlier_turns(
    whole: list[SaidSentence], state: TaskState, last: LastTurn, reader: BlockReader
) -> BlockSection:
    """Return the section of the turns before the last one; sentences get room by their weight."""
    elsewhere = [e.text for e in (last.request, last.answer) if e is not None]
    if not is_former_goal(state):
        elsewhere.append(state.stated_goal)
    order = in_order(whole, state, elsewhere)
    first = _first_words(whole, order, state)
    ranks = {place: rank for rank, place in enumerate(order)}
    items = []
    for place in sorted(order):
        text, origin = fit(whole[place].text, _LONGEST_SENTENCE), whole[place].message.origin
        item = item_of(text, origin, reader, is_derived=place not in first)
        items.append(item.replace(rank=ranks[place], part=place))
    return BlockSection(
        "Earlier turns, oldest first",
        present(items),
        _SHARE if last.answer else _SHARE + SHARE_OF_ANSWER,
        has_stub=False,
        most_items=_MOST_SENTENCES,
        is_whole=True,
        joined=partial(joined, whole),
    )


def _first_words(
    whole: list[SaidSentence], order: Iterable[int], state: TaskState
) -> frozenset[int]:
    """Return the places of what the user said that goes beside what was noted.

    Not of the first request, where the agent has noted the goal in its own words.
    """
    first_request = next((e.id for e in state.exchanges if is_heard(e)), "")
    has_goal = state.is_noted("goal")
    first: list[int] = []
    room = _FIRST_ROOM
    for place in order:
        sentence = whole[place]
        size = quarters_of(sentence.text)
        is_goal = has_goal and sentence.message.id == first_request
        is_statement = sentence.is_prompt and not is_question(sentence.text)
        if is_statement and not is_goal and size <= room:
            first.append(place)
            room -= size
    return frozenset(first[:_FIRST_WORDS])


def earlier_sentences(state: TaskState) -> list[SaidSentence]:
    """Return what of the turns before the last one is in force, the oldest sentence first."""
    last, subjects = last_turn(state), Subjects(exchange.text for exchange in state.exchanges)
    return _sentences(state, last, _earlier_words(state, last.request, subjects), subjects)


def _sentences(
    state: TaskState, last: LastTurn, words: Iterable[Exchange], subjects: Subjects
) -> list[SaidSentence]:
    """Return the sentences of earlier turns; words are the user's, also those shown elsewhere."""
    answers = [
        exchange
        for exchange in reversed(state.exchanges)
        if exchange.kind in AGENT_KINDS and exchange not in (last.answer, *last.middle)
    ]
    newer = [last.answer] if last.answer else []
    telling = _telling(_in_force(answers, newer, subjects), _hardly_ended(state.exchanges))
    telling = not_noted(_without_commits(telling, state), state)
    words = [e for e in words if e.id not in last.unanswered | last.replies]
    kept = {exchange.id: exchange for exchange in (*words, *telling)}
    whole: list[SaidSentence] = []
    answered, since_request = _answered(state.exchanges), _since(last.request, state.exchanges)
    for number, turn in enumerate(_turns(state.exchanges, kept)):
        for exchange in turn:
            shown = _sentences_shown(number, exchange)
            whole += [
                sentence.replace(
                    is_answered=exchange.id in answered,
                    is_since_request=exchange.id in since_request,
                )
                for sentence in shown
            ]
    return whole


def _since(request: Exchange | None, exchanges: tuple[Exchange, ...]) -> frozenset[str]:
    """Return the ids of the answers that ended turns of its conversation since a request."""
    if request is None:
        return frozenset()
    conversation = request.origin.conversation
    later = exchanges[exchanges.index(request) :]
    return frozenset(
        e.id for e in later if e.kind == CONCLUSION and e.origin.conversation == conversation
    )


def _answered(exchanges: Iterable[Exchange]) -> frozenset[str]:
    """Return the ids of prompts whose turn the agent ended with an answer."""
    answered: set[str] = set()
    open_prompts: dict[str, str] = {}  # of each conversation, for several may speak at once
    for exchange in exchanges:
        conversation = exchange.origin.conversation
        if exchange.origin.by == USER:
            open_prompts[conversation] = exchange.id
        elif exchange.kind == CONCLUSION and conversation in open_prompts:
            answered.add(open_prompts.pop(conversation))
    return frozenset(answered)


def read_prompts(state: TaskState, reader: BlockReader) -> BlockSection:
    """Return the prompts that only the transcript has: no event of the host vouches for them."""
    answered = _answered(state.exchanges)
    items = []
    for exchange in reversed(state.exchanges):
        if exchange.origin.is_read:
            item = said_item(exchange, reader)
            remark = _ANSWER_LEFT_OUT if exchange.id in answered else ""
            items.append(item.replace(remark=remark + item.remark))
    section = BlockSection("Prompts by the transcript alone", present(items), 4)
    return section.replace(has_stub=False, paragraph=_READ_PROMPT)


def _sentences_shown(turn: int, exchange: Exchange) -> list[SaidSentence]:
    """Return the sentences of a message; a few words, or a refusal, stand with what they answer."""
    is_short = len(exchange.text) <= _SHORT_PROMPT or is_refusal(exchange)
    if not (exchange.settles and is_short):
        return sentences_of(turn, exchange)
    text = one_line(in_context(exchange, shorten(exchange.settles, AFTER)))
    is_little = not is_reply(exchange) and says_little(exchange.text)
    return [SaidSentence(text, turn, exchange, 0, says_little=is_little)]


def joined(whole: list[SaidSentence], items: Iterable[BlockItem]) -> JoinedLines:
    """Return a line for each message, its sentences with a mark where some are left out.

    A prompt of which no answer is shown says that there was one, so that nobody takes it for open.
    """
    lines: list[str] = []
    turns: set[int] = set()
    items = list(items)
    sentences_shown = [whole[item.part] for item in items]
    turns_told = {sentence.turn for sentence in sentences_shown if not sentence.is_prompt}
    for _, group in groupby(items, key=lambda item: whole[item.part].message.id):
        shown = list(group)
        message, line = whole[shown[0].part], _joined_sentences(whole, shown)
        if not message.is_prompt:
            before = _ANSWERED if message.turn in turns else _BY_AGENT
            line = f"{_SINCE_REQUEST if message.is_since_request else before}{line.lstrip('→ ')}"
        if message.is_answered and message.turn not in turns_told:
            line += _ANSWER_LEFT_OUT
        lines.append(line + shown[0].remark)
        turns.add(message.turn)
    return JoinedLines(tuple(lines), len(turns))


def _joined_sentences(whole: list[SaidSentence], shown: Iterable[BlockItem]) -> str:
    """Return sentences of a message in one line, what leads to a list before the first of it."""
    line = ""
    before: SaidSentence | None = None
    sections: set[int] = set()
    for item in shown:
        sentence = whole[item.part]
        is_next = before is None or sentence.place == before.place + 1 or line.endswith(GAP)
        text = item.text
        is_headed = sentence.has_heading or sentence.section in sections
        if sentence.heading and not is_headed:
            text, is_next = f"{safe(sentence.heading)} {GAP} {text}", before is None
        elif before is None and sentence.place and not sentence.is_prompt:
            text = f"{GAP} {text}"
        if sentence.heading:
            sections.add(sentence.section)
        line += f" {text}" if is_next else f" {GAP} {text}"
        before = sentence
    return line.strip()


def _turns(exchanges: Iterable[Exchange], kept: Mapping[str, Exchange]) -> list[list[Exchange]]:
    """Return what is kept of each turn, its prompt first, without turns of which nothing is."""
    turns: list[list[Exchange]] = [[]]
    last: Exchange | None = None
    for exchange in exchanges:
        if exchange.kind == EVENT:
            continue
        # A prompt that is not kept begins a turn as well, also one that the state has dropped.
        if exchange.origin.by == USER or (last is not None and _is_later_turn(exchange, last)):
            turns.append([])
        if exchange.id in kept:
            turns[-1].append(kept[exchange.id])
        last = exchange
    return [turn for turn in turns if turn]


def _is_later_turn(answer: Exchange, before: Exchange) -> bool:
    """Whether an answer ended another turn than the one of what was said before it.

    A prompt comes before its turn is counted.
    """
    number = before.origin.turn + (before.origin.by == USER)
    return answer.origin.conversation == before.origin.conversation and answer.origin.turn > number


def _earlier_words(state: TaskState, newest: Exchange | None, subjects: Subjects) -> list[Exchange]:
    """Return what the user said before the newest request and is in force, newest first."""
    if newest is None:
        return []
    earlier = [
        exchange
        for exchange in reversed(state.exchanges)
        if is_heard(exchange) and not is_talk(exchange) and exchange is not newest
    ]
    # A newer word takes the place of an older one even where the agent noted it.
    earlier = _in_force(not_the_goal(earlier, state), [newest], subjects)
    earlier = each_once(not_noted(earlier, state), newest)
    return [exchange.replace(text=without_pastes(exchange.text)) for exchange in earlier]


def _in_force(earlier: list[Exchange], newer: list[Exchange], subjects: Subjects) -> list[Exchange]:
    """Return messages, newest first, without the sentences that newer ones replace or repeat.

    What the agent says again in other numbers or words is its newest word; but a user may set a
    limit in the words of a request.
    """
    statements = dict.fromkeys(s for exchange in newer for s in sentences(exchange.text))
    in_force = []
    for exchange in earlier:
        is_out = partial(
            _is_outdated,
            newer=tuple(statements),
            subjects=subjects,
            is_by_agent=exchange.kind in AGENT_KINDS,
        )
        text = exchange.text if exchange.settles else without_sentences(exchange.text, is_out, GAP)
        if text:
            in_force.append(exchange.replace(text=text))
        own = sentences(exchange.text)
        statements.update(dict.fromkeys(s for s in own if not is_question(s)))
    return in_force


def _is_outdated(
    sentence: str, newer: Collection[str], subjects: Subjects, *, is_by_agent: bool
) -> bool:
    """Say whether newer sentences replace or repeat one."""
    if sentence in newer:
        return True
    for statement in newer:
        if subjects.is_replaced(sentence, statement):
            return True
        if is_by_agent and subjects.is_said_again(sentence, statement):
            return True
    return False


def _telling(answers: Iterable[Exchange], hardly_ended: frozenset[str]) -> list[Exchange]:
    """Return the answers that still tell something after a later one, each once.

    Not what was said in the middle of a turn, once its end has taken it up, nor one or two words,
    such as "Done.", nor what an answer asked and offered at its end: the user has gone on from it.
    """
    earlier: dict[str, Exchange] = {}
    for answer in answers:
        text = without_offer(answer.text)
        is_open = answer.kind == CONCLUSION or answer.id in hardly_ended
        if is_open and len(words_of(text)) >= _FEWEST_WORDS:
            earlier.setdefault(text, answer.replace(text=text))
    return list(earlier.values())


def _without_commits(answers: Iterable[Exchange], state: TaskState) -> list[Exchange]:
    """Return earlier answers without the sentences that tell of commits, which are listed."""
    commits = [a.path[:_SHORT_ID] for a in state.artifacts if a.kind == "commit"]

    def tells_of_commit(sentence: str) -> bool:
        return any(commit in sentence for commit in commits)

    left = []
    for answer in answers:
        text = without_sentences(answer.text, tells_of_commit, GAP)
        if words_of(text):
            left.append(answer.replace(text=text))
    return left


def _hardly_ended(exchanges: Iterable[Exchange]) -> frozenset[str]:
    """Return the ids of what was said in the middle of turns that no full answer ended."""
    ids: set[str] = set()
    middle: set[str] = set()
    for exchange in exchanges:
        if exchange.kind == UNFINISHED:
            middle.add(exchange.id)
            continue
        if not (exchange.kind == CONCLUSION and is_full(exchange)):
            ids |= middle
        middle = set()
    return frozenset(ids | middle)
