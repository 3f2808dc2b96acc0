"""Copilot CLI's plan: rows of a table `todos`, written with SQL (seen in 1.0.102)."""

from __future__ import annotations

import re

from gitguard.model.plan_calls import PlanChange, plan_item

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

TOOLS = ("sql",)
_READ = 1 << 16
"""Characters of a statement that are read."""
_INSERT = re.compile(
    r"\bINSERT\s+(?:OR\s+\w+\s+)?INTO\s+todos\s*\(([^)]*)\)\s*VALUES\s*(.*?)(?:;|\Z)", re.I | re.S
)
_ROW = re.compile(r"\(((?:[^()']|'(?:[^']|'')*')*)\)")
_VALUE = re.compile(r"'((?:[^']|'')*)'|([^,\s]+)")
_UPDATE = re.compile(
    r"\bUPDATE\s+todos\s+SET\s+(.*?)\s+WHERE\s+id\s*=\s*'((?:[^']|'')*)'\s*(?:;|\Z)", re.I | re.S
)
_SET = re.compile(r"\b(title|status)\s*=\s*'((?:[^']|'')*)'", re.I)
_DELETE = re.compile(r"\bDELETE\s+FROM\s+todos\s+WHERE\s+id\s*=\s*'((?:[^']|'')*)'", re.I)


def plan_change(
    name: str,
    parameters: Mapping[str, Any],
    result: Mapping[str, Any],
    cut: Callable[[str, int], str],
) -> PlanChange:
    """Return what a statement did to the plan; cut is as `whole_plan` has it.

    Only statements that name rows by their id are read; any other changes nothing here.
    """
    query = parameters.get("query")
    if not isinstance(query, str) or "todos" not in query[:_READ]:
        return PlanChange()
    query = query[:_READ]
    tasks = [*_inserted(query), *_updated(query)]
    tasks += [{"id": _text(row_id), "status": "deleted"} for row_id in _DELETE.findall(query)]
    items = tuple(plan_item(1, task, cut) for task in tasks if task.get("id"))
    return PlanChange(items)


def _inserted(query: str) -> list[dict[str, str]]:
    rows = []
    for columns, values in _INSERT.findall(query):
        names = [column.strip().lower() for column in columns.split(",")]
        for row in _ROW.findall(values):
            texts = [_text(quoted or bare) for quoted, bare in _VALUE.findall(row)]
            rows.append({"status": "pending", **dict(zip(names, texts, strict=False))})
    return rows


def _updated(query: str) -> list[dict[str, str]]:
    return [
        {"id": _text(key), **{name.lower(): _text(value) for name, value in _SET.findall(changes)}}
        for changes, key in _UPDATE.findall(query)
    ]


def _text(quoted: str) -> str:
    return quoted.replace("''", "'")


def answered(name: str, parameters: Mapping[str, Any], text: str) -> dict[str, Any]:
    """Return nothing: the statement says all."""
    return {}
