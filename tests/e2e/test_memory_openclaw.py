"""What the real OpenClaw hands back of conversations in which nobody took a note."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from tests.support.waiting import wait_for_next_second

from .guarded_openclaw import GuardedOpenClaw, Guarding, block_of, kill_in_its_turn, says, shell
from .openclaw import MAIN_KEY
from .report_task import FAILING, GOAL, REQUEST, script_a_task
from .scripted_model import Kind, ScriptedModel, Step, ToolCall


@pytest.fixture
def guarded(guard_openclaw: Guarding) -> Iterator[GuardedOpenClaw]:
    with guard_openclaw() as guarded:
        guarded.openclaw.start_gateway()
        yield guarded


def write(path: str, content: str) -> ToolCall:
    return ToolCall("write", {"path": path, "content": content})


def read(path: str) -> ToolCall:
    return ToolCall("read", {"path": path})


def block_in(model: ScriptedModel) -> str:
    """The block of the newest request."""
    return block_of(model.requests(Kind.MAIN)[-1])


@pytest.mark.essential
def test_a_conversation_without_a_note_is_handed_over_after_a_kill(
    guarded: GuardedOpenClaw, model: ScriptedModel
) -> None:
    script_a_task(model, write, shell, read)
    guarded.say(GOAL)
    wait_for_next_second()  # the check ran before the next edit
    model.script(
        Step("I begin the file.", (write("totals.csv", "a,b\n"),)),
        Step("Waiting for the loader.", (shell("touch started; sleep 60"),)),
    )
    kill_in_its_turn(guarded, REQUEST)
    guarded.openclaw.start_gateway()
    model.script(says("ok"))
    guarded.openclaw.send("where were we?")
    # Every line is judged: nothing of the test that failed and was mended, nothing untrue.
    block = re.sub(r"in 0\.\d+s", "in 0.000s", block_in(model))
    lines = [line for line in block.splitlines()[2:] if not line.startswith("Git: ")]
    assert lines == [
        f"First request: {GOAL}",
        "Interrupted: exec: touch started; sleep 60",
        "Earlier turns, oldest first:",
        "- Agent: The report adds up now. Findings: The loader left out the first row,"
        " 1 of 2 values. Loading 40,000 rows takes 310 ms. Next: write the totals to totals.csv.",
        f"Last request: {REQUEST}",
        "Said before the cut-off: Waiting for the loader.",
        "Checks:",
        f"- {FAILING}: passed — Ran 1 test in 0.000s OK (before the last edits)",
        "Files:",
        "- totals.csv",
        "- report.py",
        "- test_report.py",
        "More: `gitguard show summary`. Record progress: `gitguard note`.",
    ]
    assert guarded.faults() == []


def test_a_correction_survives_a_new_conversation_and_what_was_mended_does_not(
    guarded: GuardedOpenClaw, model: ScriptedModel
) -> None:
    script_a_task(model, write, shell, read)
    guarded.say(GOAL)
    model.script(says("Understood."))
    guarded.say(REQUEST)
    guarded.openclaw.call("sessions.reset", {"key": MAIN_KEY, "reason": "new"})
    model.script(says("ok"))
    guarded.openclaw.send("where were we?")
    block = block_in(model)
    assert block.count(REQUEST) == 1, block
    assert f"First request: {GOAL}" in block
    assert "AssertionError" not in block
    assert "Failed" not in block


def test_an_unrelated_task_says_nothing_of_the_goal_before_it(
    guarded: GuardedOpenClaw, model: ScriptedModel
) -> None:
    script_a_task(model, write, shell, read)
    guarded.say(GOAL)
    guarded.openclaw.call("sessions.reset", {"key": MAIN_KEY, "reason": "new"})
    model.script(says("The logo is green now."))
    guarded.say("Paint the logo of the website green")
    guarded.openclaw.call("sessions.reset", {"key": MAIN_KEY, "reason": "new"})
    model.script(says("ok"))
    guarded.openclaw.send("where were we?")
    block = block_in(model)
    assert re.search(r"Goal \(.*\): Paint the logo of the website green", block), block
    assert block.count("report module") == 1, f"one line of what was before: {block}"
