"""A task state as parts that are changed, versioned and joined one by one.

Each item of a list is a part, and so is each other field together with those that describe it.
"""

from __future__ import annotations

from gitguard.errors import InvalidDocument, InvalidInput
from gitguard.model.codec import dump_line, load_json
from gitguard.model.record import Record, read_field
from gitguard.state.items import derived_id
from gitguard.state.task import TaskState

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from typing import Any

    from gitguard.state.items import Conflict

    Part = tuple[str, str]
    """A field, and what tells an item of it from others; empty for a field that is no list."""

LISTING = "conflicts"
"""The field that shows what a join found, and is computed again by each."""


def parts_of(state: TaskState) -> Iterator[tuple[Part, Any]]:
    """Take a state apart: each item, and each other field with those that describe it.

    A field that has its default is no part.
    """
    for name in (*TaskState.kinds, *state.extra):
        kind = TaskState.kinds.get(name)
        value = getattr(state, name) if kind is not None else state.extra[name]
        if name == LISTING or (kind is not None and kind.describes):
            continue
        if kind is not None and kind.shape == "counts":
            yield from (((name, key), count) for key, count in value.items())
        elif isinstance(value, tuple | list) and (kind is not None or value):
            yield from _items(name, value)
        elif kind is None:
            yield (name, ""), value
        else:
            together = field_group(name)
            values = tuple(getattr(state, each) for each in together)
            if values != tuple(TaskState.kinds[each].default for each in together):
                yield (name, ""), values


def state_of(parts: Mapping[Part, Any], conflicts: tuple[Conflict, ...]) -> TaskState:
    """Put a state together from its parts, the items of each list in their order."""
    values: dict[str, Any] = {n: () for n, kind in TaskState.kinds.items() if kind.is_list}
    extra: dict[str, Any] = {}
    for (field, key), value in parts.items():
        kind = TaskState.kinds.get(field)
        if kind is None and key:
            before = extra.get(field)
            extra[field] = [*(before if isinstance(before, list) else ()), value]
        elif kind is None:
            extra[field] = value
        elif not key:
            values.update(named_values(field, value))
        elif kind.is_list:
            values[field] += (value,)
        else:
            values[field] = {**values.get(field, {}), key: value}
    missing = TaskState._required - values.keys()
    if missing:
        raise InvalidDocument(f"the lanes contradict each other about `{min(missing)}`")
    return TaskState._of({**values, LISTING: conflicts, "extra": extra})


def field_group(name: str) -> tuple[str, ...]:
    """Return a field and those that describe it, which change together."""
    return name, *(each for each, kind in TaskState.kinds.items() if kind.describes == name)


def named_values(field: str, value: tuple[Any, ...]) -> dict[str, Any]:
    """Return by its name each field of a part that is no item."""
    return dict(zip(field_group(field), value, strict=True))


def _items(name: str, items: Iterable[Any]) -> Iterator[tuple[Part, Any]]:
    """Yield the items of a list by what tells them apart, also where that stands twice."""
    kind = TaskState.kinds.get(name)
    times: dict[str, int] = {}
    for item in items:
        key = _key_of(item, kind.key if kind is not None else "")
        times[key] = times.get(key, 0) + 1
        yield (name, key if times[key] == 1 else f"{key}#{times[key]}"), item


def _key_of(item: Any, key: str) -> str:
    """Return what tells an item from others; of one without an id, what it says."""
    if isinstance(item, str):
        return item or "-"
    named = item.get("id") if isinstance(item, dict) else getattr(item, key or "id", "")
    return str(named or "-" + derived_id(dump_line({"": _plain(item)}).decode()))


def write_value(part: Part, value: Any) -> str:
    """Write what a part holds, as a JSON object of its fields."""
    field, key = part
    if key or field not in TaskState.kinds:
        values = {field: value}
    else:
        values = named_values(field, value)
    return dump_line({name: _plain(of) for name, of in values.items()}).decode().rstrip("\n")


def _plain(value: Any) -> Any:
    return value.to_document() if isinstance(value, Record) else value


def read_value(part: Part, text: str) -> Any:
    """Read what a part holds; raises `InvalidInput` for what is none."""
    field, key = part
    document = load_json(text.encode(), what=f"what a writer made of `{field}`")
    kind = TaskState.kinds.get(field)
    names = field_group(field) if kind is not None and not key else (field,)
    if not document.keys() >= set(names):
        raise InvalidInput(f"what a writer made of `{field:.80}` lacks {', '.join(names)}")
    if kind is None:
        return document[field]
    if not key:
        return tuple(read_field(TaskState.kinds[name], document[name], name) for name in names)
    if kind.shape == "counts":
        return read_field(kind, {key: document[field]}, field)[key]
    return read_field(kind, [document[field]], field)[0]


def part_of(field: str, key: str) -> Part:
    """Return the part of a field and key; raise `InvalidInput` where a state has no such part."""
    kind = TaskState.kinds.get(field)
    has_items = kind is not None and (kind.is_list or kind.shape == "counts")
    is_computed = field == LISTING or (kind is not None and bool(kind.describes))
    if is_computed or (kind is not None and has_items != bool(key)):
        raise InvalidInput(f"a state has no `{field}` with the key `{key:.80}`")
    return field, key
