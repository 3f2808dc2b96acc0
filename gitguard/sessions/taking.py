"""Takes what somebody else wrote, a head or an edited state; what is ours is archived first."""

from __future__ import annotations

from gitguard.errors import EditedState, InvalidInput, MissingState
from gitguard.model import triggers
from gitguard.model.codec import STATE_FILE, sha256
from gitguard.model.text import counted
from gitguard.sessions.belief import believe_writers_at
from gitguard.sessions.choice import settle
from gitguard.sessions.state_comparison import StateChange
from gitguard.state.changes import update_state
from gitguard.state.checkpoint import SNAPSHOT_FILE
from gitguard.state.circumstances import Circumstances
from gitguard.state.snapshot import folded_upto
from gitguard.state.task import new_task
from gitguard.store.session import apart, standing, state_file
from gitguard.store.session.anchor import marked, not_ours
from gitguard.store.session.composing import compose
from gitguard.store.session.journal import JournalPart, make_session_files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitguard.state.task import TaskState
    from gitguard.store.session.apart import PendingNote
    from gitguard.store.session.chain_check import Verified
    from gitguard.store.session.standing import Head
    from gitguard.store.session.state_file import Edited, OwnState
    from gitguard.store.session.store import SessionStore

_NOTHING = Circumstances()


def archive_uncommitted(store: SessionStore, head: Head) -> str:
    """Keep a state that no checkpoint holds as a commit under the archive; say where."""
    reading = store.states.read()
    ready = state_file.newest_own(reading)
    anchor = head.anchor
    if anchor is not None and not store.chain.owns_objects(anchor.committed):
        anchor = None  # an older copy of the repository was put back; our checkpoint went with it
    if ready is not None:
        state = ready.state
        if anchor is not None and ready.sha256 == anchor.state_sha256:
            return ""
    elif isinstance(reading, state_file.UnusableState) and reading.edited is not None:
        state = reading.edited.state
    else:
        return ""
    sequence = anchor.sequence + 1 if anchor else 1
    why = "Our state, archived before theirs was taken."
    nothing = JournalPart("", (), (), 0)
    record, contents = compose(
        state,
        nothing,
        sequence,
        trigger=triggers.RECOVERY,
        why=why,
        code=head.code,
        circumstances=_NOTHING,
        now=store.clock(),
        redactor=store.workspace.redactor,
    )
    parent = anchor.committed if anchor else ""
    return f"; our state is archived as `{store.chain.store_aside(record, contents, parent)}`"


def adopt(store: SessionStore, head: Head, theirs: Verified) -> TaskState:
    """Make a head that was verified ours, and its state the one in force."""
    data = theirs.contents[STATE_FILE]
    state = state_file.decode_state(data, "the checkpoint's state")
    reading = store.states.read()
    before = state_file.newest_own(reading)
    state = marked(state, not_ours(state, before.state if before is not None else None))
    if reading.standing in (state_file.EDITED, state_file.BROKEN):
        store.workspace.set_aside(store.states.path)
    make_session_files(store.workspace, store.session)
    journal_id, offset = _position(store, theirs, before)
    ready = store.states.write(state, before, journal_id=journal_id, journal_offset=offset)
    store.chain.adopt(head, theirs.checkpoint, ready.sha256 if ready.sha256 == sha256(data) else "")
    store.write_summary(ready.state)
    snapshot = theirs.contents[SNAPSHOT_FILE].decode("utf-8", "replace")
    store.write_snapshot(store.workspace.redactor.text(snapshot).encode())
    return state


def _position(store: SessionStore, theirs: Verified, before: OwnState | None) -> tuple[str, int]:
    """Return up to where the journal here is folded into their state, where they say so of it."""
    position = folded_upto(theirs.contents[SNAPSHOT_FILE])
    folded = (before.journal_id, before.journal_offset) if before is not None else ("", 0)
    part = store.journal.read(*folded)
    return position if part.id and part.id == position[0] else ("", -1)


# A branch that this machine did not write


def plan_trust(store: SessionStore, commit: str) -> StateChange:
    """Show which head would be trusted, and what it would change in the state."""
    head = store.chain.head()
    if head.standing == standing.OURS:
        _refuse_diverged(store, head)
    if head.standing in (standing.OURS, standing.NONE, standing.DELETED, standing.SYMBOLIC):
        reasons = {
            standing.OURS: f"this machine wrote `{store.chain.ref}` itself",
            standing.NONE: f"there is no `{store.chain.ref}` to trust",
            standing.DELETED: f"`{store.chain.ref}` was deleted; `gitguard repair "
            "--archive-theirs` "
            "restores it",
            standing.SYMBOLIC: f"`{store.chain.ref}` is a symbolic ref; `git symbolic-ref -d "
            f"{store.chain.ref}` removes it",
        }
        raise InvalidInput(reasons[head.standing])
    if commit and not head.id.startswith(commit):
        raise InvalidInput(
            f"`{store.chain.ref}` is at {head.id[:12]}, not at `{commit[:80]}`",
            "Pass the head that you reviewed",
        )
    if head.standing in (standing.MOVED, standing.ADVANCED) and not commit:
        raise InvalidInput(
            f"this machine did not write the head {head.id[:12]}",
            f"If you have reviewed it, run `gitguard repair --take-theirs --head {head.id[:12]}`",
        )
    theirs = store.chain.verify_foreign(head.id)
    after = state_file.decode_state(theirs.contents[STATE_FILE], "the checkpoint's state")
    ready = state_file.newest_own(store.states.read())
    return StateChange(ready.state if ready else None, after, theirs.checkpoint)


def _refuse_diverged(store: SessionStore, head: Head) -> None:
    """Say how to take a remote history that ours does not contain: the branch is not at it yet."""
    ref, (remote, theirs) = store.chain.ref, store.chain.diverged_remote(head)
    if remote:
        raise InvalidInput(
            f"`{ref}` is at {head.id[:12]}, which this machine wrote; `{remote}` is at "
            f"{theirs[:12]}, which it does not contain",
            f"To take theirs, run `git update-ref {ref} {theirs[:12]}`, then `gitguard repair "
            f"--take-theirs --head {theirs[:12]}`, which keeps ours in the archive; to keep "
            "ours, do nothing",
        )


def trust(store: SessionStore, commit: str) -> StateChange:
    """Make the foreign head ours; an own state or head that differs is archived first.

    Its writer is believed from then on, if its lane is kept here and ends with the same.
    """
    change = plan_trust(store, commit)
    head = store.chain.head(settle=True)
    if head.replaced_repository:
        store.chain.set_aside()
    theirs = store.chain.verify_foreign(head.id)
    note = archive_uncommitted(store, head)
    anchor = head.anchor
    if anchor and head.standing == standing.MOVED and store.chain.owns_objects(anchor.committed):
        archived = store.chain.archive(anchor.committed, "gitguard: archived by trust")
        note += f"; our old head is archived as `{archived}`"
    if head.standing == standing.REMOTE_ONLY:
        store.chain.refuse_checked_out(head)
        store.chain.point_at(head.id, "", "gitguard: trust adopts the remote session")
    if apart.is_unknown(store.workspace):
        apart.bring_records(store.workspace, store.session)
    adopt(store, head, theirs)
    settle(store.workspace, store.session, head.code.branch)
    believe_writers_at(store, head.id, change.after)
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
    return (f"added what was captured before the state was trusted: {count}",)


def _take_in_note(store: SessionStore, note: PendingNote) -> None:
    ready, now = store.state(), store.now
    before = ready.state
    if note.new_task:
        store.checkpoint(triggers.RECOVERY, "A new task was noted.", _NOTHING, ready=ready)
        ready = store.state()
        before = new_task(store.session.key, now, before=before)
    try:
        after, _ = update_state(before, note.document, store.origin(), lists=note.lists)
    except InvalidInput as error:
        store.workspace.note_fault("taking in a note", error)
        return
    store.save(after, ready)


# An edited state


def plan_accept(store: SessionStore, shown: str = "") -> StateChange:
    """Show what taking the edited `state.json` would change; refuse another than was shown."""
    reading = store.states.read()
    broken = state_file.diagnose(reading) if reading.standing == state_file.BROKEN else None
    if broken is not None:
        raise broken
    ready = state_file.newest_own(reading)
    if ready is not None and _is_in_another_repository(store):
        return StateChange(None, ready.state, sha256=ready.sha256)
    if isinstance(reading, state_file.OwnState):
        edited = store.states.older_in_file(reading)
    else:
        edited = reading.edited
    if edited is None:
        raise InvalidInput("`state.json` is as gitguard wrote it; there is nothing to accept")
    _refuse_edited(store, edited, shown)
    after, _ = edited.state.redacted(store.workspace.redactor)
    return StateChange(ready.state if ready else None, after, sha256=edited.sha256)


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
            f"`{store.states.path}` changed again after it was shown",
            "Review it again with `gitguard repair --accept`",
        )


def accept(store: SessionStore, shown: str = "") -> StateChange:
    """Take the edited `state.json` as ours, only if it still is the one that was shown."""
    change = plan_accept(store, shown)
    if _is_in_another_repository(store):
        return _begin_again(store, change)
    # What is taken here must not flow into a history that is not ours.
    standing.require_no_foreign_head(store.chain.head(), store.chain.ref)
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
    why = "The git directory was recreated."
    return change.replace(saved=store.checkpoint(triggers.MANUAL, why, _NOTHING, ready=ready))
