"""Settles what was kept unconfirmed, by an event that shows which turn goes on.

`confirming` decides about prompts. Of a compaction that was held back the transcript tells.
"""

from __future__ import annotations

from gitguard.errors import GitguardError
from gitguard.hooks import turns
from gitguard.hooks.confirming import settle_prompts
from gitguard.hooks.unconfirmed import give_up, take_in_typed
from gitguard.model import events

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitguard.hooks.confirming import Settled
    from gitguard.hooks.conversation import Conversation
    from gitguard.store.session.host_session import UnconfirmedPrompt


def settle(conversation: Conversation) -> Conversation:
    """Confirm or give up what was kept, by an event that shows which turn goes on.

    Returns the conversation, which a confirmed prompt may bring to the session of its branch.
    """
    if not conversation.bring_back():
        return conversation
    try:
        settled = settle_prompts(conversation.record.unconfirmed, conversation.event)
        for prompt in settled.confirmed:
            conversation = _confirm(conversation, prompt)
        with conversation.recording():
            _settle_others(conversation, settled)
    except GitguardError as error:
        conversation.note_fault(error)
    conversation.forget_belief()
    return conversation


def _settle_others(conversation: Conversation, settled: Settled) -> None:
    ends = conversation.event.kind == events.TURN_END
    waiting = settled.waiting
    if ends:  # what the user typed during the turn stands in the transcript by now
        waiting = take_in_typed(conversation, waiting)
    give_up(conversation, settled.discarded)
    conversation.record = conversation.record.replace(unconfirmed=waiting)
    if conversation.record.unconfirmed_compaction:
        conversation.record = conversation.noticed()
    if ends:
        conversation.record = conversation.record.replace(unconfirmed_compaction=0)


def _confirm(conversation: Conversation, prompt: UnconfirmedPrompt) -> Conversation:
    """Take a prompt in as if it came now; only what is said to the agent was said before."""
    event = conversation.event
    conversation.event = event.replace(
        kind=events.PROMPT, prompt=prompt.text, turn_id=prompt.turn_id, tool=None, reading=None
    )
    conversation.said_at = prompt.at
    try:
        from gitguard.hooks.branches import follow_branch

        conversation = follow_branch(conversation)
        conversation.said_at = prompt.at
        with conversation.recording():
            record = conversation.record
            remaining = tuple(kept for kept in record.unconfirmed if kept != prompt)
            conversation.record = record.replace(unconfirmed=remaining)
            turns.take_in_prompt(conversation)
    except GitguardError as error:
        conversation.note_fault(error)
        turns.keep_words(conversation)
    finally:
        conversation.event, conversation.said_at = event, ""
    return conversation
