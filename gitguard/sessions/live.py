"""Who is at work in all worktrees of a repository, and of whom other machines' lanes tell."""

from __future__ import annotations

from gitguard.errors import GitguardError
from gitguard.model.codec import STATE_FILE, load_json
from gitguard.model.text import seconds, timestamp
from gitguard.model.triggers import COMPLETE, SESSION_END
from gitguard.model.value import Value
from gitguard.sessions.belief import belief_of
from gitguard.sessions.last_event import time_since
from gitguard.sessions.other_work import read_work, store_of
from gitguard.sessions.sync_record import SyncFile
from gitguard.state.checkpoint import lane_author
from gitguard.state.task import read_state
from gitguard.store.session.announced import NOT_KNOWN, OVER, all_announced, judge_life
from gitguard.store.session.at_work import process_runs
from gitguard.store.session.lanes import kept_lanes, lanes_of_others, newest_of, read_lane

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from gitguard.model.config.config import Config
    from gitguard.state.checkpoint import Checkpoint
    from gitguard.state.task import TaskState
    from gitguard.store.git.repository import Repository
    from gitguard.store.session.announced import Announced
    from gitguard.store.session.lanes import Lane
    from gitguard.store.session.workspace import Workspace

SYNCED = "as of the last sync"
_LATELY = 86_400.0
"""Seconds for which a lane that says no end counts as somebody's who is at work."""


class LiveConversation(Value):
    """A conversation that lives, or may live."""

    standing: str
    """alive or unknown."""
    reason: str
    """What shows it."""
    session: str
    """The session's key; of a lane its name."""
    conversation: str
    """The host's id of it, empty if a lane tells none."""
    host: str = ""
    """The host's name; a lane does not tell it."""
    worktree: str = ""
    """The worktree's root, empty for another machine's."""
    writer: str = ""
    """The writer of the lane that tells of it, empty on this machine."""
    author: str = ""
    """Who that is, as people tell writers apart."""
    is_trusted: bool = True
    """Whether its words are believed; a lane's only if its writer is."""
    since: str = ""
    """When it began, or when a lane's task was set; empty if nothing tells."""
    last_sign: str = ""
    """When its newest event came, or the lane's newest checkpoint."""
    age: str = ""
    """How long ago that was, such as `4 min`."""
    task: str = ""
    """What it is at, empty if nothing tells."""
    files: tuple[str, ...] = ()
    """What it changed, the newest last, relative to its worktree."""
    problem: str = ""
    """Why its records cannot be read, empty if they can."""


def live_conversations(workspace: Workspace, config: Config) -> tuple[LiveConversation, ...]:
    """Return the conversations of all worktrees that may live, then those of other machines.

    The one whose newest sign is the youngest comes first.
    """
    local = (_local(workspace, config, announced) for announced in all_announced(workspace))
    remote = _of_lanes(workspace) if SyncFile(workspace).is_there else ()
    return (*_newest_first(local), *_newest_first(remote))


def _newest_first(
    conversations: Iterator[LiveConversation | None] | tuple[()],
) -> list[LiveConversation]:
    live = [conversation for conversation in conversations if conversation is not None]
    return sorted(live, key=lambda conversation: conversation.last_sign, reverse=True)


def _local(workspace: Workspace, config: Config, announced: Announced) -> LiveConversation | None:
    work, problem = None, ""
    try:
        store = store_of(workspace, config, announced)
        work = read_work(store, announced) if store is not None else None
    except GitguardError as error:
        problem = error.message
    last_sign = max(announced.since, work.last_sign() if work is not None else "")
    life = judge_life(
        runs=process_runs(announced.process, announced.last_process),
        silent_for=workspace.clock() - seconds(last_sign),
    )
    if life.standing == OVER:
        return None
    return LiveConversation(
        life.standing,
        life.reason,
        announced.key,
        announced.conversation,
        host=announced.host,
        worktree=announced.worktree,
        since=announced.since,
        last_sign=last_sign,
        age=time_since(last_sign, workspace.clock()),
        task=work.task if work is not None else "",
        files=tuple(work.changed_files()) if work is not None else (),
        problem=problem,
    )


def _of_lanes(workspace: Workspace) -> Iterator[LiveConversation | None]:
    """Yield what others' lanes tell, of those that did not end and were written lately."""
    repository, belief = workspace.repository(), belief_of(workspace)
    kept = lanes_of_others(workspace, kept_lanes(repository), belief.writers)
    lanes = {lane.ref: lane for lane in kept}
    for ref, newest in newest_of(repository, lanes.values()).items():
        is_recent = workspace.clock() - newest.at < _LATELY
        if is_recent and newest.trigger not in (SESSION_END, COMPLETE):
            lane = _of_lane(repository, lanes[ref], newest)
            age = time_since(lane.last_sign, workspace.clock())
            yield lane.replace(is_trusted=belief.holds_for(lanes[ref]), age=age)


def _of_lane(repository: Repository, lane: Lane, newest: Checkpoint) -> LiveConversation:
    state, problem = None, ""
    try:
        contents = read_lane(repository, lane).contents
        state = read_state(load_json(contents[STATE_FILE], what=f"the lane of {lane.writer}"))
    except GitguardError as error:
        problem = error.message
    goal_from = state.goal_from if state is not None else None
    return LiveConversation(
        NOT_KNOWN,
        SYNCED,
        lane.session,
        goal_from.conversation if goal_from is not None else "",
        writer=lane.writer,
        author=lane_author(lane.writer, newest.lane.machine if newest.lane is not None else ""),
        since=goal_from.when if goal_from is not None else "",
        last_sign=timestamp(newest.at),
        task=state.stated_goal if state is not None else "",
        files=_written_in(state) if state is not None else (),
        problem=problem,
    )


def _written_in(state: TaskState) -> tuple[str, ...]:
    written = (artifact for artifact in state.artifacts if artifact.writes)
    return tuple(artifact.path for artifact in sorted(written, key=lambda a: a.when))
