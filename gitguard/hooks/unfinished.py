"""Takes in what an agent said in a turn that did not end: no hook ever carries it.

A crash, a kill and a compaction cut a turn in two. What the agent had found by then stands in the
host's transcript alone.
"""

from __future__ import annotations

import os

from gitguard.errors import GitguardError
from gitguard.model.events import Transcript
from gitguard.model.transcript import AGENT
from gitguard.store.session import entries

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitguard.hooks.conversation import Conversation
    from gitguard.store.session.entries import JournalEntry
    from gitguard.store.session.host_session import HostSession
    from gitguard.store.session.state_file import Ready

_IN_A_TURN = frozenset((entries.PROMPT, entries.STARTED, entries.ENDED, entries.FAILED))
"""What a conversation's newest entry is while its turn goes on."""
_LAST, _BEFORE = 900, 500
"""Characters of the last message of the turn, and of what those before it state."""
_READ = 8_192
"""Characters of the turn's messages that are read, from their end."""


def take_in_cut_off_turns(conversation: Conversation, ready: Ready | None) -> None:
    """Journal the last words of other conversations whose turns never ended."""
    if ready is None:
        return
    newest = _newest_entries(conversation, ready)
    for key, record in conversation.host_sessions.items():
        entry = newest.get(key)
        if key == conversation.event.host_session or entry is None:
            continue
        if entry.event in _IN_A_TURN:
            _take_in(conversation, key, record, entry)


def take_in_running_turn(conversation: Conversation, ready: Ready | None) -> None:
    """Journal the words of this conversation's own turn, which a compaction splits."""
    key = conversation.event.host_session
    entry = _newest_entries(conversation, ready).get(key) if ready is not None else None
    if entry is not None and entry.event in _IN_A_TURN:
        record = conversation.with_transcript(conversation.record)
        _take_in(conversation, key, record, entry)


def _newest_entries(conversation: Conversation, ready: Ready) -> dict[str, JournalEntry]:
    """Return the newest entry of each conversation's own, by the host's id of it."""
    part = conversation.store.journal.read(ready.journal_id, ready.journal_offset)
    return {entry.host_session: entry for entry in part.entries if not entry.sub_agent}


def _take_in(
    conversation: Conversation, key: str, record: HostSession, newest: JournalEntry
) -> None:
    if not record.transcript or not os.path.exists(record.transcript):
        return
    transcript = Transcript(record.transcript, record.transcript_format, record.transcript_session)
    try:
        words = _words_of_turn(conversation, transcript)
    except GitguardError as error:
        conversation.note_fault(error)
        return
    if words:
        entry = conversation.entry(entries.SAID, summary=words)
        conversation.store.journal.append(
            entry.replace(host_session=key, at=newest.at, turn=newest.turn)
        )


def _words_of_turn(conversation: Conversation, transcript: Transcript) -> str:
    """Return what the agent stated since the user spoke last, without secrets."""
    from gitguard.model.words import conclusions, telling
    from gitguard.transcripts import find_format

    texts: list[str] = []
    for message in find_format(transcript.format).messages(transcript, conversation.unread.append):
        texts = [*texts, message.text] if message.role == AGENT else []
    if not texts:
        return ""
    clean = conversation.workspace.redactor.text
    before = telling(clean("\n".join(texts[:-1])[-_READ:]), _BEFORE)
    last = conclusions(clean(texts[-1][-_READ:]), _LAST)
    return f"{before}\n{last}".strip()
