"""Forks a session: its state goes on in a new session with a history of its own."""

from __future__ import annotations

from contextlib import ExitStack

from gitguard.errors import InvalidInput
from gitguard.model import triggers
from gitguard.sessions.choice import settle
from gitguard.sessions.host_summaries import keep_for
from gitguard.sessions.startup import begin_start
from gitguard.state.circumstances import Circumstances
from gitguard.store.session import standing, state_file
from gitguard.store.session.store import LOCK_TIMEOUT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from gitguard.state.task import TaskState
    from gitguard.store.git.repository import Repository
    from gitguard.store.session.store import Saved, SessionStore


def fork(source: SessionStore, target: SessionStore, repository: Repository) -> Saved:
    """Go on with a session's state in a new one."""
    if source.session.name == target.session.name:
        raise InvalidInput(
            f"`{target.session.key[:80]}` is the session you are in", "Choose another name"
        )
    with locks_of(source, target):
        if not can_begin(target):
            raise InvalidInput(
                f"the session `{target.session.key}` exists already", "Choose another name"
            )
        saved = fork_state(source, target)
        branch = repository.checked_out().removeprefix("refs/heads/")
        settle(source.workspace, target.session, branch, pins=True)
    return saved


def locks_of(*stores: SessionStore, timeout: float = LOCK_TIMEOUT) -> ExitStack:
    """Return the held locks of sessions, in one order for everybody."""
    stack = ExitStack()
    try:
        for store in sorted(stores, key=lambda store: store.session.name):
            stack.enter_context(store.lock(timeout))
    except BaseException:
        stack.close()
        raise
    return stack


def can_begin(target: SessionStore) -> bool:
    """Say whether nothing is in force under a session's name, or only a fork that died.

    Raises `MissingState` for a session of which nothing can be read. It may only be so now, and
    must not be begun anew a moment later, when it reads as absent.
    """
    reading = target.states.read()
    if target.chain.head().standing != standing.NONE:
        return False
    if target.states.is_starting or reading.standing == state_file.ABSENT:
        return True
    if reading.standing == state_file.BROKEN and state_file.newest_own(reading) is None:
        missing = state_file.diagnose(reading)
        if missing is not None:
            raise missing
    return False


def fork_state(
    source: SessionStore,
    target: SessionStore,
    derive: Callable[[TaskState], TaskState] = lambda state: state,
) -> Saved:
    """Begin a new session with the state of another: a new root, sequence 1; both locks are held.

    derive returns what of the state goes along.
    """
    before = target.states.read()
    folded, _ = source.fold(source.state())  # its journal does not come along
    state = derive(folded.state).replace(session_id=target.session.key, updated_at=target.now)
    head = source.chain.head()
    origin = head.anchor.committed if head.anchor else ""
    begin_start(target)
    ready = target.save(state, state_file.newest_own(before))
    forked = Circumstances(forked_from=origin or source.session.name)
    why = f"Forked from the session {source.session.name}."
    keep_for(source, target, state)
    saved = target.checkpoint(triggers.START, why, forked, ready=ready)
    target.states.end_start()
    return saved
