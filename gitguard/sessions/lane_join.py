"""Joins others' lanes into a session's state, and notes for the next checkpoint which."""

from __future__ import annotations

from gitguard.errors import GitguardError, SecretsFound
from gitguard.model import triggers
from gitguard.model.text import counted
from gitguard.model.value import Value
from gitguard.state.capture import within_bounds
from gitguard.state.circumstances import Circumstances
from gitguard.state.joining import LaneState, advance, join_lanes
from gitguard.store.disk.lock import Lock
from gitguard.store.session.anchor import marked, not_ours
from gitguard.store.session.joined_lanes import joined_path, write_joined
from gitguard.store.session.lane_state import KnownLane, read_lane_state
from gitguard.store.session.lanes import (
    Lane,
    OwnLane,
    WriterFile,
    kept_lanes,
    newest_of,
    seen_by,
    verify_lane,
)
from gitguard.store.session.tombstones import Tombstones

_SHORT = 12
MOST_AT_BEGIN = 500
"""Commits of lanes up to which they are joined as a session begins, which a prompt may wait for."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from gitguard.store.git.differences import Differences
    from gitguard.store.session.lanes import LaneWriter
    from gitguard.store.session.state_file import OwnState
    from gitguard.store.session.store import Saved, SessionStore


class Joined(Value):
    """What a join did to one session."""

    session: str
    writers: tuple[str, ...]
    """Whose lanes were new."""
    saved: Saved
    """The checkpoint with what was joined and what no checkpoint held before, if anything."""
    problems: tuple[str, ...] = ()
    gone_back: tuple[tuple[Lane, str], ...] = ()
    """The lanes that do not continue what the session holds of them, and what it holds."""


def look_at_changes(store: SessionStore) -> Differences | None:
    """Look at files; None where none changed since the session's last checkpoint."""
    try:
        return store.changes_since_snapshot()
    except GitguardError as error:
        store.workspace.note_fault("looking at the worktree", error)
        return None


def join_into(
    store: SessionStore,
    lanes: Iterable[Lane],
    writer: LaneWriter,
    look: Differences | None = None,
) -> Joined:
    """Join lanes that are believed into a session, and take a checkpoint of what is new.

    The lock is held. A lane that does not verify is not joined. look is one at files that changed
    since the last checkpoint, None where none did.
    Raises what reading the session's state raises.
    """
    seen = seen_by(store)
    ready, _ = store.fold(store.state())
    theirs: dict[str, LaneState] = {}
    problems, tombstones = [], Tombstones(store.workspace)
    gone_back = []
    for lane in lanes:
        held = seen.get(lane.writer, "")
        if lane.commit == held:
            continue
        if held and not store.repository().is_ancestor(held, lane.commit):
            gone_back.append((lane, held))
            problems.append(
                f"the lane of {lane.writer} is not joined: it is at {lane.commit[:_SHORT]}, which "
                f"does not continue the commit that this session holds, {held[:_SHORT]}"
            )
            continue
        try:
            newest = verify_lane(store.repository(), lane, held)
            if tombstones.are_held(newest.contents.values()):
                raise SecretsFound("it holds what `gitguard purge` took out here; purge it there")
            theirs[lane.writer] = read_lane_state(lane.writer, newest.contents)
            seen[lane.writer] = lane.commit
        except GitguardError as error:
            problems.append(f"the lane of {lane.writer} is not joined: {error.message}")
    if theirs:
        ready = _join(store, ready, list(theirs.values()), writer)
        # Only once the state holds them: after a crash before, the next sync joins them again.
        write_joined(joined_path(store.workspace, store.session), seen)
        store.workspace.at_step("join-noted")
    why = f"Joined {counted(len(theirs), 'lane')}." if theirs else "What is new is synced."
    saved = store.checkpoint(
        triggers.RECOVERY, why, Circumstances(), ready=ready, if_changed=look is None, look=look
    )
    return Joined(
        store.session.key, tuple(theirs), saved, tuple(problems), gone_back=tuple(gone_back)
    )


def join_kept(
    store: SessionStore, most: int = MOST_AT_BEGIN
) -> tuple[Joined | None, tuple[str, ...]]:
    """Join what is kept of believed lanes into a session that began here; the lock is held.

    Lanes of more than `most` commits are left to the next sync. Return also sentences on what a
    person should hear. Nothing is raised: what is not joined now, the next sync joins.
    """
    from gitguard.sessions.belief import belief_of

    workspace, name = store.workspace, store.session.name
    try:
        belief = belief_of(workspace)
        lanes = [lane for lane in kept_lanes(store.repository()) if lane.session == name]
        lanes = [lane for lane in lanes if belief.holds_for(lane)]
        if not lanes:
            return None, ()
        newest = newest_of(store.repository(), lanes)
        marks = [newest[lane.ref].lane for lane in lanes if lane.ref in newest]
        if sum(mark.counter for mark in marks if mark is not None) > most:
            return None, ("`gitguard sync` joins what your other machines know of this session",)
        # Whoever syncs now holds this lock and waits for the session's, so nobody waits for it.
        with Lock(workspace.lanes_lock, timeout=0, clock=workspace.clock):
            joined = join_into(store, lanes, OwnLane(store, WriterFile(workspace), {}).writer())
    except GitguardError as error:
        return None, (f"no lane of another machine was joined: {error.message}",)
    count = counted(len(joined.writers), "lane")
    notes = (f"this session continues {count} of other machines",) if joined.writers else ()
    return joined, (*notes, *joined.problems)


def _join(
    store: SessionStore, ready: OwnState, theirs: list[LaneState], writer: LaneWriter
) -> OwnState:
    known_lane = KnownLane(store)
    own_lane = known_lane.advanced(writer.id, writer.earlier, ready.state, theirs)
    joined = join_lanes([own_lane, *theirs], writer.id)
    joined = advance(joined, within_bounds(joined.state))
    state = joined.state.replace(host_summary=ready.state.host_summary)
    if state == marked(ready.state, ()):
        known_lane.write(joined)
        return ready
    known_lane.begin_join(joined)
    store.workspace.at_step("join-begun")
    ready = store.save(marked(state, not_ours(state, ready.state)), ready)
    store.workspace.at_step("lanes-joined")
    known_lane.end_join()
    return ready
