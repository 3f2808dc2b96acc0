"""Changes the state as an agent says, whole or not at all, with the checkpoint it calls for."""

from __future__ import annotations

from gitguard.errors import InvalidInput, Pending
from gitguard.model import triggers
from gitguard.model.codec import STATE_LIMIT, dump_json
from gitguard.model.text import timestamp
from gitguard.model.value import Value
from gitguard.state import roles, task
from gitguard.state.changes import update_state
from gitguard.state.circumstances import Circumstances
from gitguard.state.items import PERSON, Origin
from gitguard.store.session import apart
from gitguard.store.session.announced import announce_intent
from gitguard.store.session.host_session import read_record
from gitguard.store.session.store import LOCK_TIMEOUT, Saved

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from gitguard.model.redaction.redactor import RuleMatch
    from gitguard.state.task import TaskState
    from gitguard.store.session.state_file import OwnState
    from gitguard.store.session.store import SessionStore
    from gitguard.store.session.workspace import Workspace

_STAYING = (
    *(roles.DECISION, roles.DONE_WORK, roles.OPEN_WORK, roles.OBSTACLE, roles.LIMIT),
    *(roles.LESSON, roles.ASSUMPTION, roles.REMARK, roles.FAILURE, roles.OUTPUT),
)
"""What goes on to stand beside a goal that replaces another one."""
_NOTES_LIMIT = STATE_LIMIT * 3 // 4


class Noted(Value):
    """What `note` or `update` did."""

    state: TaskState
    report: dict[str, str]
    """For each field: set, replaced or appended."""
    saved: Saved | None = None
    redacted: tuple[RuleMatch, ...] = ()
    """What was taken out because it looks like a secret."""
    earlier_goal: str = ""
    """The goal that was replaced by a different one in the same task, empty otherwise."""
    still_noted: Mapping[str, int] = {}
    """What was noted for that goal and stays: how many items, by field."""
    is_apart: bool = False
    """Whether it waits for `gitguard repair --trust`, apart from the session's state."""


def change(
    store: SessionStore,
    document: dict[str, Any],
    *,
    new_task: bool,
    lists: str,
    conversation: str = "",
    by_person: bool = False,
) -> Noted:
    """Apply a document of fields to the state, or to a new task's; the caller holds the lock.

    conversation is the host's id of the one in which the agent notes, empty outside of one.
    by_person says that no agent runs this; while a tool call runs, that may be the one.
    """
    if not document and not new_task:
        raise InvalidInput("nothing to note", "The command's --help lists what can be noted")
    ready = store.state()
    before = ready.state
    if new_task:
        before = task.new_task(store.session.key, store.now, before=before)
    elif conversation:
        # Another conversation beside it may have put its own task in the place of this one's.
        before = task.as_of(before, conversation, store.now)
    record = read_record(store.workspace, store.session).host_sessions.get(conversation)
    turn = record.turns if record is not None else 0
    origin = store.origin(conversation, turn)
    if by_person and not conversation and not store.journal.open_calls():
        origin = origin.replace(by=PERSON)
    after, report = update_state(before, document, origin, lists=lists)
    _leave_room(before, after)
    if new_task:
        ready = end_task(store, ready)
    written = store.save(after, ready)
    after = written.state
    if record is not None and "next_action" in document:
        host, next_action = record.host, after.next_action
        announce_intent(store.workspace, host, conversation, next_action=next_action)
    trigger, why = _why_checkpoint(before, after, document, new_task=new_task)
    if not trigger and store.waits:
        trigger, why = triggers.RECOVERY, "A checkpoint was pending."
    if not trigger:
        store.write_summary(after)
        return Noted(after, report, redacted=written.redacted)
    saved = store.checkpoint(trigger, why, Circumstances(), ready=written)
    replaced = _replaced_goal(before, after)
    still_noted = _noted_items(before) if replaced else {}
    return Noted(
        after,
        report,
        saved,
        redacted=written.redacted,
        earlier_goal=replaced,
        still_noted=still_noted,
    )


def _replaced_goal(before: TaskState, after: TaskState) -> str:
    """Return the goal that the agent noted before, if it is a different one now."""
    is_same = " ".join(before.goal.split()) == " ".join(after.goal.split())
    return "" if is_same or not before.is_noted("goal") else before.stated_goal


def _noted_items(state: TaskState) -> dict[str, int]:
    """Return how many items the agent has noted in each field."""
    noted = state.noted(*_STAYING)
    counts = {f.name: sum(item.is_noted for item in f.items_in(state)) for f in noted}
    return {name: count for name, count in counts.items() if count}


def keep_apart(
    workspace: Workspace, document: dict[str, Any], *, new_task: bool, lists: str
) -> Noted | None:
    """Keep what is noted where nothing on this machine vouches for the state; None elsewhere.

    It is applied when somebody trusts the repository.
    """
    session = apart.session_of(workspace) if not workspace.is_recorded else None
    if session is None or not apart.is_unknown(workspace):
        return None
    if not document and not new_task:
        raise InvalidInput("nothing to note", "The command's --help lists what can be noted")
    now = timestamp(workspace.clock())
    begun = task.new_task(session.key, now)
    state, report = update_state(begun, document, Origin(when=now), lists=lists)
    with workspace.lock(session, timeout=LOCK_TIMEOUT):
        apart.keep_note(workspace, session, apart.PendingNote(document, new_task, lists))
    saved = Saved(
        triggers.MANUAL,
        pending="this machine has no record of the task state in this workspace",
        way_out="Review it with `gitguard log --untrusted`, then run `gitguard repair "
        "--trust`, which "
        "adds this note",
    )
    return Noted(state, report, saved, is_apart=True)


def _leave_room(before: TaskState, after: TaskState) -> None:
    """Refuse notes that leave no room for what hooks add; a state that shrinks is never refused."""
    was, size = (len(dump_json(state.to_document())) for state in (before, after))
    if size > _NOTES_LIMIT and size > was:
        raise InvalidInput(
            f"the state would have {size:,} bytes; notes may fill {_NOTES_LIMIT:,}",
            "Shorten a list with `gitguard update --replace`, or start a new task",
        )


def end_task(store: SessionStore, ready: OwnState) -> OwnState:
    """Commit a task that makes room for the next, if its last checkpoint does not hold it whole.

    Raises `Pending` where that cannot be: the task is in no commit yet and would be lost.
    """
    ready, _ = store.fold(ready)
    anchor = store.chain.head().anchor
    if anchor is None or anchor.state_sha256 != ready.sha256:
        why = "The previous task was newer than its last checkpoint."
        saved = store.checkpoint(triggers.RECOVERY, why, Circumstances(), ready=ready)
        if saved.pending and not ready.state.is_untouched:
            raise Pending(
                "the previous task is not in a checkpoint yet, so no new one can start: "
                f"{saved.pending}",
                "Run `gitguard checkpoint` where git is writable, then start the new task",
            )
    return store.state()


def _why_checkpoint(
    before: TaskState, after: TaskState, document: dict[str, Any], *, new_task: bool
) -> tuple[str, str]:
    """Say which checkpoint a change of state calls for (references/reference/events.md)."""
    if after.is_done:
        return triggers.COMPLETE, "The task is complete."
    if new_task:
        return triggers.START, "A new task begins."
    if (before.goal, before.current_phase) != (after.goal, after.current_phase):
        return triggers.PHASE_CHANGE, "Phase or goal changed."
    if "failed_attempts" in document:
        return triggers.FAILURE, "A failure changed the plan."
    return "", ""
