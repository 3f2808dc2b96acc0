"""Which items of a state another machine wrote; they are shown with that, also after `trust`.

What a document says of itself cannot be believed: whoever wrote it elsewhere wrote that too. So the
copy in the state directory lists the items of the others, a state is marked by that list when it is
read, and no mark is ever written into a document (references/design/sessions.md, "Items of another
machine").
"""

from __future__ import annotations

from gitguard.state.items import Exchange, Item, derived_id
from gitguard.state.thread import shortened

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from typing import Any

    from gitguard.state.task import TaskState

_STATED = {"goal_from": "goal", "next_from": "next_action"}
"""Fields without an id, and the text that each says the origin of."""


def not_ours(theirs: TaskState, ours: TaskState | None) -> tuple[str, ...]:
    """Return the ids of what in their state this machine did not write.

    ours is the state here, as it was marked when it was read; None where there was none.
    """
    own: dict[str, Item] = {}
    stated: set[str] = set()
    if ours is not None:
        elsewhere = set(marks_in(ours))
        own = {item.id: item for item in _items(ours) if item.id not in elsewhere}
        stated = {mark for _, mark in _stated_in(ours) if mark not in elsewhere}
    foreign = {item.id: None for item in _items(theirs) if not _is_same(item, own.get(item.id))}
    foreign.update((mark, None) for _, mark in _stated_in(theirs) if mark not in stated)
    return tuple(foreign)


def marks_in(state: TaskState) -> tuple[str, ...]:
    """Return the ids of what a state is marked as another machine's."""
    ids = [item.id for item in _items(state) if item.origin.elsewhere]
    ids += [mark for name, mark in _stated_in(state) if getattr(state, name).elsewhere]
    return tuple(ids)


def marked(state: TaskState, ids: Collection[str]) -> TaskState:
    """Return a state in which just what the ids name is marked as another machine's."""
    if not ids and not marks_in(state):
        return state
    known = frozenset(ids)
    changed: dict[str, Any] = {}
    for name in state.kinds:
        value = getattr(state, name)
        if isinstance(value, tuple) and value and isinstance(value[0], Item):
            changed[name] = tuple(_marked(item, elsewhere=item.id in known) for item in value)
        elif isinstance(value, Item):
            changed[name] = _marked(value, elsewhere=value.id in known)
    for name, mark in _stated_in(state):
        changed[name] = getattr(state, name).replace(elsewhere=mark in known)
    return state.replace(**changed)


def _marked(item: Item, *, elsewhere: bool) -> Item:
    if item.origin.elsewhere == elsewhere:
        return item
    return item.replace(origin=item.origin.replace(elsewhere=elsewhere))


def _items(state: TaskState) -> Iterator[Item]:
    for name in state.kinds:
        value = getattr(state, name)
        if isinstance(value, tuple):
            yield from (item for item in value if isinstance(item, Item))
        elif isinstance(value, Item):
            yield value


def _stated_in(state: TaskState) -> Iterator[tuple[str, str]]:
    """Yield the fields that say where a text comes from, and what stands for their id."""
    for name, text in _STATED.items():
        if getattr(state, name) is not None:
            yield name, derived_id(name, getattr(state, text))


def _is_same(theirs: Item, ours: Item | None) -> bool:
    """Whether an item is ours as it was, or as the thread shortens it once it is not the newest."""
    if ours is None or type(theirs) is not type(ours):
        return False
    mine, other = _marked(ours, elsewhere=False), _marked(theirs, elsewhere=False)
    if mine == other:
        return True
    return isinstance(mine, Exchange) and shortened(mine) == other
