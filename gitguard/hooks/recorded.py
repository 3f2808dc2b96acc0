"""What the host wrote into its transcript and told no hook of: prompts, answers, ends of calls.

A prompt from there counts as read: no event vouches for it.
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
    from gitguard.model.transcript import Message, RecordedCall
    from gitguard.state.entries import JournalEntry
    from gitguard.store.session.host_session import HostSession
    from gitguard.store.session.state_file import OwnState

_ENDS = (entries.ENDED, entries.FAILED)
_COMPARED = 80
"""Characters of a call's parameters by which it is known again."""


def untold_prompt(conversation: Conversation) -> str:
    """Return the prompt of a turn whose beginning no event told; empty where one did."""
    if conversation.abilities.tells_prompts or conversation.record.is_in_turn:
        return ""
    prompts = [message for message in _since_last_turn(conversation) if message.role == USER]
    return prompts[-1].text if prompts else ""


def answer_of(conversation: Conversation) -> str:
    """Return the answer that ends a turn, out of the transcript where the event has none.

    A host may write it down only after the turn's end. What stands there before the result of the
    turn's last call is none.
    """
    if conversation.abilities.tells_answers or conversation.event.answer:
        return conversation.event.answer
    messages = _since_last_turn(conversation)
    if not messages or messages[-1].role != AGENT:
        return ""
    since = _last_result_at(conversation)
    return messages[-1].text if since is not None and messages[-1].at >= since else ""


def _last_result_at(conversation: Conversation) -> float | None:
    """Return when the turn's last call ended by the transcript, 0 where it called none.

    None is returned while the transcript lacks that call or its result.
    """
    from gitguard.store.session.state_file import newest_own
    from gitguard.transcripts import recorded_calls

    ready = newest_own(conversation.store.states.read())
    transcript, key = conversation.event.transcript, conversation.event.host_session
    entry = newest_entries(conversation, ready).get(key) if ready is not None else None
    if entry is None or transcript is None or entry.event not in _ENDS:
        return 0
    try:
        newest = next(recorded_calls(transcript), None)
    except GitguardError as error:
        conversation.note_fault(error)
        return None
    if newest is None or not newest.has_ended or not _is_of(entry, newest):
        return None
    return newest.at


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


def _since_last_turn(conversation: Conversation) -> list[Message]:
    """Return what was said since the newest turn began, or since the one before it ended."""
    record = conversation.with_transcript(conversation.record)
    try:
        messages, _ = unheard(record)
        return [message for message in messages if not 0 < message.at < int(record.turn_since)]
    except GitguardError as error:
        conversation.note_fault(error)
        return []


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
