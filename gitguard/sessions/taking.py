"""Makes a head that somebody else wrote ours, and archives what we have not committed yet."""

from __future__ import annotations

from gitguard.model import triggers
from gitguard.model.codec import STATE_FILE
from gitguard.model.digest import sha256
from gitguard.store.session import state_file
from gitguard.store.session.checkpoint import SNAPSHOT_FILE
from gitguard.store.session.circumstances import Circumstances
from gitguard.store.session.composing import compose
from gitguard.store.session.journal import JournalPart
from gitguard.store.session.snapshot import folded_upto

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitguard.store.session.chain_check import Verified
    from gitguard.store.session.standing import Head
    from gitguard.store.session.state_file import Ready
    from gitguard.store.session.store import SessionStore
    from gitguard.store.session.task import TaskState


def archive_uncommitted(store: SessionStore, head: Head) -> str:
    """Keep a state that no checkpoint holds as a commit under the archive; say where."""
    reading = store.states.read()
    own = state_file.newest_own(reading)
    anchor = head.anchor
    if anchor is not None and not store.chain.owns_objects(anchor.committed):
        anchor = None  # an older copy of the repository was put back; our checkpoint went with it
    if own is not None:
        state = own.state
        if anchor is not None and own.sha256 == anchor.state_sha256:
            return ""
    elif isinstance(reading, state_file.Diagnosed) and reading.edited is not None:
        state = reading.edited.state
    else:
        return ""
    sequence = anchor.sequence + 1 if anchor else 1
    why = "Ours, set aside for theirs."
    nothing = JournalPart("", (), (), 0)
    record, contents = compose(
        state,
        nothing,
        sequence,
        triggers.RECOVERY,
        why,
        head.code,
        Circumstances(),
        store.clock(),
        store.workspace.redactor,
    )
    parent = anchor.committed if anchor else ""
    return f"; ours is kept as `{store.chain.store_aside(record, contents, parent)}`"


def adopt(store: SessionStore, head: Head, theirs: Verified) -> TaskState:
    """Make a head that was verified ours, and its state the one in force."""
    data = theirs.contents[STATE_FILE]
    state = state_file.decode_state(data, "the checkpoint's state")
    reading = store.states.read()
    before = state_file.newest_own(reading)
    if reading.standing in (state_file.EDITED, state_file.BROKEN):
        store.workspace.set_aside(store.states.path)
    store.workspace.make_folders(store.session)
    journal_id, offset = _position(store, theirs, before)
    ready = store.states.write(state, before, journal_id=journal_id, journal_offset=offset)
    store.chain.adopt(head, theirs.checkpoint, ready.sha256 if ready.sha256 == sha256(data) else "")
    store.write_summary(ready.state)
    snapshot = theirs.contents[SNAPSHOT_FILE].decode("utf-8", "replace")
    store.write_snapshot(store.workspace.redactor.text(snapshot).encode())
    return state


def _position(store: SessionStore, theirs: Verified, before: Ready | None) -> tuple[str, int]:
    """Return up to where the journal here is folded into their state, where they say so of it."""
    position = folded_upto(theirs.contents[SNAPSHOT_FILE])
    folded = (before.journal_id, before.journal_offset) if before is not None else ("", 0)
    part = store.journal.read(*folded)
    return position if part.id and part.id == position[0] else ("", -1)
