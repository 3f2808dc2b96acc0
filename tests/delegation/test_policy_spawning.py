"""The spawn policy: each rule at its boundaries, and `ask` only where nothing else is honest."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from gitguard.cli.app import app
from gitguard.delegation.spawn_answer import ReportedPressure, answer, reported_pressure, standing
from gitguard.delegation.spawn_policy import (
    ACTIONS,
    ASK,
    CATEGORIES,
    KEEP,
    SPAWN,
    SpawnPolicy,
    Task,
    Threshold,
    decide,
)
from gitguard.errors import InvalidInput
from gitguard.guard import Guard
from tests.support.conversation import Conversation

BUILT_IN = SpawnPolicy()


def decided(pressure: float | None, calls: int, rules: SpawnPolicy = BUILT_IN, **task: Any) -> str:
    return decide(Task(calls, **task), pressure, rules).answer


# Always and never


@pytest.mark.parametrize(
    ("task", "expected"),
    [
        ({"category": "test-suite", "tests": 3}, KEEP),
        ({"category": "test-suite", "tests": 4}, SPAWN),
        ({"tests": 3}, KEEP),
        ({"tests": 4}, SPAWN),
        ({"category": "audit", "files": 5}, KEEP),
        ({"category": "audit", "files": 6}, SPAWN),
        ({"files": 6}, KEEP),
        ({"category": "build"}, SPAWN),
        ({"category": "deploy"}, SPAWN),
        ({"category": "research"}, SPAWN),
        ({"category": "bulk-files"}, SPAWN),
        ({"category": "command"}, KEEP),
        ({"category": "conversation"}, KEEP),
        ({"category": "status"}, KEEP),
        ({"category": "edit", "files": 3}, KEEP),
        ({"needs_user": True}, KEEP),
    ],
)
def test_without_pressure_to_speak_of_the_rules_of_the_category_decide(
    task: dict[str, Any], expected: str
) -> None:
    assert decided(0.1, 40, **task) == expected


@pytest.mark.parametrize(
    ("task", "expected"),
    [
        ({"category": "command"}, KEEP),
        ({"category": "conversation"}, KEEP),
        ({"category": "status"}, KEEP),
        ({"category": "edit", "files": 1}, KEEP),
        ({"category": "edit", "files": 3}, KEEP),
        ({"category": "edit", "files": 0}, SPAWN),
        ({"category": "edit", "files": 4}, SPAWN),
        ({"needs_user": True}, KEEP),
        ({"category": "audit", "files": 5}, SPAWN),
        ({}, SPAWN),
    ],
)
def test_under_pressure_only_what_is_never_handed_over_stays(
    task: dict[str, Any], expected: str
) -> None:
    assert decided(0.9, 40, **task) == expected


@pytest.mark.parametrize(("calls", "expected"), [(0, KEEP), (1, KEEP), (3, SPAWN)])
def test_a_single_command_is_never_handed_over(calls: int, expected: str) -> None:
    assert decided(0.9, calls) == expected


def test_a_threshold_from_the_first_call_on_is_for_calls_of_a_category() -> None:
    own = SpawnPolicy(thresholds=(Threshold(0.5, 0),))
    assert decided(0.9, 1, own) == KEEP
    assert decided(0.9, 1, own, category="edit", files=4) == SPAWN


def test_a_test_suite_of_one_command_is_still_a_test_suite() -> None:
    assert decided(0.1, 1, tests=12) == SPAWN
    assert decided(0.1, 1, category="build") == SPAWN


# Pressure


@pytest.mark.parametrize(
    ("pressure", "calls", "expected"),
    [
        (0.0, 1000, KEEP),
        (0.50, 6, KEEP),
        (0.5001, 5, KEEP),
        (0.5001, 6, SPAWN),
        (0.70, 5, KEEP),
        (0.70, 6, SPAWN),
        (0.7001, 2, KEEP),
        (0.7001, 3, SPAWN),
        (1.0, 2, KEEP),
        (1.0, 3, SPAWN),
    ],
)
def test_above_a_pressure_more_calls_than_its_limit_are_handed_over(
    pressure: float, calls: int, expected: str
) -> None:
    assert decided(pressure, calls) == expected


# Ask


@pytest.mark.parametrize(
    ("pressure", "calls", "task"),
    [
        (None, 3, {}),
        (0.9, 9, {"needs_user": True, "category": "research"}),
        (0.9, 9, {"category": "edit", "files": 2, "tests": 4}),
        (0.1, 9, {"category": "command", "tests": 4}),
        (0.1, 9, {"category": "test-suite"}),
        (0.1, 9, {"category": "audit"}),
        (0.9, 9, {"category": "edit"}),
    ],
)
def test_it_asks_where_rules_contradict_or_something_unknown_would_decide(
    pressure: float | None, calls: int, task: dict[str, Any]
) -> None:
    assert decided(pressure, calls, **task) == ASK


@pytest.mark.parametrize(
    ("pressure", "calls", "task", "expected"),
    [
        (None, 2, {}, KEEP),
        (None, 9, {"category": "research"}, SPAWN),
        (None, 9, {"needs_user": True}, KEEP),
        (0.9, 9, {"category": "test-suite"}, SPAWN),
        (0.9, 9, {"category": "audit"}, SPAWN),
        (0.1, 9, {"category": "edit"}, KEEP),
    ],
)
def test_it_does_not_ask_for_what_would_decide_nothing(
    pressure: float | None, calls: int, task: dict[str, Any], expected: str
) -> None:
    assert decided(pressure, calls, **task) == expected


def test_the_rule_that_decided_is_named() -> None:
    def rule(pressure: float | None, calls: int, **task: Any) -> str:
        return decide(Task(calls, **task), pressure, BUILT_IN).rule

    assert rule(0.1, 9, tests=4) == "always delegated: test suites over 3 tests"
    assert rule(0.9, 1) == "never delegated: single commands, such as a task of at most 1 tool call"
    assert rule(0.9, 9, category="command") == "never delegated: single commands"
    assert rule(0.1, 9) == "pressure is 0.10, below every threshold"
    assert rule(0.62, 8) == "pressure is 0.62, above 50%, and 8 tool calls are more than 5"
    assert rule(0.62, 1, category="audit", files=1).endswith("1 tool call is not more than 5")
    unknown = "the pressure is unknown, and with 8 tool calls the answer depends on it"
    assert rule(None, 8) == f"{unknown}; give it with --pressure"
    assert rule(None, 8, category="audit") == (
        "the answer depends on the number of files; give it with --files; "
        "always delegated: audits over 5 files"
    )
    assert "give it with --tests" in rule(0.1, 8, category="test-suite")
    both = rule(0.1, 9, category="deploy", needs_user=True)
    assert both.startswith("rules contradict each other: ")
    assert "always delegated: deploy pipelines" in both
    assert "never delegated: work that needs the user midway" in both


# What a project says


def test_a_projects_word_on_a_category_stands_in_place_of_what_is_built_in() -> None:
    own = SpawnPolicy(always=("edit", "migrations"), never=("research", "test-suite"), source="f")
    assert decided(0.1, 9, own, category="edit", files=2) == SPAWN
    assert decided(0.1, 9, own, category="migrations") == SPAWN
    assert decided(0.9, 9, own, category="research") == KEEP
    assert decided(0.9, 9, own, tests=100) == KEEP
    assert decided(0.1, 9, own, category="deploy") == SPAWN
    assert decided(0.1, 9, own, category="edit", needs_user=True) == ASK


@pytest.mark.parametrize("category", ["test-suite", "test-suit"])
def test_a_category_that_may_be_mistyped_is_noted_with_a_task_of_either(category: str) -> None:
    own = SpawnPolicy(never=("test-suit", "audit", "migrations"), source="f")
    note = "`test-suit` is only a category of `f`; the built-in category is `test-suite`"
    assert decide(Task(9, category, tests=12), 0.1, own).notes == own.notes == (note,)
    assert decide(Task(9, tests=12), 0.1, own).notes == (note,)
    assert decide(Task(9, "audit"), 0.1, own).notes == ()


@pytest.mark.parametrize(
    ("pressure", "expected"),
    [(0.30, KEEP), (0.31, SPAWN), (0.61, KEEP), (0.81, ASK), (0.91, ASK)],
)
def test_a_projects_thresholds_stand_in_place_of_what_is_built_in(
    pressure: float, expected: str
) -> None:
    own = SpawnPolicy(
        thresholds=(
            Threshold(0.30, 3),
            Threshold(0.60, action="keep"),
            Threshold(0.80, action="compact"),
            Threshold(0.90, action="ask"),
        )
    )
    assert decided(pressure, 4, own) == expected


@pytest.mark.parametrize("pressure", [None, 0.0, 1.0])
def test_without_thresholds_pressure_decides_nothing(pressure: float | None) -> None:
    none = SpawnPolicy(thresholds=())
    decision = decide(Task(1000), pressure, none)
    assert decision.answer == KEEP
    assert decision.rule == "no rule covers it, and there is no threshold"
    assert decided(pressure, 1000, none, category="research") == SPAWN


COUNTS = st.none() | st.integers(0, 9)
TASKS = st.builds(
    Task,
    tool_calls=st.none() | st.integers(0, 12),
    category=st.sampled_from(["", *CATEGORIES, "own"]),
    files=COUNTS,
    tests=COUNTS,
    needs_user=st.booleans(),
)
NAMES = st.lists(st.sampled_from([*CATEGORIES, "own"]), unique=True)
THRESHOLDS = st.lists(
    st.builds(
        Threshold,
        above=st.floats(0, 1),
        over_calls=st.integers(0, 9),
        action=st.sampled_from(["", *ACTIONS]),
    )
)


@given(TASKS, st.none() | st.floats(0, 1), NAMES, NAMES, THRESHOLDS)
def test_every_task_gets_an_answer_and_its_rule(
    task: Task,
    pressure: float | None,
    always: list[str],
    never: list[str],
    thresholds: list[Threshold],
) -> None:
    ordered = tuple(sorted(thresholds, key=lambda threshold: threshold.above))
    rules = SpawnPolicy(tuple(always), tuple(never), ordered, "file")
    decision = decide(task, pressure, rules)
    assert decision.answer in (SPAWN, KEEP, ASK)
    assert decision.rule
    assert "\n" not in decision.rule
    assert decision == decide(task, pressure, rules)
    if task.needs_user:
        assert decision.answer != SPAWN


@given(TASKS, st.none() | st.floats(0, 1), NAMES, NAMES, THRESHOLDS, st.floats(0, 1), COUNTS)
def test_what_is_missing_decides_once_it_is_given(
    task: Task,
    pressure: float | None,
    always: list[str],
    never: list[str],
    thresholds: list[Threshold],
    share: float,
    count: int | None,
) -> None:
    ordered = tuple(sorted(thresholds, key=lambda threshold: threshold.above))
    rules = SpawnPolicy(tuple(always), tuple(never), ordered, "file")
    missing = decide(task, pressure, rules).missing
    given = {option: share if option == "--pressure" else count or 0 for option in missing}
    if missing:
        assert decide(task, pressure, rules).answer == ASK
        pressure = given.pop("--pressure", pressure)
        names = {option: option.removeprefix("--").replace("-", "_") for option in given}
        task = task.replace(**{names[option]: each for option, each in given.items()})
    assert decide(task, pressure, rules).missing == ()


@pytest.mark.parametrize(
    ("pressure", "task", "missing"),
    [
        (None, {}, ("--pressure",)),
        (0.1, {"category": "audit"}, ("--files",)),
        (None, {"category": "audit"}, ("--files", "--pressure")),
        (0.1, {"category": "test-suite"}, ("--tests",)),
        (0.1, {"category": "research", "needs_user": True}, ()),
    ],
)
def test_the_options_that_would_decide_are_listed(
    pressure: float | None, task: dict[str, Any], missing: tuple[str, ...]
) -> None:
    assert decide(Task(9, **task), pressure, BUILT_IN).missing == missing


@pytest.mark.parametrize(
    ("pressure", "said"),
    [
        (0.501, "pressure is 0.501, above 50%"),
        (0.5, "pressure is 0.50, below every threshold"),
        (0.699, "pressure is 0.70, above 50%"),
        (0.7000001, "pressure is 0.7000001, above 70%"),
        (-0.0, "pressure is 0.00, below every threshold"),
    ],
)
def test_the_pressure_is_shown_so_that_it_fits_what_it_is_above(pressure: float, said: str) -> None:
    assert decide(Task(6), pressure, BUILT_IN).rule.startswith(said)


def test_a_threshold_is_shown_whole() -> None:
    own = SpawnPolicy(thresholds=(Threshold(0.505, 1),))
    assert "above 50.5%" in decide(Task(6), 0.6, own).rule


# In a workspace


def test_the_newest_reading_of_the_session_counts(tmp_path: Path) -> None:
    talk = Conversation(tmp_path)
    talk.prompt("Begin")
    talk.uses(104_000)
    talk.prompt("Go on")
    store = talk.guard.store()
    assert (
        reported_pressure(store)
        == reported_pressure(store, "S1")
        == ReportedPressure(0.52, "transcript", "S1")
    )
    other = talk.beside("S2")
    other.prompt("Begin")
    other.uses(20_000)
    other.prompt("Go on")
    assert reported_pressure(store, around="nobody").share == 0.1
    assert reported_pressure(store, around="S1").share == 0.52
    assert reported_pressure(store, "S1").share == 0.52
    talk.transcript.write_text("")
    assert reported_pressure(store, "S1") == ReportedPressure(conversation="S1")


def test_a_named_conversation_that_is_not_known_gets_no_answer_for_another(tmp_path: Path) -> None:
    talk = Conversation(tmp_path)
    talk.prompt("Begin")
    talk.uses(104_000)
    talk.prompt("Go on")
    environment = {"GITGUARD_STATE_DIR": str(tmp_path / "state")}
    for command in (["show"], ["spawn", "--tool-calls", "4"]):
        arguments = ["--root", str(talk.root), "policy", *command, "--host-session", "fff"]
        done = CliRunner().invoke(app, arguments, env=environment)
        assert isinstance(done.exception, InvalidInput)
        assert "has no conversation `fff`" in done.exception.message


def test_the_number_of_tool_calls_is_asked_for_only_where_a_rule_needs_it(tmp_path: Path) -> None:
    def answered(pressure: float | None, **task: Any) -> tuple[str, tuple[str, ...]]:
        decision = decide(Task(**task), pressure, SpawnPolicy())
        return decision.answer, decision.missing

    assert answered(0.6) == (ASK, ("--tool-calls",))
    assert answered(0.2) == (KEEP, ())
    assert answered(0.6, category="research") == (SPAWN, ())
    assert answered(0.6, category="edit", files=2) == (KEEP, ())
    assert answered(0.6, needs_user=True) == (KEEP, ())
    assert answered(None) == (ASK, ("--tool-calls", "--pressure"))


@given(TASKS, st.none() | st.floats(0, 1), THRESHOLDS, st.integers(0, 30))
def test_an_answer_without_the_number_of_tool_calls_holds_for_every_number(
    task: Task, pressure: float | None, thresholds: list[Threshold], calls: int
) -> None:
    levels = tuple(sorted(thresholds, key=lambda threshold: threshold.above))
    policy = SpawnPolicy(thresholds=levels)
    unknown = decide(task.replace(tool_calls=None), pressure, policy)
    if unknown.answer != ASK:
        assert decide(task.replace(tool_calls=calls), pressure, policy).answer == unknown.answer


def test_a_conversation_known_by_its_tool_calls_alone_is_measured(tmp_path: Path) -> None:
    talk = Conversation(tmp_path)
    talk.send("SessionStart.startup")
    talk.uses(152_000)
    assert "76%" in json.dumps(talk.send("PostToolUse.Bash"))
    assert reported_pressure(talk.guard.store()).share == 0.76
    assert talk.guard.transcripts.newest().path == str(talk.transcript)


def test_what_stands_now_is_shown_with_its_runway(tmp_path: Path) -> None:
    talk = Conversation(tmp_path)
    talk.prompt("Begin")
    for number in range(1, 12):
        talk.uses(100_000 + 3_000 * number)
        talk.send("PostToolUse.Bash")
    found = standing(talk.guard.store(), "")
    assert found.band is not None
    assert (found.conversation, found.calls, found.band.name) == ("S1", 11, "hand-over-heavy")
    assert found.runway == (170_000 - 133_000) // 3_000
    assert found.warning == 1


def test_an_unknown_category_is_refused_with_the_one_that_is_meant(guard: Guard) -> None:
    with pytest.raises(InvalidInput) as raised:
        answer(guard.workspace, guard.config.gauge, Task(9, "serach"), ReportedPressure(0.1))
    assert raised.value.hint == "Did you mean `research`?"


@pytest.mark.parametrize("pressure", [float("nan"), -0.1, 1.6])
def test_a_pressure_that_is_no_share_is_refused(guard: Guard, pressure: float) -> None:
    with pytest.raises(InvalidInput):
        answer(guard.workspace, guard.config.gauge, Task(9), ReportedPressure(pressure))


def run(repo: Path, *arguments: str, **environment: str) -> str:
    done = CliRunner().invoke(app, ["--root", str(repo), "policy", *arguments], env=environment)
    assert done.exit_code == 0, done.output
    return done.output


def test_the_command_answers_before_there_is_a_session(repo: Path) -> None:
    said = run(repo, "spawn", "--tool-calls", "9", "--pressure", "0.6")
    assert said == "spawn: pressure is 0.60, above 50%, and 9 tool calls are more than 5\n"
    shown = json.loads(run(repo, "spawn", "--tool-calls", "9", "--json"))
    assert (shown["answer"], shown["missing"]) == ("ask", ["--pressure"])
    assert (shown["pressure"], shown["pressure_source"]) == (None, "")
    shown = json.loads(run(repo, "spawn", "--tool-calls", "9", "--pressure", "0.6", "--json"))
    assert (shown["pressure"], shown["pressure_source"]) == (0.6, "option")


@pytest.mark.parametrize(
    ("given", "share"), [("60%", 0.6), ("50.5 %", 0.505), ("0.6", 0.6), ("150%", 1.5), ("0%", 0.0)]
)
def test_the_command_takes_a_pressure_as_policy_files_write_it(
    repo: Path, given: str, share: float
) -> None:
    said = run(repo, "spawn", "--tool-calls", "9", "--pressure", given, "--json")
    assert json.loads(said)["pressure"] == share


@pytest.mark.parametrize("given", ["60", "1.6", "151%", "-1%", "nan", "inf", "%", "high", "6 0%"])
@pytest.mark.parametrize("command", ["policy spawn --tool-calls 9", "gate", "bundle"])
def test_a_pressure_that_is_no_share_is_told_the_form(repo: Path, command: str, given: str) -> None:
    arguments = ["--root", str(repo), *command.split(), f"--pressure={given}"]
    done = CliRunner().invoke(app, arguments, standalone_mode=False)
    assert isinstance(done.exception, click.BadParameter)
    assert f"'{given}' is not a share of the window: write 0.6 or 60%" in done.exception.message


def test_the_command_shows_the_band_and_the_rules(tmp_path: Path) -> None:
    talk = Conversation(tmp_path)
    unknown = standing(talk.guard.store(), "")
    assert (unknown.band, unknown.pressure, unknown.runway) == (None, None, None)
    talk.prompt("Begin")
    talk.uses(144_000)
    talk.prompt("Go on")
    rules = "spawn_policy: {never_spawn: [audit], context_thresholds: [{above: 60%, action: ask}]}"
    (talk.root / ".context-policy.yml").write_text(rules)
    shown = run(talk.root, "show", GITGUARD_STATE_DIR=str(tmp_path / "state"))
    advice = "Hand work of more than 1 tool call to a sub-agent, and tell the user how full it is."
    assert shown.splitlines() == [
        "[Context: 72% | 144k/200k tokens] by transcript",
        f"Band: hand-over-any, from 70%. {advice}",
        "Warning: hand over",
        "Runway: unknown; 0 tool calls so far",
        "`policy spawn` decides by these rules (.context-policy.yml):",
        "- above 60%: ask",
        "- never spawn: audit",
    ]
    rules = "spawn_policy: {context_thresholds: [], always_spawn: [builds]}"
    (talk.root / ".context-policy.yml").write_text(rules)
    shown = run(talk.root, "show", GITGUARD_STATE_DIR=str(tmp_path / "state"))
    note = "`builds` is only a category of `.context-policy.yml`; the built-in category is `build`"
    assert shown.splitlines()[-3:] == [
        "- no thresholds",
        "- always spawn: builds",
        f"Note: {note}",
    ]
    asked = run(talk.root, "spawn", "--tool-calls", "2", "--category", "build")
    assert asked == f"spawn: always delegated: build pipelines\nNote: {note}\n"
