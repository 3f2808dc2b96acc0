"""When maintenance that archives was tried last, and when it last ended."""

from __future__ import annotations

import os

from gitguard.errors import GitguardError
from gitguard.model.codec import encode_json, load_json
from gitguard.model.config.maintenance import ENFORCE
from gitguard.store.disk import files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitguard.model.config.config import Config
    from gitguard.store.session.workspace import Workspace

_DAY = 86_400
_LIMIT = 1 << 10
_TRIED, _DONE = "tried_at", "done_at"


def is_to_try(workspace: Workspace, config: Config) -> bool:
    """Say whether maintenance is enforced and was not tried for a day."""
    return _is_enforced_and_old(workspace, config, _TRIED)


def is_due(workspace: Workspace, config: Config) -> bool:
    """Say whether maintenance is enforced and has not ended for a day."""
    return _is_enforced_and_old(workspace, config, _DONE)


def _is_enforced_and_old(workspace: Workspace, config: Config, name: str) -> bool:
    if config.maintenance.mode != ENFORCE:
        return False
    return workspace.clock() - _times(workspace)[name] >= _DAY


def note_maintenance(workspace: Workspace, *, is_done: bool) -> None:
    """Keep that maintenance is tried now, or that it ended now."""
    now = workspace.clock()
    times = {**_times(workspace), _TRIED: now, **({_DONE: now} if is_done else {})}
    files.make_folder(workspace.state_folder)
    files.write_bytes(_path(workspace), encode_json(times).encode())


def _times(workspace: Workspace) -> dict[str, float]:
    """Return Unix seconds by name, 0 where nothing tells or the time is still to come."""
    times = {_TRIED: 0.0, _DONE: 0.0}
    try:
        data = files.read_bytes(_path(workspace), limit=_LIMIT)
        document = load_json(data, what="the maintenance record", limit=_LIMIT) if data else {}
    except GitguardError:
        return times  # then it runs again, which harms nothing
    for name in times:
        at = document.get(name)
        if isinstance(at, int | float) and 0 <= at <= workspace.clock():
            times[name] = float(at)
    return times


def _path(workspace: Workspace) -> str:
    return os.path.join(workspace.state_folder, "_maintenance.json")
