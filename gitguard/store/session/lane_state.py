"""What this worktree knows of who changed what in a session, for a join with others' lanes.

It is remembered in the state directory, because the counters of changes that somebody else has seen
may never stand for others. A worktree that became a new writer keeps what it knows of all others;
what it changed under its earlier id counts as changed by the new one.
"""

from __future__ import annotations

import os

from gitguard.errors import InvalidDocument, InvalidInput
from gitguard.model.codec import STATE_FILE, check_format, dump_line, load_json
from gitguard.state.joining import LaneState, advance, begin_lane, renamed
from gitguard.state.task import read_state
from gitguard.store.disk import files
from gitguard.store.session.anchor import FORMAT, JOINED_LANE
from gitguard.store.session.lane_memory import (
    LANE,
    LANE_LIMIT,
    leaving,
    read_known,
    settle_join,
    written_lane,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Mapping

    from gitguard.state.task import TaskState
    from gitguard.store.session.store import SessionStore

VERSIONS_FILE = "versions.json"
"""Of a lane's commit: who last changed what in its state."""


class KnownLane:
    """The memory of a session's lane, as it was when it was joined or extended last."""

    def __init__(self, store: SessionStore) -> None:
        """Keep it beside the session's anchor."""
        self._folder = store.workspace.anchor_folder(store.session)
        self._path = os.path.join(self._folder, LANE)

    def advanced(
        self,
        writer: str,
        earlier: Container[str],
        state: TaskState,
        others: Iterable[LaneState] = (),
    ) -> LaneState:
        """Return our lane with the state as it is now; its writer changed what differs.

        earlier are the ids that this worktree had before. A lane of another worktree of this
        machine is continued as it is, because both share this memory. others are lanes that the
        state may have been taken from, if nothing is remembered.
        """
        state = leaving(state)
        before = self._read(state)
        if before is None:
            return begin_lane(writer, state, others)
        if before.writer in earlier:
            return renamed(advance(before, state), writer)
        return advance(before, state, writer)

    def write(self, lane: LaneState) -> None:
        """Remember it, durable, before anybody else can see it."""
        files.make_folder(self._folder)
        files.write_bytes(self._path, written_lane(lane))

    def begin_join(self, lane: LaneState) -> None:
        """Remember aside what the lane is once the state that was joined is saved, durable."""
        files.make_folder(self._folder)
        files.write_bytes(os.path.join(self._folder, JOINED_LANE), written_lane(lane))

    def end_join(self) -> None:
        """Take what was remembered aside, because the state is saved."""
        files.rename(os.path.join(self._folder, JOINED_LANE), self._path)
        files.settle_folder(self._folder)

    def take_over(self, lane: LaneState, writer: str) -> None:
        """Remember another writer's lane, whose state was taken in the place of ours."""
        before = self._read(lane.state)
        ours = before.seen if before is not None else {}
        seen = {w: max(ours.get(w, 0), lane.seen.get(w, 0)) for w in {**ours, **lane.seen}}
        self.write(lane.replace(writer=writer, seen=seen))

    def forget(self) -> None:
        """Remember nothing of it any more."""
        for name in (LANE, JOINED_LANE):
            files.remove(os.path.join(self._folder, name))

    def _read(self, state: TaskState) -> LaneState | None:
        if os.path.lexists(os.path.join(self._folder, JOINED_LANE)):
            settle_join(self._folder, state)
        return read_known(self._path)


def versions_of(lane: LaneState) -> bytes:
    """Write down who last changed what in a lane."""
    return dump_line({"format": FORMAT, **lane.to_document()})


def read_lane_state(writer: str, contents: Mapping[str, bytes]) -> LaneState:
    """Read a lane from the files of its newest commit, or raise `InvalidDocument`.

    A lane that does not say who changed what counts as changed by its writer.
    """
    what = f"the lane of {writer}"
    state = leaving(read_state(load_json(contents[STATE_FILE], what=what)))
    data = contents.get(VERSIONS_FILE)
    if data is None:
        return LaneState(writer, {}, state)
    document = load_json(data, what=what, limit=LANE_LIMIT)
    check_format(document, FORMAT, what=what)
    del document["format"]
    try:
        lane = LaneState.from_document(document, state)
    except InvalidInput as error:
        raise InvalidDocument(f"{what} cannot be read: {error.message}") from error
    if lane.writer != writer:
        raise InvalidDocument(f"{what} holds versions of the writer {lane.writer:.40}")
    return lane
