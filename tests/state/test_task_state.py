"""Task state: strict validation, unknown fields kept, versions, update's list rules, the schema."""

from __future__ import annotations

import copy
import json
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitguard import Guard
from gitguard.errors import GitguardError, InvalidDocument, InvalidInput, NewerFormat
from gitguard.model.codec import check_format, dump_json, load_json
from gitguard.model.text import is_timestamp, timestamp
from gitguard.state.changes import update_state
from gitguard.state.items import Origin, texts
from gitguard.state.task import REQUIRED, new_task, read_state
from tests.generating.json_schema import config_schema, state_schema
from tests.support.state_documents import NOW, STATES, note, state_document

SCHEMA_FILE = Path(__file__).parents[2] / "references" / "reference" / "task-state.schema.json"


def changed(path: str, value: Any) -> dict[str, Any]:
    """Return the full state with the value at a dotted path replaced."""
    document = copy.deepcopy(state_document())
    *parents, last = path.split(".")
    place: Any = document
    for name in parents:
        place = place[int(name)] if name.isdigit() else place[name]
    place[int(last) if last.isdigit() else last] = value
    return document


WRONG: list[tuple[str, Any, str]] = [
    ("task_id", 5, "5"),
    ("goal", None, "None"),
    ("status", "sleeping", "sleeping"),
    ("completed_steps", "one", "one"),
    ("completed_steps.0", 7, "7"),
    ("artifacts", {"path": "a"}, "path"),
    ("artifacts.0", "a.py", "a.py"),
    ("artifacts.0.kind", "folder", "folder"),
    ("artifacts.0.path", None, "None"),
    ("artifacts.0.origin", "yes", "yes"),
    ("artifacts.0.origin.by", "root", "root"),
    ("state_confidence", 1.01, "1.01"),
    ("state_confidence", -0.1, "-0.1"),
    ("state_confidence", True, "True"),
    ("state_confidence", "high", "high"),
    ("updated_at", "yesterday", "yesterday"),
    ("updated_at", "2026-13-01T00:00:00Z", "2026-13-01T00:00:00Z"),
    ("updated_at", "2026-01-31T25:00:00Z", "2026-01-31T25:00:00Z"),
    ("updated_at", "2026-01-31T09:30:00+01:00", "2026-01-31T09:30:00+01:00"),
    ("last_action", "built", "built"),
    ("last_action.outcome", "failure", "failure"),
    ("last_action.at", 0, "0"),
    ("decisions.0.origin.when", "", ""),
    ("failed_attempts.0.error", ["y"], "y"),
    ("tool_outputs.0.tool", 1, "1"),
    ("learnings", None, "None"),
]


@pytest.mark.parametrize(("path", "value", "shown"), WRONG, ids=lambda item: repr(item)[:30])
def test_an_error_names_the_field_and_the_value(path: str, value: Any, shown: str) -> None:
    with pytest.raises(InvalidDocument) as caught:
        read_state(changed(path, value))
    field = "".join(f"[{p}]" if p.isdigit() else f".{p}" for p in path.split(".")).lstrip(".")
    assert f"`{field}`" in caught.value.message
    assert shown in caught.value.message


@pytest.mark.parametrize("name", REQUIRED)
def test_a_missing_required_field_is_named(name: str) -> None:
    document = state_document()
    del document[name]
    with pytest.raises(InvalidDocument, match=name):
        read_state(document)


def test_the_required_fields_are_the_specified_ones() -> None:
    assert set(REQUIRED) == {
        "schema_version", "task_id", "session_id", "goal", "status", "current_phase",
        "next_action", "completed_steps", "open_issues", "constraints", "artifacts",
        "state_confidence", "updated_at",
    }  # fmt: skip


def test_unknown_fields_survive_a_round_trip_at_the_top_and_inside_items() -> None:
    document = state_document(future={"a": [1, None, 2.5]})
    document["decisions"][0]["votes"] = 3
    document["last_action"]["cost"] = "low"
    document["artifacts"][0]["lines"] = [1, 2]
    assert holds(read_state(document).to_document(), document)


def test_unknown_fields_survive_an_update() -> None:
    document = state_document(future=1)
    document["decisions"][0]["votes"] = 3
    state, _ = update_state(
        read_state(document),
        {"decisions": [{"what": "z", "votes": 4}], "goal": "other"},
        Origin(when=NOW),
    )
    after = state.to_document()
    assert after["future"] == 1
    assert [item["votes"] for item in after["decisions"]] == [3, 4]


@pytest.mark.parametrize(
    "odd",
    ["\ud800", {"\udfff": 1}, [["\ud800"]], float("inf"), float("nan")],
    ids=["text", "key", "nested", "infinite", "nan"],
)
def test_an_unknown_field_that_could_not_be_written_again_is_refused(odd: Any) -> None:
    with pytest.raises(InvalidDocument, match="future"):
        read_state(state_document(future=odd))
    with pytest.raises(InvalidInput, match=r"decisions\[0\]"):
        update_state(
            read_state(state_document()),
            {"decisions": [{"what": "x", "future": odd}]},
            Origin(when=NOW),
        )


def test_endless_nesting_in_an_unknown_field_is_refused() -> None:
    deep: Any = 1
    for _ in range(200):
        deep = [deep]
    with pytest.raises(InvalidDocument, match="nested"):
        read_state(state_document(future=deep))


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "not valid JSON"),
        (b"{", "not valid JSON"),
        (b"[]", "must be a JSON object"),
        (b'{"a": 1, "a": 2}', "`a` occurs twice"),
        (b'{"a": NaN}', "NaN"),
        (b'{"a": -Infinity}', "Infinity"),
        (b'{"a": 1e999}', "too large"),
        (b'{"a": ' + b"9" * 5000 + b"}", "not valid JSON"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"a": "\xff"}', "not valid JSON"),
        (b"{" + b" " * 300_000 + b"}", "the limit is"),
    ],
    ids=lambda item: repr(item[:20]),
)
def test_bytes_that_are_no_plain_json_object_are_refused(data: bytes, said: str) -> None:
    with pytest.raises(InvalidDocument) as caught:
        load_json(data, what="the state")
    assert said in caught.value.message
    assert len(caught.value.message) < 400


# Versions


def test_a_newer_state_is_refused_before_anything_else_is_read() -> None:
    with pytest.raises(NewerFormat, match="schema version 2, this gitguard knows 1") as caught:
        read_state({"schema_version": 2, "goal": 5})
    assert caught.value.hint == "upgrade gitguard"


@pytest.mark.parametrize("version", [None, "1", True, 1.0, 0, -3])
def test_a_version_that_nobody_ever_wrote_is_refused(version: Any) -> None:
    with pytest.raises(InvalidDocument, match="schema.version"):
        read_state(state_document(schema_version=version))


@pytest.mark.parametrize(
    ("version", "error"),
    [(1, None), (2, NewerFormat), (0, InvalidDocument), ("1", InvalidDocument)]
    + [(True, InvalidDocument), (None, InvalidDocument)],
)
def test_a_record_of_another_format_is_refused(
    version: object, error: type[InvalidDocument] | None
) -> None:
    document = {"format": version} if version is not None else {}
    with pytest.raises(error, match="`it` has") if error else nullcontext():
        check_format(document, 1, what="`it`")


# update


@pytest.mark.parametrize(
    ("name", "before", "given", "after", "said"),
    [
        ("completed_steps", ["one"], ["two"], ["one", "two"], "appended 1"),
        ("learnings", ["a"], ["b"], ["a", "b"], "appended 1"),
        ("open_issues", ["a", "b"], ["c"], ["c"], "replaced 2 by 1"),
        ("constraints", ["a"], [], [], "replaced 1 by 0"),
        ("blockers", ["a"], ["b"], ["b"], "replaced 1 by 1"),
        ("invariants", ["a"], ["b"], ["b"], "replaced 1 by 1"),
        ("pending_assumptions", ["a"], ["b"], ["b"], "replaced 1 by 1"),
    ],
)
def test_update_says_for_every_list_whether_it_replaces_or_appends(
    name: str, before: list[str], given: list[str], after: list[str], said: str
) -> None:
    state, report = update_state(
        read_state(state_document(**{name: [note(text) for text in before]})),
        {name: given},
        Origin(when=NOW),
    )
    assert [item["text"] for item in state.to_document()[name]] == after
    assert report[name] == said


def test_entries_are_appended_and_what_an_agent_need_not_write_is_filled() -> None:
    state, report = update_state(
        read_state(state_document()),
        {
            "decisions": [{"what": "z"}],
            "failed_attempts": [{"what": "w", "error": "e"}],
            "artifacts": [{"path": "a.py", "description": "newer"}, {"path": "b.py"}],
        },
        Origin(when=NOW),
    )
    assert [(d.label, d.what, d.when) for d in state.decisions][1:] == [("d2", "z", NOW)]
    assert [f.what for f in state.failed_attempts] == ["x", "w"]
    assert [(a.path, a.description) for a in state.artifacts] == [("a.py", "newer"), ("b.py", "")]
    assert report["artifacts"] == "appended 2, one entry per path"


@pytest.mark.parametrize(
    "document",
    [
        {"goal": "new", "statuss": "blocked"},
        {"goal": "new", "schema_version": 1},
        {"goal": "new", "task_id": "x"},
        {"goal": "new", "next_action": "  "},
        {"goal": "new", "artifacts": [{"kind": "file"}]},
    ],
    ids=lambda item: str(list(item)[-1]),
)
def test_an_update_is_taken_whole_or_refused_whole(document: dict[str, Any]) -> None:
    state = read_state(state_document())
    with pytest.raises(InvalidInput):
        update_state(state, document, Origin(when=NOW))
    assert state.goal == "Ship"


def test_done_completes_the_task_and_another_step_opens_it_again() -> None:
    state = read_state(state_document())
    for word in ("DONE", "complete", " Finish "):
        done, _ = update_state(state, {"next_action": word}, Origin(when=NOW))
        assert (done.status, done.is_done) == ("complete", True)
    again, _ = update_state(done, {"next_action": "More"}, Origin(when=NOW))
    assert (again.status, again.is_done) == ("in_progress", False)


# Round trip


@settings(max_examples=60)
@given(STATES)
def test_every_state_reads_back_as_it_was_written(document: dict[str, Any]) -> None:
    state = read_state(document)
    data = dump_json(state.to_document())
    again = read_state(load_json(data, what="the state", limit=1 << 24))
    assert again == state
    assert dump_json(again.to_document()) == data
    assert holds(again.to_document(), document)


def holds(after: Any, before: Any) -> bool:
    """Say whether a document still says all that another said; what is unset may be left out."""
    if isinstance(before, list):
        return len(after) == len(before) and all(map(holds, after, before))
    if not isinstance(before, dict):
        return bool(after == before)
    return all(
        holds(after[name], value) if name in after else not value for name, value in before.items()
    )


@settings(max_examples=200)
@given(st.integers(0, 200_000_000_000))
def test_a_time_is_real_in_every_time_zone(seconds: int) -> None:
    assert is_timestamp(timestamp(seconds))


@pytest.mark.parametrize(
    "text",
    [
        "2026-02-30T00:00:00Z",
        "2026-01-31T09:30:000Z",
        "2026-01-31T09:30:00.Z ",
        "2\uff1026-01-31T09:30:00Z",
        "2026-01-31T09:30:60Z",
        "2026-01-31T09:30:00",
        "2026-01-31 09:30:00Z",
        "2026-01-31T09:30:00.-1Z",
    ],
)
def test_a_time_that_is_none_is_refused(text: str) -> None:
    assert not is_timestamp(text)


# The schema


def test_the_schema_in_the_references_is_current() -> None:
    wanted = json.dumps(state_schema(), indent=2, ensure_ascii=False) + "\n"
    assert SCHEMA_FILE.read_text(encoding="utf-8") == wanted


def test_the_schemas_are_schemas() -> None:
    jsonschema.Draft202012Validator.check_schema(state_schema())
    jsonschema.Draft202012Validator.check_schema(config_schema())


def reads(document: dict[str, Any]) -> bool:
    try:
        read_state(document)
    except GitguardError:
        return False
    return True


@pytest.mark.parametrize(("path", "value", "_"), WRONG, ids=lambda item: repr(item)[:30])
def test_the_schema_refuses_what_we_refuse(path: str, value: Any, _: str) -> None:
    document = changed(path, value)
    assert not reads(document)
    assert not jsonschema.Draft202012Validator(state_schema()).is_valid(document)


@settings(max_examples=40)
@given(STATES, st.sampled_from([*REQUIRED, ""]))
def test_the_schema_takes_what_we_take(document: dict[str, Any], removed: str) -> None:
    document = {name: value for name, value in document.items() if name != removed}
    validator = jsonschema.Draft202012Validator(state_schema())
    assert validator.is_valid(document) == reads(document)


def test_a_new_task_is_a_complete_state() -> None:
    document = new_task("main", NOW).to_document()
    assert document["next_action"] == "START"
    assert jsonschema.Draft202012Validator(state_schema()).is_valid(document)
    assert read_state(document).is_untouched


def test_notes_leave_room_for_what_hooks_add_and_can_be_shortened(guard: Guard) -> None:
    guard.ensure()
    guard.update({"learnings": ["x" * 1000] * 150})
    with pytest.raises(InvalidInput, match="notes may fill"):
        guard.note({"learnings": ["y" * 1000] * 60})
    assert len(guard.state().learnings) == 150
    report = guard.update({"learnings": ["short"]}, replace=True).report
    assert report["learnings"] == "replaced 150 by 1"
    assert texts(guard.state().learnings) == ("short",)


def test_two_tasks_of_the_same_second_have_names_of_their_own() -> None:
    first = new_task("main", NOW)
    second = new_task("main", NOW, before=first)
    third = new_task("main", NOW, before=second)
    assert len({first.task_id, second.task_id, third.task_id}) == 3


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
