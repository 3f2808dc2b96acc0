"""Takes in what the user refused: no hook tells of it, but the host's record of the call does.

Only a record of a call that a hook saw begin and that never ended counts. A missing end alone says
nothing: a kill and an interrupt look the same. Nor does text, which anybody can write.
"""

from __future__ import annotations

import os

from gitguard.errors import GitguardError
from gitguard.model.events import Transcript
from gitguard.model.text import one_line, timestamp
from gitguard.store.session import entries

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from gitguard.hooks.conversation import Conversation
    from gitguard.model.transcript import Refusal
    from gitguard.store.session.entries import JournalEntry

_WORDS = 400
"""Characters that are kept of what the user said with a refusal."""


def take_in_refusals(conversation: Conversation, calls: Iterable[JournalEntry]) -> frozenset[str]:
    """Journal which of these open calls the user refused; return their ids."""
    by_conversation: dict[str, dict[str, JournalEntry]] = {}
    for call in calls:
        if not call.sub_agent:
            by_conversation.setdefault(call.host_session, {})[call.id] = call
    refused: set[str] = set()
    for key, open_calls in by_conversation.items():
        for refusal in _refusals(conversation, key, frozenset(open_calls)):
            call = open_calls[refusal.call_id]
            at = timestamp(refusal.at) if refusal.at else call.at
            words = conversation.workspace.redactor.shorten(one_line(refusal.words), _WORDS)
            refused.add(call.id)
            conversation.store.journal.append(
                call.replace(
                    event=entries.REFUSED,
                    at=max(call.at, min(at, conversation.store.now)),
                    said=words,
                )
            )
    return frozenset(refused)


def _refusals(conversation: Conversation, key: str, calls: frozenset[str]) -> tuple[Refusal, ...]:
    record = conversation.host_sessions.get(key)
    if key == conversation.event.host_session:
        record = conversation.with_transcript(conversation.record)
    if record is None or not record.transcript or not os.path.exists(record.transcript):
        return ()
    from gitguard.transcripts import find_refusals

    transcript = Transcript(record.transcript, record.transcript_format, record.transcript_session)
    try:
        return find_refusals(transcript, calls)
    except GitguardError as error:
        conversation.note_fault(error)
        return ()
