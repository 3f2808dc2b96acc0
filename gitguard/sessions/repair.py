"""Repair and change of course: each only does what its preconditions allow, and keeps the old."""

from __future__ import annotations

from gitguard.errors import InvalidDocument, InvalidInput, NewerFormat
from gitguard.model.codec import STATE_FILE
from gitguard.sessions.taking import take_in
from gitguard.state.checkpoint import SNAPSHOT_FILE, checkpoint_name
from gitguard.state.circumstances import Circumstances
from gitguard.state.snapshot import folded_upto
from gitguard.store.session import standing, state_file
from gitguard.store.session.host_session import new_record, read_record, write_record
from gitguard.store.session.journal import make_session_files
from gitguard.store.session.store import SessionStore

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitguard.store.session.chain_check import Verified
    from gitguard.store.session.standing import Head

_NOTHING = Circumstances()
_MOVED_BY_OTHERS = (
    standing.ADVANCED,
    standing.MOVED,
    standing.DELETED,
    standing.GONE,
    standing.SYMBOLIC,
)


def repair_local(store: SessionStore) -> tuple[str, ...]:
    """Repair this machine's own files, and no branch; return a sentence for each thing done.

    Safe for an agent: what does not fit is archived, and only what this machine wrote comes back.
    Beside a branch that somebody moved, the state comes back all the same; the branch waits for a
    person. Raises why the branch is not ours where there is nothing else to repair.
    """
    repairs = _repair_around(store)
    head = store.chain.head(settle=True)
    if head.standing in _MOVED_BY_OTHERS and state_file.newest_own(store.states.read()):
        repairs += _repair_state(store)
    if not repairs or head.standing not in _MOVED_BY_OTHERS:
        standing.require_no_foreign_head(head, store.chain.ref)
        repairs += _repair_working_files(store)
    return tuple(repairs)


def archive_theirs(store: SessionStore) -> tuple[str, ...]:
    """Put the branch back to our newest checkpoint; what stood there is archived."""
    head = store.chain.head(settle=True)
    if head.standing in (standing.GONE, standing.SYMBOLIC):
        standing.require_no_foreign_head(head, store.chain.ref)
    if head.standing not in (standing.MOVED, standing.DELETED):
        raise InvalidInput(
            f"`{store.chain.ref}` is where this machine left it; there is nothing to archive",
            "See what is wrong with `gitguard repair --dry-run`",
        )
    return (_put_back(store, head), *_repair_working_files(store))


def _repair_around(store: SessionStore) -> list[str]:
    """Repair what a session's files rest on: the record of its conversations, the identity."""
    repairs = _repair_record(store)
    identity_put_back = store.chain.put_identity_back()
    return [*repairs, identity_put_back] if identity_put_back else repairs


def _repair_working_files(store: SessionStore) -> list[str]:
    repairs = _repair_state(store)
    reading = store.states.read()
    ready = store.state() if reading.has_summary else state_file.newest_own(reading)
    if ready is not None and store.write_summary(ready.state):
        repairs.append("rewrote the summary from the state")
    # A `trust` that was interrupted leaves it behind, and nothing else comes back for it.
    if store.workspace.is_recorded:
        repairs += take_in(store)
    return repairs


def _put_back(store: SessionStore, head: Head) -> str:
    anchor = head.own_anchor
    store.chain.refuse_checked_out(head)
    note = ""
    if head.id:
        archived = store.chain.archive(head.id, "gitguard: archived by repair")
        note = f"; the commit that was there is archived as `{archived}`"
    store.chain.point_at(anchor.committed, head.id, "gitguard: repair restores our head")
    store.chain.note_return(head, "")  # a person decided, so the next deletion is the first again
    name = checkpoint_name(anchor.sequence)
    return f"moved `{store.chain.ref}` back to {name}, commit {anchor.committed[:12]}{note}"


def _repair_record(store: SessionStore) -> list[str]:
    workspace, session = store.workspace, store.session
    try:
        read_record(workspace, session)
    except NewerFormat:
        raise
    except InvalidDocument:
        archived = workspace.set_aside(workspace.working_file(session, "session.json"))
        write_record(workspace, session, new_record(workspace, session))
        return [f"archived the damaged record of the conversations as `{archived}`"]
    return []


def _repair_state(store: SessionStore) -> list[str]:
    reading = store.states.read()
    if reading.standing == state_file.PENDING:
        return []
    if isinstance(reading, state_file.OwnState) and not reading.needs_rewrite:
        return []
    copy = state_file.newest_own(reading)
    newest = _newest_checkpoint(store) if copy is None else None
    make_session_files(store.workspace, store.session)
    # Moved away first, a good older file would be missed if the new one cannot be written.
    archived = store.workspace.keep_beside(store.states.path)
    repairs = ["restored the state from this machine's copy"]
    if copy is not None:
        store.states.rewrite(copy)
    elif newest is not None:
        repairs = [_write_committed(store, newest)]
    return [f"archived the bad state as `{archived}`", *repairs] if archived else repairs


def _newest_checkpoint(store: SessionStore) -> Verified:
    """Return our newest checkpoint, where this machine has no copy of the state."""
    head = store.chain.head()
    if head.standing != standing.OURS:
        raise InvalidInput(
            "this machine has no usable copy of the state",
            "Move the bad file away, then start over with `gitguard ensure`",
        )
    return store.chain.read(head.id)


def _write_committed(store: SessionStore, newest: Verified) -> str:
    state = state_file.decode_state(newest.contents[STATE_FILE], "the checkpoint's state")
    journal_id, offset = folded_upto(newest.contents[SNAPSHOT_FILE])
    store.states.write(state, None, journal_id=journal_id, journal_offset=offset)
    return f"restored the state from checkpoint {newest.checkpoint.name}"


def forget(store: SessionStore) -> str:
    """Drop this machine's anchor of the session; it is kept aside, and the state stays."""
    store.chain.anchors.archive(f"{store.clock():.0f}", copy=False)
    return f"archived the anchor of `{store.session.key}` in `{store.chain.anchors.folder}`"
