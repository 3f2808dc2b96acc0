"""Builds the resume block of a session from a verified history."""

from __future__ import annotations

from gitguard.model import journal as folding
from gitguard.model.checkpoint import checkpoint_name
from gitguard.recovery.injection import Origin, build_resume

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitguard.session_store import SessionStore
    from gitguard.store.checkpoints import Head
    from gitguard.store.states import Found

_DEATH_SPIRAL = 3
"""Compactions after which a fresh conversation is suggested (seed: Context Manager v1, 5.5)."""


def resume_block(store: SessionStore, *, compactions: int = 0) -> str:
    """Return the block; raise what `look` and `own_head` raise when there is nothing to trust."""
    return resume_of(store, store.look(), store.readable_head(), compactions=compactions)


def resume_of(
    store: SessionStore,
    found: Found,
    head: Head,
    *,
    compactions: int = 0,
    notes: tuple[str, ...] = (),
) -> str:
    """Return the block of a state and head that were verified, with notes for its reader."""
    assert found.state is not None
    written = found.written
    part = store.journal.read(
        written.journal_id if written else "", written.journal_offset if written else 0
    )
    state = folding.fold(found.state, part.unfolded, store.now)
    anchor = head.anchor
    origin = Origin(
        session=store.session.key,
        checkpoint=checkpoint_name(anchor.sequence) if anchor and anchor.committed else "none",
        commit=anchor.committed if anchor else "",
        notes=notes + _notes(store, head, compactions),
    )
    work = folding.work_of(part.entries, state)
    return build_resume(state, work, origin, max_tokens=store.config.resume.max_tokens)


def _notes(store: SessionStore, head: Head, compactions: int) -> tuple[str, ...]:
    notes = []
    began_on = store.workspace.read_record(store.session).began_on
    if began_on and head.code.branch and head.code.branch != began_on:
        notes.append(
            f"this session began on branch {began_on}; {head.code.branch} is checked out now"
        )
    if compactions > _DEATH_SPIRAL:
        notes.append(f"compacted {compactions} times; a fresh conversation would keep more")
    return tuple(notes)
