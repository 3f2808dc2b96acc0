"""What a reviewer reads with `log`, `show`, `diff`, `status` and `session list`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.command_place import Place


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """A session with four checkpoints."""
    place = Place(tmp_path)
    for command in (
        "ensure",
        "note --goal 'Port it' --phase design --next Read --decision SQLite --why 'One file'"
        " --constraint 'never touch the PDF export'",
        "note --failure 'pytest -q' --error AssertionError --next Write",
        "checkpoint -m 'because of rain'",
    ):
        place.type(f"gitguard {command}")
    return place


# show


def test_show_says_in_sentences_what_a_checkpoint_changed(place: Place) -> None:
    shown = place.type("gitguard show 2")
    assert shown.startswith("Checkpoint 2, commit ")
    assert "Reason: Phase or goal changed. (phase-change)\nCode: " in shown
    assert "\nGoal: Port it (agent, " in shown
    assert "\nDecided: SQLite — because One file (agent, " in shown
    assert "\nNew constraint: never touch the PDF export (agent, " in shown
    assert "\nFailed: pytest -q: AssertionError (agent, " in place.type("gitguard show 3")
    assert "\nNext action: Read → Write (agent, " in place.type("gitguard show 3")


def test_show_offers_the_commands_that_print_the_files(place: Place) -> None:
    offered = place.type("gitguard show cp_002").splitlines()[-3:]
    assert [line.strip() for line in offered] == [
        f"gitguard show {what} cp_002" for what in ("state", "summary", "snapshot")
    ]
    assert json.loads(place.run(offered[0].strip()).stdout)["goal"] == "Port it"


def test_show_of_a_checkpoint_that_changed_nothing_says_so(place: Place) -> None:
    assert "Nothing in the state changed since cp_003." in place.type("gitguard show 4")
    assert "Nothing in the state changed." in place.type("gitguard show 1")


def test_show_tells_programs_the_sentences(place: Place) -> None:
    document = json.loads(place.type("gitguard show 2 --json"))
    assert (document["checkpoint"]["sequence"], document["previous"]) == (2, "cp_001")
    (decision,) = [s for s in document["sentences"] if s["field"] == "decisions"]
    assert decision["reason"] == "One file"
    assert "id" in document["code"]


def test_show_alone_still_prints_the_current_state(place: Place) -> None:
    assert json.loads(place.run("gitguard show").stdout)["goal"] == "Port it"


def test_a_checkpoint_whose_parent_does_not_read_is_told_whole(place: Place) -> None:
    parent = place.type("git rev-parse gitguard/main~2").strip()
    blob = place.type(f"git rev-parse {parent}:state.json").strip()
    (place.root / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    shown = place.run("gitguard show 3").stdout
    assert "The checkpoint before it does not read, so all it holds is listed: " in shown
    assert "Decided: SQLite" in shown
