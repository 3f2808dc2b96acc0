"""What writers noted in conflict with each other, and settling it."""

from __future__ import annotations

from gitguard.model import triggers
from gitguard.model.value import Value
from gitguard.sessions.last_event import time_since
from gitguard.state.circumstances import Circumstances
from gitguard.store.session.anchor import marked, not_ours

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitguard.state.conflicts import OpenConflict, ShownVariant
    from gitguard.state.task import TaskState
    from gitguard.store.session.store import Saved, SessionStore


class SettledConflict(Value):
    """What settling a conflict did."""

    subject: str
    text: str
    """What the state holds now."""
    left: tuple[OpenConflict, ...]
    """The conflicts that are still open."""
    saved: Saved


def conflicts_in(store: SessionStore, state: TaskState) -> tuple[OpenConflict, ...]:
    """Return the open conflicts of a session's state."""
    if not state.conflicts:
        return ()
    return _shown(store, state)  # which imports what hooks hardly ever need


def _shown(store: SessionStore, state: TaskState) -> tuple[OpenConflict, ...]:
    from gitguard.sessions.belief import other_lanes
    from gitguard.state.conflicts import shown_conflicts
    from gitguard.store.session.lanes import writers_here

    workspace = store.workspace
    authors = {lane.writer: lane.author for lane in other_lanes(workspace, store.repository())}
    conflicts = shown_conflicts(marked(state, ()), writers_here(workspace), authors)
    return tuple(
        c.replace(variants=tuple(_with_age(v, store.clock()) for v in c.variants))
        for c in conflicts
    )


def _with_age(variant: ShownVariant, now: float) -> ShownVariant:
    return variant.replace(age=time_since(variant.at, now)) if variant.at else variant


def settle_conflict(store: SessionStore, name: str, number: int) -> SettledConflict:
    """Keep one variant of an open conflict, with a checkpoint; the lock is held.

    name is the beginning of the conflict's id, number the variant's from 1. Raises `InvalidInput`
    for what is not there, and what reading and saving the state raise.
    """
    from gitguard.state.conflicts import conflict_named
    from gitguard.state.joining import settle
    from gitguard.store.session.lanes import writers_here

    own, ready = writers_here(store.workspace), store.state()
    state = marked(ready.state, ())
    conflict, variant = conflict_named(state, name, number)
    (shown,) = (each for each in _shown(store, state) if each.id == conflict.id)
    after = settle(state, conflict, variant)
    foreign = set(not_ours(after, ready.state))
    if own.intersection(variant.writers):
        foreign -= {conflict.item, *not_ours(after, state)}
    written = store.save(marked(after, tuple(foreign)), ready)
    why = f"Settled a conflict about the {shown.subject}."
    saved = store.checkpoint(triggers.MANUAL, why, Circumstances(), ready=written, if_changed=True)
    text = shown.variants[number - 1].text
    return SettledConflict(shown.subject, text, conflicts_in(store, written.state), saved)
