"""The thread of a conversation: which of its messages are kept, and how much of each.

Kept are the first request, the newest ones, of those before them what the conversation came back
to most, and the newest answers of the agent. Each kind has room of its own, for which the oldest
are cut first (references/design/capture.md, "The thread"). All of it is decided message by message,
so that adding piece by piece gives the same as adding all.
"""

from __future__ import annotations

from gitguard.model.text import one_line, shorten
from gitguard.model.transcript import AGENT, USER
from gitguard.state.answers import conclusions, telling
from gitguard.state.items import (
    AGENT_KINDS,
    ANSWER,
    CONCLUSION,
    CONSTRAINT,
    EVENT,
    HOOK,
    REQUEST,
    SMALL_TALK,
    UNFINISHED,
    Exchange,
    Origin,
    derived_id,
    labelled_text,
)
from gitguard.state.prompts import gist, is_few_words, kind_of_prompt
from gitguard.state.sentences import is_question, sentences

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

REFUSED = "refused"
"""What a refusal without words says."""
AT_LENGTH, SHORT = 2_400, 400
STEPS = (AT_LENGTH, 1_500, 1_000, 700, SHORT)
"""Characters to which a message is cut, step by step, as the room of its class runs out."""
FULL = 300
"""Characters above which a message is a full one."""
_PROMPTS, _ANSWERS, _MIDDLES, _EVENTS = "prompts", "answers", "middles", "events"
ROOM = {_PROMPTS: 11_264, _ANSWERS: 11_776, _MIDDLES: 2_560, _EVENTS: 1_024}
"""Bytes for what the user said; for the agent's answers; for what it said in the middle of turns;
and for events: 26 KiB in all."""
NEWEST_PROMPTS = 6 << 10
"""Bytes of prompts that are kept because they are the newest; others for what came back to them."""
_AROUND = 200
"""Bytes that the state takes for a message besides its words, as measured."""
MOST_LASTING = 8
"""Of what the user said for a task, so much is kept beyond it."""
KEY_EXCHANGES, KEY_GIST, SUMMARY_PART = 8, 120, 100
"""Messages in a snapshot's thread, and characters of each and of one in its summary."""


def said_by_user(text: str, origin: Origin, *, settles: str = "", kind: str = "") -> Exchange:
    """Return a prompt as the thread keeps it while it is the newest."""
    kind = kind or kind_of_prompt(text, settles=bool(settles))
    item_id = derived_id(USER, *_moment(origin), text, settles)
    return Exchange(
        gist(text, AT_LENGTH), kind, settles, id=item_id, origin=origin.replace(by=USER)
    )


def _moment(origin: Origin) -> tuple[str, str, str]:
    """Return what tells messages of the same words apart: two turns may fit in one second."""
    return origin.conversation, str(origin.turn), origin.when


def refused_by_user(call: str, words: str, origin: Origin) -> Exchange:
    """Return a refusal of a call, with what the user said instead."""
    return said_by_user(words or REFUSED, origin, settles=call, kind=CONSTRAINT)


def happened(text: str, origin: Origin) -> Exchange:
    """Return what happened outside the conversation, for whoever reads on."""
    item_id = derived_id(EVENT, origin.when, text)
    return Exchange(one_line(text), EVENT, id=item_id, origin=origin.replace(by=HOOK))


def is_refusal(exchange: Exchange) -> bool:
    """Say whether an exchange is a refusal: what answers the agent's words is no constraint."""
    return exchange.kind == CONSTRAINT and bool(exchange.settles)


def is_talk(exchange: Exchange) -> bool:
    """Say whether an exchange asks for nothing and answers no question.

    More than a few words may set a limit that nothing took up, so they are kept, and asked last.
    """
    is_few = not _is_by_user(exchange) or is_few_words(exchange.text)
    return exchange.kind == SMALL_TALK and is_few and not is_question(exchange.settles)


def asked_last(exchanges: tuple[Exchange, ...]) -> Exchange | None:
    """Return what the user asked for last; talk only where nothing else was ever asked for.

    More than few words that nothing has answered yet may still turn out to be a request.
    """
    last = exchanges[-1] if exchanges else None
    is_open = last is not None and is_heard(last) and last.kind == SMALL_TALK
    if last is not None and is_open and not is_few_words(last.text):
        return last
    heard = [e for e in reversed(exchanges) if is_heard(e) and not is_refusal(e)]
    asked = [e for e in heard if e.kind != SMALL_TALK]
    return next(iter(asked or heard), None)


def judged(exchanges: tuple[Exchange, ...], item_id: str, kind: str) -> tuple[Exchange, ...]:
    """Return what is kept once a prompt that passed for talk turned out to be something else."""
    for place, exchange in enumerate(exchanges):
        if exchange.id == item_id:
            later = (exchange.replace(kind=kind), *exchanges[place + 1 :])
            return extend(exchanges[:place], later)
    return exchanges


def read_prompt(text: str, origin: Origin, *, settles: str = "") -> Exchange:
    """Return what a transcript has as a prompt.

    An agent can write into that file as well, so it takes the place of nothing that was heard.
    """
    kind = ANSWER if settles else SMALL_TALK if is_few_words(text) else REQUEST
    message = said_by_user(text, origin, settles=settles, kind=kind)
    return message.replace(origin=message.origin.replace(is_read=True))


def said_by_agent(text: str, origin: Origin, *, ends_turn: bool = True) -> Exchange:
    """Return an answer, or words of a turn that did not end, as kept while they are the newest."""
    item_id = derived_id(AGENT, *_moment(origin), text)
    kind = CONCLUSION if ends_turn else UNFINISHED
    return Exchange(conclusions(text, AT_LENGTH), kind, id=item_id, origin=origin.replace(by=AGENT))


def extend(exchanges: tuple[Exchange, ...], messages: Iterable[Exchange]) -> tuple[Exchange, ...]:
    """Add messages, oldest first, to what is kept of those before them.

    What is added once more, as after a crash, changes nothing: behind the newest message that is
    kept already everything is new, and nothing before it is.
    """
    new = list(messages)
    ids = {exchange.id for exchange in exchanges}
    again = [i for i, exchange in enumerate(new) if exchange.id in ids]
    for exchange in new[again[-1] + 1 :] if again else new:
        exchanges = _added(exchanges, exchange)
    return exchanges


def _added(exchanges: tuple[Exchange, ...], message: Exchange) -> tuple[Exchange, ...]:
    if not message.text:
        return exchanges
    if message.kind == EVENT or _is_by_user(message):
        return within_room((*exchanges, message))
    if not exchanges:
        return exchanges  # before the first user message nothing is an exchange
    last = exchanges[-1]
    if not _is_by_user(last) and last.text == message.text:
        return exchanges  # a turn that the host began may end with the same words
    if last.origin.conversation == message.origin.conversation:
        if is_talk(last) and not _waits_before(exchanges) and not telling(message.text, SHORT):
            message = message.replace(kind=SMALL_TALK)
        exchanges = _without_replaced(exchanges, message)
    return within_room((*exchanges, message))


def _waits_before(exchanges: tuple[Exchange, ...]) -> bool:
    """Whether a request without an answer stands before the newest prompt, as before "go on"."""
    conversation = exchanges[-1].origin.conversation
    before = exchanges[-2] if len(exchanges) > 1 else None
    if before is None or before.origin.conversation != conversation:
        return False
    return is_heard(before) and not is_talk(before)


def _without_replaced(exchanges: tuple[Exchange, ...], message: Exchange) -> tuple[Exchange, ...]:
    """Drop what the agent said since the last prompt and a message of its own takes the place of.

    A full answer gives way to another full one alone: the host may begin turns of which there is
    little to say. Of the middle of a turn, what tells something stays.
    """
    begin = len(exchanges)
    while begin and exchanges[begin - 1].kind in AGENT_KINDS:
        begin -= 1
    return (
        *exchanges[:begin],
        *(e for e in exchanges[begin:] if not _is_replaced(e, message)),
    )


def _is_replaced(exchange: Exchange, message: Exchange) -> bool:
    if exchange.origin.conversation != message.origin.conversation:
        return False
    if exchange.kind == UNFINISHED:
        return not telling(exchange.text, SHORT)
    return message.kind == CONCLUSION and (is_full(message) or not is_full(exchange))


def _is_by_user(exchange: Exchange) -> bool:
    return exchange.origin.by == USER


def is_heard(exchange: Exchange) -> bool:
    """Say whether the user said it to the host, which told a hook of it at once."""
    return _is_by_user(exchange) and not exchange.origin.is_read


def is_full(exchange: Exchange) -> bool:
    """Say whether a message stands for itself, and says where the work is."""
    return exchange.kind != UNFINISHED and len(exchange.text) > FULL


def within_room(exchanges: tuple[Exchange, ...]) -> tuple[Exchange, ...]:
    """Shorten, and then drop, what there is no room for.

    The oldest go first, but of prompts those that the fewest later messages came back to. The
    newest message of each class stays as it is, and the first request stays.
    """
    exchanges = _without_small_talk(exchanges)
    kept = dict(enumerate(exchanges))
    for name, room in _room_for(exchanges).items():
        places = [i for i, exchange in enumerate(exchanges) if _class_of(exchange) == name]
        _make_room(kept, places, room, least=SHORT if name == _PROMPTS else 0)
    shortened_ones = tuple(kept.values())
    excess = _excess_prompts(shortened_ones)
    return tuple(e for place, e in enumerate(shortened_ones) if place not in excess)


def _make_room(kept: dict[int, Exchange], places: list[int], room: int, least: int) -> None:
    """Cut older ones of the messages at some places until all fit into room, down to least.

    If that is 0, the oldest are dropped in the end.
    """
    size = sum(_size(kept[i]) for i in places)
    for limit in (*STEPS[1:], 0):
        for i in places[:-1]:
            exchange = kept[i]
            if size <= room or limit < least:
                return
            if not limit:
                size -= _size(kept.pop(i))
            elif len(exchange.text) > limit:
                kept[i] = _cut(exchange, limit)
                size -= _size(exchange) - _size(kept[i])


def _without_small_talk(exchanges: tuple[Exchange, ...]) -> tuple[Exchange, ...]:
    """Leave talk out but at the end, where it tells what an answer answers.

    What all began with may be the goal while nothing else is, and stays.
    """
    upto = len(exchanges)
    while upto and is_talk(exchanges[upto - 1]):
        upto -= 1
    earlier = (
        exchange
        for place, exchange in enumerate(exchanges[:upto])
        if not is_talk(exchange) or (place == 0 and _is_by_user(exchange))
    )
    return (*earlier, *exchanges[upto:])


def _room_for(exchanges: tuple[Exchange, ...]) -> dict[str, int]:
    """Return the bytes for each class; what answers or middles leave free is the other's."""
    free = dict(ROOM)
    for exchange in exchanges:
        free[_class_of(exchange)] -= _size(exchange)
    room = dict(ROOM)
    room[_ANSWERS] += max(free[_MIDDLES], 0)
    room[_MIDDLES] += max(free[_ANSWERS], 0)
    return room


def _class_of(exchange: Exchange) -> str:
    if exchange.kind == EVENT:
        return _EVENTS
    if not _is_by_user(exchange):
        return _MIDDLES if exchange.kind == UNFINISHED else _ANSWERS
    return _PROMPTS


def _size(exchange: Exchange) -> int:
    """Return about how many bytes a message takes in the state."""
    return _AROUND + len(exchange.text.encode()) + len(exchange.settles.encode())


def _excess_prompts(exchanges: tuple[Exchange, ...]) -> frozenset[int]:
    """Return the places of prompts for which there is no room.

    They are those that the fewest later messages came back to; the first request, the newest
    prompts and refusals stay longest.
    """
    places = [
        place
        for place, exchange in enumerate(exchanges)
        if _is_by_user(exchange) and not is_talk(exchange)
    ]
    excess = sum(_size(exchanges[place]) for place in places) - ROOM[_PROMPTS]
    if excess <= 0:
        return frozenset()
    from gitguard.state.subjects import Subjects

    subjects = Subjects(exchange.text for exchange in exchanges)
    terms = [subjects.of(exchange.text) for exchange in exchanges]

    def weight(place: int) -> tuple[bool, int, int]:
        # The next message is the answer to it, which speaks of the same anyway.
        later = sum(not terms[place].isdisjoint(of) for of in terms[place + 2 :])
        return is_refusal(exchanges[place]), later, place

    dropped = set()
    for place in sorted(_older_prompts(exchanges, places), key=weight):
        if excess <= 0:
            break
        dropped.add(place)
        excess -= _size(exchanges[place])
    return frozenset(dropped)


def _older_prompts(exchanges: tuple[Exchange, ...], places: list[int]) -> list[int]:
    """Return the places of prompts that are neither the first request nor among the newest."""
    room = NEWEST_PROMPTS
    older = []
    for place in reversed(places):
        room -= _size(exchanges[place])
        if room < 0 and place not in (places[0], places[-1]):
            older.append(place)
    return older


def shortened(exchange: Exchange) -> Exchange:
    """Return what is kept of a message that is one of the oldest."""
    return exchange if len(exchange.text) <= SHORT else _cut(exchange, SHORT)


def is_shortening(short: Exchange, exchange: Exchange) -> bool:
    """Say whether a message is what the thread made of another one as newer ones came."""
    for limit in STEPS:
        if len(exchange.text) > limit:
            exchange = _cut(exchange, limit)
            if exchange == short:
                return True
    return False


def _cut(exchange: Exchange, limit: int) -> Exchange:
    if _is_by_user(exchange):
        return exchange.replace(text=gist(exchange.text, limit))
    return exchange.replace(text=conclusions(exchange.text, limit, is_open=False))


def lasting_words(exchanges: tuple[Exchange, ...]) -> tuple[Exchange, ...]:
    """Return what the user said for a task and may hold beyond it, the newest of it.

    That is what they refused, and what they said behind the task's first sentence, if it names
    something and does not only ask.
    """
    from gitguard.state.subjects import Subjects

    subjects = Subjects(exchange.text for exchange in exchanges)
    heard = [e for e in exchanges if is_heard(e) and e.kind != SMALL_TALK]
    lasting: list[Exchange] = []
    for place, exchange in enumerate(heard):
        if is_refusal(exchange) or (place and not subjects.says_little(exchange.text)):
            lasting.append(exchange)
        elif place == 0:
            later_sentences = [s for s in sentences(exchange.text)[1:] if not is_question(s)]
            lasting += [exchange.replace(text=" ".join(later_sentences))] if later_sentences else []
    return tuple(lasting[-MOST_LASTING:])


def labelled(exchange: Exchange) -> str:
    """Return a message in one line, after who vouches for it if that is not this machine's host.

    The label stands in front, because the end may be cut.
    """
    text = labelled_text(one_line(exchange.text), exchange.origin)
    return f"(from the transcript) {text}" if exchange.origin.is_read else text


# The snapshot's thread


def key_exchanges(exchanges: tuple[Exchange, ...]) -> tuple[Exchange, ...]:
    """Return at most 8 messages: the first, the last four, and answers to long messages between."""
    if len(exchanges) <= KEY_EXCHANGES:
        return exchanges
    between = [e for e in exchanges[1:-4] if e.kind == ANSWER or is_refusal(e)]
    return (exchanges[0], *between[-(KEY_EXCHANGES - 5) :], *exchanges[-4:])


def summary(exchanges: tuple[Exchange, ...]) -> str:
    """Return the first and the last user message, or the only one, or nothing."""
    by_user = [shorten(labelled(e), SUMMARY_PART) for e in exchanges if is_heard(e)]
    return " ... ".join(by_user[:1] + by_user[1:][-1:])
