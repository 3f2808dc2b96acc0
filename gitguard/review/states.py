"""Reads the task state of a checkpoint, for whoever compares states."""

from __future__ import annotations

from gitguard.model.codec import STATE_FILE
from gitguard.store.session.naming import Session
from gitguard.store.session.state_file import decode_state

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitguard.sessions.workspace_sessions import WorkspaceSessions
    from gitguard.store.session.checkpoint import Checkpoint
    from gitguard.store.session.task import TaskState


def read_state_of(sessions: WorkspaceSessions, checkpoint: Checkpoint) -> TaskState:
    """Return a checkpoint's state, verified; raise why it does not read."""
    store = sessions.store(Session.of(checkpoint.session_key))
    contents = store.chain.read(checkpoint.id).contents
    return decode_state(contents[STATE_FILE], f"the state of {checkpoint.name}")
