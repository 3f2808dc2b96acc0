"""Startup: begin, restore or continue a session (references/design/contract.md, "Startup")."""

from __future__ import annotations

import os

from gitguard.errors import EditedState, GitguardError, InvalidDocument, LegacyState
from gitguard.model import triggers
from gitguard.model.codec import STATE_FILE, STATE_LIMIT, load_json
from gitguard.model.text import encodable
from gitguard.model.value import Value
from gitguard.store.disk import files
from gitguard.store.session import owners, standing, state_file
from gitguard.store.session.checkpoint import SNAPSHOT_FILE, checkpoint_name
from gitguard.store.session.circumstances import Circumstances
from gitguard.store.session.naming import Session
from gitguard.store.session.snapshot import folded_upto
from gitguard.store.session.store import Saved, SessionStore
from gitguard.store.session.task import new_task

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitguard.store.git.repository import Repository
    from gitguard.store.session.standing import Head
    from gitguard.store.session.state_file import Diagnosed, Ready
    from gitguard.store.session.task import TaskState
    from gitguard.store.session.workspace import Workspace

BEGUN = "begun"
RESTORED = "restored"
CONTINUED = "continued"
_COPY = "this machine's copy of the state"
_TASK_FIELDS = frozenset({"goal", "next_action", "current_phase"})
_LEGACY = (".context_guardian", "task_state.json", ".gitguard/task_state.json")


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


def start_up(store: SessionStore, circumstances: Circumstances) -> Startup:
    """Bring the session up; the caller holds its lock.

    Raises `MissingState` where the contract says stop, `EditedState` for a foreign edit, and what
    `refuse_head` returns when the branch is not where this machine left it.
    """
    head = store.chain.head(settle=True)
    notes = _begin_anew(store, head)
    if notes:
        head = store.chain.head(settle=True)
    if head.standing == standing.ADVANCED:
        from gitguard.sessions.signed_head import take_signed

        notes += take_signed(store)
        head = store.chain.head()
    reading = store.states.read()
    if reading.standing == state_file.ABSENT:
        return _from_nothing(store, reading, head, notes, circumstances)
    missing = state_file.diagnose(reading)
    if missing is not None and not store.states.is_starting:
        raise missing
    if reading.standing == state_file.MISSING:
        return _from_nothing(store, reading, head, notes, circumstances)
    own = state_file.newest_own(reading)
    if own is not None and not reading.has_summary:
        store.write_summary(own.state)
    try:
        ready = store.state()
    except EditedState as error:
        raise standing.weightier(error, head, store.chain.ref) or error from error
    return _continue(store, ready, head, notes, circumstances)


def _begin_anew(store: SessionStore, head: Head) -> tuple[str, ...]:
    """Set aside what is known of another repository that lay here, and say so.

    Where a state lies in the worktree, a person has to say which of the two is meant.
    """
    if not head.replaced_repository:
        return ()
    if store.states.read().standing not in (state_file.ABSENT, state_file.MISSING):
        standing.refuse_foreign_head(head, store.chain.ref)
    store.chain.set_aside()
    return ("another repository lies at this path now; what was known of the old one is archived",)


def _from_nothing(
    store: SessionStore,
    reading: Ready | Diagnosed,
    head: Head,
    notes: tuple[str, ...],
    circumstances: Circumstances,
) -> Startup:
    """Restore the state from this machine's copy or our branch, or begin a new task."""
    standing.refuse_foreign_head(head, store.chain.ref)
    copy = state_file.newest_own(reading)
    if copy is not None or head.standing == standing.OURS:
        return _restore(store, copy, head, notes, circumstances)
    refuse_legacy(store.workspace)
    begin_start(store)
    ready = store.save(new_task(store.session.key, store.now), None)
    store.write_summary(ready.state)
    store.states.end_start()
    saved = _commit(store, ready, head, circumstances)
    return Startup(BEGUN, ready.state, notes, saved, older=older_sessions(store))


def older_sessions(store: SessionStore) -> tuple[str, ...]:
    """Return a sentence on what is archived of a session of this name, none if nothing is.

    Nothing is raised: the session of now does not depend on it.
    """
    key = store.session.key
    unread = (
        f"an older session `{key:.80}` is archived and does not read; `gitguard verify` says why",
    )
    try:
        archived, damaged = store.chain.archived(), store.chain.damaged()
    except GitguardError:
        return unread
    if damaged or not archived:
        return unread if damaged else ()
    return (
        f"an older session `{key:.80}` is archived; to go on with that one, run `gitguard session "
        f"close`, then `gitguard session reopen {key:.80} --head {archived[-1].committed[:12]}`",
    )


def begin_start(store: SessionStore) -> None:
    """Make the folders, and note that state and summary are about to be written."""
    store.workspace.make_folders(store.session)
    store.states.begin_start()


def _restore(
    store: SessionStore,
    copy: Ready | None,
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
    note = f"the working files were absent and are restored from {origin}"
    return Startup(RESTORED, ready.state, (*notes, note), saved)


def _bring_back(store: SessionStore, copy: Ready | None, head: Head) -> tuple[Ready, str]:
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
    store: SessionStore, ready: Ready, head: Head, circumstances: Circumstances
) -> Saved | None:
    """Commit a state that no checkpoint holds yet."""
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
    ready: Ready,
    head: Head,
    notes: tuple[str, ...],
    circumstances: Circumstances,
) -> Startup:
    conflict = store.mend_summary(ready.state)
    if conflict:
        notes = (*notes, "the summary conflicted with the state and was rewritten from it")
    standing.refuse_foreign_head(head, store.chain.ref)
    store.states.end_start()
    saved = _commit(store, ready, head, circumstances)
    return Startup(CONTINUED, ready.state, notes, saved, conflict)


def refuse_legacy(workspace: Workspace) -> None:
    """Refuse to begin beside another tool's state; `migrate` archives it."""
    for name in legacy_state(workspace):
        raise LegacyState(
            f"`{os.path.join(workspace.place.worktree, name)}` holds state of another tool",
            "Archive it with `gitguard repair --archive-theirs`; nothing is deleted",
        )


def legacy_state(workspace: Workspace) -> list[str]:
    """Return the files and folders of other tools that hold task state, relative to the root."""
    root = workspace.place.worktree
    return [name for name in _LEGACY if _is_legacy(os.path.join(root, name))]


def _is_legacy(path: str) -> bool:
    if not path.endswith(".json"):
        return os.path.lexists(path)
    # A project may have a file of this name that has nothing to do with agents.
    try:
        data = files.read_bytes(path, limit=STATE_LIMIT)
        document = load_json(data, what=f"`{path}`") if data is not None else {}
    except InvalidDocument:
        return False
    return not _TASK_FIELDS.isdisjoint(document)


def archive_legacy(workspace: Workspace, stamp: str) -> dict[str, str]:
    """Move other tools' state under our folder; return where each part is now."""
    folder = os.path.join(workspace.folder, "archive", f"legacy-{stamp}")
    moved = {}
    for name in legacy_state(workspace):
        files.make_folder(folder)
        target = os.path.join(folder, name.replace("/", "_"))
        try:
            files.rename(os.path.join(workspace.place.worktree, name), target)
        except OSError as error:
            raise files.refused(target, error) from error
        moved[name] = target
    return moved


# Which session a workspace works at


def choose_session(workspace: Workspace, repository: Repository) -> Session:
    """Return the session of a workspace, naming a new one after the branch checked out.

    A worktree never takes the session that another one owns.
    """
    if workspace.places.session:
        return Session.of(workspace.places.session)
    if workspace.current_name():
        return workspace.current()
    checked_out = repository.checked_out()
    branch = checked_out.removeprefix("refs/heads/")
    key = branch if checked_out.startswith("refs/") else f"detached-{checked_out[:7]}"
    session = Session.of(key)
    if not living_owner(workspace, session):
        return session
    return Session.of(f"{key}-{os.path.basename(workspace.place.worktree)}")


def living_owner(workspace: Workspace, session: Session) -> str:
    """Return the git directory of another worktree that owns a session, empty if none does."""
    owner = owners.read(workspace, session).git_dir
    own = owner in ("", workspace.place.git_dir)
    return "" if own or not os.path.isdir(owner) else owner


def settle(workspace: Workspace, session: Session, branch: str) -> None:
    """Record that this worktree works at a session, and on which branch it began."""
    workspace.make_folders(session)
    record = workspace.read_record(session)
    if record.key != session.key or not record.owner:
        known = record.host_sessions
        workspace.write_record(
            session, workspace.new_record(session, encodable(branch)).replace(host_sessions=known)
        )
    if not workspace.places.session:
        _carry_conversations(workspace, session)
        workspace.use(session)
    owners.own(workspace, session)
    workspace.at_step("session-settled")


def _carry_conversations(workspace: Workspace, session: Session) -> None:
    try:
        previous = workspace.current_name()
    except InvalidDocument:
        return  # a damaged name leads nowhere; naming a session is what repairs it
    if previous and previous != session.name:
        workspace.carry_conversations(Session(previous, previous), session)


def refuse_tracked(workspace: Workspace, repository: Repository) -> None:
    """Refuse state that came with a clone: only `config.yaml` may be tracked in our folder."""
    folder = os.path.relpath(workspace.folder, workspace.place.worktree)
    tracked = [n for n in repository.tracked_under(folder) if n != f"{folder}/config.yaml"]
    if tracked:
        raise EditedState(
            f"git tracks `{tracked[0]}`: state must not come in with a clone",
            f"Run `git rm -r --cached {folder}` and commit, or look at who added it",
        )
