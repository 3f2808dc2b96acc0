"""Restores the task state of an earlier checkpoint; files in the worktree stay."""

from __future__ import annotations

from gitguard.errors import GitguardError, Untrusted
from gitguard.model import triggers
from gitguard.model.codec import STATE_FILE
from gitguard.sessions.state_comparison import StateChange
from gitguard.store.session import state_file
from gitguard.store.session.circumstances import Circumstances

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitguard.store.session.store import SessionStore

_NOTHING = Circumstances()


def plan_restore(store: SessionStore, name: str, *, untrusted: bool = False) -> StateChange:
    """Show what restoring a checkpoint would change.

    name is a checkpoint's name, number or commit. An archived one that may be somebody else's is
    refused, unless untrusted is given.
    """
    head = store.own_head()
    checkpoint = store.chain.find(head.id, name)
    doubt = "" if untrusted else store.chain.doubt_of(head, checkpoint)
    if doubt:
        short = checkpoint.id[:12]
        raise Untrusted(
            doubt,
            f"Review it with `gitguard show state {short} --untrusted`; a person can restore it "
            "with "
            f"`gitguard restore {short} --untrusted`",
        )
    contents = store.chain.read(checkpoint.id).contents
    after = state_file.decode_state(contents[STATE_FILE], "the checkpoint's state")
    return StateChange(store.state().state, after, checkpoint)


def restore(store: SessionStore, wanted: str, *, untrusted: bool = False) -> StateChange:
    """Make the state of an earlier checkpoint the newest; files in the worktree stay."""
    change = plan_restore(store, wanted, untrusted=untrusted)
    assert change.checkpoint is not None
    name = change.checkpoint.name
    before = store.checkpoint(triggers.PRE_RESTORE, f"Before {name} is restored.", _NOTHING)
    if before.pending:
        raise GitguardError(
            f"nothing was restored, because the safety checkpoint is pending: {before.pending}"
        )
    ready = store.save(change.after.replace(updated_at=store.now), store.state())
    saved = store.checkpoint(triggers.MANUAL, f"Restored from {name}.", _NOTHING, ready=ready)
    return change.replace(saved=saved, notes=(f"restored {name}",))
