"""What a compaction begins and ends: a checkpoint before it, and the block behind it.

Most hosts tell of both ends. Where none tells that one ended, the next event finds out: at the end
of a tool call, or at a prompt.
"""

from __future__ import annotations

from gitguard.errors import GitguardError, MissingState
from gitguard.hooks import capture, gate
from gitguard.model import triggers
from gitguard.model.events import AUTOMATIC, NEUTRAL, HookReply

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitguard.hooks.conversation import Conversation
    from gitguard.store.session.host_session import Halt

_ONE_COMPACTION = 60.0
"""Seconds within which two events that a compaction begins may mean the same one."""


def start(conversation: Conversation) -> HookReply:
    """Save everything before a compaction, and end the turn in its place where that is halted."""
    halt = _halt_of_turn(conversation)
    try:
        conversation.ensure_session()
    except MissingState as error:
        conversation.note_fault(error)  # this machine's copy is saved all the same
    conversation.doubt_reading()
    _, pressure = conversation.measure()
    with conversation.recording():
        why = f"Before a compaction ({conversation.event.source or 'unknown'})."
        now = conversation.workspace.clock()
        # Hosts may tell twice of one compaction; that is no reason for a second checkpoint.
        again = now - conversation.record.compacting_since < _ONE_COMPACTION
        if not again and not conversation.is_apart:
            from gitguard.hooks.taken_back import take_in_taken_back
            from gitguard.hooks.unfinished import take_in_running_turn

            take_in_taken_back(conversation, conversation.record.heard_upto)
            take_in_running_turn(conversation)
            capture.take_in_stopped_calls(conversation)
        conversation.keep_proof(pressure)
        unless_same = again or halt is not None
        conversation.checkpoint(triggers.COMPACTION, why, pressure=pressure, if_changed=unless_same)
        if halt is None:
            conversation.record = conversation.record.replace(
                compacting_since=now, compacting_unconfirmed=not conversation.is_believed
            )
    if conversation.config.handoff.enabled and not conversation.is_apart:
        from gitguard.sessions.handoff.handoff_file import write_handoff

        write_handoff(conversation.store, conversation.config.handoff)
    notice = conversation.edit_notice()
    if halt is not None:
        from gitguard.hooks.halting import compaction_refusal

        refusal = compaction_refusal(conversation.event, conversation.abilities, halt)
        return HookReply(stop=refusal, notice=notice)
    return HookReply(notice=notice) if notice else NEUTRAL


def _halt_of_turn(conversation: Conversation) -> Halt | None:
    """Return the halt of a running turn that a compaction would let go on, None for none.

    A compaction that the user asks for, or that comes before a new prompt's turn, is the way out.
    """
    event, record = conversation.event, conversation.record
    if not conversation.abilities.stops_compactions or event.source != AUTOMATIC:
        return None
    goes_on = bool(event.turn_id) and event.turn_id == record.turn_id and record.is_in_turn
    return record.halt if goes_on else None


def end(conversation: Conversation) -> HookReply:
    """Take a compaction's end in, with the summary that the host made."""
    began = conversation.record.compacting_since
    if began:
        take_in(conversation)
    if not conversation.is_apart:
        with conversation.recording():
            capture.record_summary(conversation, began)
    return NEUTRAL


def take_in(conversation: Conversation) -> bool:
    """End what a compaction ends, if it is one; say whether it is.

    It is believed if the same conversation told of its beginning and no tool call runs that could
    speak for the host. Otherwise the transcript has to show it, now or later.
    """
    record = conversation.record
    has_begun = bool(record.compacting_since) and not record.compacting_unconfirmed
    if has_begun and conversation.is_believed:
        _compacted(conversation)
        return True
    if _is_counted(conversation):
        return True
    from gitguard.hooks.unconfirmed import keep_compaction

    return keep_compaction(conversation)


def _is_counted(conversation: Conversation) -> bool:
    """Say whether another event told just now that the same compaction ended.

    Hosts differ in which comes first: that a compaction ended, or that a conversation begins
    behind it.
    """
    record = conversation.record
    is_owed = record.delivery is None or record.delivery.epoch != record.epoch
    is_new = conversation.workspace.clock() - record.compacted_at < _ONE_COMPACTION
    return record.epoch > 0 and is_owed and is_new and conversation.is_believed


def take_in_untold(conversation: Conversation) -> bool:
    """End a compaction that no event told the end of; say whether there was one.

    The caller keeps the record.
    """
    before = conversation.record
    has_begun = bool(before.compacting_since) and not before.compacting_unconfirmed
    # One that runs beside the work may not have ended yet, and a halt ends with one that has.
    is_held = before.halt is not None
    if has_begun and not conversation.abilities.tells_compactions and not is_held:
        _count(conversation)
    else:
        conversation.record = conversation.noticed()
    return conversation.record.epoch > before.epoch


def hand_back(conversation: Conversation) -> HookReply:
    """Return the block at the end of a tool call, if a compaction came that no event told of."""
    abilities, before = conversation.abilities, conversation.record
    if not abilities.hears_after_tools or conversation.is_apart:
        return NEUTRAL
    if not before.compacting_since and conversation.noticed().epoch == before.epoch:
        return NEUTRAL
    from gitguard.hooks.asking import restored_line
    from gitguard.hooks.delivery import deliver
    from gitguard.store.session.state_file import newest_own

    with conversation.recording():
        if not take_in_untold(conversation):
            return NEUTRAL
        block, reading = deliver(conversation, first=False)
    our_state = newest_own(reading) if block else None
    notice = restored_line(our_state.state, conversation.store.now) if our_state else ""
    return HookReply(context=block, notice=notice)


def _compacted(conversation: Conversation) -> None:
    with conversation.recording():
        _count(conversation)


def _count(conversation: Conversation) -> None:
    now = conversation.workspace.clock()
    try:
        conversation.record = gate.after_compaction(
            conversation.record,
            conversation.config,
            now,
            pushed=conversation.event.reading,
            transcript=conversation.event.transcript,
            model=conversation.event.model,
        )
    except GitguardError as error:
        conversation.note_fault(error)
        conversation.record = conversation.record.compacted(now)
