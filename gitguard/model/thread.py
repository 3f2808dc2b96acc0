"""The thread of a conversation, drawn from its messages without a model.

Kept are the first user message, every one that answers a long message of the agent, and the last
two pairs (references/design/capture.md, "The thread").
"""

from __future__ import annotations

from gitguard.model import fields
from gitguard.model.record import Record
from gitguard.model.text import one_line, timestamp
from gitguard.model.transcript import AGENT, USER

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from gitguard.model.transcript import Message

MOST_EXCHANGES = 8
GIST, SUMMARY_PART = 120, 100
"""Characters of a message in an exchange, and of each of the two in the summary."""
LONG_ANSWER, SHORT_REPLY = 500, 50
"""An agent's message is long above the one; below the other a user's is short."""
_LAST_PAIRS = 2
_LOOKED_AT = 10_000
"""Characters within which a gist is looked for, so that a pasted file costs no more than a line."""


class Exchange(Record):
    """One message of the thread."""

    role: str = fields.text("Who said it.", choices=(USER, AGENT))
    gist: str = fields.text("Its first 120 characters, in one line.")
    when: str = fields.text("When it was said, empty if unknown.", default="")
    pivot: bool = fields.flag(
        "The user answered a long message of the agent: often a decision.", default=False
    )
    long: bool = fields.flag("A message of the agent of more than 500 characters.", default=False)


def is_decision(agent_length: int, user_text: str) -> bool:
    """Say whether a short reply to a long answer looks like a decision."""
    return agent_length > LONG_ANSWER and 0 < len(user_text.strip()) < SHORT_REPLY


def extend(
    exchanges: tuple[Exchange, ...],
    messages: Iterable[Message],
    clean: Callable[[str], str] | None = None,
) -> tuple[Exchange, ...]:
    """Add messages, oldest first, to what is kept of those before them.

    Of several agent messages in a turn the last stands for its answer. A user message that is not
    answered yet is kept besides the last two pairs. When more than 8 would be kept, the oldest
    pivots go at once, so adding piece by piece gives the same as adding all.

    clean takes secrets out of a message's text. Only what is kept is cleaned, because that takes
    far longer than to choose it.
    """
    sources: dict[int, Message] = {}  # by the identity of the exchange
    for message in messages:
        when = timestamp(message.at) if message.at else ""
        before, exchanges = exchanges, add(exchanges, exchange_of(message.role, message.text, when))
        if exchanges and not any(exchanges[-1] is other for other in before):
            sources[id(exchanges[-1])] = message
        sources = {id(item): sources[id(item)] for item in exchanges if id(item) in sources}
    if clean is None:
        return exchanges
    return tuple(
        _cleaned(item, clean(sources[id(item)].text)) if id(item) in sources else item
        for item in exchanges
    )


def _cleaned(exchange: Exchange, text: str) -> Exchange:
    clean = exchange_of(exchange.role, text, exchange.when)
    return exchange.replace(gist=clean.gist, long=clean.long)


def exchange_of(role: str, text: str, when: str) -> Exchange:
    """Return a message as the thread keeps it; one without text has an empty gist."""
    gist = one_line(text.lstrip()[:_LOOKED_AT])[:GIST]
    return Exchange(role, gist, when, long=role == AGENT and len(text) > LONG_ANSWER)


def add(exchanges: tuple[Exchange, ...], said: Exchange) -> tuple[Exchange, ...]:
    """Add one message to what is kept of those before it."""
    if not said.gist:
        return exchanges
    if said.role == USER:
        pivot = said.pivot or (bool(exchanges) and exchanges[-1].long)
        return _thinned((*exchanges, said.replace(pivot=pivot)))
    if not exchanges:
        return exchanges  # before the first user message nothing is an exchange
    if said.replace(when=exchanges[-1].when) == exchanges[-1]:
        return exchanges  # a turn may end twice
    return _thinned((*_unanswered(exchanges), said))


def _unanswered(exchanges: tuple[Exchange, ...]) -> tuple[Exchange, ...]:
    return exchanges[:-1] if exchanges[-1].role == AGENT else exchanges


def _thinned(exchanges: tuple[Exchange, ...]) -> tuple[Exchange, ...]:
    always = _always_kept(exchanges)
    pivots = [i for i, one in enumerate(exchanges) if one.pivot and i not in always]
    room = MOST_EXCHANGES - len(always)
    kept = always.union(pivots[max(len(pivots) - room, 0) :])
    return tuple(exchanges[i] for i in sorted(kept))


def _always_kept(exchanges: tuple[Exchange, ...]) -> set[int]:
    # An agent's message is only ever kept right behind the user's that it answers.
    answers = [i for i, one in enumerate(exchanges) if one.role == AGENT][-_LAST_PAIRS:]
    return {0, len(exchanges) - 1, *answers, *(i - 1 for i in answers)}


def summary(exchanges: tuple[Exchange, ...]) -> str:
    """Return the first and the last user message, or the only one, or nothing."""
    said = [exchange.gist[:SUMMARY_PART] for exchange in exchanges if exchange.role == USER]
    return " ... ".join(said[:1] + said[1:][-1:])
