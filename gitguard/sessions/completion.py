"""The end of a task: its final checkpoint, and what tells the agent that it is done."""

from __future__ import annotations

from gitguard.errors import Complete
from gitguard.model import triggers
from gitguard.state.circumstances import Circumstances

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitguard.state.task import TaskState
    from gitguard.store.session.state_file import OwnState
    from gitguard.store.session.store import SessionStore


def finish(store: SessionStore, ready: OwnState) -> None:
    """Write the final state of a completed task, unless the last checkpoint holds it already."""
    anchor = store.chain.head().anchor
    if anchor is None or anchor.state_sha256 != ready.sha256:
        store.checkpoint(triggers.COMPLETE, "The task is complete.", Circumstances(), ready=ready)


def completion(state: TaskState) -> Complete:
    """Return what tells an agent that its task is done."""
    return Complete(
        f"the task `{state.task_id}` is complete",
        "Begin another with `gitguard note --new-task --goal TEXT`",
    )
