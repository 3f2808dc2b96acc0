"""Droid's plan: a text with lines such as `1. [in_progress] text` (seen in 0.225.2)."""

from __future__ import annotations

import re

from gitguard.model.plan_calls import PlanChange, whole_plan, written_list

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

TOOLS = ("TodoWrite",)
_READ = 1 << 16
"""Characters of a list that are read."""
_STEP = re.compile(r"\s*\d+[.)]\s*\[(\w{1,40})\]\s*(.+)")


def plan_change(
    name: str,
    parameters: Mapping[str, Any],
    result: Mapping[str, Any],
    cut: Callable[[str, int], str],
) -> PlanChange:
    """Return the plan that a call wrote; cut is as `whole_plan` has it."""
    todos = parameters.get("todos")
    if not isinstance(todos, str):
        return whole_plan(written_list(parameters), cut)
    steps = map(_STEP.match, todos[:_READ].splitlines())
    return whole_plan([{"status": step[1], "step": step[2]} for step in steps if step], cut)


def answered(name: str, parameters: Mapping[str, Any], text: str) -> dict[str, Any]:
    """Return nothing: the list itself says all."""
    return {}
