"""Claude Code's tools for a plan, which create, update and list tasks one by one.

A hook gets a call's result as an object. A transcript keeps only the text that the model read, so
`answered` turns that text into the same object first.
"""

from __future__ import annotations

import re

from gitguard.model.plan_calls import PlanChange, plan_item, whole_plan, written_list

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

_CREATE, _UPDATE, _LIST = TOOLS = ("TaskCreate", "TaskUpdate", "TaskList")
_READ = 1 << 16
"""Characters of an answer that are read."""
_CREATED = re.compile(r"Task #([\w-]{1,40}) created\b")
_LISTED = re.compile(r"#([\w-]{1,40}) \[(\w{1,40})\] (.+)")
_BLOCKED = " [blocked by "
_NO_TASKS = "No tasks found"


def plan_change(
    name: str,
    parameters: Mapping[str, Any],
    result: Mapping[str, Any],
    cut: Callable[[str, int], str],
) -> PlanChange:
    """Return what a call did to the plan; cut is as `whole_plan` has it."""
    if name == _LIST:
        return whole_plan(result.get("tasks"), cut)
    if name not in (_CREATE, _UPDATE):
        return whole_plan(written_list(parameters), cut)
    task = {**parameters, "id": parameters.get("taskId")}
    if name == _CREATE:
        created = result.get("task")
        task = {**created, "status": "pending"} if isinstance(created, dict) else {}
    # What has no id cannot be named by a later update, and would stay open for ever.
    has_id = isinstance(task.get("id"), str) and task["id"]
    return PlanChange((plan_item(1, task, cut),) if has_id else ())


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
