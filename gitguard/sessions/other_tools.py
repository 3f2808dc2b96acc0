"""Finds and archives the state that another tool of this kind left in a worktree."""

from __future__ import annotations

import os

from gitguard.errors import InvalidDocument, OtherToolState
from gitguard.model.codec import STATE_LIMIT, load_json
from gitguard.store.disk import files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitguard.store.session.workspace import Workspace

_TASK_FIELDS = frozenset({"goal", "next_action", "current_phase"})
_PLACES = (".context_guardian", "task_state.json", ".gitguard/task_state.json")


def require_none(workspace: Workspace) -> None:
    """Raise `OtherToolState` where a session would begin beside another tool's state."""
    for name in state_of_other_tools(workspace):
        raise OtherToolState(
            f"`{os.path.join(workspace.place.worktree, name)}` holds state of another tool",
            "Archive it with `gitguard repair --archive-theirs`; nothing is deleted",
        )


def state_of_other_tools(workspace: Workspace) -> list[str]:
    """Return the files and folders of other tools that hold task state, relative to the root."""
    root = workspace.place.worktree
    return [name for name in _PLACES if _holds_task(os.path.join(root, name))]


def _holds_task(path: str) -> bool:
    if not path.endswith(".json"):
        return os.path.lexists(path)
    # A project may have a file of this name that has nothing to do with agents.
    try:
        data = files.read_bytes(path, limit=STATE_LIMIT)
        document = load_json(data, what=f"`{path}`") if data is not None else {}
    except InvalidDocument:
        return False
    return not _TASK_FIELDS.isdisjoint(document)


def archive_state(workspace: Workspace, stamp: str) -> dict[str, str]:
    """Move other tools' state under our folder; return where each part is now."""
    folder = os.path.join(workspace.folder, "archive", f"other-tools-{stamp}")
    moved = {}
    for name in state_of_other_tools(workspace):
        files.make_folder(folder)
        target = os.path.join(folder, name.replace("/", "_"))
        try:
            files.rename(os.path.join(workspace.place.worktree, name), target)
        except OSError as error:
            raise files.refused(target, error) from error
        moved[name] = target
    return moved
