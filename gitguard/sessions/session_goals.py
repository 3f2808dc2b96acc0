"""What each session of a workspace is for, and when its state last changed."""

from __future__ import annotations

from gitguard.errors import GitguardError
from gitguard.model.codec import STATE_FILE
from gitguard.model.text import seconds
from gitguard.model.value import Value
from gitguard.sessions.archiving import archive_of
from gitguard.sessions.resume.reader import duration
from gitguard.store.session.standing import reading_problem
from gitguard.store.session.state_file import decode_state

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from gitguard.state.task import TaskState
    from gitguard.store.session.archive import Archived
    from gitguard.store.session.store import SessionStore


class SessionGoal(Value):
    """What one history of a session is for."""

    name: str
    """The session's name."""
    archived_at: str
    """The commit at which the history is archived; empty for the session in force."""
    goal: str
    """Empty until somebody says it."""
    updated_at: str
    age: str
    """How long ago that was, such as `3 h`."""


class SessionListing(Value):
    """What a list of all sessions tells."""

    current: str
    sessions: Mapping[str, str]
    """Heads by name, empty for a session without a checkpoint."""
    keys: Mapping[str, str]
    """Keys by name."""
    archived: tuple[Archived, ...]
    remote: Mapping[str, str]
    """Heads by name of the sessions that only a remote-tracking branch has."""
    goals: tuple[SessionGoal, ...]
    unread: tuple[str, ...]
    """Sessions of which this machine wrote nothing; their goals are not looked at."""


def session_goals(stores: Iterable[SessionStore]) -> tuple[SessionGoal, ...]:
    """Return the goals of sessions in force and archived.

    What this machine did not write tells none, nor does what cannot be read.
    """
    return tuple(goal for store in stores for goal in _goals(store))


def _goals(store: SessionStore) -> Iterator[SessionGoal]:
    state = _state_in_force(store)
    if state is not None:
        yield _goal(store, "", state)
    for archived in archive_of(store).all():
        state = None if archived.problem else _committed(store, archived.commit)
        if state is not None:
            yield _goal(store, archived.commit, state)


def _goal(store: SessionStore, archived_at: str, state: TaskState) -> SessionGoal:
    at = state.updated_at
    age = duration(max(store.clock() - seconds(at), 0))
    return SessionGoal(store.session.name, archived_at, state.stated_goal, updated_at=at, age=age)


def _state_in_force(store: SessionStore) -> TaskState | None:
    """Return the working state; without working files, the newest checkpoint's."""
    try:
        return store.read_unlocked().state
    except GitguardError:
        pass
    try:
        head = store.chain.head()
    except GitguardError:
        return None
    is_ours = bool(head.committed) and reading_problem(head, store.chain.ref) is None
    return _committed(store, head.committed) if is_ours else None


def _committed(store: SessionStore, commit: str) -> TaskState | None:
    try:
        return decode_state(store.chain.read(commit).contents[STATE_FILE], "the state")
    except GitguardError:
        return None  # `gitguard verify` says what is wrong with it
