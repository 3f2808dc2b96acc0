"""Journals what no event of a turn told: the agent's words within it, and what a kill kept from us.

`recorded` completes the event that is being answered; this is about turns that are over, or are
split. The words are in the host's transcript. They are read once per turn, from where reading
stopped before: as the turn ends, before a compaction that splits it, or at the next prompt where a
crash or a kill cut it off. An answer that the host wrote down late is read then, too. The times of
files tell what a call wrote whose end no hook told.
"""

from __future__ import annotations

import os
from itertools import takewhile

from gitguard.errors import GitguardError
from gitguard.hooks.capture import take_in_stopped_calls
from gitguard.hooks.recorded import (
    READ,
    follows_calls,
    newest_entries,
    said_since_turn,
    stated_in,
    unheard,
)
from gitguard.model.text import seconds, timestamp
from gitguard.model.transcript import AGENT
from gitguard.state import entries
from gitguard.store.session.state_file import newest_own

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator

    from gitguard.hooks.conversation import Conversation
    from gitguard.model.transcript import Message
    from gitguard.state.entries import JournalEntry
    from gitguard.store.session.host_session import HostSession
    from gitguard.store.session.state_file import OwnState

_IN_A_TURN = frozenset((entries.PROMPT, entries.STARTED, entries.ENDED, entries.FAILED))
"""What a conversation's newest entry is while its turn goes on."""
_LAST, _ALL = 900, 1_400
"""Characters of the last message of the turn, and of it with what those before it state."""
_REPORT = 300
"""Characters from which on a message within a turn reports, and does not only announce a call."""
WRITTEN_WITHIN = 5
"""Seconds after a prompt's event within which the host's own line of it is dated."""
_MIDDLE = 700
"""Characters that are kept of the middle of a turn that ended: its answer says more."""

_WRITES_WITHIN = 10
"""Seconds after its beginning within which a call that was cut off wrote its files."""


def take_in_cut_off_turns(conversation: Conversation) -> None:
    """Journal, before a turn begins, the last words of turns that never ended.

    What their last calls wrote, and what the user refused or interrupted, is journaled as well.

    At a conversation's first prompt these are the others' turns, but of those that are at work;
    later its own, which a kill or the user cut off.
    """
    record = conversation.record
    is_over = record.turns and not record.is_in_turn and not record.awaits_answer
    if conversation.is_apart or is_over:
        return
    ready = newest_own(conversation.store.states.read())
    if ready is None:
        return
    own = conversation.event.host_session
    records = {own: conversation.with_transcript(conversation.record)}
    if conversation.record.turns == 0:
        beside = (own, *conversation.beside().busy)
        records = {key: r for key, r in conversation.host_sessions.items() if key not in beside}
    newest = newest_entries(conversation, ready)
    _take_in_writes(conversation, ready, records)
    for key, record in records.items():
        entry = newest.get(key)
        if record.awaits_answer:
            heard = _with_late_answer(conversation, key, record, ready)
        elif entry is not None and entry.event in _IN_A_TURN:
            heard = _take_in(conversation, key, record, entry)
        else:
            continue
        if key == own:
            conversation.record = heard
    take_in_stopped_calls(conversation)


def _with_late_answer(
    conversation: Conversation, key: str, record: HostSession, ready: OwnState
) -> HostSession:
    """Journal an answer that the host wrote down after it told of the turn's end."""
    messages, upto = said_since_turn(conversation, record)
    later = record.turn_since + WRITTEN_WITHIN
    messages = [*takewhile(lambda m: m.role == AGENT or m.at <= later, messages)]
    answer = next((m for m in reversed(messages) if m.role == AGENT), None)
    if answer is None or not follows_calls(conversation, record.host_transcript, answer):
        return record
    words = stated_in(conversation, answer.text)
    exchanges = conversation.store.folded(ready)[0].exchanges
    of_turn = (e for e in exchanges if e.origin.conversation == key)
    if words and words not in {e.text for e in of_turn if e.origin.turn == record.turns}:
        now = conversation.store.now
        at = min(timestamp(answer.at), now) if answer.at else now
        entry = conversation.entry(entries.TURN_ENDED, summary=words).without_call()
        conversation.store.journal.append(entry.replace(host_session=key, at=at, turn=record.turns))
    since_answer = max(answer.at, record.turn_since)
    return record.replace(awaits_answer=False, heard_upto=upto, turn_since=since_answer)


def _take_in_writes(conversation: Conversation, ready: OwnState, keys: Container[str]) -> None:
    """Journal which files calls wrote that were cut off, or whose end a kill kept from us."""
    store = conversation.store
    part = store.journal.read(ready.journal_id, ready.journal_offset)
    taken_in = {entry.id for entry in part.entries if entry.event == entries.FILE_WRITTEN}
    for call in entries.open_calls(part.entries):
        if call.host_session not in keys or call.id in taken_in:
            continue
        for path, at in _writes_of(call, conversation.workspace.place.worktree):
            written = call.replace(event=entries.FILE_WRITTEN, at=at, read=(), written=(path,))
            store.journal.append(written)


def _writes_of(call: JournalEntry, root: str) -> Iterator[tuple[str, str]]:
    """Return which of its files changed as a call began, and when.

    What changed later may be anybody's doing.
    """
    begun = seconds(call.at)
    for path in call.written:
        try:
            # Not the time of the content, which programs may set.
            changed_at = os.lstat(os.path.join(root, path)).st_ctime
        except (OSError, ValueError):
            continue
        if begun <= changed_at <= begun + _WRITES_WITHIN:
            yield path, timestamp(changed_at)


def take_in_middle_of_turn(conversation: Conversation) -> None:
    """Journal, as a turn ends, what the agent showed in it before the answer."""
    if conversation.is_apart:
        return
    from gitguard.state.answers import findings, newest_of

    record = conversation.with_transcript(conversation.record)
    try:
        messages, upto = unheard(record)
        texts = [
            message.text
            for message in messages
            if message.role == AGENT and not 0 < message.at <= record.turn_since
        ]
    except GitguardError as error:
        conversation.note_fault(error)
        return
    conversation.record = record.replace(heard_upto=upto)
    texts = [text for text in texts if text.strip() not in conversation.event.answer]
    words = findings(map(conversation.workspace.redactor.text, newest_of(texts)), _MIDDLE)
    if words:
        conversation.store.journal.append(conversation.entry(entries.SAID, summary=words))


def take_in_running_turn(conversation: Conversation) -> None:
    """Journal the words of this conversation's own turn, which a compaction splits."""
    ready = newest_own(conversation.store.states.read())
    key = conversation.event.host_session
    entry = newest_entries(conversation, ready).get(key) if ready is not None else None
    if entry is not None and entry.event in _IN_A_TURN:
        record = conversation.with_transcript(conversation.record)
        conversation.record = _take_in(conversation, key, record, entry)


def _take_in(
    conversation: Conversation, key: str, record: HostSession, newest: JournalEntry
) -> HostSession:
    """Journal the words of a turn whose newest entry is given; return the record behind them."""
    try:
        messages, upto = unheard(record)
        words = _words_of_turn(conversation, messages, newest, record.turn_since)
    except GitguardError as error:
        conversation.note_fault(error)
        return record
    if words:
        entry = conversation.entry(entries.SAID, summary=words)
        conversation.store.journal.append(
            entry.replace(host_session=key, at=newest.at, turn=newest.turn)
        )
    return record.replace(heard_upto=upto)


def _words_of_turn(
    conversation: Conversation, messages: Iterable[Message], newest: JournalEntry, since: float
) -> str:
    """Return what the agent stated in the turn whose newest entry this is, without secrets.

    since is when the turn began or the one before it ended. Nothing that the user said marks this
    in the transcript if the host began the turn.
    """
    from gitguard.state.answers import conclusions, findings, newest_of

    texts: list[str] = []
    # The host may write a turn's prompt down a little after it told us of it.
    upto = seconds(newest.at) + (WRITTEN_WITHIN if newest.event == entries.PROMPT else 1)
    # What of a long transcript is not read is its beginning, which this is not about.
    for message in messages:
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
    last = conclusions(clean(texts[-1][-READ:]), _LAST)
    room = _ALL - len(last)
    # Older reports than the newest say where the work stood, and no longer where it stands.
    report = next((text for text in reversed(texts[:-1]) if len(text) >= _REPORT), "")
    if report:
        before = conclusions(clean(report[-READ:]), room)
    else:
        before = findings(map(clean, newest_of(texts[:-1])), room)
    return f"{before}\n{last}".strip()
