"""Asks the gate for a conversation, and writes what its verdict demands."""

from __future__ import annotations

from gitguard.errors import GitguardError, InvalidInput
from gitguard.hooks.gate import GateVerdict, checkpointed, halted, judge, risen_to, saved_text
from gitguard.model import triggers
from gitguard.model.events import Pressure
from gitguard.model.text import one_line, shorten
from gitguard.model.value import Value
from gitguard.pressure.gauge import (
    measure_pressure,
    window_warning,
    with_given,
)
from gitguard.state.circumstances import Circumstances
from gitguard.store.session.conversations import (
    conversations_here,
    keep_conversation,
    read_conversation,
)
from gitguard.store.session.host_session import Halt
from gitguard.store.session.store import Saved

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitguard.model.events import Reading
    from gitguard.store.session.host_session import HostSession
    from gitguard.store.session.store import SessionStore


class GateRequest(Value):
    """What a program says when it asks before a major action."""

    host_session: str
    reading: Reading | None = None
    action_changed_state: bool = False
    phase_or_goal_changed: bool = False
    compacted: bool = False
    host: str = ""
    """Whose conversation it is, empty where nobody tells."""


class Gated(Value):
    """What the gate decided, and what was written because of it."""

    verdict: GateVerdict
    pressure: Pressure | None
    saved: Saved | None = None
    summary_conflict: str = ""
    """The unified diff of a summary that differed from the state; the state won."""
    warning: str = ""
    """What is to be said of the context window."""
    line: str = ""
    """The warning that pressure has risen to, or that goes with a halt."""
    branch: str = ""
    """Why no checkpoint is taken, or what became of the session's branch."""


def ask(store: SessionStore, question: GateRequest) -> Gated:
    """Answer a program that asks before a major action.

    See references/design/contract.md, "The loop".

    Raises `MissingState`, and `Complete` after the final state is written.
    """
    about_branch = store.about_branch(is_locked=True)
    ready = store.state()
    state = ready.state
    conflict = store.mend_summary(state)
    ready, _ = store.fold(ready)
    state = ready.state
    store.write_summary(state)
    if state.is_done:
        from gitguard.sessions.completion import completion, finish

        finish(store, ready)
        raise completion(state)
    workspace, key = store.workspace, question.host_session
    record = _conversation(store, question)
    was_halted = record.halt is not None and not question.compacted
    if question.compacted:
        _refuse_hearsay(question)
        record = record.compacted(store.clock()).replace(turns=0)
    pressure, unknown = _measure(store, record, question)
    verdict = judge(
        record,
        pressure,
        store.config,
        unknown=unknown,
        action_changed_state=question.action_changed_state,
        phase_or_goal_changed=question.phase_or_goal_changed,
        summary_conflict=bool(conflict),
    )
    record = _answered(store, question, record, verdict)
    saved, record = _save(
        store, verdict, record, pressure=pressure, question=question, was_halted=was_halted
    )
    record, line = _context_line(
        store, question, record, pressure=pressure, verdict=verdict, saved=saved
    )
    keep_conversation(workspace, store.session, key, record)
    warning = window_warning(pressure.window) if pressure else ""
    return Gated(
        verdict,
        pressure,
        saved,
        summary_conflict=conflict,
        warning=warning,
        line=line,
        branch=about_branch,
    )


def _measure(
    store: SessionStore, record: HostSession, question: GateRequest
) -> tuple[Pressure | None, str]:
    """Return the pressure, and why the transcript of a host that offers it tells none."""
    first_turn = record.turns == 0 or bool(record.transcript)
    try:
        pressure = measure_pressure(
            record, store.config, given=question.reading, first_turn=first_turn
        )
    except GitguardError as error:
        if question.reading is not None or not record.transcript:
            raise
        store.workspace.note_fault("reading the context usage", error)
        return None, f"context usage is unknown: {error.message}"
    is_later = bool(record.transcript) and record.turns > 1 and not record.epoch
    if pressure is not None and not pressure.is_known and is_later:
        return pressure, f"context usage is unknown: `{record.transcript}` tells none"
    return pressure, ""


def _answered(
    store: SessionStore, question: GateRequest, record: HostSession, verdict: GateVerdict
) -> HostSession:
    """Return the record with the question counted, its reading kept, and a halt begun."""
    record = record.replace(turns=record.turns + 1)
    if question.reading is not None:
        record = with_given(record, question.reading, store.clock())
    return halted(record, store.now, verdict) if verdict.halts else record


def _conversation(store: SessionStore, question: GateRequest) -> HostSession:
    """Return the record of the conversation that asks.

    A bare shell's is the session itself.
    """
    # With its host a halt is kept where the host's hooks look for it, in whatever session it began.
    return read_conversation(store.workspace, store.session, question.host_session, question.host)


def _context_line(
    store: SessionStore,
    question: GateRequest,
    record: HostSession,
    pressure: Pressure | None,
    verdict: GateVerdict,
    saved: Saved | None,
) -> tuple[HostSession, str]:
    """Return the record and the one line on the context, for a host whose hooks say none."""
    from gitguard.hooks.notices import Occasion, halt_line, line_of

    if pressure is None:
        return record, ""
    commands = _room_commands(question.host)
    if verdict.halts:
        is_saved = saved is not None and not saved.pending
        return halt_line(record, pressure, store.config, saved=is_saved, room_commands=commands)
    calls = store.journal.calls(question.host_session)
    is_saved = saved is not None and bool(saved.commit)
    occasion = Occasion(calls, saved=is_saved, room_commands=commands)
    return line_of(record, pressure, store.config, occasion)


def _room_commands(host: str) -> str:
    """Return a host's commands that make room, empty for an unknown host."""
    from gitguard.hosts import HOOKS, find_host, names

    return find_host(host).abilities.room_commands if host in names(HOOKS) else ""


def _refuse_hearsay(question: GateRequest) -> None:
    if question.reading is None:
        raise InvalidInput(
            "--compacted requires the pressure after the compaction",
            "Add --pressure or --tokens",
        )


def _save(
    store: SessionStore,
    verdict: GateVerdict,
    record: HostSession,
    pressure: Pressure | None,
    question: GateRequest,
    *,
    was_halted: bool,
) -> tuple[Saved | None, HostSession]:
    circumstances = Circumstances(pressure, compaction_count=record.epoch)
    if verdict.halts:
        saved = _save_halt(store, verdict.reasons[0], circumstances, if_changed=was_halted)
        return saved, _with_saved(record, saved)
    trigger = risen_to(record, pressure, store.config)
    if trigger:
        assert pressure is not None
        saved = store.checkpoint(trigger, verdict.reasons[0], circumstances)
        return saved, checkpointed(record, pressure)
    if question.phase_or_goal_changed:
        return store.checkpoint(
            triggers.PHASE_CHANGE, "Phase or goal changed.", circumstances
        ), record
    if verdict.write_checkpoint:
        return store.checkpoint(
            triggers.TURN_END, "The action changed the state.", circumstances
        ), record
    return None, record


def _save_halt(
    store: SessionStore, why: str, circumstances: Circumstances, *, if_changed: bool
) -> Saved:
    """Save what there is; a checkpoint that fails does not lift the halt."""
    try:
        return store.checkpoint(triggers.HALT, why, circumstances, if_changed=if_changed)
    except GitguardError as error:
        return Saved(triggers.HALT, pending=error.message)


def _with_saved(record: HostSession, saved: Saved) -> HostSession:
    """Return the record with what was saved when its halt began."""
    if record.halt is None or record.halt.saved:
        return record
    return record.replace(halt=record.halt.replace(saved=saved_text(saved)))


def override(store: SessionStore, host_session: str, reason: str) -> HostSession:
    """Lift a conversation's halt; the caller holds the lock."""
    conversations = conversations_here(store.workspace, store.session)
    record = conversations.get(host_session)
    if record is None or record.halt is None:
        halted_ones = (f"`{key}`" for key, other in conversations.items() if other.halt)
        raise InvalidInput(
            f"the conversation `{shorten(one_line(host_session), 80)}` is not halted",
            f"Halted: {', '.join(halted_ones) or 'none'}",
        )
    lifted = record.replace(halt=None, override=Halt(store.now, record.halt.pressure, reason))
    keep_conversation(store.workspace, store.session, host_session, lifted)
    return lifted
