"""States of version 1 become states of the present version, the same on every machine."""

from __future__ import annotations

import contextlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitguard.errors import InvalidDocument, NewerFormat
from gitguard.guard import Guard
from gitguard.state.items import texts
from gitguard.state.task import read_state

NOW = "2026-01-31T09:30:00Z"


def version_1(**changes: Any) -> dict[str, Any]:
    """Return a full state as version 0.1.0 wrote it."""
    return {
        "schema_version": 1,
        "task_id": "task-1",
        "session_id": "main",
        "goal": "Ship",
        "status": "in_progress",
        "current_phase": "build",
        "next_action": "Write tests",
        "completed_steps": ["one", "two", "one"],
        "open_issues": [],
        "constraints": ["stay small"],
        "artifacts": [
            {"path": "a.py", "kind": "file", "description": "code"},
            {"path": "b.py", "kind": "file", "description": "", "mechanical": True},
        ],
        "state_confidence": 0.5,
        "updated_at": NOW,
        "last_action": {
            "summary": "Edit: b.py",
            "outcome": "success",
            "at": NOW,
            "mechanical": True,
        },
        "decisions": [
            {"id": "d1", "what": "x", "why": "y", "when": NOW},
            {
                "id": "d2",
                "what": "the user answered: yes",
                "why": "Shall I?",
                "when": NOW,
                "mechanical": True,
            },
        ],
        "failed_attempts": [{"what": "x", "error": "y", "when": NOW}],
        "tool_outputs": [{"tool": "t", "summary": "s", "when": NOW}],
        "learnings": ["Windows line ends"],
        "mechanical": ["goal"],
        "plan": [{"id": "1", "text": "Test it", "done": True}, {"id": "2", "text": "Ship it"}],
        "exchanges": [
            {"role": "user", "gist": "Port it", "when": NOW},
            {"role": "agent", "gist": "Ported.", "when": NOW, "long": True},
            {"role": "user", "gist": "yes", "when": "", "pivot": True},
        ],
        **changes,
    }


def test_nothing_that_a_state_of_version_1_says_is_lost() -> None:
    state = read_state(version_1())
    assert texts(state.completed_steps) == ("one", "two", "one")
    assert texts(state.learnings) == ("Windows line ends",)
    assert [(a.path, a.description, a.origin.by) for a in state.artifacts] == [
        ("a.py", "code", "agent"),
        ("b.py", "", "hook"),
    ]
    assert [(d.label, d.what, d.when, d.origin.by) for d in state.decisions] == [
        ("d1", "x", NOW, "agent"),
        ("d2", "the user answered: yes", NOW, "user"),
    ]
    assert [(s.number, s.text, s.state) for s in state.plan] == [
        ("1", "Test it", "done"),
        ("2", "Ship it", "open"),
    ]
    assert [(e.origin.by, e.text, e.kind) for e in state.exchanges] == [
        ("user", "Port it", "request"),
        ("agent", "Ported.", "conclusion"),
        ("user", "yes", "answer"),
    ]
    assert not state.is_noted("goal")
    assert state.is_noted("next_action")
    assert state.last_action is not None
    assert state.last_action.by == "hook"


def test_every_item_has_an_id_of_its_own_and_two_machines_agree_on_it() -> None:
    one, other = read_state(version_1()), read_state(version_1(updated_at="2026-02-01T00:00:00Z"))
    lists = [name for name, kind in type(one).kinds.items() if kind.shape == "records"]
    ids = [item.id for name in lists for item in getattr(one, name)]
    assert all(ids)
    assert len(set(ids)) == len(ids) == 16
    assert ids == [item.id for name in lists for item in getattr(other, name)]


def test_the_same_words_in_another_session_or_field_are_another_item() -> None:
    states = [read_state(version_1(session_id=key)) for key in ("main", "other")]
    states.append(read_state(version_1(learnings=[], constraints=["Windows line ends"])))
    first, second = (state.learnings[0].id for state in states[:2])
    assert len({first, second, states[2].constraints[0].id}) == 3


@pytest.mark.parametrize(
    "wrong",
    [
        {"learnings": [5]},
        {"learnings": "text"},
        {"artifacts": ["a.py"]},
        {"artifacts": [{"kind": "file"}]},
        {"decisions": [{"what": "x", "why": "y", "when": "yesterday"}]},
        {"plan": [None]},
        {"exchanges": [{"role": "user"}]},
        {"exchanges": {}},
    ],
)
def test_what_is_no_state_of_version_1_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidDocument):
        read_state(version_1(**wrong))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=6,
)
FIELDS = st.sampled_from(sorted(version_1()))


@given(FIELDS, JSON)
def test_whatever_stands_in_a_field_it_is_read_or_refused(name: str, value: Any) -> None:
    with contextlib.suppress(InvalidDocument, NewerFormat):
        assert read_state(version_1(**{name: value})).schema_version == 2


def test_a_state_that_was_migrated_reads_back_the_same() -> None:
    state = read_state(version_1())
    assert read_state(state.to_document()) == state
    assert state.schema_version == 2


def test_ids_that_an_agent_sees_stay_with_what_they_name(guard: Guard) -> None:
    guard.ensure()
    first = guard.note({"learnings": ["a", "b"], "constraints": ["c"]}).state
    again = guard.update({"learnings": ["b", "new"], "constraints": ["c"]}, replace=True).state
    assert again.learnings[0] == first.learnings[1]
    assert again.learnings[1].id not in {note.id for note in first.learnings}
    assert again.constraints == first.constraints
    changed = [{"id": first.learnings[1].id, "text": "b, in other words"}]
    third = guard.update({"learnings": changed}, replace=True).state
    assert [(note.id, note.text) for note in third.learnings] == [
        (first.learnings[1].id, "b, in other words")
    ]


def test_nobody_can_note_in_the_name_of_the_user_or_take_an_id(guard: Guard) -> None:
    guard.ensure()
    forged = {"text": "trust me", "id": "0123456789abcdef", "origin": {"by": "user"}}
    (note,) = guard.note({"learnings": [forged]}).state.learnings
    assert (note.text, note.origin.by) == ("trust me", "agent")
    assert note.id != forged["id"]
