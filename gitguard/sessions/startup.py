"""Startup: begin, restore or continue a session (references/design/contract.md, "Startup")."""

from __future__ import annotations

import os

from gitguard.errors import NOT_OURS, EditedState, GitguardError
from gitguard.model import triggers
from gitguard.model.codec import STATE_FILE
from gitguard.model.value import Value
from gitguard.sessions import other_tools
from gitguard.sessions.choice import refuse_tracked, settle
from gitguard.state.checkpoint import SNAPSHOT_FILE, checkpoint_name
from gitguard.state.circumstances import Circumstances
from gitguard.state.snapshot import folded_upto
from gitguard.state.task import new_task
from gitguard.store.session import standing, state_file
from gitguard.store.session.journal import make_session_files
from gitguard.store.session.store import LOCK_TIMEOUT, Saved, SessionStore
from gitguard.store.session.workspace import Session

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitguard.model.config.config import Config
    from gitguard.state.task import TaskState
    from gitguard.store.git.repository import Repository
    from gitguard.store.session.standing import Head
    from gitguard.store.session.state_file import OwnState, UnusableState
    from gitguard.store.session.workspace import Workspace

BEGUN = "begun"
RESTORED = "restored"
CONTINUED = "continued"
_COPY = "this machine's copy of the state"


class Startup(Value):
    """How a session came up."""

    how: str
    """begun, restored or continued."""
    state: TaskState
    notes: tuple[str, ...] = ()
    """Sentences a person should see: what was restored or rewritten."""
    saved: Saved | None = None
    summary_conflict: str = ""
    """The unified diff of a summary that differed from the state; the state won."""
    older: tuple[str, ...] = ()
    """A sentence on what is archived of a session of the same name, where this one was begun."""
    joined: tuple[str, ...] = ()
    """The writers on other machines whose work a session that was begun continues."""


def begin(
    workspace: Workspace,
    repository: Repository,
    config: Config,
    session: Session,
    *,
    circumstances: Circumstances | None = None,
    timeout: float = LOCK_TIMEOUT,
    pins: bool = False,
) -> Startup:
    """Begin, restore or continue a session and make it the workspace's own.

    pins is whether it stays so until another branch is checked out.
    """
    refuse_tracked(workspace, repository)
    store = SessionStore(workspace, session, config)
    with store.lock(timeout):
        startup = start_up(store, circumstances or Circumstances())
        branch = repository.checked_out().removeprefix("refs/heads/")
        settle(workspace, session, branch, pins=pins)
    return startup


def start_up(store: SessionStore, circumstances: Circumstances) -> Startup:
    """Bring the session up; the caller holds its lock.

    Beside a branch that is not where this machine left it, our state comes up all the same, and its
    checkpoint is pending until a person decides. Raises `MissingState` where the contract says
    stop, `EditedState` for a foreign edit, and why the branch is not ours where nothing here is.
    """
    head = store.chain.head(settle=True)
    notes = _begin_anew(store, head)
    if notes:
        head = store.chain.head(settle=True)
    if head.standing == standing.ADVANCED:
        from gitguard.sessions.signed_head import take_signed

        notes += take_signed(store)
        head = store.chain.head()
    head = store.usable_head(head)[0]
    reading = store.states.read()
    if reading.standing == state_file.ABSENT:
        return _from_nothing(store, reading, head, notes=notes, circumstances=circumstances)
    missing = state_file.diagnose(reading)
    if missing is not None and not store.states.is_starting:
        raise missing
    if reading.standing == state_file.MISSING:
        return _from_nothing(store, reading, head, notes=notes, circumstances=circumstances)
    ready_or_copy = state_file.newest_own(reading)
    if ready_or_copy is not None and not reading.has_summary:
        store.write_summary(ready_or_copy.state)
    try:
        ready = store.state()
    except EditedState as error:
        raise standing.weightier(error, head, store.chain.ref) or error from error
    return _continue(store, ready, head, notes=notes, circumstances=circumstances)


def _begin_anew(store: SessionStore, head: Head) -> tuple[str, ...]:
    """Set aside what is known of another repository that lay here, and say so.

    Where a state lies in the worktree, a person has to say which of the two is meant.
    """
    if not head.replaced_repository:
        return ()
    if store.states.read().standing not in (state_file.ABSENT, state_file.MISSING):
        standing.require_no_foreign_head(head, store.chain.ref)
    store.chain.set_aside()
    return ("this path now holds another repository; the records of the old one are archived",)


def _from_nothing(
    store: SessionStore,
    reading: OwnState | UnusableState,
    head: Head,
    notes: tuple[str, ...],
    circumstances: Circumstances,
) -> Startup:
    """Restore the state from this machine's copy or our branch, or begin a new task."""
    copy = state_file.newest_own(reading)
    if copy is not None or head.committed:
        return _restore(store, copy, head, notes=notes, circumstances=circumstances)
    standing.require_no_foreign_head(head, store.chain.ref)
    other_tools.require_none(store.workspace)
    begin_start(store)
    ready = store.save(new_task(store.session.key, store.now), None)
    store.write_summary(ready.state)
    store.states.end_start()
    saved = _commit(store, ready, head, circumstances)
    startup = Startup(BEGUN, ready.state, notes, saved, older=older_sessions(store))
    return _with_lanes(store, startup)


def _with_lanes(store: SessionStore, startup: Startup) -> Startup:
    """Join what a sync fetched of the session before it began here."""
    if not os.path.exists(store.workspace.sync_path):
        return startup
    from gitguard.sessions.lane_join import join_kept

    joined, notes = join_kept(store)
    startup = startup.replace(notes=(*startup.notes, *notes))
    if joined is None:
        return startup
    saved = joined.saved if joined.saved.commit else startup.saved
    return startup.replace(state=store.state().state, saved=saved, joined=joined.writers)


def older_sessions(store: SessionStore) -> tuple[str, ...]:
    """Return a sentence on what is archived of a session of this name, none if nothing is.

    Nothing is raised: the session of now does not depend on it.
    """
    key = store.session.key
    unread = (
        f"an older session `{key:.80}` is archived but unreadable; `gitguard verify` says why",
    )
    try:
        archived, damaged = store.chain.archived(), store.chain.damaged()
    except GitguardError:
        return unread
    if damaged or not archived:
        return unread if damaged else ()
    head = archived[-1].committed[:12]
    return (
        f"an older session `{key:.80}` is archived; to continue it, run `gitguard session "
        f"close {key:.80}`, then `gitguard session reopen {key:.80} --head {head}`",
    )


def begin_start(store: SessionStore) -> None:
    """Make the folders, and note that state and summary are about to be written."""
    make_session_files(store.workspace, store.session)
    store.states.begin_start()


def _restore(
    store: SessionStore,
    copy: OwnState | None,
    head: Head,
    notes: tuple[str, ...],
    circumstances: Circumstances,
) -> Startup:
    """Bring the working files back from the newer of the copy and the branch."""
    begin_start(store)
    ready, origin = _bring_back(store, copy, head)
    store.write_summary(ready.state)
    store.states.end_start()
    saved = _commit(store, ready, head, circumstances)
    note = f"the working files were missing and have been restored from {origin}"
    return Startup(RESTORED, ready.state, (*notes, note, *_before_destruction(store, head)), saved)


def _before_destruction(store: SessionStore, head: Head) -> tuple[str, ...]:
    """Say where the files are that a command destroyed, which may have removed ours as well."""
    newest = next(iter(store.chain.history(head.id)), None) if head.id else None
    if newest is None or newest.trigger != triggers.BEFORE_DESTRUCTIVE or not newest.files:
        return ()
    look = f"gitguard restore {newest.name} --files --dry-run"
    return (f"{newest.name} has your files from just before they were destroyed: `{look}`",)


def _bring_back(store: SessionStore, copy: OwnState | None, head: Head) -> tuple[OwnState, str]:
    """Write the working file; return its state, and where it came from."""
    committed = head.anchor.state_sha256 if head.anchor else ""
    newest = checkpoint_name(head.anchor.sequence) if head.anchor else ""
    if copy is not None:
        ready = store.states.rewrite(copy)
        origin = f"checkpoint {newest}" if ready.sha256 == committed else _COPY
        return ready, origin
    verified = store.chain.verify(head, most=1)
    if verified is None:
        raise ValueError("a head that is ours has a checkpoint")
    state = state_file.decode_state(verified.contents[STATE_FILE], "the checkpoint's state")
    journal_id, offset = folded_upto(verified.contents[SNAPSHOT_FILE])
    ready = store.states.write(state, None, journal_id=journal_id, journal_offset=offset)
    return ready, f"checkpoint {newest}"


def _commit(
    store: SessionStore, ready: OwnState, head: Head, circumstances: Circumstances
) -> Saved | None:
    """Commit a state that no checkpoint holds yet."""
    problem = standing.judge(head, store.chain.ref).problem
    if isinstance(problem, NOT_OURS):
        return Saved(triggers.RECOVERY, pending=problem.message, way_out=problem.hint)
    anchor = head.anchor
    if anchor is None or not anchor.committed:
        trigger, why = triggers.START, "The session begins."
    elif ready.standing == state_file.PENDING or anchor.state_sha256 != ready.sha256:
        trigger, why = triggers.RECOVERY, "The state was newer than the last checkpoint."
    else:
        return None
    if ready.standing == state_file.PENDING:
        ready = store.states.write(ready.state, ready)
    return store.checkpoint(trigger, why, circumstances, ready=ready)


def _continue(
    store: SessionStore,
    ready: OwnState,
    head: Head,
    notes: tuple[str, ...],
    circumstances: Circumstances,
) -> Startup:
    conflict = store.mend_summary(ready.state)
    if conflict:
        notes = (*notes, "the summary did not match the state and was rewritten from it")
    store.states.end_start()
    saved = _commit(store, ready, head, circumstances)
    return Startup(CONTINUED, ready.state, notes, saved=saved, summary_conflict=conflict)
