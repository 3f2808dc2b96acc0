"""A plan or to-do list as a tool call writes it, for hooks and compactions alike."""

from __future__ import annotations

from gitguard.model.events import PlanItem
from gitguard.model.text import encodable, one_line, shorten
from gitguard.model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

_LISTS = ("todos", "plan")
"""Parameters that hold a whole list."""
_TEXTS = ("subject", "content", "step", "title")
_LONGEST_ID = 200
MOST_ITEMS = 200
"""Of one list, its last ones; each is searched for secrets."""


class PlanChange(Value):
    """What a call did to the plan."""

    items: tuple[PlanItem, ...] = ()
    is_whole: bool = False
    """Whether these are all items there are."""


def written_list(parameters: Mapping[str, Any]) -> object:
    """Return the whole list that a call writes, None where it writes none."""
    lists = map(parameters.get, _LISTS)
    return next((listed for listed in lists if isinstance(listed, list)), None)


def whole_plan(listed: object, cut: Callable[[str, int], str], most: int = 200) -> PlanChange:
    """Return the plan that a list holds; what is no list changes nothing.

    cut takes secrets out of a text and cuts it to a number of characters, at most `most`.
    """
    if not isinstance(listed, list):
        return PlanChange()
    newest = [*enumerate(listed, 1)][-MOST_ITEMS:]
    items = [plan_item(n, fields, cut, most) for n, fields in newest if isinstance(fields, dict)]
    return PlanChange(tuple(item for item in items if item.text), is_whole=True)


def plan_item(
    number: int, fields: Mapping[str, Any], cut: Callable[[str, int], str], most: int = 200
) -> PlanItem:
    """Return an item of a list, numbered where it has no id of its own."""
    status = fields.get("status")
    words = next(filter(None, (_text(fields, name) for name in _TEXTS)), "")
    return PlanItem(
        id=shorten(_text(fields, "id"), _LONGEST_ID) or str(number),
        text=cut(one_line(words), most),
        done=status in ("completed", "done"),
        active=status == "in_progress",
        gone=status in ("deleted", "cancelled"),
    )


def _text(fields: Mapping[str, Any], name: str) -> str:
    value = fields.get(name)
    return encodable(value) if isinstance(value, str) else ""
