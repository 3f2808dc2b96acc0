"""Hands the state back to a conversation that lacks it, and keeps a receipt."""

from __future__ import annotations

import os

from gitguard.errors import EditedState, GitguardError, MissingState, NotWritable
from gitguard.hooks.told_line import BRANCH, CONVERSATION
from gitguard.hooks.warnings import spiral_line
from gitguard.model import triggers
from gitguard.model.events import HookReply
from gitguard.pressure.runway import spiral_reason
from gitguard.store.session import state_file
from gitguard.store.session.host_session import Delivery

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitguard.hooks.conversation import Conversation
    from gitguard.store.session.host_session import HostSession
    from gitguard.store.session.standing import Head
    from gitguard.store.session.state_file import OwnState, UnusableState


UNKNOWN_STATE = (
    "[gitguard: this machine has no record of the task state in this workspace, so it is not "
    "shown. What happens now is saved apart and follows when the user runs "
    "`gitguard repair --trust`.]"
)
_COPY = "the working file cannot be used; this is this machine's copy of the state"
_COPY_ALONE = "the branch is gone, and this is this machine's copy of the state"


def bootstrap(conversation: Conversation) -> HookReply:
    """Answer with what belongs into the system prompt until the next checkpoint.

    What a crash left uncommitted is committed first, so that the block can hold it.
    """
    if conversation.is_apart:
        return HookReply(context=UNKNOWN_STATE)
    conversation.ensure_session(always=True)
    from gitguard.sessions.resume.building import stable_block

    with conversation.recording():
        conversation.record = conversation.with_transcript(conversation.noticed())
        if conversation.record.turns == 0 or conversation.record.is_in_turn:
            from gitguard.hooks.unfinished import take_in_cut_off_turns

            take_in_cut_off_turns(conversation)
        # No tool runs while a host builds its prompt: what did not end was cut off by a crash.
        cut_off = bool(conversation.store.journal.open_calls())
        why = "What came after the last checkpoint."
        conversation.checkpoint(triggers.RECOVERY, why, if_changed=not cut_off)
        head = conversation.checked_head()
        beside = conversation.beside()
        if beside.busy and conversation.record.turns == 0:
            return HookReply()  # its first prompt is told of the other one
        block = "" if beside.busy else _handoff(conversation)
        if not block:
            spiral = _spiral(conversation)
            block = stable_block(
                conversation.store,
                head,
                spiral=spiral,
                beside=beside,
                conversation=conversation.event.host_session,
                begun_at=conversation.record.started_at,
                is_compacted=conversation.record.epoch > 0,
            )
        _note_spiral_advice(conversation, block)
        _note_delivery(conversation, head, block)
    return HookReply(context=block)


def block_of_copy(conversation: Conversation) -> str:
    """Return the block of this machine's copy of the state, or of the newest checkpoint.

    It is empty where this machine has neither.
    """
    from gitguard.sessions.resume.building import resume_of, stable_block
    from gitguard.store.session.standing import STOP, judge

    spiral, store, record = _spiral(conversation), conversation.store, conversation.record
    try:
        our_state = state_file.newest_own(store.states.read())
        head, note = store.chain.head(), _COPY
        if judge(head, store.chain.ref).action == STOP:
            head, note = head.replace(anchor=None), _COPY_ALONE  # no checkpoint stands behind it
        else:
            head = store.readable_head()
        if our_state is None:
            return stable_block(store, head, spiral=spiral, is_compacted=record.epoch > 0)
        return resume_of(
            store,
            our_state,
            head,
            spiral=spiral,
            notes=(note,),
            has_context=_has_context(record),
        )
    except GitguardError as error:
        conversation.note_fault(error)
        return ""


def deliver(conversation: Conversation, *, first: bool) -> tuple[str, OwnState | UnusableState]:
    """Return the resume block if this conversation lacks it, with a receipt kept."""
    if conversation.is_apart:
        return UNKNOWN_STATE if first else "", conversation.store.states.read()
    from gitguard.sessions.choice import refuse_tracked

    refuse_tracked(conversation.workspace, conversation.repository())
    if conversation.config.sign:
        from gitguard.sessions.signed_head import take_signed

        conversation.startup_notes += take_signed(conversation.store)
    reading = conversation.store.states.read()
    if isinstance(reading, state_file.OwnState) and reading.needs_rewrite:
        reading = conversation.store.states.rewrite(reading)
    problem = state_file.diagnose(reading)
    if problem is not None:
        raise problem
    try:
        return _fresh_block(conversation, reading, first=first), reading
    except (MissingState, NotWritable):
        raise
    except GitguardError as error:
        # Nothing of it is handed out; what is said from now on still counts.
        from gitguard.store.session.standing import paused_line

        conversation.note_fault(error)
        conversation.offer(BRANCH, paused_line(error))
        return "", reading


def _fresh_block(
    conversation: Conversation, reading: OwnState | UnusableState, *, first: bool
) -> str:
    from gitguard.sessions.resume.building import is_due, resume_of
    from gitguard.state.task import as_of

    head = conversation.checked_head()
    if not is_due(conversation.record, head.committed):
        return ""
    beside, delivery = conversation.beside(), conversation.record.delivery
    our_state = state_file.newest_own(reading)
    if our_state is None:
        path = conversation.store.states.path
        raise EditedState(
            f"`{path}` is not known to be ours, and no copy of it is there",
            "See `gitguard status`",
        )
    if beside.busy and (delivery is None or delivery.epoch == conversation.record.epoch):
        # What another conversation is in the middle of is none of this one's memory.
        if delivery is None:
            from gitguard.sessions.beside import line_about

            conversation.offer(CONVERSATION, line_about(beside, our_state.state))
        _note_delivery(conversation, head, "")
        return ""
    block = "" if beside.busy else _handoff(conversation)
    nothing_to_say = first and our_state.state.is_untouched and not conversation.archived_notes
    if not block and not nothing_to_say:
        host_session, now = conversation.event.host_session, conversation.store.now
        block = resume_of(
            conversation.store,
            our_state.replace(state=as_of(our_state.state, host_session, now)),
            head,
            spiral=_spiral(conversation),
            notes=(
                *conversation.notes_on_head,
                *conversation.startup_notes,
                *conversation.archived_notes,
            ),
            conversation=conversation.event.host_session,
            beside=beside,
            has_context=_has_context(conversation.record),
        )
    if not block and nothing_to_say:
        _offer_session_elsewhere(conversation)
    _note_spiral_advice(conversation, block)
    _note_delivery(conversation, head, block)
    return block


def _offer_session_elsewhere(conversation: Conversation) -> None:
    """Offer a line on what another machine did on this branch in a session that is not here."""
    if not os.path.exists(conversation.workspace.sync_path):
        return
    from gitguard.sessions.resume.other_machines import session_elsewhere

    try:
        text = session_elsewhere(conversation.store)
    except GitguardError as error:
        conversation.note_fault(error)
        return
    conversation.offer(CONVERSATION, text and f"[gitguard: {text}.]")


def _has_context(record: HostSession) -> bool:
    """Whether the agent has something beside the block: its own talk, a summary of it, or both.

    What a host clears away is gone too, but the user wanted it gone.
    """
    return bool(record.turns or record.epoch or record.continues or record.delivery)


def _spiral(conversation: Conversation) -> str:
    """Say why a new conversation keeps more than a compaction, empty where it does not.

    Part of every hand-back, because the compaction before it has erased what was said.
    """
    record = conversation.record
    if not record.epoch:
        return ""
    _, pressure = conversation.measure()
    window = pressure.window.tokens if pressure else 0
    return spiral_reason(record.epoch, record.summary_tokens, window)


def _note_spiral_advice(conversation: Conversation, block: str) -> None:
    """Remember that a block advised a new conversation, so that no line says it again."""
    if block and _spiral(conversation):
        conversation.record = conversation.record.replace(told_spiral=True)


def _handoff(conversation: Conversation) -> str:
    """Return what a fresh hand-off file says, which stands in for the resume block."""
    if not conversation.config.handoff.enabled:
        return ""
    from gitguard.sessions.handoff.handoff_file import recover_handoff

    block = recover_handoff(conversation.store, conversation.config.handoff)
    spiral = _spiral(conversation) if block else ""
    return f"{block}\n{spiral_line(spiral)}" if spiral else block


def _note_delivery(conversation: Conversation, head: Head, block: str) -> None:
    """Keep a receipt; of a block that is given anew with every run, the first one."""
    from gitguard.sessions.resume.building import is_due

    record = conversation.record
    same = record.delivery and len(block) == record.delivery.characters
    if same and not is_due(record, head.committed):
        return
    receipt = Delivery(
        at=conversation.store.now,
        event=conversation.event.kind,
        head=head.committed,
        epoch=record.epoch,
        characters=len(block),
    )
    conversation.record = record.replace(delivery=receipt, head=head.committed)
