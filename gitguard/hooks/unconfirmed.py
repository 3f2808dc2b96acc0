"""Keeps what came while a tool call ran, until something shows who said it.

A tool call can start `gitguard hook` and speak in the host's name. So a prompt or the end of a
compaction that comes while a call of the conversation runs, or with the marks of a tool's shell,
is only kept: it is not shown as the user's and lifts no halt. `settling` does what follows.
"""

from __future__ import annotations

from gitguard.errors import GitguardError
from gitguard.hooks import capture, delivery
from gitguard.hooks.told_line import STATUS
from gitguard.model.events import HookReply
from gitguard.model.text import seconds
from gitguard.state import entries
from gitguard.store.session.host_session import UnconfirmedPrompt

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitguard.hooks.conversation import Conversation
    from gitguard.state.entries import JournalEntry

_MOST = 8
"""So many prompts of a conversation wait; of more, the oldest are given up."""


# Keeping


def keep_prompt(conversation: Conversation) -> HookReply:
    """Keep the event's prompt, and answer it as far as that changes nothing."""
    with conversation.recording():
        conversation.record = record = conversation.noticed()
        waiting = (*record.unconfirmed, _prompt_of(conversation))
        conversation.record = conversation.with_transcript(
            record.replace(unconfirmed=waiting[-_MOST:])
        )
        give_up(conversation, waiting[:-_MOST])
    block = _block(conversation)
    halt = conversation.record.halt
    if halt is not None:
        from gitguard.hooks.halting import pass_prompt

        conversation.offer(STATUS, pass_prompt(conversation.abilities, halt))
    return HookReply(context=block)


def _prompt_of(conversation: Conversation) -> UnconfirmedPrompt:
    from gitguard.state.spoken import kept_words

    words = capture.clean_prompt(conversation, conversation.event.prompt)
    turn_id, calls = conversation.event.turn_id, conversation.open_calls()
    return UnconfirmedPrompt(
        at=conversation.store.now,
        text=kept_words(words, conversation.config.capture.words),
        turn_id=turn_id,
        of_known_turn=turn_id in (conversation.record.turn_id, *(call.turn_id for call in calls)),
        calls=tuple(call.id for call in calls),
    )


def keep_compaction(conversation: Conversation) -> bool:
    """Keep that a compaction's end was told; say whether the transcript shows it already."""
    with conversation.recording():
        noticed = conversation.noticed()
        if noticed.epoch > conversation.record.epoch:
            conversation.record = noticed
            return True
        conversation.record = conversation.record.replace(
            unconfirmed_compaction=conversation.workspace.clock()
        )
    return False


def block_after_compaction(conversation: Conversation) -> str:
    """Return the block that a compaction makes due, without a receipt: it may be none."""
    return _block(conversation, epoch=conversation.record.epoch + 1)


def _block(conversation: Conversation, *, epoch: int = -1) -> str:
    with conversation.recording():
        before = conversation.record
        try:
            if epoch >= 0:
                conversation.record = before.replace(epoch=epoch)
            return delivery.deliver(conversation, first=before.turns == 0)[0]
        finally:
            conversation.record = before


def doubt_answers(conversation: Conversation, entry: JournalEntry) -> JournalEntry:
    """Return the end of a call without the user's answers, if another call may have sent them.

    They are journaled as read. The session's lock is held.
    """
    if conversation.is_believed:
        return entry
    from gitguard.state.spoken import ANSWERED

    for answer in entry.answers:
        question, _, words = answer.partition(ANSWERED)
        read = conversation.entry(entries.PROMPT_READ, summary=words).without_call()
        conversation.store.journal.append(read.replace(settles=question))
    return entry.replace(answers=())


# Giving up


def give_up(conversation: Conversation, prompts: tuple[UnconfirmedPrompt, ...]) -> None:
    """Journal prompts that nothing confirmed: nobody's words, if the transcript lacks them."""
    for prompt in take_in_typed(conversation, prompts):
        _journal(conversation, entries.PROMPT_UNCONFIRMED, prompt)


def take_in_typed(
    conversation: Conversation, prompts: tuple[UnconfirmedPrompt, ...]
) -> tuple[UnconfirmedPrompt, ...]:
    """Journal the prompts that the transcript has as the user's; return those that it lacks."""
    if not prompts:
        return ()
    typed = _typed(conversation, min(seconds(prompt.at) for prompt in prompts))
    for prompt in prompts:
        if prompt.text in typed:
            _journal(conversation, entries.PROMPT_READ, prompt)
    return tuple(prompt for prompt in prompts if prompt.text not in typed)


def _journal(conversation: Conversation, kind: str, prompt: UnconfirmedPrompt) -> None:
    if prompt.text:
        entry = conversation.entry(kind, summary=prompt.text).without_call()
        conversation.store.journal.append(entry.replace(at=prompt.at))


def _typed(conversation: Conversation, since: float) -> set[str]:
    """Return what the transcript has as the user's since a time, as prompts are kept."""
    from gitguard.state.spoken import kept_words
    from gitguard.transcripts import prompts_since

    transcript, words = conversation.event.transcript, conversation.config.capture.words
    if transcript is None:
        return set()
    try:
        texts = prompts_since(transcript, since)
    except GitguardError as error:
        conversation.note_fault(error)
        return set()
    return {kept_words(capture.clean_prompt(conversation, text), words) for text in texts}
