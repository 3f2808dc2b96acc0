"""Follows the branch: which session a branch has, and how a worktree comes to work at it.

references/design/sessions.md, "The branch and its session", says what becomes of branches that are
renamed, deleted or checked out elsewhere.
"""

from __future__ import annotations

import os

from gitguard.errors import GitguardError, InvalidInput, Untrusted
from gitguard.model import triggers
from gitguard.model.value import Value
from gitguard.sessions.archiving import archive_of, find_archived
from gitguard.sessions.choice import is_unknown, living_owner, refuse_tracked, settle
from gitguard.sessions.forking import can_begin, fork_state, locks_of
from gitguard.sessions.startup import start_up
from gitguard.state.circumstances import Circumstances
from gitguard.state.task import begun_from, moved_away
from gitguard.store.session import standing
from gitguard.store.session.current import current_name
from gitguard.store.session.host_session import read_record, write_record
from gitguard.store.session.store import LOCK_TIMEOUT, SessionStore
from gitguard.store.session.workspace import Session

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from gitguard.store.git.repository import Repository
    from gitguard.store.session.host_session import SessionRecord
    from gitguard.store.session.workspace import Workspace

BEGUN, JOINED, REOPENED, CONTINUED = "begun", "joined", "reopened", "continued"
_BRANCHES = "refs/heads/"
_MOST_NAMESAKES = 100


class BranchFollowing(Value):
    """How a worktree came to work at the session of its branch."""

    session: Session
    how: str
    """begun, joined with other machines' work as it began, reopened or continued."""
    origin: str = ""
    """The key of the session that a begun one copied from, empty where there was none."""
    moved: bool = False
    """Whether the task came along from the session before."""


def follow(
    source: SessionStore,
    branch: str,
    repository: Repository,
    *,
    moves: bool,
    timeout: float = LOCK_TIMEOUT,
) -> BranchFollowing | None:
    """Go on with a branch's session; None where another process changed the session meanwhile.

    moves is whether the task in the current session goes along to a session that begins here.
    A crash leaves the session before in force until the other one is whole, and following once
    more does what is missing.
    """
    workspace = source.workspace
    refuse_tracked(workspace, repository)
    session = session_of(source, branch, repository)
    target = SessionStore(workspace, session, source.config)
    if session.name == source.session.name:
        with source.lock(timeout):
            _settle(workspace, session, branch)
        return BranchFollowing(session, CONTINUED)
    origin = _cut_from(source, branch, repository)
    # A task whose conversation went to another branch first, to cut this one there, stays.
    moves = moves and origin is not None and origin.session.name == source.session.name
    stores = {s.session.name: s for s in (source, target, origin) if s is not None}
    with locks_of(*stores.values(), timeout=timeout):
        if current_name(workspace) != source.session.name:
            return None
        how = _bring_up(source, target, origin, moves=moves)
        workspace.at_step("branch-session-ready")
        moved = moves and _close_moved(source, target, branch)
        # Nobody may ever save in the session that is left here, and so nobody else would clean up
        # after a process that died while it followed.
        source.sweep()
        _settle(workspace, session, branch)
    return BranchFollowing(session, how, origin.session.key if origin is not None else "", moved)


def _settle(workspace: Workspace, session: Session, branch: str) -> None:
    """Make a branch's session the current one, and note a name that the branch has by now."""
    settle(workspace, session, branch, pins=True)
    record = read_record(workspace, session)
    is_renamed = record.own_branch != branch and session.name != Session.of(branch).name
    if is_renamed:
        write_record(workspace, session, record.replace(branch=branch))


def _cut_from(source: SessionStore, branch: str, repository: Repository) -> SessionStore | None:
    """Return the session of the branch that a branch was cut from, None where none is known.

    A branch of a remote stands for the local branch of its name.
    """
    cut_from = repository.branch_history(branch).cut_from
    if cut_from and repository.refs(f"refs/remotes/{cut_from}"):
        cut_from = cut_from.partition("/")[2]
    for name, record in _records(source.workspace).items():
        if cut_from and record.own_branch == cut_from == record.key:
            return SessionStore(source.workspace, Session(record.key, name), source.config)
    return None


def session_of(source: SessionStore, branch: str, repository: Repository) -> Session:
    """Return the session of a branch: of its name, of a name that it had, or one begun on it.

    Without any it is a new one. A session that another worktree owns, or that belongs to another
    branch, is left to it.
    """
    workspace, records = source.workspace, _records(source.workspace)
    named = _free_name(workspace, branch, records)
    if not is_unknown(SessionStore(workspace, named, source.config)):
        return named
    for name in (branch, *_abandoned_names(repository, branch)):
        begun = [
            (_last_use(record), Session(record.key, session_name))
            for session_name, record in records.items()
            if record.own_branch == name
            and not living_owner(workspace, Session(record.key, session_name))
        ]
        if begun:
            return max(begun, key=lambda item: (item[0], item[1].name))[1]
    return named


def _abandoned_names(repository: Repository, branch: str) -> list[str]:
    """Return the earlier names of a branch that no other branch has taken since."""
    names = repository.branch_history(branch).names
    return [name for name in names if not repository.refs(_BRANCHES + name)]


def _free_name(workspace: Workspace, branch: str, records: Mapping[str, SessionRecord]) -> Session:
    beside = f"{branch}-{os.path.basename(workspace.place.worktree)}"
    for key in (branch, beside, *(f"{beside}-{n}" for n in range(2, _MOST_NAMESAKES))):
        session = Session.of(key)
        record = records.get(session.name)
        is_of_another = record is not None and record.branch not in ("", branch)
        if not is_of_another and not living_owner(workspace, session):
            return session
    raise InvalidInput(
        f"every name for a session of the branch `{branch:.80}` is taken",
        "Choose one with `gitguard session use NAME`",
    )


def _records(workspace: Workspace) -> dict[str, SessionRecord]:
    """Return what the working files say of this worktree's sessions, as far as they read."""
    records = {}
    for name in workspace.session_names():
        try:
            records[name] = read_record(workspace, Session(name, name))
        except GitguardError:
            continue  # whoever uses that session is told
    return records


def _last_use(record: SessionRecord) -> str:
    return max((item.last_use for item in record.host_sessions.values()), default="")


def _bring_up(
    source: SessionStore, target: SessionStore, origin: SessionStore | None, *, moves: bool
) -> str:
    """Begin, reopen or continue a branch's session; the locks are held.

    One that begins knows what that of its origin knows, where there is one.
    """
    head = target.chain.head()
    if head.standing == standing.REMOTE_ONLY:
        raise Untrusted(
            f"only `{head.remote}` has the session, and this machine has no record of writing it",
            f"Ask the user to look at it and to run `gitguard --session {target.session.name} "
            "repair --trust`",
        )
    if not can_begin(target):
        start_up(target, Circumstances())
        return CONTINUED
    if archive_of(target).all():
        target.chain.head(settle=True)
        archive_of(target).bring_back(find_archived(source, target.session.name)[1])
        start_up(target, Circumstances())
        return REOPENED
    if origin is None:
        startup = start_up(target, Circumstances())
        return JOINED if startup.joined else BEGUN
    if moves:
        fork_state(origin, target, lambda state: state.replace(earlier=()))
    else:
        fork_state(origin, target, lambda state: begun_from(state, target.now))
    return BEGUN


def _close_moved(source: SessionStore, target: SessionStore, branch: str) -> bool:
    """Close the task that went along in the session that it left; say whether one did."""
    ready = source.state()
    if ready.state.task_id != target.state().state.task_id:
        return False
    ready = source.save(moved_away(ready.state, branch, source.now), ready)
    why = f"The task moved to the session {target.session.name}."
    source.checkpoint(triggers.START, why, Circumstances(), ready=ready)
    return True
