"""Takes in that turns were taken back, as the host's transcript shows.

No host tells a hook of it. Most write the next prompt behind an older line, or a line of its own;
others remove what was taken back from the transcript.
"""

from __future__ import annotations

from gitguard.errors import GitguardError
from gitguard.hooks import capture
from gitguard.model.transcript import USER
from gitguard.state import entries
from gitguard.state.spoken import kept_words
from gitguard.state.taken_back import find_taken_back
from gitguard.store.session.state_file import newest_own

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitguard.hooks.conversation import Conversation
    from gitguard.model.transcript import PromptHistory
    from gitguard.store.session.host_session import HostSession


def take_in_taken_back(conversation: Conversation, read_upto: int = 0) -> None:
    """Journal what the user took back: of this conversation, or before its first prompt of others.

    Of those it is the one that this one is a copy of, or else the one that was used last, if it is
    not at work. read_upto is up to where this conversation's transcript was read before the event.
    The lock is held.
    """
    from gitguard.transcripts import original_of, prompt_history

    if conversation.is_apart:
        return
    event = conversation.event
    try:
        if conversation.record.turns:
            record = conversation.record
            if event.transcript is not None and event.transcript != record.host_transcript:
                read_upto = 0
            transcript = event.transcript or record.host_transcript
            history = prompt_history(transcript, read_upto) if transcript else None
            if _journal_taken_back(conversation, event.host_session, record, history):
                # A short reply answers none of the words that are gone.
                conversation.record = conversation.record.replace(answer="")
            return
        name, history = original_of(event.transcript) if event.transcript else ("", None)
        if not name:
            name, history = _newest_beside(conversation)
        record = conversation.host_sessions.get(name, conversation.record)
        _journal_taken_back(conversation, name, record, history)
    except GitguardError as error:
        conversation.note_fault(error)


def _newest_beside(conversation: Conversation) -> tuple[str, PromptHistory | None]:
    """Return the conversation beside this one that was used last, and what was said in it."""
    from gitguard.transcripts import prompt_history

    beside = (conversation.event.host_session, *conversation.beside().busy)
    records = {key: r for key, r in conversation.host_sessions.items() if key not in beside}
    newest = max(records, key=lambda key: records[key].last_use, default="")
    transcript = records[newest].host_transcript if newest else None
    if transcript is None:
        return newest, None
    return newest, prompt_history(transcript, records[newest].heard_upto)


def _journal_taken_back(
    conversation: Conversation, key: str, record: HostSession, history: PromptHistory | None
) -> bool:
    """Journal what the user took back of a conversation; say whether there was anything."""
    ready = newest_own(conversation.store.states.read())
    if ready is None or history is None or not record.turns:
        return False
    if not any(p.is_taken_back for p in history.prompts) and history.removed_since < 0:
        return False
    exchanges = conversation.store.folded(ready)[0].exchanges
    history = _as_kept(conversation, history)
    taken_back = find_taken_back(exchanges, key, record.started_at, history)
    if not taken_back:
        return False
    first = next((e for e in taken_back if e.origin.by == USER), taken_back[0])
    entry = conversation.entry(entries.TAKEN_BACK, summary=first.text).without_call()
    ids = tuple(exchange.id for exchange in taken_back)
    conversation.store.journal.append(entry.replace(host_session=key, taken_back=ids))
    return True


def _as_kept(conversation: Conversation, history: PromptHistory) -> PromptHistory:
    """Return the history with its prompts as prompts are kept."""
    words = conversation.config.capture.words
    prompts = (
        prompt.replace(text=kept_words(capture.clean_prompt(conversation, prompt.text), words))
        for prompt in history.prompts
    )
    return history.replace(prompts=tuple(prompts))
