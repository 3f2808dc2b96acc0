"""Which item of one state is which item of another."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from json import dumps
from typing import Any

from gitguard.state.items import Item

_NOT_CONTENT = ("id", "origin", "label")
"""What can differ while an item says the same: a label is the item's place in its list."""


def content_of(item: Item) -> dict[str, Any]:
    """Return what an item says, without its id, its label and where it comes from."""
    document = item.to_document()
    return {name: value for name, value in document.items() if name not in _NOT_CONTENT}


def matched(
    before: Sequence[Item], after: Sequence[Item]
) -> Iterator[tuple[Item | None, Item | None]]:
    """Yield each item with what it was before; None stands for one that is new, or gone.

    An item keeps its id. One that was taken out and put back gets another, so what is left is
    matched by what it says.
    """
    partners: dict[int, int] = {}
    for key in (lambda item: item.id, _content_key):
        taken = set(partners.values())
        waiting: dict[str, list[int]] = {}
        for place, item in reversed([*enumerate(before)]):
            if place not in taken and key(item):
                waiting.setdefault(key(item), []).append(place)
        for place, item in enumerate(after):
            if place not in partners and waiting.get(key(item)):
                partners[place] = waiting[key(item)].pop()
    for place, item in enumerate(after):
        yield (before[partners[place]] if place in partners else None), item
    for place in sorted({*range(len(before))} - {*partners.values()}):
        yield before[place], None


def _content_key(item: Item) -> str:
    return dumps(content_of(item), sort_keys=True)
