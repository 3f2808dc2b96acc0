"""Documents of settings as plain values: what differs, and what of it was ours.

A document holds what JSON or TOML holds. What somebody else wrote since stays in it.
"""

from __future__ import annotations

from gitguard.model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    IsOurs = Callable[[Any], bool]
    """Says whether a value is a whole entry of ours, such as a hook that runs gitguard."""

JSON, JSONC, JSON5, TOML = "json", "jsonc", "json5", "toml"
"""The formats of settings; JSONC is JSON with comments."""
GONE: Any = type("Gone", (), {"__repr__": lambda _: "GONE"})()
"""Stands in the place of a value where there is none."""


class Edit(Value):
    """One edit of a document."""

    path: tuple[str | int, ...]
    """Names and positions; the position behind a list's last item adds one."""
    value: Any
    """What is to stand there; `GONE` for nothing."""


def is_same(first: Any, second: Any) -> bool:
    """Say whether two values say the same, in whatever order their members stand."""
    if isinstance(first, dict) and isinstance(second, dict):
        return first.keys() == second.keys() and all(
            is_same(value, second[name]) for name, value in first.items()
        )
    if isinstance(first, list) and isinstance(second, list):
        return len(first) == len(second) and all(map(is_same, first, second))
    # `True` equals 1 in Python, and NaN not even itself.
    return type(first) is type(second) and (first == second or repr(first) == repr(second))


def _is_in(item: Any, items: list[Any]) -> bool:
    return any(is_same(item, other) for other in items)


def differences(before: Any, after: Any, path: tuple[str | int, ...] = ()) -> Iterator[Edit]:
    """Yield the edits that make one document of another, to be made one after the other."""
    if is_same(before, after):
        return
    if isinstance(before, dict) and isinstance(after, dict):
        yield from (Edit((*path, name), GONE) for name in before if name not in after)
        for name, value in after.items():
            if name in before:
                yield from differences(before[name], value, (*path, name))
            else:
                yield Edit((*path, name), value)
        return
    if isinstance(before, list) and isinstance(after, list):
        stays = [_is_in(item, after) for item in before]
        staying = [item for item, is_there in zip(before, stays, strict=True) if is_there]
        if is_same(staying, after[: len(staying)]):
            gone = [number for number, is_there in enumerate(stays) if not is_there]
            yield from (Edit((*path, number), GONE) for number in reversed(gone))
            added = range(len(staying), len(after))
            yield from (Edit((*path, number), after[number]) for number in added)
            return
    yield Edit(path, after)


def taken_out(was: Any, ours: Any, now: Any, is_ours: IsOurs) -> Any:
    """Return now without what we made of was; what somebody changed since stays.

    `GONE` stands for what is not there.
    """
    if is_same(now, ours):
        return was
    if is_ours(ours):
        return was if is_ours(now) else now
    remaining: Any = now
    if isinstance(ours, dict) and isinstance(now, dict):
        before = was if isinstance(was, dict) else {}
        members = {
            name: taken_out(before.get(name, GONE), ours[name], value, is_ours)
            if name in ours
            else value
            for name, value in now.items()
        }
        remaining = {name: value for name, value in members.items() if value is not GONE}
    elif isinstance(ours, list) and isinstance(now, list):
        first = was if isinstance(was, list) else []
        added = [item for item in ours if not _is_in(item, first)]
        remaining = [item for item in now if not _is_in(item, added)]
    return GONE if was is GONE and remaining in ({}, []) else remaining


def without_entries(value: Any, is_ours: IsOurs) -> Any:
    """Return a document without entries of ours, and without what only they filled."""
    if is_ours(value):
        return GONE
    remaining: Any = value
    if isinstance(value, dict):
        members = {name: without_entries(below, is_ours) for name, below in value.items()}
        remaining = {name: below for name, below in members.items() if below is not GONE}
    elif isinstance(value, list):
        items = [(item, without_entries(item, is_ours)) for item in value]
        # An item that lost all entries of one member, such as a group of hooks, was around ours.
        remaining = [
            left for item, left in items if left is not GONE and not _lost_a_member(item, left)
        ]
    return GONE if value and remaining in ({}, []) else remaining


def _lost_a_member(before: Any, after: Any) -> bool:
    return isinstance(before, dict) and len(after) < len(before)


def has_entries(document: Any, is_ours: IsOurs) -> bool:
    """Say whether a document holds an entry of ours."""
    return not is_same(without_entries(document, is_ours), document)
