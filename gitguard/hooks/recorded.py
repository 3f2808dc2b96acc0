"""Reads from the host's transcript what an event lacks: a turn's prompt, its answer, calls' ends.

These complete the event that is being answered. `unfinished` takes in what earlier turns left
open, and the words within a turn. A prompt from the transcript counts as read: no event vouches
for it.
"""

from __future__ import annotations

import os

from gitguard.errors import GitguardError
from gitguard.model import events
from gitguard.model.text import one_line
from gitguard.model.transcript import AGENT, USER
from gitguard.state import entries

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from gitguard.hooks.conversation import Conversation
    from gitguard.model.events import Transcript
    from gitguard.model.transcript import Message, RecordedCall
    from gitguard.state.entries import JournalEntry
    from gitguard.store.session.host_session import HostSession
    from gitguard.store.session.state_file import OwnState

_ENDS = (entries.ENDED, entries.FAILED)
_COMPARED = 80
"""Characters of a call's parameters by which it is known again."""
READ = 8_192
"""Characters of a message that are read, from its end."""


def untold_prompt(conversation: Conversation) -> str:
    """Return the prompt of a turn whose beginning no event told; empty where one did."""
    if conversation.abilities.tells_prompts or conversation.record.is_in_turn:
        return ""
    messages, _ = said_since_turn(conversation, conversation.with_transcript(conversation.record))
    prompts = [message for message in messages if message.role == USER]
    return prompts[-1].text if prompts else ""


def answer_of(conversation: Conversation) -> str:
    """Return the answer that ends a turn, out of the transcript where the event has none.

    A host may write it down only after the turn's end. What stands there before the result of the
    turn's last call is none.
    """
    if conversation.abilities.tells_answers or conversation.event.answer:
        return conversation.event.answer
    messages, _ = said_since_turn(conversation, conversation.with_transcript(conversation.record))
    if not messages or messages[-1].role != AGENT:
        return ""
    answer, transcript, call = messages[-1], conversation.event.transcript, _last_call(conversation)
    if transcript is None or call is None:
        return answer.text
    return answer.text if follows_calls(conversation, transcript, answer, call) else ""


def _last_call(conversation: Conversation) -> JournalEntry | None:
    """Return the conversation's newest entry if it is the end of a call, else None."""
    from gitguard.store.session.state_file import newest_own

    ready = newest_own(conversation.store.states.read())
    key = conversation.event.host_session
    entry = newest_entries(conversation, ready).get(key) if ready is not None else None
    return entry if entry is not None and entry.event in _ENDS else None


def follows_calls(
    conversation: Conversation,
    transcript: Transcript | None,
    message: Message,
    call: JournalEntry | None = None,
) -> bool:
    """Say whether a message comes after the result of a transcript's newest call, as answers do.

    call is that newest call as its hook told of it; the host may not have written it down yet.
    """
    from gitguard.transcripts import recorded_calls

    try:
        newest = next(recorded_calls(transcript), None) if transcript is not None else None
    except GitguardError as error:
        conversation.note_fault(error)
        return False
    if newest is None:
        return call is None
    if call is not None and not _is_of(call, newest):
        return False
    return newest.has_ended and message.at >= newest.at


def _is_of(entry: JournalEntry, call: RecordedCall) -> bool:
    """Say whether a call is the one of an entry, by its id or by what it was given.

    Where hooks tell no id, the tool may have another name there.
    """
    from gitguard.model.call_ids import invented_id

    if entry.id in (call.id, invented_id(call.name, call.given or {})):
        return True
    words = entry.summary[:_COMPARED]
    return any(words in one_line(str(value)) for value in (call.given or {}).values())


def newest_entries(conversation: Conversation, ready: OwnState) -> dict[str, JournalEntry]:
    """Return the newest entry of each conversation's own, by the host's id of it."""
    part = conversation.store.journal.read(ready.journal_id, ready.journal_offset)
    main = (entry for entry in part.entries if not entry.sub_agent and not entry.is_found_later)
    return {entry.host_session: entry for entry in main}


def said_since_turn(conversation: Conversation, record: HostSession) -> tuple[list[Message], int]:
    """Return what was said since the newest turn began, or since the one before it ended.

    With it comes up to where the transcript is read then. Where it cannot be read there is nothing.
    """
    try:
        messages, upto = unheard(record)
        since = int(record.turn_since)
        return [message for message in messages if not 0 < message.at < since], upto
    except GitguardError as error:
        conversation.note_fault(error)
        return [], record.heard_upto


def stated_in(conversation: Conversation, answer: str) -> str:
    """Return what is kept of an answer that stands in the transcript, without secrets."""
    from gitguard.state.answers import conclusions
    from gitguard.state.thread import AT_LENGTH

    return conclusions(conversation.workspace.redactor.text(answer[-READ:]), AT_LENGTH)


def unheard(record: HostSession) -> tuple[Iterable[Message], int]:
    """Return what was said since the agent's words were last taken in, and up to where that is."""
    transcript = record.host_transcript
    if transcript is None or not os.path.exists(transcript.path):
        return (), record.heard_upto
    from gitguard.transcripts import find_format

    form = find_format(transcript.format)
    counted = form.compactions(transcript, record.heard_upto)
    begin = 0 if counted.anew else record.heard_upto
    return form.messages(transcript, since=begin), counted.upto


def take_in_ends(conversation: Conversation) -> None:
    """Journal how calls ended whose ends no hook told; the lock is held."""
    if conversation.abilities.tells_results:
        return
    key = conversation.event.host_session
    begun = {call.id: call for call in conversation.store.journal.open_calls()}
    calls = {name: call for name, call in begun.items() if call.host_session == key}
    for name, end in _ends(conversation, frozenset(calls)).items():
        conversation.store.journal.append(_ended(conversation, calls[name], end))


def take_exit_code(conversation: Conversation) -> None:
    """Take a shell call for a failed one where the transcript says that it failed."""
    event, tool = conversation.event, conversation.tool
    is_told = conversation.abilities.tells_results or event.kind != events.TOOL_END
    if is_told or not tool.is_shell or event.sub_agent:
        return
    end = _ends(conversation, frozenset((tool.id,))).get(tool.id)
    if end is not None and end.exit_code:
        conversation.tool = tool.replace(error=_error(conversation, end), output="")
        conversation.event = event.replace(kind=events.TOOL_FAILED, tool=conversation.tool)


def _ends(conversation: Conversation, calls: frozenset[str]) -> dict[str, RecordedCall]:
    transcript = conversation.event.transcript or conversation.record.host_transcript
    if not calls or transcript is None or not os.path.exists(transcript.path):
        return {}
    from gitguard.transcripts import ends_of

    try:
        return ends_of(transcript, calls)
    except GitguardError as error:
        conversation.note_fault(error)
        return {}


def _ended(conversation: Conversation, begun: JournalEntry, end: RecordedCall) -> JournalEntry:
    from gitguard.hosts.payload import last_lines
    from gitguard.model.outcome import is_answer

    error = _error(conversation, end) if end.is_error or end.exit_code else ""
    has_failed = bool(error) and not is_answer(begun.summary, error)
    output = conversation.workspace.redactor.text(end.text) if begun.is_shell and not error else ""
    return begun.replace(
        event=entries.FAILED if has_failed else entries.ENDED,
        at=conversation.store.now,
        turn=conversation.record.turns,
        error=error if has_failed else "",
        output=last_lines(output),
    )


def _error(conversation: Conversation, end: RecordedCall) -> str:
    from gitguard.model.outcome import verdict

    code = "" if end.exit_code is None else f"Exit code {end.exit_code}\n"
    return verdict(conversation.workspace.redactor.text(code + end.text))
