"""What an agent notes is kept whole, in its order, or refused whole with the reason."""

from __future__ import annotations

import json
from typing import Any

import click
import pytest
from click.testing import CliRunner, Result
from hypothesis import given
from hypothesis import strategies as st

from gitguard.cli.app import app
from gitguard.cli.option_values import OptionsInOrder, pairs
from gitguard.errors import InvalidInput
from gitguard.guard import Guard
from tests.generating.generate_references import commands


def run(guard: Guard, *arguments: str, stdin: str = "") -> Result:
    workspace = guard.workspace
    environment = {"GITGUARD_STATE_DIR": workspace.places.state_home}
    arguments = ("--root", workspace.place.worktree, *arguments)
    return CliRunner().invoke(app, arguments, input=stdin, env=environment)


def state_of(guard: Guard) -> dict[str, Any]:
    return guard.state().to_document()


@pytest.fixture
def begun(guard: Guard) -> Guard:
    guard.ensure()
    return guard


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ("--decision D1 --why W1 --decision D2 --why W2", [("D1", "W1"), ("D2", "W2")]),
        ("--decision D1 --decision D2 --why W1 --why W2", [("D1", "W1"), ("D2", "W2")]),
        ("--why W1 --decision D1 --why W2 --decision D2", [("D1", "W1"), ("D2", "W2")]),
        ("--decision D1 --decision D2 --why W2", [("D1", ""), ("D2", "W2")]),
        ("--decision D1 --why W1 --decision D2", [("D1", "W1"), ("D2", "")]),
        ("--decision D1 --goal G --why W1 --decision D2", [("D1", "W1"), ("D2", "")]),
        ("--decision D1 --decision D2", [("D1", ""), ("D2", "")]),
    ],
)
def test_every_decision_is_kept_with_its_own_reason(
    begun: Guard, arguments: str, expected: list[tuple[str, str]]
) -> None:
    assert run(begun, "note", *arguments.split()).exit_code == 0
    assert [(d["what"], d["why"]) for d in state_of(begun)["decisions"]] == expected


def test_every_failure_is_kept_with_its_own_error(begun: Guard) -> None:
    run(begun, "note", "--failure", "F1", "--error", "E1", "--failure", "F2", "--error", "E2")
    failures = [(f["what"], f["error"]) for f in state_of(begun)["failed_attempts"]]
    assert failures == [("F1", "E1"), ("F2", "E2")]


@pytest.mark.parametrize(
    "arguments",
    [
        "--decision D1 --why W1 --why W2",
        "--why W1 --decision D1 --decision D2",
        "--why W",
        "--error E",
        "--failure F1 --error E1 --error E2",
        "--decision D --error E",
    ],
)
def test_a_reason_without_its_subject_is_refused_and_nothing_of_the_note_is_kept(
    begun: Guard, arguments: str
) -> None:
    before = state_of(begun)
    done = run(begun, "note", "--learning", "L", *arguments.split())
    assert isinstance(done.exception, InvalidInput)
    assert " requires --" in done.exception.message
    assert state_of(begun) == before


_ORDERS = st.lists(st.tuples(st.sampled_from(["--what", "--why"]), st.text("ab", max_size=3)))


@given(_ORDERS)
def test_a_pairing_keeps_every_value_once_or_is_refused(order: list[tuple[str, str]]) -> None:
    @click.command(cls=OptionsInOrder)
    @click.option("--what", multiple=True)
    @click.option("--why", multiple=True)
    @click.pass_context
    def command(context: click.Context, /, **values: tuple[str, ...]) -> list[tuple[str, str]]:
        return pairs(context, "what", "why", values)

    subjects = [text for name, text in order if name == "--what"]
    details = [text for name, text in order if name == "--why"]
    try:
        matched = command.main([part for pair in order for part in pair], standalone_mode=False)
    except InvalidInput:
        assert len(details) != len(subjects)
        return
    assert [subject for subject, _ in matched] == subjects
    assert [text for _, text in matched if text] == [text for text in details if text]


def _single_valued() -> list[tuple[str, str]]:
    return [
        (path, parameter.opts[0])
        for path, command in commands()
        for parameter in command.params
        if isinstance(parameter, click.Option)
        and not (parameter.multiple or parameter.count or parameter.is_flag)
    ]


@pytest.mark.parametrize(("path", "option"), _single_valued())
def test_an_option_that_keeps_one_value_refuses_two(path: str, option: str) -> None:
    done = CliRunner().invoke(app, [*path.split()[1:], option, "1", option, "2"])
    assert done.exit_code == 2
    assert f"`{option}` is given 2 times, and keeps one value" in done.output


def test_a_refused_repetition_names_a_command_that_exists() -> None:
    done = CliRunner().invoke(app, ["note", "--goal", "1", "--goal", "2"], prog_name="gitguard")
    assert "Usage: gitguard note" in done.output
    done = CliRunner().invoke(app, ["--root", "1", "--root", "2"], prog_name="gitguard")
    assert "Usage: gitguard [OPTIONS] COMMAND" in done.output


@pytest.mark.parametrize("option", ["--root", "--session"])
def test_two_values_around_a_commands_name_are_refused(option: str, begun: Guard) -> None:
    done = CliRunner().invoke(app, [option, "one", "status", option, "two"])
    assert done.exit_code == 2
    assert f"`{option}` is given as `one` and as `two`, and keeps one value" in done.output


def test_update_refuses_what_it_could_keep_only_half_of(begun: Guard) -> None:
    before = state_of(begun)
    twice = [{"path": "a", "description": "one"}, {"path": "a", "description": "two"}]
    for document in (
        {"artifacts": twice},
        {"next_action": "DONE", "status": "blocked"},
        {"goal": " "},
    ):
        done = run(begun, "update", stdin=json.dumps(document))
        assert isinstance(done.exception, InvalidInput), document
    assert run(begun, "update", stdin='{"goal": "A", "goal": "B"}').exception is not None
    assert run(begun, "note", "--goal", "").exception is not None
    assert state_of(begun) == before


def test_an_artifact_noted_again_keeps_what_was_said_of_it(begun: Guard) -> None:
    begun.note({"artifacts": [{"path": "a.py", "description": "The parser"}]})
    run(begun, "note", "--artifact", "a.py")
    assert state_of(begun)["artifacts"][0]["description"] == "The parser"
