"""Builds the resume block of a session from a verified history."""

from __future__ import annotations

import os

from gitguard.errors import (
    NOT_OURS,
    EditedState,
    InvalidDocument,
    NewerFormat,
    NotWritable,
    Pending,
)
from gitguard.model import triggers
from gitguard.model.codec import STATE_FILE
from gitguard.model.text import timestamp
from gitguard.sessions.resume.block import Header, build_resume
from gitguard.state import capture
from gitguard.state.checkpoint import SNAPSHOT_FILE, checkpoint_name
from gitguard.state.spoken import about_words
from gitguard.store.session.host_session import read_record
from gitguard.store.session.standing import PUT_BACK, judge

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitguard.state.entries import JournalEntry
    from gitguard.state.snapshot import Beginning, Work
    from gitguard.state.task import TaskState
    from gitguard.store.session.chain_check import Verified
    from gitguard.store.session.standing import Head
    from gitguard.store.session.state_file import OwnState
    from gitguard.store.session.store import SessionStore

_BETWEEN_TURNS = frozenset({triggers.RECOVERY, triggers.TURN_END, triggers.SESSION_END})
"""Triggers at which no tool runs any more, so that one that did not end was interrupted."""


def resume_block(store: SessionStore, *, spiral: str = "", notes: tuple[str, ...] = ()) -> str:
    """Return the block; raise what `look`, `readable_head` and `Chain.verify` raise instead.

    A deleted branch is put back first. Beside a head that is not ours, the block says why.
    """
    returned_branch(store)

    def build() -> str:
        try:
            ready = store.read_unlocked()
        except EditedState:
            store.refuse_moved()
            raise
        head, verdict = store.judged_head()
        return resume_of(store, ready, head, spiral=spiral, notes=(*notes, *verdict.notes))

    return store.at_one_moment(build)


def returned_branch(store: SessionStore) -> None:
    """Put a deleted branch back, once; where that cannot be written, readers say it is gone."""
    try:
        if judge(store.chain.head(), store.chain.ref).action == PUT_BACK:
            with store.lock():
                store.usable_head()
    except (NotWritable, *NOT_OURS):
        return


def waiting_for_decision(store: SessionStore) -> Pending | None:
    """Return why nothing is committed until a person decides, None where nothing is in the way."""
    problem = store.judged_head()[1].problem
    if not isinstance(problem, NOT_OURS):
        return None
    return Pending(f"no checkpoint is taken: {problem.message}", problem.hint)


def _gone(store: SessionStore, state: TaskState) -> frozenset[str]:
    """Return the paths of files of the worktree that were written and are not there any more.

    Of a path outside nothing can be said: on another machine, none of them is there.
    """
    worktree = store.workspace.place.worktree
    files = (artifact.path for artifact in state.artifacts if artifact.kind == "file")
    written = (path for path in files if not os.path.isabs(path) and path[:2] not in ("..", "~/"))
    return frozenset(path for path in written if not os.path.lexists(os.path.join(worktree, path)))


def take_over(store: SessionStore) -> tuple[str, ...]:
    """Take a signed head of another machine first, where that can be written."""
    if not store.config.sign:
        return ()
    from gitguard.sessions.signed_head import take_signed

    try:
        with store.lock():
            return take_signed(store)
    except NotWritable:
        return ()


def resume_of(
    store: SessionStore,
    ready: OwnState,
    head: Head,
    *,
    spiral: str = "",
    notes: tuple[str, ...] = (),
    conversation: str = "",
) -> str:
    """Return the block of a state in force, with notes for its reader.

    spiral says why a new conversation would keep more than a compaction, if it would.

    The newest checkpoints are verified first; raises `Tampered` where they are not ours as written.
    """
    newest = store.chain.verify(head)
    state, part = store.folded(ready)
    header = _header(store, head, head.code.branch, spiral)
    changes = _changes(store, head, newest, part.entries)
    header = header.replace(
        notes=notes + header.notes,
        changes=changes,
        now=store.now,
        conversation=conversation,
        gone=_gone(store, state),
    )
    work = capture.work_of(part.entries, state, store.clock())
    return build_resume(state, work, header, max_tokens=store.config.resume.max_tokens)


def stable_block(store: SessionStore, head: Head, *, spiral: str = "") -> str:
    """Return the block of the newest checkpoint, the same text until the next one.

    It is for system prompts that a host builds anew at every run, where each changed byte costs the
    host its cache. So nothing counts but the checkpoint: a state that is newer, the journal, the
    clock and the workspace as it is now are left for the next checkpoint. A compaction, which
    counts as well, leaves nothing of that cache. Until the second checkpoint it also tells what is
    archived of an older session. Empty while there is no checkpoint, or nothing to tell.
    """
    newest = store.chain.verify(head)
    if newest is None:
        return ""
    from gitguard.sessions.startup import older_sessions
    from gitguard.store.session.state_file import decode_state

    state = decode_state(newest.contents[STATE_FILE], "the checkpoint's state")
    state = store.states.marked(state)
    older = older_sessions(store) if newest.checkpoint.sequence == 1 else ()
    if state.is_untouched and not older:
        return ""
    work = _committed_work(state, _beginning(newest.contents[SNAPSHOT_FILE]))
    header = _header(store, head, newest.checkpoint.code.branch, spiral)
    header = header.replace(notes=older + header.notes)
    return build_resume(state, work, header, max_tokens=store.config.resume.max_tokens)


def _committed_work(state: TaskState, snapshot: Beginning | None) -> Work:
    work = capture.work_of((), state, 0)
    if snapshot is None or snapshot.meta.trigger not in _BETWEEN_TURNS:
        return work
    last = snapshot.working.last_tool_call
    if not snapshot.working.interrupted or last is None:
        return work
    return work.replace(interrupted=True, last_tool=last.name, last_tool_params=last.params_summary)


def _beginning(data: bytes) -> Beginning | None:
    from gitguard.state.snapshot import read_beginning

    try:
        return read_beginning(data)
    except (InvalidDocument, NewerFormat):
        return None  # the state alone is enough


def _header(store: SessionStore, head: Head, branch: str, spiral: str) -> Header:
    anchor = head.anchor
    return Header(
        session=store.session.key,
        checkpoint=checkpoint_name(anchor.sequence) if anchor and anchor.committed else "none",
        commit=head.committed,
        notes=_notes(store, branch, spiral),
    )


def _notes(store: SessionStore, branch: str, spiral: str) -> tuple[str, ...]:
    about = about_words(store.config.capture.words)
    notes = [about] if about else []
    own_branch = read_record(store.workspace, store.session).own_branch
    if own_branch and branch and branch != own_branch:
        notes.append(f"this session began on branch {own_branch}; the current branch is {branch}")
    if spiral:
        notes.append(f"{spiral}; a new conversation would now keep more than compacting again")
    return tuple(notes)


def _changes(
    store: SessionStore, head: Head, newest: Verified | None, entries: tuple[JournalEntry, ...]
) -> str:
    """Return what changed in the workspace since the checkpoint, in one line."""
    if newest is None:
        return ""
    checkpoint = newest.checkpoint
    from gitguard.sessions.resume.drift import changes_since, drift_since

    taken_at = timestamp(checkpoint.at)
    ours = {path for entry in entries if entry.at >= taken_at for path in entry.written}
    last_look = store.worktree.kept_at(checkpoint.id)
    look = last_look.look if last_look is not None else None
    redactor = store.workspace.redactor
    drift = drift_since(
        store.repository(), redactor, checkpoint.code, now=head.code, look_then=look, ours=ours
    )
    return changes_since(checkpoint.code, drift, redactor)
