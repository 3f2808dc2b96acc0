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
    from collections.abc import Callable, Iterable

REFUSED = "refused"
"""What a refusal without words says."""
AT_LENGTH, SHORT = 1500, 400
"""Characters that are kept of the newest request and conclusion, and of each of the others."""
MOST_MARKED, MOST_REQUESTS, MOST_CONCLUSIONS, MOST_EVENTS = 22, 22, 14, 4
"""Messages that are kept: what corrects, constrains or refuses; other requests; conclusions; and
events."""
MARKED = frozenset({CORRECTION, CONSTRAINT})
KEY_EXCHANGES, KEY_GIST, SUMMARY_PART = 8, 120, 100
"""Messages in a snapshot's thread, and characters of each and of one in its summary."""


def said_by_user(text: str, origin: Origin, *, settles: str = "", kind: str = "") -> Exchange:
    """Return a prompt as the thread keeps it while it is the newest."""
    kind = kind or kind_of_prompt(text, settles=bool(settles))
    item_id = derived_id(USER, origin.conversation, origin.when, text)
    return Exchange(
        gist(text, AT_LENGTH), kind, settles, id=item_id, origin=origin.replace(by=USER)
    )


def refused_by_user(call: str, words: str, origin: Origin) -> Exchange:
    """Return a refusal of a call, with what the user said instead."""
    refusal = said_by_user(words or REFUSED, origin, settles=call, kind=CONSTRAINT)
    # Of calls at once, each is refused in the same words at the same time.
    item_id = derived_id(USER, origin.conversation, origin.when, refusal.text, call)
    return refusal.replace(id=item_id)


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
    item_id = derived_id(AGENT, origin.conversation, origin.when, text)
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
    if message.kind == EVENT:
        return _bounded((*exchanges, message))
    if _is_by_user(message):
        return _bounded((*_with_newest_shortened(exchanges, message), message))
    if not exchanges:
        return exchanges  # before the first user message nothing is an exchange
    last = exchanges[-1]
    if not _is_by_user(last) and last.text == message.text:
        return exchanges  # a turn that the host began may end with the same words
    if last.origin.conversation == message.origin.conversation:
        if last.kind == SMALL_TALK and not telling(message.text, SHORT):
            message = message.replace(kind=SMALL_TALK)
        if (last.kind, message.kind) == (CONCLUSION, UNFINISHED):
            # The host began this turn; the answer says where the work stood when one last ended.
            return _bounded((*exchanges, message))
        if not _is_by_user(last):
            exchanges = exchanges[:-1]  # of several in a turn the last stands for its answer
    return _bounded((*_with_newest_shortened(exchanges, message), message))


def _is_by_user(exchange: Exchange) -> bool:
    return exchange.origin.by == USER


def is_heard(exchange: Exchange) -> bool:
    """Say whether the user said it to the host, which told a hook of it at once."""
    return _is_by_user(exchange) and not exchange.origin.is_read


def _with_newest_shortened(
    exchanges: tuple[Exchange, ...], message: Exchange
) -> tuple[Exchange, ...]:
    """Shorten what was the newest of the same speaker before a message; small talk displaces none.

    An older answer that states nothing is dropped with it. One of another conversation stays: it
    shows that its request was answered.
    """
    if message.kind == SMALL_TALK:
        return exchanges
    kept = list(exchanges)
    for place in range(len(exchanges) - 1, -1, -1):
        exchange = exchanges[place]
        if exchange.kind in (SMALL_TALK, EVENT) or _is_by_user(exchange) != _is_by_user(message):
            continue
        short = shortened(exchange)
        if not short.text and exchange.origin.conversation != message.origin.conversation:
            short = exchange.replace(text=shorten(exchange.text, SHORT))
        kept[place : place + 1] = (short,) if short.text else ()
        if exchange.kind != UNFINISHED:  # an answer before it may be at length as well
            break
    return tuple(kept)


def _bounded(exchanges: tuple[Exchange, ...]) -> tuple[Exchange, ...]:
    """Drop what there is no room for, the oldest of each class first; the first request stays."""
    room = {
        "marked": MOST_MARKED,
        "requests": MOST_REQUESTS,
        "conclusions": MOST_CONCLUSIONS,
        "events": MOST_EVENTS,
    }
    kept: list[Exchange] = []
    is_at_end = True
    for place in range(len(exchanges) - 1, -1, -1):
        exchange = exchanges[place]
        if exchange.kind == SMALL_TALK:
            # At the end it tells what an answer answers; then nobody needs it any more.
            if is_at_end:
                kept.append(exchange)
            continue
        is_at_end = False
        name = "events" if exchange.kind == EVENT else "conclusions"
        if _is_by_user(exchange):
            name = "marked" if exchange.kind in MARKED else "requests"
        room[name] -= 1
        if room[name] >= 0 or (place == 0 and _is_by_user(exchange)):
            kept.append(exchange)
    return tuple(reversed(kept))


def shortened(exchange: Exchange) -> Exchange:
    """Return what is kept of a message that is not the newest any more; its text may be empty."""
    if _is_by_user(exchange):
        return exchange if len(exchange.text) <= SHORT else _with(exchange, gist)
    return _with(exchange, telling)


def _with(exchange: Exchange, cut: Callable[[str, int], str]) -> Exchange:
    return exchange.replace(text=cut(exchange.text, SHORT))


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
