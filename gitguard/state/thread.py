"""The thread of a conversation: which of its messages are kept, and how much of each.

Kept are the first request, the newest ones, what corrects or constrains the work for longest, and
the newest conclusions of the agent. The newest request and conclusion are kept at length, the
others short (references/design/capture.md, "The thread"). All of it is decided message by message,
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
    CORRECTION,
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
from gitguard.state.prompts import gist, kind_of_prompt

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

REFUSED = "refused"
"""What a refusal without words says."""
AT_LENGTH, SHORT = 2_400, 400
KEPT = (AT_LENGTH, 1_000, 1_000, 600, 600, 600, SHORT)
"""Characters that are kept of a message, by how many newer full ones the same speaker said."""
FULL = 300
"""Characters above which a message is a full one."""
_MARKED, _REQUESTS, _ANSWERS, _MIDDLES, _EVENTS = CLASSES = (
    "marked", "requests", "answers", "middles", "events",
)  # fmt: skip
_OF_THE_USER, _OF_THE_AGENT = (_MARKED, _REQUESTS), (_ANSWERS, _MIDDLES)
KIB = 1 << 10
ROOM = {
    _MARKED: 6 * KIB,
    _REQUESTS: 6 * KIB,
    _ANSWERS: 9 * KIB,
    _MIDDLES: 2 * KIB,
    _EVENTS: 1 * KIB,
}
"""Bytes for what corrects, constrains or refuses; for other requests; for the agent's answers; for
what it said in the middle of turns; and for events."""
_AROUND = 240
"""Bytes that the state takes for a message besides its words."""
MARKED = frozenset({CORRECTION, CONSTRAINT})
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


def read_prompt(text: str, origin: Origin, *, settles: str = "") -> Exchange:
    """Return what a transcript has as a prompt.

    It corrects and limits nothing: an agent can write into that file as well.
    """
    kind = kind_of_prompt(text, settles=bool(settles))
    message = said_by_user(text, origin, settles=settles, kind=REQUEST if kind in MARKED else kind)
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
        return _bounded((*exchanges, message))
    if not exchanges:
        return exchanges  # before the first user message nothing is an exchange
    last = exchanges[-1]
    if not _is_by_user(last) and last.text == message.text:
        return exchanges  # a turn that the host began may end with the same words
    if last.origin.conversation == message.origin.conversation:
        if last.kind == SMALL_TALK and not telling(message.text, SHORT):
            message = message.replace(kind=SMALL_TALK)
        exchanges = _without_replaced(exchanges, message)
    return _bounded((*exchanges, message))


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
    """Say whether a message says enough that those before it need less room."""
    return exchange.kind != UNFINISHED and len(exchange.text) > FULL


def answer_before_last(answers: Sequence[Exchange]) -> tuple[Exchange, ...]:
    """Return the newest answer that says where the work stood, if the last words say little.

    answers has the agent's words, the newest first. Behind a turn that was cut off, any answer says
    more than nothing.
    """
    if not answers or is_full(answers[0]):
        return ()
    ended = [answer for answer in answers[1:] if answer.kind == CONCLUSION]
    full = [answer for answer in ended if is_full(answer)]
    return tuple(full or (ended if answers[0].kind == UNFINISHED else ()))[:1]


def _bounded(exchanges: tuple[Exchange, ...]) -> tuple[Exchange, ...]:
    """Shorten what is old, and drop the oldest of each class for which there is no room.

    The first request and the newest message of each class stay.
    """
    exchanges = _shortened_by_age(exchanges)
    room = _room_for(exchanges)
    is_at_end, classes = True, set[str]()
    kept: list[Exchange] = []
    for place in range(len(exchanges) - 1, -1, -1):
        exchange = exchanges[place]
        if exchange.kind == SMALL_TALK:
            # At the end it tells what an answer answers; then nobody needs it any more.
            if is_at_end:
                kept.append(exchange)
            continue
        is_at_end = False
        name = _class_of(exchange)
        room[name] -= _size(exchange)
        is_first = place == 0 and _is_by_user(exchange)
        if room[name] >= 0 or name not in classes or is_first:
            kept.append(exchange)
        classes.add(name)
    return tuple(reversed(kept))


def _shortened_by_age(exchanges: tuple[Exchange, ...]) -> tuple[Exchange, ...]:
    """Cut each message to the length that it keeps by the number of newer full ones.

    Only full messages of the same speaker count, so that what the agent says in passing, and a
    request of three words, cost the last full one nothing.
    """
    newer = {True: 0, False: 0}
    kept: list[Exchange] = []
    for exchange in reversed(exchanges):
        if exchange.kind not in (SMALL_TALK, EVENT):
            limit = KEPT[min(newer[_is_by_user(exchange)], len(KEPT) - 1)]
            newer[_is_by_user(exchange)] += is_full(exchange)
            if len(exchange.text) > limit:
                exchange = _cut(exchange, limit)
        kept.append(exchange)
    return tuple(reversed(kept))


def _room_for(exchanges: tuple[Exchange, ...]) -> dict[str, int]:
    """Return the bytes for each class; what one of a pair leaves free is the other's."""
    free = dict(ROOM)
    for exchange in exchanges:
        free[_class_of(exchange)] -= _size(exchange)
    room = dict(ROOM)
    for one, other in (_OF_THE_USER, _OF_THE_AGENT):
        room[one] += max(free[other], 0)
        room[other] += max(free[one], 0)
    return room


def _class_of(exchange: Exchange) -> str:
    if exchange.kind == EVENT:
        return _EVENTS
    if not _is_by_user(exchange):
        return _MIDDLES if exchange.kind == UNFINISHED else _ANSWERS
    return _MARKED if exchange.kind in MARKED else _REQUESTS


def _size(exchange: Exchange) -> int:
    """Return about how many bytes a message takes in the state."""
    return _AROUND + len(exchange.text.encode()) + len(exchange.settles.encode())


def shortened(exchange: Exchange) -> Exchange:
    """Return what is kept of a message that is one of the oldest."""
    return exchange if len(exchange.text) <= SHORT else _cut(exchange, SHORT)


def is_shortening(short: Exchange, exchange: Exchange) -> bool:
    """Say whether a message is what the thread made of another one as newer ones came."""
    for limit in sorted(set(KEPT), reverse=True):
        if len(exchange.text) > limit:
            exchange = _cut(exchange, limit)
            if exchange == short:
                return True
    return False


def _cut(exchange: Exchange, limit: int) -> Exchange:
    cut = gist if _is_by_user(exchange) else conclusions
    return exchange.replace(text=cut(exchange.text, limit))


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
    between = [e for e in exchanges[1:-4] if e.kind == ANSWER or e.kind in MARKED]
    return (exchanges[0], *between[-(KEY_EXCHANGES - 5) :], *exchanges[-4:])


def summary(exchanges: tuple[Exchange, ...]) -> str:
    """Return the first and the last user message, or the only one, or nothing."""
    by_user = [shorten(labelled(e), SUMMARY_PART) for e in exchanges if is_heard(e)]
    return " ... ".join(by_user[:1] + by_user[1:][-1:])
