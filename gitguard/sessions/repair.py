"""Repair and change of course: each only does what its preconditions allow, and keeps the old."""

from __future__ import annotations

from gitguard.errors import (
    EditedState,
    GitguardError,
    InvalidDocument,
    InvalidInput,
    MissingState,
    NewerFormat,
    Tampered,
    Untrusted,
)
from gitguard.model import triggers
from gitguard.model.codec import STATE_FILE
from gitguard.model.text import counted
from gitguard.model.value import Value
from gitguard.sessions.signed_head import take_signed
from gitguard.sessions.startup import begin_start, settle
from gitguard.sessions.taking import adopt, archive_uncommitted
from gitguard.store.session import apart, standing, state_file
from gitguard.store.session.checkpoint import SNAPSHOT_FILE, Checkpoint, checkpoint_name
from gitguard.store.session.circumstances import Circumstances
from gitguard.store.session.snapshot import folded_upto
from gitguard.store.session.store import Saved, SessionStore
from gitguard.store.session.task import new_task, update_state

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitguard.store.session.apart import PendingNote
    from gitguard.store.session.chain_check import Verified
    from gitguard.store.session.standing import Head
    from gitguard.store.session.state_file import Edited, Ready
    from gitguard.store.session.task import TaskState

_NOTHING = Circumstances()


class StateChange(Value):
    """What would happen to the state, or what has."""

    before: TaskState | None
    after: TaskState
    checkpoint: Checkpoint | None = None
    saved: Saved | None = None
    notes: tuple[str, ...] = ()
    sha256: str = ""
    """The hash of an edited file as it was shown."""


# Recover


def recover(store: SessionStore, *, take: bool) -> tuple[str, ...]:
    """Repair what can be repaired without choosing; return a sentence for each thing done.

    take adopts a head that somebody else put on top of ours.
    """
    done = _repair_around(store)
    head = store.chain.head(settle=True)
    if head.standing == standing.ADVANCED and take:
        done.append(_take(store, head))
    elif head.standing in (standing.MOVED, standing.DELETED):
        done.append(_put_back(store, head))
    else:
        done += take_signed(store, most=0)
        standing.refuse_foreign_head(store.chain.head(), store.chain.ref)
    return (*done, *_repair_working_files(store))


def repair_local(store: SessionStore) -> tuple[str, ...]:
    """Repair this machine's own files, and no branch; return a sentence for each thing done.

    Safe for an agent: what does not fit is archived, and only what this machine wrote comes back.
    """
    done = _repair_around(store)
    standing.refuse_foreign_head(store.chain.head(settle=True), store.chain.ref)
    return (*done, *_repair_working_files(store))


def archive_theirs(store: SessionStore) -> tuple[str, ...]:
    """Put the branch back to our newest checkpoint; what stood there is archived."""
    head = store.chain.head(settle=True)
    if head.standing not in (standing.MOVED, standing.DELETED):
        raise InvalidInput(
            f"`{store.chain.ref}` is not away from what this machine wrote; there is nothing to "
            "archive",
            "See what is wrong with `gitguard repair --dry-run`",
        )
    return (_put_back(store, head), *_repair_working_files(store))


def _repair_around(store: SessionStore) -> list[str]:
    """Repair what a session's files rest on: the record of its conversations, the identity."""
    done = _repair_record(store)
    identity_put_back = store.chain.put_identity_back()
    return [*done, identity_put_back] if identity_put_back else done


def _repair_working_files(store: SessionStore) -> list[str]:
    done = _repair_state(store)
    reading = store.states.read()
    own = store.state() if reading.has_summary else state_file.newest_own(reading)
    if own is not None and store.write_summary(own.state):
        done.append("rendered the summary again from the state")
    # A `trust` that was interrupted leaves it behind, and nothing else comes back for it.
    if store.workspace.is_recorded:
        done += take_in(store)
    return done


def _put_back(store: SessionStore, head: Head) -> str:
    anchor = head.anchor
    assert anchor is not None
    if not store.chain.owns_objects(anchor.committed):
        raise Tampered(
            f"the anchored checkpoint {anchor.committed[:12]} is no longer in the repository",
            "Go on with this machine's copy of the state: `gitguard session fork NAME` begins a "
            "new history and leaves this one as it is"
            + ("" if head.id else "; or run `gitguard repair --forget`, then `gitguard ensure`"),
        )
    store.chain.refuse_checked_out(head)
    theirs = ""
    if head.id:
        kept = store.chain.archive(head.id, "gitguard: set aside by recover")
        theirs = f"; what stood there is kept as `{kept}`"
    store.chain.point_at(anchor.committed, head.id, "gitguard: recover puts back our head")
    name = checkpoint_name(anchor.sequence)
    return f"put `{store.chain.ref}` back to {name}, commit {anchor.committed[:12]}{theirs}"


def _repair_record(store: SessionStore) -> list[str]:
    workspace, session = store.workspace, store.session
    try:
        workspace.read_record(session)
    except NewerFormat:
        raise
    except InvalidDocument:
        kept = workspace.set_aside(workspace.working_file(session, "session.json"))
        workspace.write_record(session, workspace.new_record(session))
        return [f"kept the damaged record of the conversations as `{kept}`"]
    return []


def _repair_state(store: SessionStore) -> list[str]:
    reading = store.states.read()
    if reading.standing == state_file.PENDING:
        return []
    if isinstance(reading, state_file.Ready) and not reading.needs_rewrite:
        return _fill_empty(store, reading)
    own = state_file.newest_own(reading)
    good = _newest_checkpoint(store) if own is None else None
    store.workspace.make_folders(store.session)
    # Moved away first, a good older file would be missed if the new one cannot be written.
    kept = store.workspace.keep_beside(store.states.path)
    done = ["took the state from this machine's copy"]
    if own is not None:
        store.states.rewrite(own)
    elif good is not None:
        done = [_write_committed(store, good)]
    return [f"kept the bad state as `{kept}`", *done] if kept else done


def _fill_empty(store: SessionStore, ready: Ready) -> list[str]:
    """Set what an older gitguard took from somebody's edit though it was empty."""
    if ready.state.next_action.strip():
        return []
    store.save(ready.state, ready)
    return ["`next_action` was empty; it is START now"]


def _newest_checkpoint(store: SessionStore) -> Verified:
    """Return our newest checkpoint, where this machine has no copy of the state."""
    head = store.chain.head()
    if head.standing != standing.OURS:
        raise InvalidInput(
            "there is no good copy of the state on this machine",
            "Move the bad file away and run `gitguard ensure` to begin again",
        )
    return store.chain.read(head.id)


def _write_committed(store: SessionStore, newest: Verified) -> str:
    state = state_file.decode_state(newest.contents[STATE_FILE], "the checkpoint's state")
    journal_id, offset = folded_upto(newest.contents[SNAPSHOT_FILE])
    store.states.write(state, None, journal_id=journal_id, journal_offset=offset)
    return f"took the state from checkpoint {newest.checkpoint.name}"


def _take(store: SessionStore, head: Head) -> str:
    theirs = store.chain.verify_foreign(head.id)
    archived = archive_uncommitted(store, head)
    adopt(store, head, theirs)
    return f"took {theirs.checkpoint.name}, commit {head.id[:12]}, as our head" + archived


# Trust


def plan_trust(store: SessionStore, wanted: str) -> StateChange:
    """Show which head would be trusted, and what it would change in the state."""
    head = store.chain.head()
    if head.standing == standing.OURS:
        _refuse_diverged(store, head)
    if head.standing in (standing.OURS, standing.NONE, standing.DELETED):
        reasons = {
            standing.OURS: f"`{store.chain.ref}` is this machine's own already",
            standing.NONE: f"there is no `{store.chain.ref}` to trust",
            standing.DELETED: f"`{store.chain.ref}` is gone; `gitguard repair --archive-theirs` "
            "puts it back",
        }
        raise InvalidInput(reasons[head.standing])
    if wanted and not head.id.startswith(wanted):
        raise InvalidInput(
            f"`{store.chain.ref}` is at {head.id[:12]}, not at `{wanted[:80]}`",
            "Name the head that you looked at",
        )
    if head.standing in (standing.MOVED, standing.ADVANCED) and not wanted:
        raise InvalidInput(
            f"the head {head.id[:12]} is not the one this machine wrote",
            f"If you looked at it, run `gitguard repair --take-theirs --head {head.id[:12]}`",
        )
    theirs = store.chain.verify_foreign(head.id)
    after = state_file.decode_state(theirs.contents[STATE_FILE], "the checkpoint's state")
    own = state_file.newest_own(store.states.read())
    return StateChange(own.state if own else None, after, theirs.checkpoint)


def _refuse_diverged(store: SessionStore, head: Head) -> None:
    """Say how to take a remote history that ours does not contain: the branch is not at it yet."""
    ref, (remote, theirs) = store.chain.ref, store.chain.diverged_remote(head)
    if remote:
        raise InvalidInput(
            f"`{ref}` is at {head.id[:12]}, which this machine wrote; `{remote}` is at "
            f"{theirs[:12]}, which is not part of it",
            f"To take theirs, run `git update-ref {ref} {theirs[:12]}`, then `gitguard repair "
            f"--take-theirs --head {theirs[:12]}`, which keeps ours in the archive; to keep "
            "ours, do nothing",
        )


def trust(store: SessionStore, wanted: str) -> StateChange:
    """Make the foreign head ours; an own state or head that differs is archived first."""
    change = plan_trust(store, wanted)
    head = store.chain.head(settle=True)
    if head.replaced_repository:
        store.chain.set_aside()
    theirs = store.chain.verify_foreign(head.id)
    note = archive_uncommitted(store, head)
    anchor = head.anchor
    if anchor and head.standing == standing.MOVED and store.chain.owns_objects(anchor.committed):
        kept = store.chain.archive(anchor.committed, "gitguard: set aside by trust")
        note += f"; our old head is kept as `{kept}`"
    if head.standing == standing.REMOTE_ONLY:
        store.chain.refuse_checked_out(head)
        store.chain.point_at(head.id, "", "gitguard: trust adopts the remote session")
    if apart.is_unknown(store.workspace):
        apart.bring_records(store.workspace, store.session)
    adopt(store, head, theirs)
    settle(store.workspace, store.session, head.code.branch)
    notes = (f"trusted {theirs.checkpoint.name}, commit {head.id[:12]}{note}", *take_in(store))
    return change.replace(notes=notes)


def take_in(store: SessionStore) -> tuple[str, ...]:
    """Take into the session what was kept apart before it was known here; the lock is held."""
    workspace, session = store.workspace, store.session
    if not apart.is_any_kept(workspace, session):
        return ()
    entries, notes = apart.entries_of(workspace, session), apart.notes_of(workspace, session)
    for entry in entries:
        store.journal.append(entry)
    for note in notes:
        _take_in_note(store, note)
    apart.remove(workspace, session)
    store.checkpoint(triggers.RECOVERY, "What was captured before the state was trusted.", _NOTHING)
    count = counted(len(entries) + len(notes), "entry", "entries")
    return (f"took in what was captured until now: {count}",)


def _take_in_note(store: SessionStore, note: PendingNote) -> None:
    ready, now = store.state(), store.now
    before = ready.state
    if note.new_task:
        store.checkpoint(triggers.RECOVERY, "A new task was noted.", _NOTHING, ready=ready)
        ready = store.state()
        before = new_task(store.session.key, now, after=before.task_id)
    try:
        after, _ = update_state(before, note.document, now, lists=note.lists)
    except InvalidInput as error:
        store.workspace.note_fault("taking in a note", error)
        return
    store.save(after, ready)


def forget(store: SessionStore) -> str:
    """Drop this machine's anchor of the session; it is kept aside, and the state stays."""
    store.chain.anchors.archive(f"{store.clock():.0f}", copy=False)
    return f"the anchor of `{store.session.key}` is set aside in `{store.chain.anchors.folder}`"


# Restore, accept, fork


def plan_restore(store: SessionStore, wanted: str, *, untrusted: bool = False) -> StateChange:
    """Show what restoring a checkpoint would change.

    One that is kept aside and not known to be ours is refused, unless an untrusted one is wanted.
    """
    head = store.own_head()
    checkpoint = store.chain.find(head.id, wanted)
    doubt = "" if untrusted else store.chain.doubt_of(head, checkpoint)
    if doubt:
        short = checkpoint.id[:12]
        raise Untrusted(
            doubt,
            f"Look at it with `gitguard show state {short} --untrusted`; a person can take it with "
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
            f"nothing was restored, the safety checkpoint is pending: {before.pending}"
        )
    ready = store.save(change.after.replace(updated_at=store.now), store.state())
    saved = store.checkpoint(triggers.MANUAL, f"Restored from {name}.", _NOTHING, ready=ready)
    return change.replace(saved=saved, notes=(f"restored {name}",))


def plan_accept(store: SessionStore, shown: str = "") -> StateChange:
    """Show what taking the edited `state.json` would change; refuse another than was shown."""
    reading = store.states.read()
    broken = state_file.diagnose(reading) if reading.standing == state_file.BROKEN else None
    if broken is not None:
        raise broken
    own = state_file.newest_own(reading)
    if own is not None and _is_in_another_repository(store):
        return StateChange(None, own.state, sha256=own.sha256)
    edited = reading.edited if isinstance(reading, state_file.Diagnosed) else None
    if edited is None:
        raise InvalidInput("`state.json` is the one gitguard wrote; there is nothing to accept")
    _refuse_edited(store, edited, shown)
    after, _ = edited.state.redacted(store.workspace.redactor)
    return StateChange(own.state if own else None, after, sha256=edited.sha256)


def _refuse_edited(store: SessionStore, edited: Edited, shown: str) -> None:
    """Refuse an edited state that is another session's, incomplete, or not the one shown."""
    if edited.state.session_id != store.session.key:
        raise InvalidInput(
            f"the edited state belongs to the session `{edited.state.session_id:.80}`, "
            f"not to `{store.session.key}`",
            "Change `session_id` back, or drop the edit with `gitguard repair --local`",
        )
    empty = state_file.empty_field(edited.state)
    if empty:
        raise MissingState(
            f"the edited state cannot be accepted: `{empty}` is empty",
            "Fill it in, or drop the edit with `gitguard repair --local`",
        )
    if shown and edited.sha256 != shown:
        raise EditedState(
            f"`{store.states.path}` was changed again since it was shown",
            "Look at it again with `gitguard repair --accept`",
        )


def accept(store: SessionStore, shown: str = "") -> StateChange:
    """Take the edited `state.json` as ours, only if it still is the one that was shown."""
    change = plan_accept(store, shown)
    if _is_in_another_repository(store):
        return _begin_again(store, change)
    store.readable_head()  # what is taken here must not flow into a history that is not ours
    if apart.is_unknown(store.workspace):
        apart.bring_records(store.workspace, store.session)
    before = state_file.newest_own(store.states.read())
    ready = store.save(change.after.replace(updated_at=store.now), before)
    saved = store.checkpoint(
        triggers.MANUAL, "An edited state was accepted.", _NOTHING, ready=ready
    )
    return change.replace(saved=saved, notes=take_in(store))


def _is_in_another_repository(store: SessionStore) -> bool:
    head = store.chain.head()
    return head.replaced_repository and head.standing == standing.NONE


def _begin_again(store: SessionStore, change: StateChange) -> StateChange:
    """Go on with the state here in a git directory that was made anew: a new root, sequence 1."""
    before = state_file.newest_own(store.states.read())
    store.chain.set_aside()
    ready = store.save(change.after.replace(updated_at=store.now), before)
    why = "The git directory was made anew."
    return change.replace(saved=store.checkpoint(triggers.MANUAL, why, _NOTHING, ready=ready))


def fork(source: SessionStore, target: SessionStore) -> Saved:
    """Begin a new session with the state of another: a new root, sequence 1."""
    before = target.states.read()
    is_free = before.standing == state_file.ABSENT or target.states.is_starting  # a fork died there
    if target.chain.head().standing != standing.NONE or not is_free:
        raise InvalidInput(
            f"the session `{target.session.key}` exists already", "Choose another name"
        )
    folded, _ = source.fold(source.state())  # its journal does not come along
    state = folded.state.replace(session_id=target.session.key, updated_at=target.now)
    head = source.chain.head()
    origin = head.anchor.committed if head.anchor else ""
    begin_start(target)
    ready = target.save(state, state_file.newest_own(before))
    forked = Circumstances(forked_from=origin or source.session.name)
    why = f"Forked from the session {source.session.name}."
    saved = target.checkpoint(triggers.START, why, forked, ready=ready)
    target.states.end_start()
    return saved
