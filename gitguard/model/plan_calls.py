"""What a tool call does to its host's plan or to-do list, for hooks and compactions alike.

A hook gets a call's result as an object. A transcript keeps only the text that the model read, so
`answered` turns that text into the same object first.
"""

from __future__ import annotations

import re

from gitguard.model.events import PlanItem
from gitguard.model.text import encodable, one_line, shorten
from gitguard.model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

_CREATE, _UPDATE, _LIST = "TaskCreate", "TaskUpdate", "TaskList"
_LISTS = ("todos", "plan")
"""Parameters that hold a whole list."""
_TEXTS = ("subject", "content", "step")
_LONGEST_ID = 200
MOST_ITEMS = 200
"""Of one list, its last ones; each is searched for secrets."""
_READ = 1 << 16
"""Characters of an answer that are read."""
_CREATED = re.compile(r"Task #([\w-]{1,40}) created\b")
_LISTED = re.compile(r"#([\w-]{1,40}) \[(\w{1,40})\] (.+)")
_BLOCKED = " [blocked by "
_NO_TASKS = "No tasks found"


class PlanChange(Value):
    """What a call did to the plan."""

    items: tuple[PlanItem, ...] = ()
    is_whole: bool = False
    """Whether these are all items there are."""


def plan_change(
    name: str,
    parameters: Mapping[str, Any],
    result: Mapping[str, Any],
    cut: Callable[[str, int], str],
    most: int = 200,
) -> PlanChange:
    """Return what a call did to the plan, by its parameters and its result.

    cut takes secrets out of a text and cuts it to a number of characters, at most `most`.
    """

    def item(number: int, fields: Mapping[str, Any]) -> PlanItem:
        return _item(number, fields, lambda text: cut(one_line(text), most))

    if name in (_CREATE, _UPDATE):
        task = {**parameters, "id": parameters.get("taskId")}
        if name == _CREATE:
            created = result.get("task")
            task = {**created, "status": "pending"} if isinstance(created, dict) else {}
        # What has no id cannot be named by a later update, and would stay open for ever.
        return PlanChange((item(1, task),) if _text(task, "id") else ())
    lists = [result.get("tasks")] if name == _LIST else [parameters.get(key) for key in _LISTS]
    whole = next((listed for listed in lists if isinstance(listed, list)), None)
    if whole is None:
        return PlanChange()
    newest = [*enumerate(whole, 1)][-MOST_ITEMS:]
    items = [item(n, fields) for n, fields in newest if isinstance(fields, dict)]
    return PlanChange(tuple(each for each in items if each.text), is_whole=True)


def answered(name: str, parameters: Mapping[str, Any], text: str) -> dict[str, Any]:
    """Return what a call answered, from the text that the model read, as far as plans need it."""
    if name == _CREATE and (created := _CREATED.search(text[:_READ])):
        return {"task": {**parameters, "id": created[1]}}
    if name == _LIST:
        lines = map(_LISTED.fullmatch, map(str.strip, text[:_READ].splitlines()))
        tasks = [
            {"id": line[1], "status": line[2], "subject": _without_blockers(line[3])}
            for line in lines
            if line is not None
        ]
        return {"tasks": tasks} if tasks or text.strip() == _NO_TASKS else {}
    return {}


def _without_blockers(subject: str) -> str:
    words, mark, _ = subject.rpartition(_BLOCKED)
    return words if mark and subject.endswith("]") else subject


def _item(number: int, fields: Mapping[str, Any], cut: Callable[[str], str]) -> PlanItem:
    status = fields.get("status")
    words = next(filter(None, (_text(fields, name) for name in _TEXTS)), "")
    return PlanItem(
        id=shorten(_text(fields, "id"), _LONGEST_ID) or str(number),
        text=cut(words),
        done=status in ("completed", "done"),
        active=status == "in_progress",
        gone=status in ("deleted", "cancelled"),
    )


def _text(fields: Mapping[str, Any], name: str) -> str:
    value = fields.get(name)
    return encodable(value) if isinstance(value, str) else ""
