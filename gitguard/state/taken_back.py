"""Turns that the user took back in the host: which they are, and the state without them.

Their words stay in the journal and in older checkpoints. They are no one's request, goal or limit
any more. What was done in them may still be there, so the state keeps that.
"""

from __future__ import annotations

from gitguard.model.text import one_line, seconds, shorten
from gitguard.model.transcript import USER
from gitguard.state.items import EVENT, SMALL_TALK, Origin
from gitguard.state.prompts import REQUEST_LIMIT, gist
from gitguard.state.thread import (
    happened,
    is_heard,
    is_refusal,
    is_shortening,
    said_by_user,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from gitguard.model.transcript import Message, PromptHistory
    from gitguard.state.items import Exchange
    from gitguard.state.task import TaskState

_COMPARED = 20
"""Characters with which every shortening of a prompt begins."""
_QUOTED = 100
"""Characters of the first prompt that was taken back, in the sentence that says so."""


def find_taken_back(
    exchanges: Iterable[Exchange], conversation: str, since: str, history: PromptHistory
) -> tuple[Exchange, ...]:
    """Return what was said in turns of a conversation that the user took back, oldest first.

    since is when the conversation began. The prompts of the history are as prompts are kept.
    """
    taken_back: list[Exchange] = []
    is_taken_back = False
    for exchange in exchanges:
        origin = exchange.origin
        if origin.conversation != conversation or exchange.when < since or exchange.kind == EVENT:
            continue
        if origin.by == USER:
            is_taken_back = _is_taken_back(exchange, history, before=is_taken_back)
        if is_taken_back:
            taken_back.append(exchange)
    return tuple(taken_back)


def _is_taken_back(exchange: Exchange, history: PromptHistory, *, before: bool) -> bool:
    """Say whether the turn is taken back in which the user said something.

    before is the answer for what was said before that. The host has no prompt of a refusal or of an
    answer to a question: these belong to the turn in which they came.
    """
    prompt = _recorded(exchange, history.prompts)
    if prompt is not None:
        return prompt.is_taken_back
    if 0 <= history.removed_since <= seconds(exchange.when) and not is_refusal(exchange):
        return True
    return before and bool(exchange.settles)


def _recorded(exchange: Exchange, prompts: Sequence[Message]) -> Message | None:
    """Return the prompt of the host's record that has these words; the nearest in time of several.

    An exchange may be a shortening of what was said.
    """
    beginning = exchange.text[:_COMPARED].rstrip("…")
    alike = [p for p in prompts if one_line(p.text).startswith(beginning)]
    alike = [p for p in alike if _has_words_of(exchange, p)]
    when = seconds(exchange.when)
    return min(alike, key=lambda prompt: abs(prompt.at - when), default=None)


def _has_words_of(exchange: Exchange, prompt: Message) -> bool:
    whole = said_by_user(prompt.text, exchange.origin, settles=exchange.settles, kind=exchange.kind)
    whole = whole.replace(id=exchange.id, origin=exchange.origin)
    return whole.text == exchange.text or is_shortening(exchange, whole)


def told_taken_back(prompt: str, origin: Origin) -> Exchange:
    """Return what is said of turns that were taken back, the first of which a prompt began."""
    quoted = shorten(one_line(prompt), _QUOTED)
    return happened(
        f"The prompt “{quoted}” and all that followed it until then was taken back in the host; "
        "what was done for it may still be there",
        origin,
    )


def without_taken_back(state: TaskState, taken_back: Sequence[Exchange]) -> TaskState:
    """Return the state whose exchanges are without some that the user took back.

    A goal or next action that comes from such a prompt gives way to what they asked for and stands,
    and what lasted beyond an earlier task goes as well.
    """
    if not taken_back:
        return state
    ids = {exchange.id for exchange in taken_back}
    notes = tuple(note for note in state.earlier_notes if note.id not in ids)
    changes: dict[str, Any] = {"earlier_notes": notes}
    prompts = [e for e in taken_back if e.origin.by == USER]
    if _comes_from(state.goal_from, prompts):
        later = [e for e in _requests(state, prompts) if e.when >= prompts[0].when]
        changes |= _headline("goal", later[:1])
    if _comes_from(state.next_from, prompts):
        changes |= _headline("next_action", _requests(state, prompts)[-1:])
    return state.replace(**changes)


def _comes_from(origin: Origin | None, prompts: Iterable[Exchange]) -> bool:
    """Say whether a goal or next action comes from one of these prompts."""
    if origin is None or origin.by != USER:
        return False
    return any(
        prompt.origin.conversation == origin.conversation and _turn_of(prompt) == origin.turn
        for prompt in prompts
    )


def _turn_of(prompt: Exchange) -> int:
    """Return the turn that a prompt began: it comes before that is counted."""
    return prompt.origin.turn + 1


def _requests(state: TaskState, prompts: Sequence[Exchange]) -> list[Exchange]:
    """Return what the user asked for in the conversation of some prompts, and stands."""
    conversation = prompts[0].origin.conversation
    heard = (e for e in state.exchanges if e.origin.conversation == conversation and is_heard(e))
    return [e for e in heard if e.kind != SMALL_TALK and not is_refusal(e)]


def _headline(field: str, requests: Sequence[Exchange]) -> dict[str, Any]:
    from gitguard.state.task import START

    name = "goal_from" if field == "goal" else "next_from"
    if not requests:
        return {field: START, name: None}
    request = requests[0]
    origin = request.origin.replace(turn=_turn_of(request))
    return {field: gist(request.text, REQUEST_LIMIT), name: origin}
