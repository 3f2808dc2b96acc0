"""Takes in what an agent said in a turn that did not end: no hook ever carries it.

A crash, a kill and a compaction cut a turn in two. What the agent had found by then stands in the
host's transcript alone.
"""

from __future__ import annotations

import os

from gitguard.errors import GitguardError
from gitguard.hooks.capture import take_in_stopped_calls
from gitguard.model.events import Transcript
from gitguard.model.text import seconds
from gitguard.model.transcript import AGENT
from gitguard.state import entries
from gitguard.store.session.state_file import newest_own

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitguard.hooks.conversation import Conversation
    from gitguard.state.entries import JournalEntry
    from gitguard.store.session.host_session import HostSession
    from gitguard.store.session.state_file import OwnState

_IN_A_TURN = frozenset((entries.PROMPT, entries.STARTED, entries.ENDED, entries.FAILED))
"""What a conversation's newest entry is while its turn goes on."""
_LAST, _ALL = 900, 1_400
"""Characters of the last message of the turn, and of it with what those before it state."""
_REPORT = 300
"""Characters from which on a message within a turn reports, and does not only announce a call."""
_WRITTEN_WITHIN = 5
"""Seconds after a prompt's event within which the host's own line of it is dated."""
_READ = 8_192
"""Characters of the turn's messages that are read, from their end."""


def take_in_cut_off_turns(conversation: Conversation) -> None:
    """Journal, before a turn begins, the last words of turns that never ended.

    What the user refused or interrupted is journaled as well.

    At a conversation's first prompt these are the others' turns, but of those that are at work;
    later its own, which a kill or the user cut off.
    """
    if conversation.is_apart or (conversation.record.turns and not conversation.record.is_in_turn):
        return
    ready = newest_own(conversation.store.states.read())
    if ready is None:
        return
    own = conversation.event.host_session
    records = {own: conversation.with_transcript(conversation.record)}
    if conversation.record.turns == 0:
        beside = (own, *conversation.beside().busy)
        records = {key: r for key, r in conversation.host_sessions.items() if key not in beside}
    newest = _newest_entries(conversation, ready)
    for key, record in records.items():
        entry = newest.get(key)
        if entry is not None and entry.event in _IN_A_TURN:
            _take_in(conversation, key, record, entry)
    take_in_stopped_calls(conversation)


def take_in_running_turn(conversation: Conversation) -> None:
    """Journal the words of this conversation's own turn, which a compaction splits."""
    ready = newest_own(conversation.store.states.read())
    key = conversation.event.host_session
    entry = _newest_entries(conversation, ready).get(key) if ready is not None else None
    if entry is not None and entry.event in _IN_A_TURN:
        record = conversation.with_transcript(conversation.record)
        _take_in(conversation, key, record, entry)


def _newest_entries(conversation: Conversation, ready: OwnState) -> dict[str, JournalEntry]:
    """Return the newest entry of each conversation's own, by the host's id of it."""
    part = conversation.store.journal.read(ready.journal_id, ready.journal_offset)
    own = (entry for entry in part.entries if not entry.sub_agent and not entry.is_found_later)
    return {entry.host_session: entry for entry in own}


def _take_in(
    conversation: Conversation, key: str, record: HostSession, newest: JournalEntry
) -> None:
    if not record.transcript or not os.path.exists(record.transcript):
        return
    transcript = Transcript(record.transcript, record.transcript_format, record.transcript_session)
    try:
        words = _words_of_turn(conversation, transcript, newest, record.turn_since)
    except GitguardError as error:
        conversation.note_fault(error)
        return
    if words:
        entry = conversation.entry(entries.SAID, summary=words)
        conversation.store.journal.append(
            entry.replace(host_session=key, at=newest.at, turn=newest.turn)
        )


def _words_of_turn(
    conversation: Conversation, transcript: Transcript, newest: JournalEntry, since: float
) -> str:
    """Return what the agent stated in the turn whose newest entry this is, without secrets.

    since is when the turn began or the one before it ended. Nothing that the user said marks this
    in the transcript if the host began the turn.
    """
    from gitguard.state.answers import conclusions, telling
    from gitguard.transcripts import find_format

    texts: list[str] = []
    # The host may write a turn's prompt down a little after it told us of it.
    upto = seconds(newest.at) + (_WRITTEN_WITHIN if newest.event == entries.PROMPT else 1)
    # What of a long transcript is not read is its beginning, which this is not about.
    for message in find_format(transcript.format).messages(transcript):
        if message.role == AGENT:
            if not message.at or message.at > since:
                texts.append(message.text)
        elif message.at > upto:
            break  # the prompt that is being answered now
        else:
            texts = []
    if not texts:
        return ""
    clean = conversation.workspace.redactor.text
    last = conclusions(clean(texts[-1][-_READ:]), _LAST)
    room = _ALL - len(last)
    # Older reports than the newest say where the work stood, and no longer where it stands.
    report = next((text for text in reversed(texts[:-1]) if len(text) >= _REPORT), "")
    if report:
        before = conclusions(clean(report[-_READ:]), room)
    else:
        before = telling(clean("\n".join(texts[:-1])[-_READ:]), room)
    return f"{before}\n{last}".strip()
