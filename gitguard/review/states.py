"""Reads the task state of a checkpoint, for whoever compares states."""

from __future__ import annotations

from gitguard.model.codec import STATE_FILE
from gitguard.store.session.chain_check import Verification, refuse
from gitguard.store.session.naming import Session
from gitguard.store.session.state_file import decode_state

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitguard.state.checkpoint import Checkpoint
    from gitguard.state.task import TaskState
    from gitguard.store.git.reader import ObjectReader


def read_state_of(reader: ObjectReader, checkpoint: Checkpoint) -> TaskState:
    """Return a checkpoint's state, verified; raise why it cannot be read.

    The reader stays open, as git would else be started for each of many states.
    """
    walk = Verification(reader, Session.of(checkpoint.session_key))
    (link,) = walk.links(checkpoint.id, None, most=1)
    return decode_state(refuse(link).contents[STATE_FILE], f"the state of {checkpoint.name}")
