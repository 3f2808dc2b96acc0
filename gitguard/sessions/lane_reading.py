"""The lanes of other writers that this repository has, to be looked at.

A sync keeps them under `refs/gitguard/lanes/`; a job that only reports fetches them below
`refs/gitguard/remotes/`. Nothing is fetched, joined or believed here.
"""

from __future__ import annotations

from gitguard.errors import InvalidInput
from gitguard.model.text import one_line
from gitguard.model.value import Value
from gitguard.sessions.belief import belief_of
from gitguard.store.session.lane_store import LaneStore
from gitguard.store.session.lanes import (
    ARCHIVED,
    FETCHED,
    LANES,
    MOST_LANES,
    Lane,
    lanes_of,
    lanes_of_others,
    newest_of,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from gitguard.sessions.workspace_sessions import WorkspaceSessions
    from gitguard.state.checkpoint import Checkpoint
    from gitguard.store.git.reader import ObjectReader
    from gitguard.store.git.repository import Repository

_LABEL = 8
"""Digits by which a label names a writer."""
_NAMED = 5
"""Writers that an error names."""
_LEAST = 4
"""The fewest that a person may type."""


class ReadableLanes(Value):
    """The lanes that can be looked at, those that are believed first, and what is left out."""

    stores: tuple[LaneStore, ...]
    notes: tuple[str, ...] = ()
    """Sentences on what was not looked at."""


NO_LANES = ReadableLanes(())


def lane_label(session: str, writer: str) -> str:
    """Return how a list names a lane beside sessions; the session alone without a writer."""
    return f"{session}@{writer[:_LABEL]}" if writer else session


def readable_lanes(
    sessions: WorkspaceSessions,
    session: str = "",
    writer: str = "",
    *,
    reader: ObjectReader | None = None,
) -> ReadableLanes:
    """Return the lanes of one session, by its key or name, or of all; this machine's are left out.

    writer is the beginning of a writer's id, or its machine's whole name. At most `MOST_LANES` are
    looked at. reader reads all of them, as long as the caller has it open. Raises `InvalidInput`
    for a writer who has none.
    """
    workspace, repository = sessions.workspace, sessions.repository()
    belief = belief_of(workspace)
    lanes = lanes_of_others(workspace, _known_lanes(repository), belief.writers)
    name = _name_of(sessions, session, lanes)
    elsewhere = [lane for lane in lanes if name not in ("", lane.session)]
    lanes = [lane for lane in lanes if name in ("", lane.session)]
    lanes.sort(key=lambda lane: (not belief.holds_for(lane), lane.session, lane.writer))
    notes = []
    if len(lanes) > MOST_LANES:
        notes.append(f"There are {len(lanes):,} lanes; {MOST_LANES:,} were looked at.")
        lanes = lanes[:MOST_LANES]
    newest = newest_of(repository, lanes)
    notes += [
        f"`{lane.ref}` holds no lane of its writer, and is left out."
        for lane in lanes
        if lane.ref not in newest
    ]
    stores = [
        LaneStore(
            workspace,
            lane,
            newest[lane.ref],
            sessions.config,
            trusted=belief.holds_for(lane),
            reader=reader,
        )
        for lane in lanes
        if lane.ref in newest
    ]
    if not writer:
        return ReadableLanes(tuple(stores), tuple(notes))
    named = [store for store in stores if _is_named(store.lane, store.newest, writer)]
    if not named:
        sessions_of = _sessions_of(repository, elsewhere[:MOST_LANES], writer)
        raise _in_other_sessions(writer, name, sessions_of) or _unknown(writer, stores)
    return ReadableLanes(tuple(named), tuple(notes))


def lane_of(sessions: WorkspaceSessions, session: str, writer: str) -> LaneStore:
    """Return a session's lane, of a writer as in `readable_lanes`.

    Raises `InvalidInput` where that names none, or several.
    """
    named = readable_lanes(sessions, session, writer).stores
    if len(named) > 1:
        raise _unknown(writer, named)
    return named[0]


def _unknown(writer: str, stores: Sequence[LaneStore]) -> InvalidInput:
    """Return why a writer's lane cannot be read: there is none, or all of these are meant."""
    authors = sorted({one_line(store.author) for store in stores})
    named = ", ".join(authors[:_NAMED]) or "none"
    more = f" and {len(authors) - _NAMED} more" if len(authors) > _NAMED else ""
    return InvalidInput(
        f"`{writer:.40}` is the name of no writer here, or of several",
        f"Writers: {named}{more}. `gitguard sync` fetches lanes",
    )


def _in_other_sessions(writer: str, name: str, sessions: Sequence[str]) -> InvalidInput | None:
    """Return that a writer has lanes of other sessions only; None where there are none."""
    if not sessions:
        return None
    more = f"; also {', '.join(sessions[1:_NAMED])}" if sessions[1:] else ""
    return InvalidInput(
        f"`{writer:.40}` has no lane of the session `{name:.80}` here",
        f"Add `--session {sessions[0]}`{more}",
    )


def _sessions_of(repository: Repository, lanes: Sequence[Lane], writer: str) -> list[str]:
    """Return the sessions of lanes whose writer is named."""
    newest = newest_of(repository, lanes)
    named = {x.session for x in lanes if x.ref in newest and _is_named(x, newest[x.ref], writer)}
    return sorted(named)


def _is_named(lane: Lane, newest: Checkpoint, writer: str) -> bool:
    is_machine = newest.lane is not None and bool(writer) and newest.lane.machine == writer
    return is_machine or (len(writer) >= _LEAST and lane.writer.startswith(writer))


def _known_lanes(repository: Repository) -> list[Lane]:
    """Return the lanes that are kept, were only fetched, or are of closed sessions."""
    places = (ARCHIVED, FETCHED, LANES)  # those that are kept come last
    refs = repository.refs(*(place.rstrip("/") for place in places))
    lanes: dict[str, Lane] = {}
    for place in places:
        for name, ref in sorted(refs.items()):
            folder = f"{FETCHED}{_remote_of(name)}/lanes/" if place == FETCHED else place
            if name.startswith(place) and not ref.points_to:
                lanes.update((lane.ref, lane) for lane in lanes_of({name: ref.id}, folder))
    return list(lanes.values())


def _remote_of(ref: str) -> str:
    return ref.removeprefix(FETCHED).partition("/")[0]


def _name_of(sessions: WorkspaceSessions, name_or_key: str, lanes: list[Lane]) -> str:
    if not name_or_key or any(lane.session == name_or_key for lane in lanes):
        return name_or_key
    return sessions.find(name_or_key).name
