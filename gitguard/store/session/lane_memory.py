"""The files in which a worktree remembers its lane, and what of a state belongs into a lane."""

from __future__ import annotations

import os

from gitguard.errors import InvalidDocument, InvalidInput
from gitguard.model.codec import check_format, dump_line, load_json
from gitguard.state.joining import LaneState
from gitguard.state.task import read_state
from gitguard.store.disk import files
from gitguard.store.session.anchor import FORMAT, JOINED_LANE, marked

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitguard.state.task import TaskState

LANE = "lane.json"
LANE_LIMIT = 4 << 20


def settle_join(folder: str, state: TaskState, new: TaskState | None = None) -> None:
    """End a join that was killed, or forget it, by whether its state was saved.

    folder is that of the session's anchor, state the newest one that was saved. It has to be known
    before anything is changed: what others changed would count as ours else, and what they removed
    would come back. new is what is about to be saved, which may be what was joined just now.
    """
    try:
        joined = read_known(os.path.join(folder, JOINED_LANE))
    except InvalidDocument:
        joined = None
    if joined is not None and new is not None and leaving(new) == joined.state:
        return
    if joined is not None and leaving(state) == joined.state:
        files.rename(os.path.join(folder, JOINED_LANE), os.path.join(folder, LANE))
    else:
        files.remove(os.path.join(folder, JOINED_LANE))
    files.settle_folder(folder)


def written_lane(lane: LaneState) -> bytes:
    """Write down a lane with its state."""
    document = {"state": lane.state.to_document(), "lane": lane.to_document()}
    return dump_line({"format": FORMAT, **document})


def read_known(path: str) -> LaneState | None:
    """Read a lane with its state, None where nothing is remembered; or raise `InvalidDocument`."""
    data = files.read_bytes(path, limit=LANE_LIMIT)
    if data is None:
        return None
    what = f"the lane's memory `{path}`"
    try:
        document = load_json(data, what=what, limit=LANE_LIMIT)
        check_format(document, FORMAT, what=what)
        return LaneState.from_document(document["lane"], read_state(document["state"]))
    except (InvalidInput, KeyError) as error:
        raise InvalidDocument(f"{what} is damaged: {error}") from error


def leaving(state: TaskState) -> TaskState:
    """Return what of a state leaves this machine: all but marks and the host's own summary."""
    return marked(state, ()).replace(host_summary=None)
