"""What the user stopped: no hook tells of it, but the host's record of the call does.

Only a record of a call that a hook saw begin and that never ended counts. A missing end alone says
nothing: a kill looks the same. Nor does text, which anybody can write.

A host may write a refusal down a tenth of a second after it, when the hook of the turn's end ran
already. So a call that was given up as lost is looked for again until the next turn begins.
"""

from __future__ import annotations

import os

from gitguard.errors import GitguardError
from gitguard.model.events import Transcript
from gitguard.model.text import one_line, timestamp
from gitguard.state import entries
from gitguard.store.session.host_session import read_record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from gitguard.model.transcript import StoppedCall
    from gitguard.state.entries import JournalEntry
    from gitguard.store.session.host_session import HostSession
    from gitguard.store.session.store import SessionStore

_WORDS = 400
"""Characters that are kept of what the user said with a refusal."""


def journal_stops(
    store: SessionStore, conversations: Mapping[str, HostSession] | None = None
) -> None:
    """Journal which calls the user stopped; the lock is held.

    Without conversations, those of the session's record count.
    """
    for entry in unwritten_stops(store, conversations):
        store.journal.append(entry)


def unwritten_stops(
    store: SessionStore, conversations: Mapping[str, HostSession] | None = None
) -> tuple[JournalEntry, ...]:
    """Return the ends of calls that the user stopped, as the journal would have them."""
    calls = store.journal.open_calls(lost=True)
    if not calls:
        return ()
    if conversations is None:
        conversations = read_record(store.workspace, store.session).host_sessions
    return _ends_of(store, calls, conversations)


def is_turn_stopped(conversation: HostSession) -> bool:
    """Say whether the user or an error of the model cut the conversation's newest turn off."""
    from gitguard.transcripts import interrupted_at

    transcript = _transcript_of(conversation)
    if transcript is None:
        return False
    try:
        at = interrupted_at(transcript)
    except GitguardError:
        return False
    # The newest turn's own prompt may not be in the transcript yet; lines may be dated in seconds.
    return at > 0 and at >= int(conversation.turn_since)


def _ends_of(
    store: SessionStore,
    calls: Iterable[JournalEntry],
    conversations: Mapping[str, HostSession],
) -> tuple[JournalEntry, ...]:
    by_conversation: dict[str, dict[str, JournalEntry]] = {}
    for call in calls:
        conversation = None if call.sub_agent else conversations.get(call.host_session)
        if conversation is None or (call.event == entries.LOST and call.turn < conversation.turns):
            continue
        by_conversation.setdefault(call.host_session, {})[call.id] = call
    ends: list[JournalEntry] = []
    for key, open_calls in by_conversation.items():
        for stopped in _told_of(store, conversations[key], frozenset(open_calls)):
            ends.append(_end_of(store, open_calls[stopped.call_id], stopped))
    return tuple(ends)


def _end_of(store: SessionStore, call: JournalEntry, stopped: StoppedCall) -> JournalEntry:
    at = timestamp(stopped.at) if stopped.at else call.at
    return call.replace(
        event=entries.INTERRUPTED if stopped.has_run else entries.REFUSED,
        at=max(call.at, min(at, store.now)),
        said=store.workspace.redactor.shorten(one_line(stopped.words), _WORDS),
    )


def _told_of(
    store: SessionStore, conversation: HostSession, calls: frozenset[str]
) -> tuple[StoppedCall, ...]:
    transcript = _transcript_of(conversation)
    if transcript is None:
        return ()
    from gitguard.transcripts import find_stopped_calls

    try:
        return find_stopped_calls(transcript, calls)
    except GitguardError as error:
        store.workspace.note_fault("reading what the user stopped", error)
        return ()


def _transcript_of(conversation: HostSession) -> Transcript | None:
    path = conversation.transcript
    if not path or not os.path.exists(path):
        return None
    return Transcript(path, conversation.transcript_format, conversation.transcript_session)
