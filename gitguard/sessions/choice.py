"""Which session a workspace works at, and which of them it may."""

from __future__ import annotations

import os

from gitguard.errors import (
    EditedState,
    GitguardError,
    InvalidDocument,
    InvalidInput,
    NotInitialised,
)
from gitguard.model.text import encodable
from gitguard.store.session import state_file
from gitguard.store.session.conversations import carry
from gitguard.store.session.current import (
    ChosenBranch,
    choose_branch,
    current_name,
    current_session,
    own_session,
    read_owner,
    use_session,
)
from gitguard.store.session.host_session import new_record, read_record, write_record
from gitguard.store.session.journal import make_session_files
from gitguard.store.session.standing import NONE
from gitguard.store.session.workspace import Session

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitguard.store.git.repository import Repository
    from gitguard.store.session.standing import Head
    from gitguard.store.session.state_file import OwnState, UnusableState
    from gitguard.store.session.store import SessionStore
    from gitguard.store.session.workspace import Workspace


def choose_session(workspace: Workspace, repository: Repository) -> Session:
    """Return the session of a workspace, naming a new one after the branch checked out.

    A worktree never takes the session that another one owns.
    """
    if workspace.places.session:
        return Session.of(workspace.places.session)
    if current_name(workspace):
        return current_session(workspace)
    checked_out = repository.checked_out()
    branch = checked_out.removeprefix("refs/heads/")
    key = branch if checked_out.startswith("refs/") else f"detached-{checked_out[:7]}"
    session = Session.of(key)
    if not living_owner(workspace, session):
        return session
    return Session.of(f"{key}-{os.path.basename(workspace.place.worktree)}")


def living_owner(workspace: Workspace, session: Session) -> str:
    """Return the git directory of another worktree that owns a session, empty if none does."""
    owner = read_owner(workspace, session).git_dir
    is_here = owner in ("", workspace.place.git_dir)
    return "" if is_here or not os.path.isdir(owner) else owner


def settle(workspace: Workspace, session: Session, branch: str, *, pins: bool = False) -> None:
    """Record that this worktree works at a session, and on which branch it began.

    pins is whether the session is chosen for that branch even if it is the current one already.
    """
    make_session_files(workspace, session)
    record = read_record(workspace, session)
    if record.key != session.key or not record.owner:
        conversations = record.host_sessions
        write_record(
            workspace,
            session,
            new_record(workspace, session, encodable(branch)).replace(host_sessions=conversations),
        )
    if not workspace.places.session:
        previous = _previous_name(workspace)
        if previous and previous != session.name:
            carry(workspace, Session(previous, previous), session)
        if pins or previous != session.name:
            choose_branch(workspace, ChosenBranch(session.name, encodable(branch)))
            workspace.at_step("branch-chosen")
        use_session(workspace, session)
    own_session(workspace, session)
    workspace.at_step("session-settled")


def _previous_name(workspace: Workspace) -> str:
    try:
        return current_name(workspace)
    except InvalidDocument:
        return ""  # a damaged name leads nowhere; naming a session is what repairs it


def refuse_tracked(workspace: Workspace, repository: Repository) -> None:
    """Refuse state that came with a clone: only `config.yaml` may be tracked in our folder."""
    folder = os.path.relpath(workspace.folder, workspace.place.worktree)
    tracked = [n for n in repository.tracked_under(folder) if n != f"{folder}/config.yaml"]
    if tracked:
        raise EditedState(
            f"git tracks `{tracked[0]}`: state must not come in with a clone",
            f"Run `git rm -r --cached {folder}` and commit, or find out who added it",
        )


def refuse_use(workspace: Workspace, session: Session) -> None:
    """Refuse a session that cannot become this workspace's current one."""
    named = workspace.places.session
    if named:
        raise InvalidInput(
            f"`GITGUARD_SESSION` or `--session` names `{named[:80]}`, which takes precedence",
            "Unset the variable or drop the option, then run the command again",
        )
    owner = living_owner(workspace, session)
    if owner:
        raise InvalidInput(
            f"the session `{session.key[:80]}` belongs to the worktree of `{owner}`",
            "Continue from its state in another session: run `gitguard session fork NAME` there",
        )


def refuse_unknown(store: SessionStore) -> None:
    """Refuse to look through a session of which nothing is known: its key may be mistyped."""
    if is_unknown(store):
        raise NotInitialised(
            f"the session `{store.session.key:.80}` has neither state nor checkpoints here",
            "See `gitguard session list`, or begin it with `gitguard session use "
            f"{store.session.key:.80}`",
        )


def is_unknown(store: SessionStore) -> bool:
    """Say whether there is nothing of a session, in force or archived."""
    return store.at_one_moment(lambda: _is_unknown(store), recheck_if=bool)


def _is_unknown(store: SessionStore) -> bool:
    try:
        reading, head = store.states.read(), store.chain.head()
    except GitguardError:
        return False  # there is something, and looking says what is wrong with it
    is_archived = store.chain.archived() or store.chain.damaged()
    return is_not_in_force(reading, head) and not is_archived


def is_not_in_force(reading: OwnState | UnusableState, head: Head) -> bool:
    """Say whether a session has neither state nor checkpoints, but for archived ones."""
    is_absent = reading.standing == state_file.ABSENT
    return is_absent and state_file.newest_own(reading) is None and head.standing == NONE
