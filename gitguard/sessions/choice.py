"""Brings a workspace's session up, and changes which one it works at."""

from __future__ import annotations

from gitguard.errors import Complete, GitguardError, InvalidInput, NotInitialised
from gitguard.model import triggers
from gitguard.sessions import repair, startup
from gitguard.store.session import state_file
from gitguard.store.session.circumstances import Circumstances
from gitguard.store.session.naming import Session
from gitguard.store.session.standing import NONE
from gitguard.store.session.store import LOCK_TIMEOUT, Saved, SessionStore

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitguard.model.config.config import Config
    from gitguard.sessions.startup import Startup
    from gitguard.store.git.repository import Repository
    from gitguard.store.session.standing import Head
    from gitguard.store.session.state_file import Diagnosed, Ready
    from gitguard.store.session.task import TaskState
    from gitguard.store.session.workspace import Workspace


def begin(
    workspace: Workspace,
    repository: Repository,
    config: Config,
    session: Session,
    *,
    circumstances: Circumstances | None = None,
    timeout: float = LOCK_TIMEOUT,
) -> Startup:
    """Begin, restore or continue a session and make it the workspace's own."""
    startup.refuse_tracked(workspace, repository)
    store = SessionStore(workspace, session, config)
    with store.lock(timeout):
        found = startup.start_up(store, circumstances or Circumstances())
        startup.settle(workspace, session, _branch(repository))
    return found


def refuse_use(workspace: Workspace, session: Session) -> None:
    """Refuse a session that cannot become this workspace's current one."""
    named = workspace.places.session
    if named:
        raise InvalidInput(
            f"`GITGUARD_SESSION` or `--session` names `{named[:80]}`, which stays in force",
            "Unset the variable, or leave the option out, and run it again",
        )
    owner = startup.living_owner(workspace, session)
    if owner:
        raise InvalidInput(
            f"the session `{session.key[:80]}` belongs to the worktree of `{owner}`",
            "Go on with its state in a session of your own: `gitguard session fork NAME` there",
        )


def refuse_unknown(store: SessionStore) -> None:
    """Refuse to look through a session of which nothing is known: its key may be mistyped."""
    if is_unknown(store):
        raise NotInitialised(
            f"the session `{store.session.key:.80}` has neither state nor checkpoints here",
            "See `gitguard session list`, or begin with `gitguard ensure`",
        )


def is_unknown(store: SessionStore) -> bool:
    """Say whether there is nothing of a session, in force or archived."""
    return store.at_one_moment(lambda: _is_unknown(store), accuses=bool)


def _is_unknown(store: SessionStore) -> bool:
    try:
        reading, head = store.states.read(), store.chain.head()
    except GitguardError:
        return False  # there is something, and looking says what is wrong with it
    is_archived = store.chain.archived() or store.chain.damaged()
    return is_not_in_force(reading, head) and not is_archived


def is_not_in_force(reading: Ready | Diagnosed, head: Head) -> bool:
    """Say whether a session has neither state nor checkpoints, but for archived ones."""
    is_absent = reading.standing == state_file.ABSENT
    return is_absent and state_file.newest_own(reading) is None and head.standing == NONE


def fork(source: SessionStore, target: SessionStore, repository: Repository) -> Saved:
    """Go on with a session's state in a new one."""
    if source.session.name == target.session.name:
        raise InvalidInput(
            f"`{target.session.key[:80]}` is the session itself", "Choose another name"
        )
    with source.lock(), target.lock():
        saved = repair.fork(source, target)
        startup.settle(source.workspace, target.session, _branch(repository))
    return saved


def finish(store: SessionStore, ready: Ready) -> None:
    """Write the final state of a completed task, unless the last checkpoint holds it already."""
    anchor = store.chain.head().anchor
    if anchor is None or anchor.state_sha256 != ready.sha256:
        store.checkpoint(triggers.COMPLETE, "The task is complete.", Circumstances(), ready=ready)


def completion(state: TaskState) -> Complete:
    """Return what tells an agent that its task is done."""
    return Complete(
        f"the task `{state.task_id}` is complete",
        "Begin another with `gitguard note --new-task --goal …`",
    )


def _branch(repository: Repository) -> str:
    return repository.checked_out().removeprefix("refs/heads/")
