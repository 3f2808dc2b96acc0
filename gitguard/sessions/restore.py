"""Restores the task state of an earlier checkpoint; files in the worktree stay."""

from __future__ import annotations

from gitguard.errors import GitguardError, Untrusted
from gitguard.model import triggers
from gitguard.model.codec import STATE_FILE
from gitguard.sessions.state_comparison import StateChange
from gitguard.state.circumstances import Circumstances
from gitguard.store.session.state_file import decode_state

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitguard.state.checkpoint import Checkpoint
    from gitguard.state.task import TaskState
    from gitguard.store.session.store import SessionStore

_NOTHING = Circumstances()


def plan_restore(store: SessionStore, name: str, *, untrusted: bool = False) -> StateChange:
    """Show what restoring a checkpoint would change.

    name is a checkpoint's name, number or commit. An archived one that another machine may have
    written is refused with `Untrusted`, unless untrusted is given.
    """
    checkpoint, after = _read_checkpoint(store, name, untrusted=untrusted)
    return StateChange(store.state().state, after, checkpoint)


def _read_checkpoint(
    store: SessionStore, name: str, *, untrusted: bool
) -> tuple[Checkpoint, TaskState]:
    head = store.own_head()
    checkpoint = store.chain.find(head.id, name)
    doubt = "" if untrusted else store.chain.doubt_of(head, checkpoint)
    if doubt:
        short = checkpoint.id[:12]
        raise Untrusted(
            doubt,
            f"Review it with `gitguard show state {short} --untrusted`; a person can restore it "
            f"with `gitguard restore {short} --untrusted`",
        )
    contents = store.chain.read(checkpoint.id).contents
    return checkpoint, decode_state(contents[STATE_FILE], "the checkpoint's state")


def restore(store: SessionStore, name: str, *, untrusted: bool = False) -> StateChange:
    """Make the state of an earlier checkpoint the newest; files in the worktree stay.

    The state before is checkpointed first, so nothing is lost. Raises what `plan_restore` raises,
    and `GitguardError` where that first checkpoint cannot be committed yet.
    """
    checkpoint, after = _read_checkpoint(store, name, untrusted=untrusted)
    before = store.state().state
    safety = store.checkpoint(
        triggers.PRE_RESTORE, f"Before {checkpoint.name} is restored.", _NOTHING
    )
    if safety.pending:
        raise GitguardError(
            f"nothing was restored, because the safety checkpoint is pending: {safety.pending}"
        )
    ready = store.save(after.replace(updated_at=store.now), store.state())
    why = f"Restored from {checkpoint.name}."
    saved = store.checkpoint(triggers.MANUAL, why, _NOTHING, ready=ready)
    notes = (f"restored {checkpoint.name}",)
    return StateChange(
        before, after, checkpoint, saved=saved, notes=notes, remark=_about_code(store, checkpoint)
    )


def _about_code(store: SessionStore, checkpoint: Checkpoint) -> str:
    """Say where the code stood then, if another commit is checked out now."""
    then, now = checkpoint.code.head, store.own_head().code.head
    if not then or then == now:
        return ""
    return (
        f"The state was saved at code commit {then[:12]}, and {now[:12] or 'none'} is checked out; "
        f"`git switch --detach {then[:12]}` checks that one out."
    )
