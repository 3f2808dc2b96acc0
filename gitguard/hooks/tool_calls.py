"""Tool calls: journaled, gated, and preceded by a checkpoint where they destroy."""

from __future__ import annotations

import os

from gitguard.errors import Complete, GitguardError
from gitguard.hooks import gate
from gitguard.hooks.gate import ASSESS_EVERY, has_shrunk, is_calm, is_to_keep, rearmed
from gitguard.hooks.shell_commands import is_plainly_harmless
from gitguard.model import events, triggers
from gitguard.model.events import NEUTRAL, HookReply
from gitguard.model.text import one_line
from gitguard.state import entries
from gitguard.store.session import state_file
from gitguard.store.session.conversations import hold_path, keep_hold, may_have_company
from gitguard.store.session.host_session import read_record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitguard.errors import MissingState
    from gitguard.hooks.conversation import Conversation
    from gitguard.hooks.gate import GateVerdict
    from gitguard.model.events import Pressure
    from gitguard.store.session.host_session import Halt, HostSession

_NAMED = 3
"""Files that are named of those that no snapshot has."""
_SAVED_BEFORE = "State and summary were saved when the halt began."


def answer(conversation: Conversation) -> HookReply:
    """Answer the event; a sub-agent's pressure is not its parent's, so it is never gated."""
    main = not conversation.event.sub_agent
    abilities = conversation.abilities
    if main and not abilities.tells_prompts and not conversation.record.is_in_turn:
        from gitguard.hooks.turns import take_in_untold_prompt

        take_in_untold_prompt(conversation)
    if not abilities.tells_results and conversation.event.kind == events.TOOL_END:
        from gitguard.hooks.recorded import take_exit_code

        take_exit_code(conversation)
    if conversation.event.kind == events.TOOL_START:
        return _tool_start(conversation) if main else _begin_tool(conversation)
    calls = _end_tool(conversation) if conversation.bring_back() else 0
    return _after_tool(conversation, calls) if calls else NEUTRAL


def _tool_start(conversation: Conversation) -> HookReply:
    # A refusal is decided before anything is looked at, folded or searched, all of which can stall.
    measured, pressure = conversation.measure()
    is_fresh = True
    if measured or conversation.record.halt is not None:
        verdict = gate.judge(conversation.record, pressure, conversation.config)
        if verdict.halts:
            return _halt(conversation, verdict, pressure)
        is_fresh = not verdict.write_summary
    _make_usable(conversation)
    if not is_fresh:
        # A fresh summary comes before a major action from compress on.
        with conversation.store.lock():
            _fold(conversation)
    tool = conversation.tool
    if tool.paths_written or tool.command:
        _mend_summary(conversation)
    if not tool.paths_written and is_plainly_harmless(tool.command):
        return _begin_tool(conversation)
    from gitguard.hooks.after_done import (
        denial_after_done,
    )  # the call may come after its task's end

    refusal, remark = denial_after_done(conversation)
    return refusal or _begin_tool(conversation, remark)


def _make_usable(conversation: Conversation) -> None:
    """Begin or restore the session where it has to be; raise `MissingState` where it cannot be."""
    conversation.ensure_session()
    if not conversation.is_apart:
        conversation.store.states.require_writable()


def answer_without_state(conversation: Conversation, error: MissingState) -> HookReply:
    """Stop the agent, except for the one simple command of ours that mends the state."""
    if conversation.event.kind != events.TOOL_START or conversation.event.sub_agent:
        conversation.note_fault(error)
        return NEUTRAL
    from gitguard.hooks.halting import MENDING, is_exempt, stop_text

    if is_exempt(conversation.event, conversation.workspace.places, MENDING):
        return NEUTRAL
    return HookReply(stop=stop_text(error))


def _begin_tool(conversation: Conversation, remark: str = "") -> HookReply:
    tool = conversation.tool
    reason = _destructive_reason(conversation)
    notices: list[str] = []
    if reason:
        with conversation.recording():
            conversation.checkpoint(
                triggers.BEFORE_DESTRUCTIVE, f"Before `{reason}`: {tool.summary}"
            )
            lacking = _not_kept(conversation, reason)
        edit = conversation.edit_notice()
        if edit:
            from gitguard.hooks.told_line import BRANCH

            conversation.offer(BRANCH, f"[{edit}]")
        notices = [edit, lacking]
    may_write = tool.paths_written or not is_plainly_harmless(tool.command)
    if may_write and may_have_company(conversation.workspace):
        from gitguard.hooks.collisions import offer_collisions

        offer_collisions(conversation)
    with conversation.store.lock():
        entry = conversation.entry(entries.STARTED)
        conversation.store.journal.append(entry.replace(remark=remark) if remark else entry)
    return HookReply(notice=". ".join(filter(None, notices))) if any(notices) else NEUTRAL


def _not_kept(conversation: Conversation, reason: str) -> str:
    """Name the files that no snapshot has, for the person; empty where the last line named them."""
    if not conversation.config.files.enabled:
        return ""
    from gitguard.sessions.file_status import newest_gaps

    gaps = newest_gaps(conversation.store)
    lacking = [f"{file.path} ({file.reason})" for file in gaps.left_out[:_NAMED]]
    more = len(gaps.left_out) - len(lacking)
    lacking += [f"{more:,} more files"] if more else []
    lacking += [*gaps.unseen, *([f"any file, since {gaps.refusal}"] if gaps.refusal else [])]
    files, before = ", ".join(lacking), conversation.record.told_not_kept
    conversation.record = conversation.record.replace(told_not_kept=files)
    if not files or files == before:
        return ""
    return one_line(f"gitguard: before `{reason}` no copy was saved of {files}")


def _destructive_reason(conversation: Conversation) -> str:
    """Return why the call's command is destructive, by gitguard's table or the user's own rules."""
    command, rules = conversation.tool.command, conversation.config.destructive
    if not command or (is_plainly_harmless(command) and not rules):
        return ""
    # Only here, because most tool calls run no such command.
    from gitguard.model.shell.destructive import destructive_reason

    folders = (conversation.event.folder, conversation.event.project_dir)
    return destructive_reason(
        command,
        rules,
        lambda path: any(os.path.lexists(os.path.join(folder, path)) for folder in folders),
    )


def _halt(conversation: Conversation, verdict: GateVerdict, pressure: Pressure | None) -> HookReply:
    """Deny the call and save everything; what fails or takes too long does not lift the halt."""
    from gitguard.hooks.halting import count_denial, denial, gauge_of, is_exempt
    from gitguard.hooks.notices import halt_line

    workspace, event = conversation.workspace, conversation.event
    if is_exempt(event, workspace.places):
        _make_usable(conversation)
        return _begin_tool(conversation)
    noted, warning = halt_line(conversation.record, pressure, conversation.config)
    record = gate.halted(conversation.record, conversation.store.now, verdict).replace(
        warned=noted.warned
    )
    assert record.halt is not None
    halt = record.halt
    if not halt.saved:
        halt = halt.replace(gauge=gauge_of(pressure) if warning else "")
    # First, and without the session's lock, which an agent could hold.
    _keep_hold(conversation, record.replace(halt=halt))
    path = hold_path(workspace, conversation.store.session, event.host_session, event.host)
    ends = count_denial(conversation.event, conversation.abilities, path, workspace.clock())
    conversation.decide(denial(event, conversation.abilities, halt, ends=ends))
    _make_usable(conversation)
    if not halt.saved:
        halt = _save_halt(conversation, record.replace(halt=halt), verdict, pressure)
    return denial(event, conversation.abilities, halt, ends=ends)


def _keep_hold(conversation: Conversation, record: HostSession) -> None:
    try:
        keep_hold(
            conversation.workspace,
            conversation.store.session,
            conversation.event.host_session,
            record,
        )
    except GitguardError as error:
        conversation.note_fault(error)  # the record in the repository decides


def _save_halt(
    conversation: Conversation, record: HostSession, verdict: GateVerdict, pressure: Pressure | None
) -> Halt:
    """Take the checkpoint of a halt, once; return the halt with what was saved.

    What could not be saved is tried again with the next prompt.
    """
    assert record.halt is not None
    try:
        with conversation.recording():
            recorded = _recorded(conversation)
            text = _SAVED_BEFORE
            if recorded is None or recorded.halt is None:
                reason = verdict.reasons[0]
                text = gate.saved_text(
                    conversation.checkpoint(triggers.HALT, reason, pressure=pressure)
                )
            halt = record.halt.replace(saved=text)
            conversation.record = conversation.record.replace(
                halt=halt, override=None, warned=record.warned
            )
            return halt
    except GitguardError as error:
        conversation.note_fault(error)
        return record.halt.replace(saved=f"The checkpoint failed: {error.message}.")


def _recorded(conversation: Conversation) -> HostSession | None:
    """Return what the session's own file says of the conversation."""
    record = read_record(conversation.workspace, conversation.store.session)
    return record.host_sessions.get(conversation.event.host_session)


def _mend_summary(conversation: Conversation) -> None:
    """Render a summary that somebody else wrote again, before a major action."""
    if conversation.is_apart or conversation.store.states.has_own_summary():
        return
    with conversation.store.lock():
        conversation.store.write_summary(conversation.store.state_or_copy().state)


def _fold(conversation: Conversation) -> None:
    if conversation.is_apart:
        return
    ready, _ = conversation.store.fold(conversation.store.state_or_copy())
    conversation.store.write_summary(ready.state)


def _after_tool(conversation: Conversation, calls: int) -> HookReply:
    """Answer the end of a call, with which so many of the conversation have ended."""
    if not conversation.abilities.tells_compactions:
        from gitguard.hooks.compactions import hand_back

        reply = hand_back(conversation)
        if reply.context:
            return reply
    if conversation.abilities.hears_after_tools and _may_miss_hooks(conversation):
        from gitguard.hooks.missing_hooks import offer_missing_hooks

        with conversation.recording():
            offer_missing_hooks(conversation)
    if conversation.record.untold_collision and conversation.abilities.hears_after_tools:
        from gitguard.hooks.collisions import offer_untold_collision

        with conversation.recording():
            offer_untold_collision(conversation)
    if "gitguard" in conversation.tool.command:
        _adopt_own_head(conversation)
        if conversation.abilities.hears_after_tools and (complete := _say_complete(conversation)):
            from gitguard.hooks.told_line import STATUS

            conversation.offer(STATUS, complete)
            return NEUTRAL
    _, pressure = conversation.measure()
    assess = calls % ASSESS_EVERY == 0 and _is_to_assess(conversation, pressure)
    calm = is_calm(conversation.record, pressure, conversation.config)
    is_told = bool(conversation.lines)  # of something graver, so that a warning waits
    if conversation.record.halt is not None or is_told or (calm and not assess):
        return NEUTRAL
    if not conversation.abilities.hears_after_tools:
        return _save_unheard(conversation, pressure)
    with conversation.recording():
        conversation.record = conversation.with_transcript(conversation.record)
        if conversation.record.epoch > conversation.record.compactions:
            conversation.record = conversation.noticed()
        from gitguard.hooks.told_line import PRESSURE

        conversation.offer(PRESSURE, conversation.line(pressure, calls, assess=assess))
    return NEUTRAL


def _may_miss_hooks(conversation: Conversation) -> bool:
    """Say whether the host's settings changed in this turn or are gone, without reading them."""
    workspace, names = conversation.workspace, conversation.abilities.settings_files
    ledger = os.path.join(workspace.state_folder, f"_{conversation.event.host}.json")
    if not names or not os.path.exists(ledger):
        return False  # nothing was installed here
    place, is_there = workspace.place, False
    for root in (place.worktree, os.path.dirname(place.common_dir)):
        for name in names:
            try:
                changed_at = os.stat(os.path.join(root, name)).st_mtime
            except OSError:
                continue
            is_there = True
            if changed_at >= conversation.record.turn_since > 0:
                return True
    return not is_there


def _is_to_assess(conversation: Conversation, pressure: Pressure | None) -> bool:
    """Say whether there is advice, or a usage from which the average is to be counted."""
    from gitguard.pressure.bands import band_of

    if pressure is None:
        return False
    unpaced = conversation.record.paced_tokens < 0 or has_shrunk(conversation.record, pressure)
    return unpaced or bool(band_of(pressure.share, conversation.config).advice)


def _save_unheard(conversation: Conversation, pressure: Pressure | None) -> HookReply:
    """Checkpoint where the answer is not read; what is to be said waits for the next prompt."""
    if pressure is not None and is_to_keep(conversation.record, pressure, conversation.config):
        with conversation.recording():
            conversation.take_due_checkpoint(pressure)
            conversation.record = rearmed(conversation.record, pressure, conversation.config)
    return NEUTRAL


def _has_failed(conversation: Conversation) -> bool:
    """Say whether the call failed; `grep` without a match, for one, only answered no."""
    if conversation.event.kind != events.TOOL_FAILED:
        return False
    from gitguard.model.outcome import is_answer

    return not is_answer(conversation.tool.command, conversation.tool.error)


def _end_tool(conversation: Conversation) -> int:
    """Journal the end of a call; return how many of the conversation have ended with it.

    0 is returned where it does not count: calls of sub-agents, and what the user interrupted.
    """
    ending = entries.FAILED if _has_failed(conversation) else entries.ENDED
    if conversation.tool.interrupted:
        ending = entries.INTERRUPTED
    counts = not conversation.event.sub_agent and ending != entries.INTERRUPTED
    entry = conversation.entry(ending).replace(command=conversation.tool.kept_command)
    if entry.plan or entry.whole_plan:
        from gitguard.store.session.announced import announce_intent

        event, plan = conversation.event, entry.plan
        announce_intent(
            conversation.workspace,
            event.host,
            event.host_session,
            plan=plan,
            whole_plan=entry.whole_plan,
        )
    if ending == entries.FAILED:
        from gitguard.model.outcome import is_wrong_guess

        is_guess = is_wrong_guess(conversation.tool.command, conversation.tool.error)
        entry = entry.replace(is_probe=entry.is_probe or is_guess)
    with conversation.store.lock():
        calls = (
            conversation.store.journal.calls(conversation.event.host_session) + 1 if counts else 0
        )
        # A count is carried on by calls that ended well; those that failed are added to it.
        counted_calls = calls if ending == entries.ENDED else 0
        if entry.answers:
            from gitguard.hooks.unconfirmed import doubt_answers

            entry = doubt_answers(conversation, entry)
        conversation.store.journal.append(entry.replace(calls=counted_calls))
        if conversation.event.report is not None:
            from gitguard.hooks.reports import record_report

            record_report(conversation)
        if ending == entries.FAILED:
            _fold(conversation)
    return calls


def _say_complete(conversation: Conversation) -> str:
    """Return the signal that the task is complete, once, after its final state is written."""
    reading = conversation.store.states.read()
    our_state = state_file.newest_own(reading)
    if our_state is None or not our_state.state.is_done or reading.standing == state_file.EDITED:
        return ""
    from gitguard.sessions.completion import finish

    with conversation.recording():
        ready = conversation.store.state()
        if ready.state.task_id == conversation.record.completed:
            return ""
        finish(conversation.store, ready)
        conversation.record = conversation.record.replace(completed=ready.state.task_id)
        return (
            f"{Complete.status}\nThe task `{ready.state.task_id}` is complete, and its final state "
            "is saved. Tell the user the result and stop."
        )


def _adopt_own_head(conversation: Conversation) -> None:
    """Count checkpoints that the agent itself took by command as this conversation's own."""
    anchor = conversation.store.chain.anchors.read()
    if anchor is None or anchor.committed == conversation.record.head:
        return
    with conversation.recording():
        conversation.record = conversation.record.replace(head=anchor.committed)
