"""Joins others' lanes into a session's state, and notes for the next checkpoint which."""

from __future__ import annotations

from gitguard.errors import GitguardError
from gitguard.model import triggers
from gitguard.model.codec import STATE_FILE
from gitguard.model.text import counted
from gitguard.model.value import Value
from gitguard.state.circumstances import Circumstances
from gitguard.state.items import Item
from gitguard.state.task import new_task
from gitguard.store.session import state_file
from gitguard.store.session.anchor import marked, not_ours
from gitguard.store.session.joined_lanes import joined_path, write_joined
from gitguard.store.session.lanes import Lane, read_lane, seen_by, verify_lane

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from gitguard.state.task import TaskState
    from gitguard.store.session.store import Saved, SessionStore

_STATED = (
    ("goal", "goal_from"),
    ("next_action", "next_from"),
    ("current_phase", ""),
    ("status", ""),
)
_NEVER_LEAVES = "host_summary"


class Joined(Value):
    """What a join did to one session."""

    session: str
    writers: tuple[str, ...]
    """Whose lanes were new."""
    saved: Saved
    """The checkpoint with what was joined and what no checkpoint held before, if anything."""
    problems: tuple[str, ...] = ()


def join_lanes(store: SessionStore, lanes: Iterable[Lane]) -> Joined:
    """Join lanes that are believed into a session, and take a checkpoint of what is new.

    The lock is held. A lane that does not verify is not joined. Raises what reading the session's
    state raises.
    """
    seen = seen_by(store)
    ready, _ = store.fold(store.state())
    state, problems, writers = ready.state, [], []
    for lane in lanes:
        before = seen.get(lane.writer, "")
        if lane.commit == before:
            continue
        try:
            theirs = verify_lane(store.repository(), lane, before)
            base = _state_of(store, lane.replace(commit=before)) if before else None
        except GitguardError as error:
            problems.append(f"the lane of {lane.writer} is not joined: {error.message}")
            continue
        newest = state_file.decode_state(theirs.contents[STATE_FILE], "the lane's state")
        state = with_changes(state, newest, base)
        seen[lane.writer] = lane.commit
        writers.append(lane.writer)
    if state != ready.state:
        marks = not_ours(state, ready.state)
        ready = store.save(marked(state.replace(updated_at=store.now), marks), ready)
        store.workspace.at_step("lanes-joined")
    if writers:
        # Only once the state holds them: after a crash before, the next sync joins them again.
        write_joined(joined_path(store.workspace, store.session), seen)
        store.workspace.at_step("join-noted")
    why = f"Joined {counted(len(writers), 'lane')}." if writers else "What is new is synced."
    saved = store.checkpoint(triggers.RECOVERY, why, Circumstances(), ready=ready, if_changed=True)
    return Joined(store.session.key, tuple(writers), saved, tuple(problems))


def _state_of(store: SessionStore, lane: Lane) -> TaskState:
    data = read_lane(store.repository(), lane).contents[STATE_FILE]
    return state_file.decode_state(data, "the lane's state")


def with_changes(ours: TaskState, theirs: TaskState, base: TaskState | None) -> TaskState:
    """Return our state with what theirs changed since base, the last one of theirs that we saw.

    What both changed stays as it is here.
    """
    changed: dict[str, Any] = {}
    begun = new_task(ours.session_id, ours.updated_at)
    for name, origin in _STATED:
        now, here = getattr(theirs, name), getattr(ours, name)
        then = getattr(base or begun, name)
        if now != then and here == then:
            changed[name] = now
            changed |= {origin: getattr(theirs, origin)} if origin else {}
    for name in ours.kinds:
        items = getattr(theirs, name)
        if name != _NEVER_LEAVES and isinstance(items, tuple) and _has_items(ours, theirs, name):
            then = {item.id: item for item in getattr(base, name)} if base is not None else {}
            changed[name] = _with_items(getattr(ours, name), items, then)
    joined = ours.replace(**changed)
    return ours if joined == ours else joined


def _has_items(ours: TaskState, theirs: TaskState, name: str) -> bool:
    items = (*getattr(ours, name), *getattr(theirs, name))
    return bool(items) and all(isinstance(item, Item) and item.id for item in items)


def _with_items(
    ours: tuple[Item, ...], theirs: tuple[Item, ...], then: dict[str, Item]
) -> tuple[Item, ...]:
    now = {item.id: item for item in theirs}
    kept = []
    for item in ours:
        plain = item.replace(origin=item.origin.replace(elsewhere=False))
        is_untouched = plain == then.get(item.id)
        if is_untouched and item.id not in now:
            continue  # they removed it
        kept.append(now[item.id] if is_untouched and now[item.id] != plain else item)
    here = {item.id for item in ours}
    added = [item for item in theirs if item.id not in here and item.id not in then]
    return tuple(sorted((*kept, *added), key=lambda item: item.when)) if added else tuple(kept)
