"""Conflicts as people and agents are shown them, and how one is named to settle it."""

from __future__ import annotations

from gitguard.errors import InvalidInput
from gitguard.model.record import Record
from gitguard.model.text import counted
from gitguard.model.value import Value
from gitguard.state.items import Conflict, Origin, Variant
from gitguard.state.joining import open_conflicts, read_variant
from gitguard.state.task import TaskState

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container, Iterator, Mapping
    from typing import Any

SHORT_ID = 8
"""Digits by which people name a conflict."""
_NOT_SHOWN = frozenset({"id", "label", "task_id"})


class ShownVariant(Value):
    """What somebody made of what is in conflict."""

    number: int
    """What it is called when the conflict is settled, from 1; the state holds the first."""
    text: str
    writers: tuple[str, ...]
    author: str
    """Who noted it, as people tell writers apart."""
    is_own: bool
    """Whether this machine is among the writers."""
    at: str
    """When it was noted; empty if unknown."""
    age: str = ""
    """How long ago that was, such as `3 h`; empty if unknown, and until a reader is there."""


class OpenConflict(Value):
    """What writers noted without knowing of each other's note, and nobody has settled."""

    id: str
    """Of this field or item with these variants; with another variant, it is another id."""
    subject: str
    """What it is about, such as `goal` or `learning`."""
    variants: tuple[ShownVariant, ...]

    @property
    def short_id(self) -> str:
        """The beginning of the id, by which it is named."""
        return self.id[:SHORT_ID]

    @property
    def command(self) -> str:
        """The command that settles it, for a number."""
        return f"gitguard settle {self.short_id} NUMBER"


def shown_conflicts(
    state: TaskState, own: Container[str], authors: Mapping[str, str]
) -> tuple[OpenConflict, ...]:
    """Return the open conflicts of a state without marks.

    own are this machine's writers; authors tell of others what they are called.
    """
    return tuple(_shown(conflict, own, authors) for conflict in open_conflicts(state))


def conflict_named(state: TaskState, name: str, number: int) -> tuple[Conflict, Variant]:
    """Return an open conflict, by the beginning of its id, and one of its variants.

    Raises `InvalidInput` for what names none or several.
    """
    conflicts = open_conflicts(state)
    named = [conflict for conflict in conflicts if name and conflict.id.startswith(name)]
    if len(named) != 1:
        raise InvalidInput(
            f"`{name:.40}` names {counted(len(named), 'open conflict')} of {len(conflicts)}",
            "`gitguard settle` lists them",
        )
    (conflict,) = named
    if not 1 <= number <= len(conflict.variants):
        raise InvalidInput(
            f"the conflict `{name:.40}` has no variant {number}, but 1 to {len(conflict.variants)}",
            "`gitguard settle` lists them",
        )
    return conflict, conflict.variants[number - 1]


def _shown(conflict: Conflict, own: Container[str], authors: Mapping[str, str]) -> OpenConflict:
    kind = TaskState.kinds.get(conflict.field)
    nouns = {field.name: field.noun for field in TaskState.every_noted()}
    values = [_values(conflict, variant) for variant in conflict.variants]
    differing = {
        name for name in values[0] if any(v.get(name) != values[0][name] for v in values[1:])
    }
    variants = tuple(
        ShownVariant(
            number,
            _text(conflict.field, of, differing),
            variant.writers,
            ", ".join(dict.fromkeys(_author(w, own, authors) for w in variant.writers)),
            is_own=any(writer in own for writer in variant.writers),
            at=next((origin.when for origin in _origins(of)), ""),
        )
        for number, (variant, of) in enumerate(zip(conflict.variants, values, strict=True), 1)
    )
    is_list = kind is not None and kind.is_list
    name = conflict.field.replace("_", " ")
    return OpenConflict(conflict.id, nouns.get(conflict.field, name) if is_list else name, variants)


def _author(writer: str, own: Container[str], authors: Mapping[str, str]) -> str:
    return "this machine" if writer in own else authors.get(writer, f"writer {writer}")


def _values(conflict: Conflict, variant: Variant) -> dict[str, Any]:
    """Return what a variant says of each field; nothing where it cannot be read."""
    try:
        return read_variant(conflict, variant)
    except InvalidInput:
        return {}


def _text(field: str, values: dict[str, Any], differing: set[str]) -> str:
    """Return a variant's words, with what else is different in it."""
    if not values:
        return "(cannot be read)"
    main = values[field]
    texts = list(_texts(main)) if isinstance(main, Record) else [str(main)]
    others = sorted(differing - {field, *_NOT_SHOWN})
    texts += (str(values[name]) for name in others if isinstance(values[name], str))
    return " — ".join(filter(None, texts)) or "(empty)"


def _texts(item: Record) -> Iterator[str]:
    for name, kind in item.kinds.items():
        if kind.is_free_text and name not in _NOT_SHOWN:
            yield getattr(item, name)


def _origins(values: dict[str, Any]) -> Iterator[Origin]:
    for value in values.values():
        origin = getattr(value, "origin", value)
        if isinstance(origin, Origin):
            yield origin
