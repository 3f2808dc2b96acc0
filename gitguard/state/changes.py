"""What notes and prompts do to a task state; a change is applied whole or not at all."""

from __future__ import annotations

from gitguard.errors import InvalidInput
from gitguard.model.record import read_field
from gitguard.state.items import Artifact, Item, Note, Origin, random_id
from gitguard.state.task import IN_PROGRESS, START, TaskState

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

BY_FIELD, APPEND, REPLACE = "by field", "append", "replace"
"""What a change does to a list."""


def update_state(
    state: TaskState,
    changes: dict[str, Any],
    origin: Origin,
    *,
    lists: str = BY_FIELD,
    new_id: Callable[[], str] = random_id,
) -> tuple[TaskState, dict[str, str]]:
    """Apply a document of changes whole or raise; also say for each field what was done.

    origin says who changes the state, and its `when` is the time of the change. lists says whether
    lists are appended to, replaced, or treated as each field's kind says. An item may be given
    with the id it has, and a note as a bare text.
    """
    report: dict[str, str] = {}
    values: dict[str, Any] = {}
    for name, value in changes.items():
        kind = TaskState.kinds.get(name)
        if kind is None or kind.is_fixed:
            raise InvalidInput(
                f"`{name[:80]}` is not a field that can be set",
                "Fields: " + ", ".join(n for n, k in TaskState.kinds.items() if not k.is_fixed),
            )
        if kind.is_list:
            appends = lists == APPEND or (lists == BY_FIELD and kind.appends)
            items = _read_items(state, name, value)
            identified = _identified(items, getattr(state, name), origin, new_id, appends=appends)
            values[name], report[name] = _changed_list(state, name, identified, appends=appends)
        else:
            values[name] = read_field(kind, _whole_action(name, value, origin), name)
            report[name] = "set"
    _refuse_empty(values)
    if "goal" in values:
        values["goal_from"] = origin
    if "next_action" in values:
        values["next_from"] = origin
    status = _status_after(state, values)
    changed = state.replace(**{"status": status, **values, "updated_at": origin.when})
    return changed, report


def _refuse_empty(values: dict[str, Any]) -> None:
    if not values.get("next_action", "-").strip():
        raise InvalidInput("`next_action` is empty", "Name the next step, or DONE at the end")
    if not values.get("goal", "-").strip():
        raise InvalidInput("`goal` is empty", "Say what the task is to reach")


def _status_after(state: TaskState, values: dict[str, Any]) -> str:
    is_done = state.replace(**values).is_done
    if is_done:
        if values.get("status", "complete") != "complete":
            raise InvalidInput(
                f"`status` is `{values['status']}`, and `next_action` says that the task is done",
                "Give one of them",
            )
        values["status"] = "complete"
    return IN_PROGRESS if state.status == "complete" and not is_done else state.status


def _whole_action(name: str, value: Any, origin: Origin) -> Any:
    """Fill what an agent need not write of its last action."""
    if name == "last_action" and isinstance(value, dict):
        return {"outcome": "success", "at": origin.when, "by": origin.by, **value}
    return value


# Lists


def _changed_list(
    state: TaskState, name: str, items: tuple[Item, ...], *, appends: bool
) -> tuple[tuple[Item, ...], str]:
    """Return the list as it is after the change, and what was done."""
    present: tuple[Item, ...] = getattr(state, name)
    if not appends:
        return items, f"replaced {len(present)} by {len(items)}"
    if name == "artifacts":
        artifacts = tuple(item for item in items if isinstance(item, Artifact))
        _refuse_contradiction(artifacts)
        merged = merge_artifacts(state.artifacts, artifacts)
        return merged, f"appended {len(items)}, one entry per path"
    ids = {item.id for item in items}
    kept = tuple(item for item in present if item.id not in ids)
    return kept + items, f"appended {len(items)}"


def _read_items(state: TaskState, name: str, value: Any) -> tuple[Item, ...]:
    """Read items; what an agent need not write is filled, and who noted them is not its to say."""
    kind = TaskState.kinds[name]
    if not isinstance(value, list):
        items: tuple[Item, ...] = read_field(kind, value, name)
        return items
    number = next_decision(state)
    documents: list[Any] = []
    for item in value:
        if isinstance(item, str) and kind.record is Note:
            item = {"text": item}
        if isinstance(item, dict):
            item = {field: part for field, part in item.items() if field != "origin"}
            if "when" in item:
                item["origin"] = {"when": item.pop("when")}
            if name == "decisions":
                item = {"label": f"d{number}", "why": "", **item}
                number += 1
        documents.append(item)
    items = read_field(kind, documents, name)
    return tuple(items)


def _identified(
    items: tuple[Item, ...],
    present: tuple[Item, ...],
    origin: Origin,
    new_id: Callable[[], str],
    *,
    appends: bool,
) -> tuple[Item, ...]:
    """Return items with ids and origins; one that was there before and says the same keeps both.

    In a list that is replaced, an item without its id is looked for by what it says.
    """
    left = list(present)
    identified = []
    for item in items:
        before = next((b for b in left if _is_same(item, b, by_content=not appends)), None)
        if before is not None:
            left.remove(before)
        if before is not None and item.replace(id=before.id, origin=before.origin) == before:
            identified.append(before)
            continue
        item_id = before.id if before is not None else new_id()
        when = item.when or origin.when
        identified.append(item.replace(id=item_id, origin=origin.replace(when=when)))
    return tuple(identified)


def _is_same(item: Item, before: Item, *, by_content: bool) -> bool:
    if item.id:
        return item.id == before.id
    return by_content and item.replace(id=before.id, origin=before.origin) == before


def next_decision(state: TaskState) -> int:
    """Return the number of the next decision; those before may have been dropped."""
    labels = (d.label[1:] for d in state.decisions if d.label[:1] == "d")
    numbers = (int(label) for label in labels if label.isdecimal() and len(label) < 10)
    return max(numbers, default=0) + 1


def _refuse_contradiction(artifacts: tuple[Artifact, ...]) -> None:
    """Refuse two entries of one path that say different things: only one of them can be kept."""
    by_path: dict[str, Artifact] = {}
    for artifact in artifacts:
        first = by_path.setdefault(artifact.path, artifact)
        if artifact.replace(id=first.id, origin=first.origin) != first:
            raise InvalidInput(
                f"`artifacts` holds `{artifact.path:.80}` twice, and not the same of it",
                "Give each path once",
            )


def merge_artifacts(
    present: tuple[Artifact, ...], newer: tuple[Artifact, ...]
) -> tuple[Artifact, ...]:
    """Add artifacts, newest last, one entry a path; what a hook saw never replaces what was noted.

    What an earlier entry describes stays where the newer one describes nothing. Writes add up.
    """
    by_path = {artifact.path: artifact for artifact in present}
    for artifact in newer:
        before = by_path.get(artifact.path)
        if before is None:
            by_path[artifact.path] = artifact
            continue
        writes = before.writes + artifact.writes
        if before.is_noted and not artifact.is_noted:
            by_path[artifact.path] = before.replace(writes=writes)
            continue
        by_path.pop(artifact.path)
        by_path[artifact.path] = artifact.replace(
            id=before.id, description=artifact.description or before.description, writes=writes
        )
    return tuple(by_path.values())


def fill_from_prompt(state: TaskState, values: dict[str, str], origin: Origin) -> TaskState:
    """Set the goal and next action from what the user asked, where the agent has not set them."""
    unset: dict[str, Any] = {}
    for name, value in values.items():
        is_free = getattr(state, name) in ("", START) or not state.is_noted(name)
        if value and is_free and value != getattr(state, name):
            unset[name] = value
            unset["goal_from" if name == "goal" else "next_from"] = origin
    return state.replace(**unset)
