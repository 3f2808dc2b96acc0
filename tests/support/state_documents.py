"""Documents of task states, valid ones and others."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from gitguard.model.fields import Kind
from gitguard.model.record import Record
from gitguard.model.text import timestamp
from gitguard.state.items import Note, Origin
from gitguard.state.task import TaskState

NOW = "2026-01-31T09:30:00Z"


BY_HOOK = Origin("hook", NOW)
"""Where what a hook saw comes from."""


def sourced(item_id: str) -> dict[str, Any]:
    """Return the fields that every item has."""
    return {"id": item_id, "origin": {"by": "agent", "when": NOW}}


def note(text: str) -> dict[str, Any]:
    """Return a noted text, as a file holds it; what it says is its id."""
    return {"text": text, **sourced(text)}


def notes(*texts: str) -> tuple[Note, ...]:
    """Return noted texts, as a state holds them."""
    return tuple(Note(text) for text in texts)


def state_document(**changes: Any) -> dict[str, Any]:
    """Return a full and valid state, as a file holds it."""
    return {
        "schema_version": 1,
        "task_id": "task-1",
        "session_id": "main",
        "goal": "Ship",
        "status": "in_progress",
        "current_phase": "build",
        "next_action": "Write tests",
        "completed_steps": [note("one")],
        "open_issues": [],
        "constraints": [],
        "artifacts": [
            {"path": "a.py", "kind": "file", "description": "code", **sourced("artifact")}
        ],
        "state_confidence": 0.5,
        "updated_at": NOW,
        "last_action": {"summary": "built", "outcome": "success", "at": NOW, "by": "agent"},
        "decisions": [{"label": "d1", "what": "x", "why": "y", **sourced("decision")}],
        "failed_attempts": [{"what": "x", "error": "y", **sourced("failure")}],
        "tool_outputs": [{"tool": "t", "summary": "s", **sourced("output")}],
        "blockers": [],
        "invariants": [],
        "learnings": [],
        "pending_assumptions": [],
        **changes,
    }


def values_of(kind: Kind) -> st.SearchStrategy[Any]:
    text = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
    if kind.choices:
        return st.sampled_from(kind.choices)
    if kind.record is not None:
        record = documents_of(kind.record)
        return st.lists(record, max_size=3) if kind.is_list else record
    return {
        "text": text,
        "texts": st.lists(text, max_size=3),
        "time": st.integers(0, 4_000_000_000).map(timestamp),
        "share": st.floats(0, 1),
        "count": st.integers(0, 10**9),
        "flag": st.just(value=True),
        "counts": st.dictionaries(text, st.integers(0, 10**9), max_size=3),
    }[kind.shape]


def documents_of(record: type[Record]) -> st.SearchStrategy[dict[str, Any]]:
    required = {n: values_of(k) for n, k in record.kinds.items() if not hasattr(record, n)}
    optional = {n: values_of(k) for n, k in record.kinds.items() if hasattr(record, n)}
    json_values = st.recursive(
        st.none()
        | st.booleans()
        | st.integers(-(10**6), 10**6)
        | st.text("abc\n\"'{é", max_size=5),
        lambda inner: (
            st.lists(inner, max_size=2) | st.dictionaries(st.text("xyz"), inner, max_size=2)
        ),
        max_leaves=4,
    )
    unknown = st.dictionaries(st.text("qu_", min_size=1, max_size=5), json_values, max_size=2)
    known = st.fixed_dictionaries(required, optional=optional)
    return st.tuples(unknown, known).map(lambda pair: {**pair[0], **pair[1]})


STATES = documents_of(TaskState).map(lambda document: {**document, "schema_version": 1})
