"""Prompts, turns, compactions and conversations: what is done when, and in which order."""

from __future__ import annotations

from gitguard.errors import Complete, GitguardError, MissingState
from gitguard.hooks import capture, compactions, gate
from gitguard.hooks.gate import ASSESS_EVERY, HALT_STATUS
from gitguard.hooks.missing_hooks import offer_missing_hooks
from gitguard.hooks.reports import record_report
from gitguard.hooks.told_line import (
    BRANCH,
    CONVERSATION,
    NOTES,
    PRESSURE,
    STATUS,
    outranks,
)
from gitguard.model import events, triggers
from gitguard.model.config.maintenance import ENFORCE
from gitguard.model.config.sync import AUTO_TURN_END
from gitguard.model.events import NEUTRAL, HookReply
from gitguard.pressure.gauge import with_reading
from gitguard.state.entries import PROMPT_READ
from gitguard.store.session.host_session import HostSession
from gitguard.store.session.identity import take_unsaid
from gitguard.store.session.state_file import newest_own

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitguard.hooks.conversation import Conversation
    from gitguard.store.session.host_session import Halt
    from gitguard.store.session.state_file import OwnState, UnusableState

_UNKNOWN = (
    "[Context: unknown | gitguard can neither warn nor halt by it; `gitguard status` says why]"
)


def answer(conversation: Conversation) -> HookReply:
    """Answer every event that is not a tool call; `MissingState` where the state cannot be used."""
    if conversation.event.kind == events.BOOTSTRAP:
        from gitguard.hooks.delivery import bootstrap

        return bootstrap(conversation)
    handlers = {
        events.PROMPT: _prompt,
        events.TURN_END: _turn_end,
        events.COMPACTION_START: compactions.start,
        events.COMPACTION_END: compactions.end,
        events.SESSION_START: _session_start,
        events.SESSION_END: _session_end,
        events.SUB_AGENT_START: _sub_agent,
        events.SUB_AGENT_END: _sub_agent,
        events.STATUS_LINE: _status_line,
    }
    if conversation.event.kind in _MIDST:
        take_in_untold_prompt(conversation)
    handler = handlers.get(conversation.event.kind)
    return handler(conversation) if handler else NEUTRAL


# Prompts


def _prompt(conversation: Conversation) -> HookReply:
    halt = conversation.record.halt and conversation.noticed().halt
    if halt is not None:
        refusal = _refusal_of_words(conversation, halt)
        if refusal is not None:
            return refusal
    conversation.ensure_session(always=conversation.record.turns == 0)
    if not conversation.is_believed:
        from gitguard.hooks.unconfirmed import keep_prompt

        return keep_prompt(conversation)
    with conversation.recording():
        block, reading = take_in_prompt(conversation)
        _offer_lines(conversation, reading, block)
    _keep_matches(conversation)
    return HookReply(context=block, notice=_restored(conversation, reading, block))


def _offer_lines(conversation: Conversation, reading: OwnState | UnusableState, block: str) -> None:
    """Offer what a prompt may be told; what comes only once waits where a graver line is."""
    is_halted = conversation.record.halt is not None
    if is_halted:
        conversation.offer(STATUS, _about_halt(conversation))
    offer_missing_hooks(conversation)
    if not outranks(conversation.lines, CONVERSATION):
        notice = take_unsaid(conversation.workspace)
        conversation.offer(CONVERSATION, notice and f"[gitguard: {notice}]")
    if conversation.record.untold_collision and not outranks(conversation.lines, CONVERSATION):
        from gitguard.hooks.collisions import offer_untold_collision

        offer_untold_collision(conversation)
    for text in conversation.unread:
        line = f"[gitguard: {text}. Decisions made in between may be missing from the state.]"
        conversation.offer(CONVERSATION, line)
    if not is_halted:
        conversation.offer(PRESSURE, _about_context(conversation))
    if not outranks(conversation.lines, NOTES):
        conversation.offer(NOTES, _ask_for_notes(conversation, reading, block))


def take_in_prompt(conversation: Conversation) -> tuple[str, OwnState | UnusableState]:
    """Record a prompt and what it begins, and offer what the agent is told of the task's end.

    Returns the resume block if it is due, and the state. The caller keeps the record.
    """
    from gitguard.hooks.delivery import deliver
    from gitguard.hooks.taken_back import take_in_taken_back
    from gitguard.hooks.untold_turns import take_in_untold_turns

    compactions.take_in_untold(conversation)
    begins_turn = not _joins_running_turn(conversation)
    if begins_turn:
        before = conversation.record
        _take_in_cut_off_turns(conversation)
        take_in_untold_turns(conversation, before)
        take_in_taken_back(conversation, before.heard_upto)
    block, reading = deliver(conversation, first=conversation.record.turns == 0)
    if conversation.is_apart:  # the line stands in for a block
        conversation.offer(BRANCH, block)
        block = ""
    if begins_turn:
        capture.close_open_calls(conversation)
    capture.catch_up(conversation, reading)
    conversation.offer(STATUS, _complete_before(conversation, reading))
    record_report(conversation)
    capture.record_prompt(conversation, reading)
    if begins_turn:
        _keep_files_before_turn(conversation)
    _count_prompt(conversation, begins_turn=begins_turn)
    _keep_window(conversation)
    return block, reading


_MIDST = (events.TURN_END, events.COMPACTION_START, events.SESSION_END)
"""Events before which a turn has begun, whether or not that was told."""


def take_in_untold_prompt(conversation: Conversation) -> None:
    """Begin a turn of which no event told, with the prompt that the transcript has."""
    if conversation.abilities.tells_prompts or conversation.is_apart:
        return
    from gitguard.hooks.recorded import untold_prompt

    prompt = untold_prompt(conversation)
    if not prompt or not conversation.bring_back():
        return
    event = conversation.event
    with conversation.recording():
        conversation.event = event.replace(kind=events.PROMPT, prompt=prompt, tool=None)
        capture.close_open_calls(conversation)
        reading = conversation.store.states.read()
        capture.record_prompt(conversation, reading, entry=PROMPT_READ)
        _keep_files_before_turn(conversation)
        _count_prompt(conversation, begins_turn=True)
    conversation.event = event


def _joins_running_turn(conversation: Conversation) -> bool:
    """Say whether a prompt was typed while a turn runs, which then cuts nothing off."""
    turn_id = conversation.event.turn_id
    is_the_same = bool(turn_id) and turn_id == conversation.record.turn_id
    return is_the_same and conversation.record.is_in_turn


def _take_in_cut_off_turns(conversation: Conversation) -> None:
    record = conversation.record
    if record.turns == 0 or record.is_in_turn or record.awaits_answer:
        from gitguard.hooks.unfinished import take_in_cut_off_turns

        take_in_cut_off_turns(conversation)


def _keep_files_before_turn(conversation: Conversation) -> None:
    """Take a checkpoint if somebody changed files since the last snapshot.

    What a person does between two turns is theirs, and the agent may change the same files now.
    """
    if conversation.is_apart or not conversation.config.files.enabled:
        return
    try:
        look = conversation.store.changes_since_snapshot()
        if look is not None:
            why = "Files changed since the last turn."
            conversation.checkpoint(triggers.TURN_START, why, look=look)
    except GitguardError as error:
        # The turn goes on: its end says what is wrong with the branch or the state.
        conversation.note_fault(error)


def _count_prompt(conversation: Conversation, *, begins_turn: bool) -> None:
    record = _with_version(conversation)
    if begins_turn:
        from gitguard.store.disk.processes import believed, host_process

        process = host_process(conversation.workspace.places.caller)
        record = record.replace(
            turn_since=conversation.workspace.clock(),
            process=believed(process, record.last_process),
            last_process=process,
        )
    conversation.record = conversation.with_transcript(
        record.replace(
            turns=record.turns + 1, sub_agents=0, turn_id=conversation.event.turn_id, untold=()
        )
    )
    if not conversation.is_apart:
        from gitguard.store.session.announced import announce

        key, session = conversation.event.host_session, conversation.store.session
        announce(conversation.workspace, session, key, conversation.record)


def _with_version(conversation: Conversation) -> HostSession:
    """Return the record with the host's version, where the event tells it."""
    record = conversation.record
    return record.replace(version=conversation.event.version or record.version)


def _complete_before(conversation: Conversation, reading: OwnState | UnusableState) -> str:
    """Return the signal of a complete task that nothing has told this conversation yet."""
    our_state = newest_own(reading)
    if our_state is None or not our_state.state.is_done or not conversation.record.turns:
        return ""
    state = our_state.state
    if state.task_id == conversation.record.completed:
        return ""
    conversation.record = conversation.record.replace(completed=state.task_id)
    return (
        f"{Complete.status}\nThe task `{state.task_id}` is complete, and its final state is saved. "
        "This prompt begins another task."
    )


def _ask_for_notes(
    conversation: Conversation, reading: OwnState | UnusableState, block: str
) -> str:
    """Return the line that asks the agent for notes, if it is time for one.

    A block ends by saying how to note.
    """
    from gitguard.hooks import asking

    our_state = newest_own(reading)
    if conversation.is_apart or our_state is None or block:
        return ""
    if conversation.record.turns == 1:
        # A host may have put the block into the system prompt before.
        delivered = conversation.record.delivery
        if delivered and delivered.characters:
            return ""
        return asking.first_line(saves=_saves_files(conversation))
    conversation.record, line = asking.ask_after_work(
        conversation.record,
        our_state.state,
        conversation.event.host_session,
        calls=conversation.store.journal.calls(conversation.event.host_session),
        most=conversation.config.gauge.ask_notes_after,
        now=conversation.store.now,
    )
    return line


def _saves_files(conversation: Conversation) -> bool:
    """Say whether checkpoints with the user's files are taken, as far as this machine knows."""
    return conversation.config.files.enabled and not conversation.store.waits


def _restored(conversation: Conversation, reading: OwnState | UnusableState, block: str) -> str:
    """Return what the person is told of a block that is handed back, empty without one."""
    from gitguard.hooks.asking import restored_line

    our_state = newest_own(reading) if block and not conversation.is_apart else None
    return restored_line(our_state.state, conversation.store.now) if our_state else ""


def _refusal_of_words(conversation: Conversation, halt: Halt) -> HookReply | None:
    """Refuse the prompt of a halted conversation where words alone are too much for it."""
    from gitguard.hooks.halting import has_room, prompt_refusal

    measured, pressure = conversation.measure()
    if conversation.abilities.ends_turns and (not measured or has_room(pressure)):
        return None
    return prompt_refusal(conversation.event, conversation.abilities, halt, pressure)


def _about_halt(conversation: Conversation) -> str:
    from gitguard.hooks.halting import pass_prompt

    halt = conversation.record.halt
    assert halt is not None
    _, pressure = conversation.measure()
    if not halt.saved:
        saved = conversation.checkpoint(
            triggers.HALT, halt.reason, pressure=pressure, if_changed=True
        )
        halt = halt.replace(saved=gate.saved_text(saved))
        conversation.record = conversation.record.replace(halt=halt)
    return pass_prompt(conversation.abilities, halt, pressure)


def _about_context(conversation: Conversation) -> str:
    """Return the line about the context; advice is in it where tool calls got no answer.

    Where a graver line is told, a warning waits for the next event.
    """
    measured, pressure = conversation.measure()
    conversation.keep_proof(pressure)
    if outranks(conversation.lines, PRESSURE):
        conversation.take_checkpoint_of_pressure(pressure)
        return ""
    was_told = conversation.record.told_unknown
    if was_told is measured:
        conversation.record = conversation.record.replace(told_unknown=not measured)
    if not measured:
        return "" if was_told else _UNKNOWN
    calls = conversation.store.journal.calls(conversation.event.host_session)
    calls_at_last_line = conversation.record.told_calls
    # Calls are counted anew once those of others fill what is read of the journal.
    since = calls - calls_at_last_line if calls >= calls_at_last_line else calls
    due = not conversation.abilities.hears_after_tools and since >= ASSESS_EVERY
    return conversation.line(pressure, calls, assess=due, begins_turn=True)


def _keep_window(conversation: Conversation) -> None:
    """Keep a window that comes with the event's reading, for events that come without one."""
    reading = conversation.event.reading
    if reading is not None:
        conversation.record = with_reading(conversation.record, reading)


# States that cannot be used


def answer_without_state(conversation: Conversation, error: MissingState) -> HookReply:
    """Tell the agent, and hand out this machine's copy; without one the prompt is refused."""
    is_prompt = conversation.event.kind == events.PROMPT
    compacted = conversation.event.source == events.STARTED_AFTER_COMPACTION
    hands_back = compacted and conversation.event.kind == events.SESSION_START
    if not (is_prompt or hands_back or conversation.event.kind == events.BOOTSTRAP):
        conversation.note_fault(error)
        return NEUTRAL
    from gitguard.hooks.delivery import block_of_copy
    from gitguard.hooks.halting import stop_text

    block = block_of_copy(conversation)
    if not is_prompt:
        conversation.note_fault(error)
    elif not block:
        return HookReply(refuse=stop_text(error))
    elif conversation.is_believed:
        keep_words(conversation)
    _note_lacking(conversation)
    conversation.offer(STATUS, stop_text(error))
    return HookReply(context=block)


def _note_lacking(conversation: Conversation) -> None:
    """Remember that tool calls have to look whether the state is still missing."""
    try:
        with conversation.recording():
            conversation.record = conversation.record.replace(lacks_state=True)
    except GitguardError as error:
        conversation.note_fault(error)


def keep_words(conversation: Conversation) -> None:
    """Journal the event's prompt, and nothing besides."""
    try:
        with conversation.recording():
            prompt = capture.clean_prompt(conversation, conversation.event.prompt)
            capture.journal_prompt(conversation, prompt)
    except GitguardError as error:
        conversation.note_fault(error)


# Turns, compactions, conversations


def _turn_end(conversation: Conversation) -> HookReply:
    from gitguard.hooks.recorded import answer_of
    from gitguard.hooks.taken_back import take_in_taken_back
    from gitguard.hooks.unfinished import take_in_middle_of_turn, take_in_running_turn

    if not conversation.bring_back():
        return NEUTRAL
    conversation.doubt_reading()
    _, pressure = conversation.measure()
    conversation.event = conversation.event.replace(answer=answer_of(conversation))
    with conversation.recording():
        read_upto = conversation.record.heard_upto
        if capture.is_hosts_own(conversation, conversation.event.answer):
            conversation.event = conversation.event.replace(answer="")
            if not conversation.is_apart:
                take_in_running_turn(conversation)
        else:
            take_in_middle_of_turn(conversation)
        if conversation.record.turns > 1:
            take_in_taken_back(conversation, read_upto)
        capture.record_answer(conversation)
        capture.close_open_calls(conversation, every=True)
        capture.take_up_request(conversation)
        untold = not conversation.abilities.tells_answers and not conversation.event.answer
        _note_ended_turn(conversation, awaits_answer=untold)
        _keep_window(conversation)
        conversation.keep_proof(pressure)
        if conversation.take_due_checkpoint(pressure) is None:
            conversation.checkpoint(triggers.TURN_END, "The turn ended.", pressure=pressure)
    _keep_matches(conversation)
    _maintain(conversation)
    _sync(conversation)
    return NEUTRAL


def _keep_matches(conversation: Conversation) -> None:
    """Where HEAD moved, find which new commits hold the session's work, and keep that."""
    if not conversation.left_commit:
        return
    from gitguard.review.piece import keep_matches
    from gitguard.sessions.workspace_sessions import WorkspaceSessions

    try:
        sessions = WorkspaceSessions(conversation.workspace, conversation.config)
        keep_matches(sessions, conversation.left_commit, conversation.store.session)
    except GitguardError as error:
        conversation.note_fault(error)


def _sync(conversation: Conversation) -> None:
    """Begin a sync that goes on after the answer, where the user set it."""
    if conversation.is_apart or conversation.config.sync.auto != AUTO_TURN_END:
        return
    from gitguard.sessions.auto_sync import begin_sync

    try:
        begin_sync(conversation.workspace, conversation.store.session)
    except GitguardError as error:
        conversation.note_fault(error)


def _maintain(conversation: Conversation) -> None:
    """Archive sessions once a day where the configuration enforces it."""
    if conversation.is_apart or conversation.config.maintenance.mode != ENFORCE:
        return
    from gitguard.sessions.maintenance import maintain_at_turns_end

    try:
        maintain_at_turns_end(conversation.store)
    except GitguardError as error:
        conversation.note_fault(error)


def _session_start(conversation: Conversation) -> HookReply:
    if conversation.event.source == events.STARTED_ANEW:
        return _begin_anew(conversation)
    if conversation.event.source != events.STARTED_AFTER_COMPACTION:
        _note_return(conversation)
        _store_reading(conversation)
        if conversation.abilities.tells_prompts:
            return NEUTRAL
        return _hand_back_at_start(conversation)
    is_compacted = compactions.take_in(conversation)
    conversation.ensure_session()
    if not is_compacted:
        from gitguard.hooks.unconfirmed import block_after_compaction

        return HookReply(context=block_after_compaction(conversation))
    from gitguard.hooks.delivery import deliver

    with conversation.recording():
        block, reading = deliver(conversation, first=False)
    return HookReply(context=block, notice=_restored(conversation, reading, block))


def _hand_back_at_start(conversation: Conversation) -> HookReply:
    """Return the block as a conversation begins, of a host that may tell of no prompt."""
    from gitguard.hooks.delivery import deliver
    from gitguard.hooks.taken_back import take_in_taken_back
    from gitguard.hooks.untold_turns import take_in_untold_turns

    conversation.ensure_session(always=conversation.record.turns == 0)
    with conversation.recording():
        conversation.record = conversation.with_transcript(conversation.noticed())
        before = conversation.record
        _take_in_cut_off_turns(conversation)
        take_in_untold_turns(conversation, before)
        take_in_taken_back(conversation, before.heard_upto)
        block, reading = deliver(conversation, first=conversation.record.turns == 0)
    return HookReply(context=block, notice=_restored(conversation, reading, block))


def _forget_delivery(conversation: Conversation) -> None:
    """Forget a block that the host does not keep in a conversation that it resumes."""
    delivery = conversation.record.delivery
    is_resumed = conversation.event.source == events.RESUMED
    is_lost = delivery is not None and delivery.event in conversation.abilities.forgets
    if is_resumed and is_lost and conversation.bring_back():
        with conversation.recording():
            conversation.record = conversation.record.replace(delivery=None)


def _note_return(conversation: Conversation) -> None:
    """Note the process in which a conversation goes on: at its prompt it is believed then.

    Of one that goes on under another name, it is noted that it does.
    """
    _forget_delivery(conversation)
    continues = conversation.event.source in events.STARTED_FROM_ANOTHER
    if not conversation.record.turns and continues and conversation.bring_back():
        with conversation.recording():
            conversation.record = conversation.record.replace(continues=True)
    if conversation.record.turns and conversation.bring_back():
        from gitguard.store.disk.processes import host_process

        process = host_process(conversation.workspace.places.caller)
        with conversation.recording():
            conversation.record = conversation.record.replace(last_process=process)


def _begin_anew(conversation: Conversation) -> HookReply:
    """Forget what belonged to the conversation that the host ended under the same name."""
    if conversation.is_believed and conversation.bring_back():
        _withdraw(conversation)
        with conversation.recording():
            conversation.record = HostSession(
                started_at=conversation.store.now, host=conversation.event.host
            )
    return NEUTRAL


def _sub_agent(conversation: Conversation) -> HookReply:
    """Count the sub-agents at work, of a host whose events do not name them."""
    if conversation.abilities.marks_sub_agents or not conversation.bring_back():
        return NEUTRAL
    more = 1 if conversation.event.kind == events.SUB_AGENT_START else -1
    with conversation.recording():
        record_report(conversation)
        at_work = max(0, conversation.record.sub_agents + more)
        conversation.record = conversation.record.replace(sub_agents=at_work)
    return NEUTRAL


def _session_end(conversation: Conversation) -> HookReply:
    if not conversation.bring_back():
        return NEUTRAL
    with conversation.recording():
        _note_ended_turn(conversation, awaits_answer=conversation.record.awaits_answer)
        _withdraw(conversation)
        capture.take_in_stopped_calls(conversation)
        conversation.checkpoint(triggers.SESSION_END, "The conversation ended.")
    return NEUTRAL


def _withdraw(conversation: Conversation) -> None:
    from gitguard.store.session.announced import withdraw

    withdraw(conversation.workspace, conversation.event.host, conversation.event.host_session)


def _note_ended_turn(conversation: Conversation, *, awaits_answer: bool) -> None:
    from gitguard.store.disk.processes import host_process

    record, now = _with_version(conversation), conversation.workspace.clock()
    process = host_process(conversation.workspace.places.caller)
    conversation.record = record.replace(
        ended_turns=record.turns,
        turn_since=record.turn_since if awaits_answer else now,
        last_process=process,
        awaits_answer=awaits_answer,
    )


# The status line


def _status_line(conversation: Conversation) -> HookReply:
    _store_reading(conversation)
    faults = len(conversation.workspace.faults())
    marks = [f"gitguard: {faults} fault{'s' * (faults > 1)}, see `gitguard status`"] * (faults > 0)
    if conversation.record.halt is not None:
        marks.append(f"gitguard: {HALT_STATUS}")
    _, pressure = conversation.measure()
    gauge = [pressure.gauge_line()] if pressure else []
    return HookReply(line=" ".join(gauge + marks))


def _store_reading(conversation: Conversation) -> None:
    conversation.doubt_reading()
    reading = conversation.event.reading
    if reading is None or not conversation.bring_back():
        return
    with conversation.recording():
        conversation.record = with_reading(conversation.record, reading)
