"""Writes what was said into the journal, and the prompt where the agent has noted nothing yet."""

from __future__ import annotations

import os

from gitguard.errors import GitguardError, Pending
from gitguard.hooks.recorded import take_in_ends
from gitguard.model import triggers
from gitguard.model.config.config import WORDS_WHOLE
from gitguard.model.text import cut_middle
from gitguard.model.transcript import AGENT, USER
from gitguard.model.value import Value
from gitguard.state import entries
from gitguard.state.items import ANSWER, SMALL_TALK
from gitguard.store.session import state_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitguard.hooks.conversation import Conversation
    from gitguard.model.transcript import Message
    from gitguard.state.entries import JournalEntry
    from gitguard.state.items import Exchange, Origin
    from gitguard.state.task import TaskState
    from gitguard.store.session.state_file import OwnState, UnusableState

PROMPT_LIMIT = 2000
_LOOKED_AT = 16_384
"""Characters of an answer, or of an older message, that are searched for secrets and read."""
_MOST_MESSAGES = 200
"""Messages of a conversation that is first heard of now; the newest are read, and its first."""


def record_prompt(
    conversation: Conversation, reading: OwnState | UnusableState, *, entry: str = entries.PROMPT
) -> None:
    """Journal the event's prompt, which begins a new task where the last one is done.

    entry is the kind of the journal's entry.
    """
    prompt = clean_prompt(conversation, conversation.event.prompt)
    if not prompt:
        return
    ready, state = _task_at(conversation, reading)
    settles = journal_prompt(conversation, prompt, entry)
    if ready is not None and state is not None:
        kind = _kind_so_far(conversation, state, prompt, settles)
        conversation.record = conversation.record.replace(undecided=kind == SMALL_TALK)
        _fill(conversation, state, ready, _Asked(prompt, kind, conversation.record.turns + 1))


def take_up_request(conversation: Conversation) -> None:
    """Fill in the newest prompt once its turn has shown that it asked for something."""
    if not conversation.record.undecided:
        return
    reading = conversation.store.states.read()
    if isinstance(reading, state_file.UnusableState):
        return  # only a repair takes its place
    conversation.record = conversation.record.replace(undecided=False)
    newest = state_file.newest_own(reading)
    prompts = _heard_in_conversation(conversation, newest) if newest is not None else []
    if not prompts or prompts[-1].kind in (SMALL_TALK, ANSWER):
        return
    ready, state = _task_at(conversation, reading)
    if ready is not None and state is not None:
        asked = _Asked(prompts[-1].text, prompts[-1].kind, conversation.record.turns)
        _fill(conversation, state, ready, asked)


class _Asked(Value):
    """A prompt, and what it is as far as its turn tells."""

    text: str
    kind: str
    turn: int


def _task_at(
    conversation: Conversation, reading: OwnState | UnusableState
) -> tuple[OwnState | None, TaskState | None]:
    """Return the state as it was read, and the task at work: a new one where that is done."""
    ready = None if reading.standing == state_file.EDITED else state_file.newest_own(reading)
    if ready is None or not ready.state.is_done:
        return ready, ready.state if ready is not None else None
    from gitguard.sessions.notes import end_task
    from gitguard.state.task import new_task

    try:
        ready = end_task(conversation.store, ready)
    except Pending as error:
        conversation.note_fault(error)
        return ready, None
    key = conversation.store.session.key
    return ready, new_task(key, conversation.store.now, before=ready.state)


def _kind_so_far(conversation: Conversation, state: TaskState, prompt: str, settles: str) -> str:
    """Return what a prompt is before its turn has done anything."""
    from gitguard.state.talk import Prompt, TurnSeen, kind_by_work

    since = conversation.record.started_at
    newest = Prompt(prompt, conversation.event.host_session, settles, since)
    return kind_by_work(newest, TurnSeen(), state, state.exchanges)


def journal_prompt(conversation: Conversation, prompt: str, kind: str = entries.PROMPT) -> str:
    """Journal a prompt; return what the agent had asked or said where it answers that."""
    if not prompt:
        return ""
    from gitguard.state.prompts import question_answered

    answer = "" if conversation.has_changed_task else conversation.record.answer
    settles = question_answered(answer, conversation.event.prompt)
    entry = conversation.entry(kind, summary=prompt)
    since = conversation.record.started_at
    conversation.store.journal.append(entry.replace(settles=settles, since=since))
    conversation.record = conversation.record.replace(answer="")
    return settles


def _fill(conversation: Conversation, state: TaskState, before: OwnState, asked: _Asked) -> None:
    """Put the prompt where the agent has noted no goal or next action yet."""
    filled = _filled(conversation, state, before, asked)
    if filled == before.state:
        return
    saved = conversation.store.save(filled.replace(updated_at=conversation.store.now), before)
    conversation.store.write_summary(saved.state)
    if filled.task_id != before.state.task_id:
        is_known = any(task.task_id == filled.task_id for task in before.state.earlier)
        why = "The conversation continues with its own task." if is_known else "A new task begins."
        conversation.checkpoint(triggers.START, why, ready=saved)


def _filled(
    conversation: Conversation, state: TaskState, before: OwnState, asked: _Asked
) -> TaskState:
    """Return the conversation's task with the prompt as its goal or next action.

    What may be talk stands there only while nothing else does. It begins no task in place of the
    one before, but goes on with the conversation's own.
    """
    from gitguard.state.changes import fill_from_prompt
    from gitguard.state.items import Origin
    from gitguard.state.prompts import REQUEST_LIMIT, gist
    from gitguard.state.spoken import kept_words
    from gitguard.state.task import START, as_of, following

    store, host_session = conversation.store, conversation.event.host_session
    own_state = as_of(state, host_session, store.now)
    may_be_talk = asked.kind == SMALL_TALK
    if may_be_talk and not (state is before.state and own_state.is_untouched):
        return before.state if own_state is state else own_state
    state = own_state
    if not may_be_talk and _begins_another_task(conversation, state, before):
        state = following(state, store.now)
        next_from = state.next_from
        if next_from is not None and next_from.conversation in conversation.beside().busy:
            state = state.replace(next_action=START, next_from=None)
    origin = Origin(USER, store.now, host_session, asked.turn)
    request = kept_words(gist(asked.text, REQUEST_LIMIT), conversation.config.capture.words)
    if not request:
        return state
    is_goal = not state.stated_goal or _is_provisional(conversation, state, before)
    goal = {"goal": request} if is_goal else {}
    return fill_from_prompt(state, {**goal, "next_action": request}, origin)


def _is_provisional(conversation: Conversation, state: TaskState, before: OwnState) -> bool:
    """Say whether the goal is only what was said before anything was asked for."""
    from gitguard.state.prompts import is_brief, is_lone_command

    goal_from, goal = state.goal_from, state.stated_goal
    is_open = is_brief(goal) or is_lone_command(goal)
    if goal_from is None or state.is_noted("goal") or not is_open:
        return False
    return _is_of_conversation(conversation, goal_from) and not _has_asked(conversation, before)


def _has_asked(conversation: Conversation, before: OwnState) -> bool:
    """Say whether the user asked for something in this conversation before the newest prompt."""
    from gitguard.state.prompts import is_lone_command

    earlier = (e for e in _heard_in_conversation(conversation, before)[:-1] if e.kind != SMALL_TALK)
    return any(not is_lone_command(e.text) for e in earlier)


def _heard_in_conversation(conversation: Conversation, before: OwnState) -> list[Exchange]:
    """Return what was heard of the user in this conversation, with what the journal adds."""
    from gitguard.state.thread import is_heard

    exchanges = conversation.store.folded(before)[0].exchanges
    return [e for e in exchanges if is_heard(e) and _is_of_conversation(conversation, e.origin)]


def _is_of_conversation(conversation: Conversation, origin: Origin) -> bool:
    """Say whether something comes from this conversation, not from one before it of its name."""
    is_named = origin.conversation == conversation.event.host_session
    return is_named and origin.when >= conversation.record.started_at


def _begins_another_task(conversation: Conversation, state: TaskState, before: OwnState) -> bool:
    """Whether the goal is only what the user asked in another conversation, or one works at it.

    A goal that was noted outside of any other conversation at work stays until it is replaced.
    """
    if not state.stated_goal:
        return False
    goal_from = state.goal_from
    if goal_from is not None and goal_from.conversation in conversation.beside().busy:
        return True
    if state.is_noted("goal"):
        return False
    if conversation.has_changed_task:
        return goal_from is None or goal_from.conversation != conversation.event.host_session
    is_own = goal_from is not None and _is_of_conversation(conversation, goal_from)
    if conversation.record.turns and (is_own or _has_asked(conversation, before)):
        return False
    return goal_from is None or goal_from.when < conversation.record.started_at


def record_answer(conversation: Conversation) -> None:
    """Journal what the answer that ends a turn states."""
    from gitguard.state.answers import conclusions
    from gitguard.state.thread import AT_LENGTH

    # Secrets are taken out first: a part of one would not be known for one.
    answer = _without_secrets(conversation, conversation.event.answer.strip())
    stated = conclusions(answer, AT_LENGTH) if answer else ""
    conversation.store.journal.append(conversation.entry(entries.TURN_ENDED, summary=stated))
    # The answer is kept for a short reply to it, which says what it answers.
    words = conversation.config.capture.words
    conversation.record = conversation.record.replace(answer=stated if words == WORDS_WHOLE else "")


def is_hosts_own(conversation: Conversation, text: str) -> bool:
    """Say whether the host's transcript shows a text as the host's own, such as an error."""
    if not text:
        return False
    from gitguard import transcripts

    try:
        return transcripts.is_hosts_own(conversation.event.transcript, text)
    except GitguardError as error:
        conversation.note_fault(error)
        return False


def record_summary(conversation: Conversation, began: float) -> None:
    """Keep the host's own summary whole, and journal what it says of where the work stands.

    began is when the compaction began, in Unix seconds; 0 if no event told.
    """
    summary = conversation.event.summary or _summary_in_transcript(conversation, began)
    if not summary or is_hosts_own(conversation, summary):
        return
    from gitguard.model.host_additions import without_ours
    from gitguard.sessions.host_summaries import keep_whole
    from gitguard.state.host_summary import (
        is_summary,
        kept_whole,
        standing_of,
        without_thinking,
    )
    from gitguard.state.thread import AT_LENGTH

    # Secrets are taken out first: a part of one would not be known for one.
    summary = conversation.workspace.redactor.text(without_ours(without_thinking(summary)))
    if not is_summary(summary):
        return
    entry = conversation.entry(entries.SUMMARY, summary=standing_of(summary, AT_LENGTH))
    if summary and conversation.config.capture.words == WORDS_WHOLE:
        whole = kept_whole(summary)
        whole_id = keep_whole(conversation.store, whole)
        entry = entry.replace(whole=whole_id, length=len(whole) if whole_id else 0)
    conversation.store.journal.append(entry)


def _summary_in_transcript(conversation: Conversation, began: float) -> str:
    """Return the summary of a host that writes it only into its transcript."""
    transcript = conversation.event.transcript
    if transcript is None or not began:
        return ""
    from gitguard.transcripts import summary_since

    try:
        return summary_since(transcript, began)
    except GitguardError as error:
        conversation.note_fault(error)
        return ""


def catch_up(conversation: Conversation, reading: OwnState | UnusableState) -> None:
    """Journal what was said before we first heard of the conversation.

    No prompt event vouches for these words, so they are marked as read.
    """
    transcript = conversation.event.transcript
    if conversation.record.turns or transcript is None or not os.path.exists(transcript.path):
        return
    from gitguard.transcripts import find_format

    try:
        messages = find_format(transcript.format).messages(transcript, conversation.unread.append)
        earlier = _messages_before(conversation, list(messages))
    except GitguardError as error:
        conversation.note_fault(error)
        return
    state = state_file.newest_own(reading) if earlier else None
    exchanges = conversation.store.folded(state)[0].exchanges if state is not None else ()
    for entry in earlier:
        # A conversation that was forgotten, or goes on under another name, is known so far.
        if not exchanges or entry.at > exchanges[-1].when:
            conversation.store.journal.append(entry)


def _messages_before(conversation: Conversation, messages: list[Message]) -> list[JournalEntry]:
    """Return the entries of what was said before the event's prompt."""
    from gitguard.model.host_additions import prompt_line
    from gitguard.model.pasted import without_pastes

    prompt = prompt_line(conversation.event.prompt)
    if messages and messages[-1].role == USER and prompt_line(messages[-1].text) == prompt:
        messages = messages[:-1]  # the prompt itself, which the host wrote down before it told us
    if len(messages) > _MOST_MESSAGES:
        messages = [messages[0], *messages[-_MOST_MESSAGES:]]
    from gitguard.state.prompts import question_answered

    earlier: list[JournalEntry] = []
    answer = ""
    for message in messages:
        text = _without_secrets(conversation, message.text)
        if message.role == AGENT:
            earlier.append(_entry_before(conversation, entries.TURN_ENDED, message, text))
            answer = text
            continue
        settles = question_answered(answer, text)
        entry = _entry_before(
            conversation, entries.PROMPT_READ, message, prompt_line(without_pastes(text))
        )
        earlier.append(entry.replace(settles=settles))
        answer = ""
    return earlier


def _entry_before(
    conversation: Conversation, event: str, message: Message, text: str
) -> JournalEntry:
    from gitguard.model.text import timestamp

    now = conversation.store.now
    at = min(timestamp(message.at), now) if message.at else now
    return conversation.entry(event, summary=text[:PROMPT_LIMIT]).replace(at=at)


def clean_prompt(conversation: Conversation, text: str) -> str:
    """Return a prompt in one line without secrets, and with little of a pasted console."""
    from gitguard.model.host_additions import prompt_line
    from gitguard.model.pasted import without_pastes

    if without_pastes(text) != text:
        # Secrets are taken out first: a part of one would not be known for one.
        text = without_pastes(_without_secrets(conversation, text))
    return clean(conversation, prompt_line(text))


def clean(conversation: Conversation, text: str, limit: int = PROMPT_LIMIT) -> str:
    """Return a text without secrets, and no longer than the limit."""
    return conversation.workspace.redactor.shorten(text, limit)


def _without_secrets(conversation: Conversation, text: str) -> str:
    """Return a text without secrets; of a very long one its beginning and its end."""
    half = _LOOKED_AT // 2
    return conversation.workspace.redactor.text(cut_middle(text, half, half))


def close_open_calls(conversation: Conversation, *, every: bool = False) -> None:
    """Journal calls that began and never ended as lost, or as the user stopped them.

    At a conversation's first prompt that goes for those of all conversations that are over. With
    every it goes for those of the conversation's sub-agents as well. If one still runs, the end of
    the call still counts when it comes; else a call could hide that it runs by the first prompt of
    another conversation.
    """
    take_in_stopped_calls(conversation)
    take_in_ends(conversation)
    first = conversation.record.turns == 0 and not every
    for entry in conversation.store.journal.open_calls():
        is_own = entry.host_session == conversation.event.host_session
        is_orphan = first and not is_own and entry.host_session not in conversation.beside().at_work
        if (is_own and (first or every or not entry.sub_agent)) or is_orphan:
            turn = conversation.record.turns if is_own else entry.turn
            lost = entry.replace(event=entries.LOST, at=conversation.store.now, turn=turn)
            conversation.store.journal.append(lost)


def take_in_stopped_calls(conversation: Conversation) -> None:
    """Journal which calls the user stopped, of this conversation and of others."""
    if not conversation.store.journal.open_calls(lost=True):
        return  # as at most events: then nothing else is read
    from gitguard.sessions.stopped_calls import journal_stops

    record = conversation.with_transcript(conversation.record)
    conversations = {**conversation.host_sessions, conversation.event.host_session: record}
    journal_stops(conversation.store, conversations)
