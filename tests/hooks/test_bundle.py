"""The working bundle: exactly its six fields, trimmed by pressure, nothing guessed."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from gitguard.errors import InvalidInput
from gitguard.guard import Guard
from gitguard.hooks.bundle import (
    HIGH,
    LOW,
    MEDIUM,
    MISSING,
    Bundle,
    ContextItem,
    build_bundle,
    relevant_artifacts,
)
from gitguard.model.config.config import Thresholds
from gitguard.state.task import TaskState, new_task, read_state
from tests.support.conversation import Conversation
from tests.support.state_documents import note, state_document

LIMITS = Thresholds()
REQUIRED = {
    "goal",
    "phase",
    "next_action",
    "last_successful_action",
    "constraints",
    "relevant_artifacts",
}
ITEMS = tuple(ContextItem(worth, f"text of {worth}", worth) for worth in (LOW, MEDIUM, HIGH))


@dataclass
class Case:
    pressure: float
    kept: list[str]
    dropped: list[str]


def state(**changes: object) -> TaskState:
    return read_state(state_document(**changes))


def test_the_bundle_holds_its_six_fields_and_no_others() -> None:
    assert set(Bundle.field_names) == REQUIRED | {
        *("items", "dropped", "refused", "conflicts", "branch"),
    }
    bundle = build_bundle(state(constraints=[note("no network")]), thresholds=LIMITS)
    assert (bundle.goal, bundle.phase, bundle.next_action) == ("Ship", "build", "Write tests")
    assert bundle.last_successful_action == "built (success)"
    assert bundle.constraints == ("no network",)
    assert bundle.relevant_artifacts == ("a.py",)
    assert bundle.items == ()


def test_what_is_missing_is_shown_as_missing() -> None:
    bundle = build_bundle(new_task("main", "2026-01-01T00:00:00Z"), thresholds=LIMITS)
    assert bundle.goal == MISSING
    assert bundle.last_successful_action == MISSING
    assert bundle.next_action == "START"


@pytest.mark.parametrize(
    "case",
    [
        Case(0.0, ["low", "medium", "high"], []),
        Case(0.549, ["low", "medium", "high"], []),
        Case(0.55, ["medium", "high"], ["low"]),
        Case(0.699, ["medium", "high"], ["low"]),
        Case(0.70, ["high"], ["low", "medium"]),
        Case(1.0, ["high"], ["low", "medium"]),
    ],
    ids=lambda case: str(case.pressure),
)
def test_trimming_drops_low_worth_first_and_says_what(case: Case) -> None:
    bundle = build_bundle(
        state(constraints=[note("kept")]), ITEMS, pressure=case.pressure, thresholds=LIMITS
    )
    assert [item.name for item in bundle.items] == case.kept
    assert list(bundle.dropped) == case.dropped
    assert bundle.constraints == ("kept",)
    assert bundle.relevant_artifacts == ("a.py",)


def test_an_item_of_unknown_worth_is_refused() -> None:
    with pytest.raises(InvalidInput, match="priceless"):
        build_bundle(state(), (ContextItem("x", "y", "priceless"),), thresholds=LIMITS)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("Edit src/app.py and tests/test_app.py.", ["src/app.py", "tests/test_app.py"]),
        ("Fix `lib/x.c`, then (docs/a-b.md)", ["lib/x.c", "docs/a-b.md"]),
        ("Look into src/store/", ["src/store/"]),
        ("Open ./run.sh", ["./run.sh"]),
        ("Nothing to see here", []),
        ("Raise the limit to 3.5 now.", []),
        ("a.py again", []),
    ],
)
def test_files_that_the_next_action_names_are_relevant(text: str, named: list[str]) -> None:
    assert list(relevant_artifacts(state(next_action=text))) == ["a.py", *named]


def test_a_long_next_action_takes_no_time() -> None:
    began = time.process_time()
    relevant_artifacts(state(next_action="a" * 100_000 + " " + "b/" * 50_000))
    assert time.process_time() - began < 1


def test_the_summary_is_in_it_only_on_request(guard: Guard) -> None:
    guard.ensure()
    guard.note({"goal": "Bundle"})
    assert guard.bundle().items == ()
    (summary,) = guard.bundle(with_summary=True).items
    assert summary.text.startswith("# Bundle")
    full = guard.bundle(with_summary=True, pressure=0.8)
    assert full.items == ()
    assert full.dropped == ("summary",)


def test_bundle_and_gate_include_what_hooks_saw_since_the_last_checkpoint(tmp_path: Path) -> None:
    talk = Conversation(tmp_path)
    talk.prompt("Port the parser")
    path = str(talk.root / "parser.py")
    written = {"tool_input": {"file_path": path, "content": "one\n"}}
    talk.send("PostToolUse.Write", **written)
    talk.send("PostToolUseFailure", tool_input={"command": "pytest -q"})
    bundle = talk.guard.bundle(with_summary=True)
    assert "parser.py" in bundle.relevant_artifacts
    assert "parser.py" in bundle.last_successful_action
    assert "pytest -q" in bundle.items[0].text
    gated = talk.guard.gate("S1")
    assert (gated.verdict.halts, gated.summary_conflict) == (False, "")
    summary = talk.root / ".gitguard" / "sessions" / "main" / "summary.md"
    assert "pytest -q" in summary.read_text()
