"""Looks back at the tasks of a session: what each was for, and how and when it ended."""

from __future__ import annotations

from itertools import islice

from gitguard.errors import GitguardError
from gitguard.model import triggers
from gitguard.model.codec import STATE_FILE
from gitguard.model.text import seconds
from gitguard.model.value import Value
from gitguard.sessions.resume.reader import duration
from gitguard.store.session.standing import reading_problem
from gitguard.store.session.state_file import decode_state

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from gitguard.state.items import EarlierTask
    from gitguard.state.task import TaskState
    from gitguard.store.session.store import SessionStore

_MOST_BEGINNINGS = 200
"""Beginnings of tasks that are read, newest first; each tells of the tasks before it."""


class SessionTask(Value):
    """One task of a session."""

    task_id: str
    goal: str
    """Empty until somebody says it."""
    goal_by: str
    """user: the user's words; agent: noted."""
    outcome: str
    """How it ended, in words; of the open one how it stands."""
    is_open: bool
    at: str
    """When it ended; of the open one when it last changed."""
    age: str
    """How long ago that was, such as `3 h`."""
    moved_to: str = ""
    """The branch that it went along to."""


def session_tasks(store: SessionStore) -> tuple[SessionTask, ...]:
    """Return the tasks of a session, the open one first, then the one that ended last.

    A task that never had a goal is not remembered. A history that is not ours tells nothing.
    """
    return store.at_one_moment(lambda: tuple(_tasks(store)))


def _tasks(store: SessionStore) -> Iterator[SessionTask]:
    state = store.read_unlocked().state
    by = state.goal_from.by if state.goal_from else ""
    outcome = "finished" if state.is_done else state.status.replace("_", " ")
    at = state.updated_at
    yield SessionTask(
        state.task_id,
        state.stated_goal,
        by,
        outcome=outcome,
        is_open=not state.is_done,
        at=at,
        age=_age(store, at),
    )
    yielded = {state.task_id}
    for task in _earlier(store, state):
        if task.task_id not in yielded:
            yielded.add(task.task_id)
            yield _ended(task, _age(store, task.when))


def _age(store: SessionStore, at: str) -> str:
    return duration(max(store.clock() - seconds(at), 0)) if at else "unknown"


def _ended(task: EarlierTask, age: str) -> SessionTask:
    return SessionTask(
        task.task_id,
        task.goal,
        task.origin.by,
        task.outcome,
        is_open=False,
        at=task.when,
        age=age,
        moved_to=task.moved_to,
    )


def _earlier(store: SessionStore, state: TaskState) -> Iterator[EarlierTask]:
    """Yield what the state remembers, and what the states did with which tasks began."""
    yield from reversed(state.earlier)
    head = store.chain.head()
    if not head.committed or reading_problem(head, store.chain.ref) is not None:
        return
    begun = (c for c in store.chain.history(head.committed) if c.trigger == triggers.START)
    for checkpoint in islice(begun, _MOST_BEGINNINGS):
        try:
            contents = store.chain.read(checkpoint.id).contents
            yield from reversed(decode_state(contents[STATE_FILE], "a task's beginning").earlier)
        except GitguardError:
            continue  # `gitguard verify` says what is wrong with it
