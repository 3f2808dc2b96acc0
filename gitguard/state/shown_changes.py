"""Which change of a part is shown, of those that writers made without having heard of another."""

from __future__ import annotations

from functools import cache

from gitguard.model.text import timestamp
from gitguard.model.transcript import AGENT
from gitguard.state.items import HOOK, PERSON, Conflict, Item, Origin, Variant, derived_id
from gitguard.state.parts import LISTING, named_values, write_value
from gitguard.state.task import TaskState, new_task

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from gitguard.state.parts import Part

    Dots = dict[str, tuple[int, Any]]
    """By writer, the counter of its change, and what it made of a part."""

_BEGINNING, _GATHERED, _NOTED = range(3)


def pick(part: Part, changes: Dots) -> Any:
    """Return what a state shows of a part.

    Noted comes before gathered, and this before what a task begins with; then the later version.
    """
    return max(ranked(part, changes))[-1]


def ranked(part: Part, changes: Dots) -> Iterator[tuple[int, int, str, Any]]:
    """Yield weight, counter, writer and value of each change; the greatest is shown."""
    for writer, (counter, value) in changes.items():
        yield _weight(part[0], value), counter, writer, value


def _weight(field: str, value: Any) -> int:
    if _is_noted(field, value):
        return _NOTED
    is_beginning = isinstance(value, tuple) and value[:1] == (getattr(_untouched(), field, None),)
    return _BEGINNING if is_beginning else _GATHERED


def _is_noted(field: str, value: Any) -> bool:
    """Say whether an agent or a person noted it.

    What hooks gathered contradicts nothing, nor what a task begins with, nor what happened last.
    """
    kind = TaskState.kinds.get(field)
    if kind is None or kind.is_fixed or kind.shape == "record":
        return False
    if isinstance(value, Item):
        return value.is_noted
    if not isinstance(value, tuple):
        return True
    origins = [
        at for name, at in named_values(field, value).items() if TaskState.kinds[name].of is Origin
    ]
    if origins:
        return all(origin is not None and origin.by in (AGENT, PERSON) for origin in origins)
    return bool(value[0] != getattr(_untouched(), field))


@cache
def _untouched() -> TaskState:
    """Return a state that says what nobody noted."""
    return new_task("", timestamp(0))


def conflict_of(part: Part, changes: Dots) -> Conflict | None:
    """Return the conflict about a part, None where at most one thing was noted of it."""
    field, key = part
    variants: dict[str, list[str]] = {}
    for weight, _, writer, value in sorted(ranked(part, changes), reverse=True):
        if weight == _NOTED:
            variants.setdefault(write_value(part, value), []).append(writer)
    if len(variants) < 2:
        return None
    versions = (f"{writer} {counter}" for writer, (counter, _) in sorted(changes.items()))
    return Conflict(
        field,
        tuple(Variant(tuple(sorted(writers)), value) for value, writers in variants.items()),
        key,
        id=derived_id(LISTING, field, key, *versions),
        origin=Origin(HOOK),
    )
