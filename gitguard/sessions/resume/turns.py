"""What was said, turn by turn: each prompt with the answer that followed it, the newest last.

The running request and the last answer stand by themselves behind the turns before them.
"""

from __future__ import annotations

from functools import partial
from itertools import groupby

from gitguard.model.host_additions import QUOTED
from gitguard.model.text import one_line, shorten
from gitguard.model.tokens import fit, quarters_of
from gitguard.model.transcript import USER
from gitguard.model.value import Value
from gitguard.sessions.resume.filling import BlockItem, BlockSection, JoinedLines
from gitguard.sessions.resume.reader import BlockReader, item_of, plain, present, safe, single
from gitguard.sessions.resume.standing import (
    awaited,
    is_before_request,
    is_former_goal,
    newest_answer,
    newest_request,
    says,
)
from gitguard.sessions.resume.weighing import GAP, SaidSentence, in_order, says_little, sentences_of
from gitguard.state import roles
from gitguard.state.answers import conclusions, without_offer
from gitguard.state.items import (
    AGENT_KINDS,
    CONCLUSION,
    EVENT,
    UNFINISHED,
    Exchange,
)
from gitguard.state.prompts import gist, is_few_words
from gitguard.state.sentences import (
    BULLET,
    in_one_line,
    is_question,
    sentences,
    telling_terms,
    without_sentences,
    words_of,
)
from gitguard.state.subjects import Subjects
from gitguard.state.thread import is_full, is_heard, is_refusal, is_talk

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from gitguard.state.items import Origin
    from gitguard.state.task import TaskState

REQUEST, _READ_PROMPT = 320, 135
_CONCLUSION = 900
"""Quarters that are shown of the newest request, of each prompt that nobody heard, and of the last
answer, until all sections have as much."""
_FIRST_WORDS, _FIRST_ROOM = 5, 400
"""Sentences of earlier prompts, and quarters of them, that go beside what was noted; others come
after it."""
_QUESTION_MARKS = frozenset("?？؟՞፧⸮")
_AFTER = 100
"""Characters of what the user's words follow, if that is no question."""
_PASTE, _NEWEST_PASTE = 60, 240
"""Characters that stay of what the user pasted into earlier prompts and into the newest."""
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
_SHARE, _SHARE_OF_ANSWER = 34, 40
"""Shares of the earlier turns and of the last answer."""
_MOST_UNANSWERED = 3
"""Prompts right before the running request that are shown if no answer to them is recorded."""


class _LastTurn(Value):
    """The running request, and what the agent has said to it."""

    request: Exchange | None = None
    answer: Exchange | None = None
    middle: tuple[Exchange, ...] = ()
    """What stands beside an answer that says little."""
    unanswered: tuple[Exchange, ...] = ()
    """The prompts right before the request to which no answer is recorded, the oldest first."""


def turns_of(state: TaskState, reader: BlockReader) -> tuple[BlockSection, ...]:
    """Return the turns before the last one, the running request, and what the agent said to it."""
    last = _last_turn(state)
    return (
        _earlier_turns(state, last, reader),
        _unanswered(last, reader),
        _request(last.request, state, reader),
        *_last_answer(last, state, reader),
    )


def _last_turn(state: TaskState) -> _LastTurn:
    request, answer = newest_request(state), newest_answer(state)
    unanswered = _unanswered_before(request, state) if request else ()
    if answer is None or _is_of_earlier_turn(answer, request, state):
        return _LastTurn(request, unanswered=unanswered)
    middle = [] if is_full(answer) else _middle(answer, state)
    return _LastTurn(request, answer, tuple(middle), unanswered)


def _unanswered_before(request: Exchange, state: TaskState) -> tuple[Exchange, ...]:
    """Return the prompts right before a request behind which the agent said nothing, each once.

    None where the agent said nothing before them either: such a host may tell of no answers.
    """
    conversation = request.origin.conversation
    prompts: list[Exchange] = []
    for exchange in reversed(state.exchanges[: state.exchanges.index(request)]):
        if exchange.origin.conversation != conversation:
            continue
        if exchange.kind in AGENT_KINDS:
            waiting = _each_once(_not_noted(_not_the_goal(prompts, state), state), request)
            return tuple(reversed(waiting[:_MOST_UNANSWERED]))
        if is_heard(exchange) and not is_talk(exchange) and not is_refusal(exchange):
            prompts.append(exchange)
    return ()


def _is_of_earlier_turn(answer: Exchange, newest: Exchange | None, state: TaskState) -> bool:
    """Whether the user has asked for more since the agent ended a turn with an answer."""
    return newest is not None and answer.kind == CONCLUSION and is_before_request(answer, state)


# The last turn


def _request(newest: Exchange | None, state: TaskState, reader: BlockReader) -> BlockSection:
    """Return the running request, empty where it stands as the goal."""
    item = BlockItem("")
    if newest is not None and (newest.settles or not says(one_line(state.stated_goal), newest)):
        text = _without_pastes(newest.text, _NEWEST_PASTE)
        item = said_item(newest.replace(text=text), reader)
        item = item.replace(lines=safe(text))
    section = single("Last request", item, 14, paragraph=REQUEST)
    return section.replace(cut=partial(_weightiest_words, item.text))


def _unanswered(last: _LastTurn, reader: BlockReader) -> BlockSection:
    """Return the prompts before the last request behind which the agent said nothing.

    What answered the request may have answered them as well.
    """
    is_answered = last.answer is not None and last.answer.kind == CONCLUSION
    title = "Right before it" if is_answered else "Before it, with no answer recorded"
    without_pastes = (e.replace(text=_without_pastes(e.text)) for e in last.unanswered)
    # They have the room that the user's first words have: nothing else tells of them.
    items = present(
        said_item(exchange, reader).replace(is_derived=False) for exchange in without_pastes
    )
    section = BlockSection(title, items, 8, has_stub=False)
    return section.replace(paragraph=_READ_PROMPT, cut=gist)


def _weightiest_words(whole: str, prompt: str, quarters: int) -> str:
    """Cut a prompt to its beginning and the sentences behind it that weigh most.

    whole is the prompt with what it answers: those are the agent's words, and are cut first.
    """
    if quarters_of(prompt) <= quarters:
        return fit(whole, quarters)
    return fit(gist(prompt, len(fit(prompt, quarters))), quarters)


def _last_answer(
    last: _LastTurn, state: TaskState, reader: BlockReader
) -> tuple[BlockSection, ...]:
    """Return the last answer; if it is short, what was said before it in its turn as well."""
    item = BlockItem("")
    answer = last.answer
    for unnoted in _not_noted([answer] if answer else [], state):
        # What stands as the next action is not said once more.
        text = unnoted.text.replace(awaited(state), "").strip().rstrip(f"{BULLET}\n")
        if text:
            item = agents_item(text, unnoted.origin, reader)
    is_cut_off = answer is not None and answer.kind == UNFINISHED
    title = "Said before the cut-off" if is_cut_off else "Last answer"
    if is_cut_off and reader.may_go_on:
        title = "Said in an open turn"
    section = single(title, item, _SHARE_OF_ANSWER, paragraph=_CONCLUSION)
    section = section.replace(has_stub=False, cut=heaviest)
    if answer is None or not last.middle:
        return (section,)
    middle_text = "\n".join(exchange.text for exchange in last.middle)
    item = agents_item(middle_text, answer.origin, reader)
    return (section.replace(title="Said before it", items=present([item]), share=20), section)


def _middle(answer: Exchange, state: TaskState) -> list[Exchange]:
    """Return what the agent said in the middle of the turn that an answer ended."""
    place = state.exchanges.index(answer)
    middle: list[Exchange] = []
    for exchange in reversed(state.exchanges[:place]):
        if exchange.kind != UNFINISHED:
            break
        middle.insert(0, exchange)
    return middle


# The turns before the last one


def _earlier_turns(state: TaskState, last: _LastTurn, reader: BlockReader) -> BlockSection:
    """Return the sentences of the turns before the last one, which get room by their weight."""
    whole = earlier_sentences(state)
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
        _SHARE if last.answer else _SHARE + _SHARE_OF_ANSWER,
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
    last, subjects = _last_turn(state), Subjects(exchange.text for exchange in state.exchanges)
    answers = [
        exchange
        for exchange in reversed(state.exchanges)
        if exchange.kind in AGENT_KINDS and exchange not in (last.answer, *last.middle)
    ]
    newer = [last.answer] if last.answer else []
    telling = _telling(_in_force(answers, newer, subjects), _hardly_ended(state.exchanges))
    telling = _not_noted(_without_commits(telling, state), state)
    words = _earlier_words(state, last.request, subjects) if last.request else []
    waiting = {exchange.id for exchange in last.unanswered}
    words = [exchange for exchange in words if exchange.id not in waiting]
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
    text = one_line(_said(exchange, shorten(exchange.settles, _AFTER)))
    is_little = not _is_reply(exchange) and says_little(exchange.text)
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


def _earlier_words(state: TaskState, newest: Exchange, subjects: Subjects) -> list[Exchange]:
    """Return what the user said before the newest request and is in force, newest first."""
    earlier = [
        exchange
        for exchange in reversed(state.exchanges)
        if is_heard(exchange) and not is_talk(exchange) and exchange is not newest
    ]
    # A newer word takes the place of an older one even where the agent noted it.
    earlier = _in_force(_not_the_goal(earlier, state), [newest], subjects)
    earlier = _each_once(_not_noted(earlier, state), newest)
    return [exchange.replace(text=_without_pastes(exchange.text)) for exchange in earlier]


def _not_the_goal(prompts: Iterable[Exchange], state: TaskState) -> list[Exchange]:
    """Return prompts without those that stand as a goal.

    This task's stands above, and those of earlier tasks in a section of their own.
    """
    goals = [task.goal for task in state.earlier if task.goal]
    if not (state.is_noted("goal") or is_former_goal(state)):
        goals.append(one_line(state.stated_goal))
    return [prompt for prompt in prompts if not any(says(goal, prompt) for goal in goals)]


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


def _each_once(earlier: list[Exchange], newest: Exchange) -> list[Exchange]:
    """Return exchanges, newest first, without those that another one says in full.

    A reply that says little by itself is another one to each question.
    """
    texts = [plain(exchange.text) for exchange in (newest, *earlier)]
    left: list[Exchange] = []
    for place, exchange in enumerate(earlier, start=1):
        text = texts[place]
        is_repeated = text in texts[:place] or any(text in t for t in texts if t != text)
        is_of_its_question = _is_reply(exchange) and says_little(exchange.text)
        if is_of_its_question or not is_repeated:
            left.append(exchange)
    return left


def _is_reply(exchange: Exchange) -> bool:
    """Whether a message says nothing without the question, or the call, that it answers."""
    return is_refusal(exchange) or is_question(exchange.settles)


def _without_pastes(text: str, limit: int = _PASTE) -> str:
    """Return what the user said with little of the output and code that was pasted into it."""
    return QUOTED.sub(lambda paste: shorten(paste[0], limit), text)


def _not_noted(exchanges: Iterable[Exchange], state: TaskState) -> list[Exchange]:
    """Return exchanges without the sentences that the agent noted just so; a note stands anyway.

    What answers something stays: its words alone, such as "refused", do not say what is meant.
    """
    noted_texts = [d.what for d in state.decisions if d.is_noted and not d.origin.elsewhere]
    for field in state.noted(*roles.SENTENCES):
        noted_texts += [n.text for n in field.items_in(state) if not n.origin.elsewhere]
    noted = {plain(sentence) for text in noted_texts for sentence in sentences(text)}
    if not noted:
        return list(exchanges)
    left = []
    for exchange in exchanges:
        if exchange.settles:
            left.append(exchange)
            continue
        text = without_sentences(exchange.text, lambda s: plain(s) in noted, GAP)
        if text:
            left.append(exchange.replace(text=text))
    return left


def said_item(exchange: Exchange, reader: BlockReader) -> BlockItem:
    """Return what was said as it is shown, with the question that it answers or what it follows."""
    return item_of(_said(exchange, exchange.settles), exchange.origin, reader, is_derived=True)


def agents_item(text: str, origin: Origin | None, reader: BlockReader) -> BlockItem:
    """Return what the agent, or a sub-agent, said as it is shown in one line."""
    item = item_of(in_one_line(text), origin, reader, is_derived=True)
    return item.replace(lines=text)


def _said(exchange: Exchange, about: str) -> str:
    text = exchange.text
    if about and is_refusal(exchange):
        return f"{text} — {about}"
    if _QUESTION_MARKS & set(about) and _is_answer(text, about):
        return f"{text} — to: {about}"
    return f"{text} — after: {shorten(about, _AFTER)}" if about else text


def _is_answer(text: str, question: str) -> bool:
    """Whether a prompt is known to answer a question: few words, or some that the question has."""
    return is_few_words(text) or not telling_terms(text).isdisjoint(telling_terms(question))


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


def heaviest(text: str, quarters: int, *, is_open: bool = True) -> str:
    """Cut a text to the sentences that weigh most, in one line."""
    stated = conclusions(text, quarters, size_of=quarters_of, cut=fit, is_open=is_open)
    return safe(in_one_line(stated))
