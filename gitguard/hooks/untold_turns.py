"""Takes in turns of which no event told at all: gitguard hung, was missing or was switched off.

The host wrote their words into its transcript. No event vouches for a prompt from there, so it
counts as read.
"""

from __future__ import annotations

from gitguard.errors import GitguardError
from gitguard.hooks import capture
from gitguard.hooks.recorded import stated_in, unheard
from gitguard.hooks.unfinished import WRITTEN_WITHIN
from gitguard.model.text import seconds, timestamp
from gitguard.model.transcript import USER, Message
from gitguard.model.value import Value
from gitguard.state import entries
from gitguard.state.spoken import kept_words
from gitguard.store.session.state_file import newest_own

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from gitguard.hooks.conversation import Conversation
    from gitguard.store.session.host_session import HostSession

_DATED_WITHIN = 10.0
"""Seconds between a prompt's event and the date that the host gives its line."""


class UntoldTurn(Value):
    """A turn that stands in the transcript alone."""

    prompt: Message
    answer: str = ""


def find_untold_turns(
    messages: Iterable[Message], after: float, heard: Sequence[tuple[str, float]]
) -> tuple[UntoldTurn, ...]:
    """Return the turns that began after a time in Unix seconds with a prompt that nobody heard.

    heard are prompts with the times of their events.
    """
    turns: list[UntoldTurn] = []
    is_untold = False
    for message in messages:
        if message.role != USER:
            if is_untold:
                turns[-1] = turns[-1].replace(answer=message.text)
            continue
        is_untold = message.at > after and not any(
            message.text == text and abs(message.at - at) < _DATED_WITHIN for text, at in heard
        )
        if is_untold:
            turns.append(UntoldTurn(message))
    return tuple(turns)


def take_in_untold_turns(conversation: Conversation, before: HostSession) -> None:
    """Journal, before a turn begins, the turns of this conversation that no event told of.

    before is the conversation's record as the event found it. The lock is held.
    """
    record = conversation.with_transcript(before)
    ready = newest_own(conversation.store.states.read())
    if conversation.is_apart or not record.turns or ready is None:
        return
    exchanges = conversation.store.folded(ready)[0].exchanges
    heard = [(e.text, seconds(e.when)) for e in exchanges if e.origin.by == USER]
    heard += [(prompt.text, seconds(prompt.at)) for prompt in record.unconfirmed]
    prompt = _as_kept(conversation, Message(USER, conversation.event.prompt))
    heard.append((prompt.text, conversation.workspace.clock()))
    try:
        messages = [_as_kept(conversation, message) for message in unheard(record)[0]]
    except GitguardError as error:
        conversation.note_fault(error)
        return
    after = record.turn_since
    if record.is_in_turn or record.awaits_answer:
        after += WRITTEN_WITHIN  # its prompt may stand there in other words, a little later
    for turn in find_untold_turns(messages, after, heard):
        _journal(conversation, turn)


def _as_kept(conversation: Conversation, message: Message) -> Message:
    """Return a message, if it is a prompt as prompts are kept while they are the newest."""
    from gitguard.state.prompts import gist
    from gitguard.state.thread import AT_LENGTH

    if message.role != USER:
        return message
    words = kept_words(
        capture.clean_prompt(conversation, message.text), conversation.config.capture.words
    )
    return message.replace(text=gist(words, AT_LENGTH))


def _journal(conversation: Conversation, turn: UntoldTurn) -> None:
    at = timestamp(min(turn.prompt.at, conversation.workspace.clock()))
    prompt = conversation.entry(entries.PROMPT_READ, summary=turn.prompt.text).without_call()
    conversation.store.journal.append(prompt.replace(at=at))
    turns = conversation.record.turns + 1
    conversation.record = conversation.record.replace(turns=turns, ended_turns=turns)
    if words := stated_in(conversation, turn.answer):
        ended = conversation.entry(entries.TURN_ENDED, summary=words).without_call()
        conversation.store.journal.append(ended.replace(at=at))
