"""Brings task states of older schema versions up to the present one.

Two machines that migrate the same state must agree: an id comes from the session, the field and
what the item said when it first appeared, and never from the clock or from chance.
"""

from __future__ import annotations

from gitguard.errors import InvalidDocument
from gitguard.model.transcript import AGENT, USER
from gitguard.state.items import ANSWER, CONCLUSION, DONE, HOOK, OPEN, REQUEST, derived_id

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Fields = dict[str, Any]

NOTES = (
    "completed_steps",
    "open_issues",
    "constraints",
    "blockers",
    "invariants",
    "learnings",
    "pending_assumptions",
)
"""Lists that held bare texts in version 1."""
_START = "START"
_USER_ANSWERED = "the user answered: "
"""How version 1 began a decision that it had drawn from a short prompt."""


def upgrade(document: Fields, version: int, newest: int) -> Fields:
    """Return a state's document, or some fields of it, in the newest version.

    What is not of its version's shape stays as it is, for the reader of the newest to refuse.
    """
    while version < newest:
        if version not in MIGRATIONS:
            raise InvalidDocument(f"no gitguard ever wrote schema version {version}")
        document = MIGRATIONS[version](document)
        version += 1
    return document


def _from_version_1(document: Fields) -> Fields:
    """Give every item an id and an origin; texts and marks become records."""
    session_key = document.get("session_id")
    upgraded = {**document, "schema_version": 2}
    mechanical = upgraded.pop("mechanical", ())
    for name, item_of in _ITEMS.items():
        items = document.get(name)
        if isinstance(items, list):
            upgraded[name] = _with_ids(items, item_of, f"{session_key}", name)
    for name, origin in (("goal", "goal_from"), ("next_action", "next_from")):
        if document.get(name, _START) not in ("", _START):
            is_prompt = isinstance(mechanical, list) and name in mechanical
            upgraded[origin] = {"by": USER if is_prompt else AGENT}
    last = document.get("last_action")
    if isinstance(last, dict):
        last = dict(last)
        upgraded["last_action"] = {**last, "by": HOOK if last.pop("mechanical", False) else AGENT}
    return upgraded


def _with_ids(
    items: list[Any], item_of: Callable[[Any], tuple[str, Fields]], session_key: str, field: str
) -> list[Any]:
    """Return items in version 2; of items that say the same, each gets an id of its own."""
    upgraded: list[Any] = []
    times: dict[str, int] = {}
    for item in items:
        try:
            content, document = item_of(item)
        except (AttributeError, TypeError):
            upgraded.append(item)
            continue
        times[content] = times.get(content, 0) + 1
        number = str(times[content])
        upgraded.append({**document, "id": derived_id("1", session_key, field, content, number)})
    return upgraded


def _note(text: Any) -> tuple[str, Fields]:
    if not isinstance(text, str):
        raise TypeError
    return text, {"text": text, "origin": {"by": AGENT}}


def _artifact(item: Fields) -> tuple[str, Fields]:
    return f"{item.get('path')}", _with_origin(item)


def _decision(item: Fields) -> tuple[str, Fields]:
    document = _with_origin(item)
    document["label"] = document.pop("id", "")
    what = f"{item.get('what')}"
    if document["origin"]["by"] == HOOK and what.startswith(_USER_ANSWERED):
        document["origin"]["by"] = USER
    return what, document


def _failure(item: Fields) -> tuple[str, Fields]:
    return f"{item.get('what')}\0{item.get('when')}", _with_origin(item)


def _tool_output(item: Fields) -> tuple[str, Fields]:
    return f"{item.get('tool')}\0{item.get('summary')}\0{item.get('when')}", _with_origin(item)


def _step(item: Fields) -> tuple[str, Fields]:
    document = {name: value for name, value in item.items() if name not in ("done", "gone")}
    document["number"] = document.pop("id", "")
    document["state"] = DONE if item.get("done") else OPEN
    content = f"{item.get('id')}\0{item.get('text')}"
    return content, {"text": "", **document, "origin": {"by": HOOK}}


def _exchange(item: Fields) -> tuple[str, Fields]:
    document = {n: v for n, v in item.items() if n not in ("role", "gist", "pivot", "long")}
    if not document.get("when"):
        document.pop("when", None)  # it was empty where the time was not known
    is_user = item.get("role") == USER
    document["text"] = item.get("gist")
    document["kind"] = (ANSWER if item.get("pivot") else REQUEST) if is_user else CONCLUSION
    document = _with_origin(document)
    document["origin"]["by"] = USER if is_user else AGENT
    return f"{item.get('role')}\0{item.get('gist')}\0{item.get('when')}", document


def _with_origin(item: Fields) -> Fields:
    """Return a document in which who noted it, and when, stand together."""
    document = {name: value for name, value in item.items() if name not in ("when", "mechanical")}
    origin: Fields = {"by": HOOK if item.get("mechanical") else AGENT}
    if "when" in item:
        origin["when"] = item["when"]
    return {**document, "origin": origin}


_ITEMS: dict[str, Callable[[Any], tuple[str, Fields]]] = {
    **dict.fromkeys(NOTES, _note),
    "artifacts": _artifact,
    "decisions": _decision,
    "failed_attempts": _failure,
    "tool_outputs": _tool_output,
    "plan": _step,
    "exchanges": _exchange,
}
MIGRATIONS: dict[int, Callable[[Fields], Fields]] = {1: _from_version_1}
"""For every older schema version the step to the next one."""
