"""How states differ: what a repair or a restore changes, and which fields."""

from __future__ import annotations

from gitguard.model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gitguard.state.checkpoint import Checkpoint
    from gitguard.state.task import TaskState
    from gitguard.store.session.store import Saved


class StateChange(Value):
    """What would happen to the state, or what has."""

    before: TaskState | None
    after: TaskState
    checkpoint: Checkpoint | None = None
    saved: Saved | None = None
    notes: tuple[str, ...] = ()
    remark: str = ""
    """What a person should know beside that; empty for nothing."""
    sha256: str = ""
    """The hash of an edited file as it was shown."""

    @property
    def changes(self) -> tuple[FieldChange, ...]:
        """The fields in which the two states differ, by name."""
        return compare_states(self.before, self.after)


BOOKKEEPING = ("updated_at", "goal_from", "next_from", "earlier_notes", "since_task")
"""Fields that say when and by whom, or for which task, others were set."""


class FieldChange(Value):
    """How one field of the state differs."""

    field: str
    before: Any = None
    after: Any = None
    removed: tuple[Any, ...] = ()
    """For lists: the items that are gone."""
    added: tuple[Any, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether a field that was not there is now there with nothing in it."""
        return self.before is None and not (self.after or self.removed or self.added)

    @property
    def is_bookkeeping(self) -> bool:
        """Whether it only says when and by whom another field was set, or how a state is stored."""
        is_first = self.before is None and self.field == "schema_version"
        return is_first or self.field in BOOKKEEPING

    def to_document(self) -> dict[str, Any]:
        """Return the change as JSON says it."""
        if self.removed or self.added:
            return {"field": self.field, "removed": list(self.removed), "added": list(self.added)}
        return {"field": self.field, "before": self.before, "after": self.after}

    def lines(self) -> list[str]:
        """Return the change as a person reads it."""
        if self.before is None and isinstance(self.after, list):
            return [f"{self.field}:", *(f"  + {text}" for text in _shown_items(tuple(self.after)))]
        if self.removed or self.added:
            removed, added = map(_shown_items, (self.removed, self.added))
            if set(removed) & set(added):  # they differ in what is not shown of each
                removed, added = (list(map(_shown, items)) for items in (self.removed, self.added))
            gone = [f"  - {text}" for text in removed]
            return [f"{self.field}:", *gone, *(f"  + {text}" for text in added)]
        return [f"{self.field}: {_shown(self.before)} -> {_shown(self.after)}"]


def compare_states(before: TaskState | None, after: TaskState) -> tuple[FieldChange, ...]:
    """Return the fields in which two states differ, by name."""
    old = before.to_document() if before else {}
    new = after.to_document()
    names = sorted(old.keys() | new.keys())
    return tuple(_change(n, old.get(n), new.get(n)) for n in names if old.get(n) != new.get(n))


def _change(name: str, before: Any, after: Any) -> FieldChange:
    if isinstance(before, list) and isinstance(after, list):
        removed = tuple(item for item in before if item not in after)
        added = tuple(item for item in after if item not in before)
        if removed or added:
            return FieldChange(name, removed=removed, added=added)
    return FieldChange(name, before, after)


def _shown_items(items: tuple[Any, ...]) -> list[str]:
    """Return what items of a list say, without their ids and where they come from."""
    shown = []
    for item in items:
        if isinstance(item, dict):
            item = {name: value for name, value in item.items() if name not in ("id", "origin")}
            item = item["text"] if item.keys() == {"text"} else item
        shown.append(_shown(item))
    return shown


def _shown(value: Any) -> str:
    import json

    if value is None:
        return "(none)"
    if isinstance(value, dict) and value.keys() >= {"by", "when"}:
        value = f"{value['by']} at {value['when']}"
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    # People decide by what they see here, so nothing is hidden, and no text is more than a line.
    return text if text.isprintable() else json.dumps(value)
