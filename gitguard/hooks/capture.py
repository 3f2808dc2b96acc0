"""Writes what was said into the journal, and the prompt where the agent has noted nothing yet."""

from __future__ import annotations

import os
from functools import partial

from gitguard.errors import GitguardError, Pending
from gitguard.model import triggers
from gitguard.model.text import one_line
from gitguard.model.thread import GIST, Exchange, is_decision
from gitguard.model.transcript import USER
from gitguard.store.session import entries, state_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitguard.hooks.conversation import Conversation
    from gitguard.store.session.entries import Entry
    from gitguard.store.session.state_file import Diagnosed, Ready
    from gitguard.store.session.task import TaskState

PROMPT_LIMIT = 2000
_MESSAGE_BEGINS = 16_384
_ANSWER_LIMIT = 600
"""Enough of an answer to begin its gist with, and to tell a long one from a short one."""


def record_prompt(conversation: Conversation, reading: Ready | Diagnosed) -> None:
    """Journal the event's prompt, which begins a new task where the last one is done."""
    prompt = clean(conversation, one_line(conversation.event.prompt))
    if not prompt:
        return
    ready = None if reading.standing == state_file.EDITED else state_file.newest_own(reading)
    state = ready.state if ready is not None else None
    if ready is not None and ready.state.is_done:
        from gitguard.sessions.notes import end_task
        from gitguard.store.session.task import new_task

        try:
            ready = end_task(conversation.store, ready)
            state = new_task(
                conversation.store.session.key, conversation.store.now, after=ready.state.task_id
            )
        except Pending as error:
            conversation.note_fault(error)
            state = None
    journal_prompt(conversation, prompt)
    if ready is not None and state is not None:
        _fill(conversation, state, ready, prompt)


def journal_prompt(conversation: Conversation, prompt: str) -> None:
    """Journal a prompt, with the gist of the answer that it settles."""
    if not prompt:
        return
    answer = conversation.record.answer
    settles = answer if is_decision(len(answer), conversation.event.prompt) else ""
    entry = conversation.entry(entries.PROMPT, summary=prompt)
    conversation.store.journal.append(entry.replace(settles=one_line(settles)[:GIST]))
    conversation.record = conversation.record.replace(answer="")


def _fill(conversation: Conversation, state: TaskState, before: Ready, prompt: str) -> None:
    """Put the prompt where the agent has noted no goal or next action yet."""
    from gitguard.store.session.task import fill_mechanically

    goal = {} if state.stated_goal else {"goal": prompt}
    filled = fill_mechanically(state, {**goal, "next_action": prompt})
    if filled == before.state:
        return
    saved = conversation.store.save(filled.replace(updated_at=conversation.store.now), before)
    conversation.store.write_summary(saved.state)
    if filled.task_id != before.state.task_id:
        conversation.checkpoint(triggers.START, "A new task begins.", ready=saved)


def record_answer(conversation: Conversation) -> None:
    """Journal the answer that ends a turn."""
    answer = clean(conversation, conversation.event.answer.strip(), _ANSWER_LIMIT)
    conversation.store.journal.append(conversation.entry(entries.TURN_ENDED, summary=answer))
    conversation.record = conversation.record.replace(answer=answer)


def catch_up(conversation: Conversation, reading: Ready | Diagnosed) -> None:
    """Journal what was said before we first heard of the conversation."""
    transcript = conversation.event.transcript
    if conversation.record.turns or transcript is None or not os.path.exists(transcript.path):
        return
    from gitguard.model.thread import extend
    from gitguard.transcripts import find_format

    try:
        messages = find_format(transcript.format).messages(transcript, conversation.unread.append)
        unheard = extend((), messages, partial(_without_secrets, conversation))
    except GitguardError as error:
        conversation.note_fault(error)
        return
    prompt = one_line(conversation.event.prompt)
    if unheard and unheard[-1].role == USER and prompt.startswith(unheard[-1].gist):
        unheard = unheard[:-1]  # the prompt itself, which the host wrote down before it told us
    own = state_file.newest_own(reading) if unheard else None
    exchanges = conversation.store.folded(own)[0].exchanges if own is not None else ()
    for exchange in unheard:
        # A conversation that was forgotten, or goes on under another name, is known so far.
        if not exchanges or exchange.when > exchanges[-1].when:
            conversation.store.journal.append(_said_before(conversation, exchange))


def clean(conversation: Conversation, text: str, limit: int = PROMPT_LIMIT) -> str:
    """Return a text without secrets, and no longer than the limit."""
    return conversation.workspace.redactor.shorten(text, limit)


def _without_secrets(conversation: Conversation, text: str) -> str:
    # Of a message only the beginning is kept, and how long it was.
    return conversation.workspace.redactor.text(text[:_MESSAGE_BEGINS]) + text[_MESSAGE_BEGINS:]


def _said_before(conversation: Conversation, exchange: Exchange) -> Entry:
    event = entries.PROMPT if exchange.role == USER else entries.TURN_ENDED
    now = conversation.store.now
    return conversation.entry(event, summary=exchange.gist).replace(
        at=min(exchange.when or now, now), pivot=exchange.pivot, long=exchange.long
    )


def close_open_calls(conversation: Conversation) -> None:
    """Journal calls that began and never ended as interrupted.

    At a conversation's first prompt that goes for all of them: their hosts may be dead. If one
    is not, the end of the call still counts when it comes.
    """
    first = conversation.record.turns == 0
    for entry in conversation.store.journal.open_calls():
        own = entry.host_session == conversation.event.host_session and not entry.sub_agent
        if own or first:
            interrupted = entry.replace(event=entries.INTERRUPTED, at=conversation.store.now)
            conversation.store.journal.append(interrupted)
