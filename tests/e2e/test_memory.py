"""What the real hosts hand back of conversations in which nobody took a note."""

from __future__ import annotations

import re
import time

import pytest

from tests.support.waiting import wait_for_next_second, wait_until

from .guarded import Guarded, block_in, newest_text
from .report_task import FAILING, GOAL, REQUEST, script_a_task
from .repository import git
from .scripted_model import ScriptedModel, Step, ToolCall, bash, summary, write
from .sealing import kill_group


def report(guarded: Guarded, model: ScriptedModel) -> None:
    """Script the task of the report, with the tools of Claude Code."""
    repo = guarded.repo

    def write_file(path: str, content: str) -> ToolCall:
        return write(repo / path, content)

    def read_file(path: str) -> ToolCall:
        return ToolCall("Read", {"file_path": str(repo / path)})

    script_a_task(model, write_file, bash, read_file)


@pytest.mark.essential
def test_a_conversation_without_a_note_is_handed_over_after_a_kill(
    guarded: Guarded, model: ScriptedModel
) -> None:
    repo = guarded.repo
    report(guarded, model)
    run = guarded.claude.run(GOAL)
    wait_for_next_second()  # the check ran before the next edit
    model.script(
        Step("I begin the file.", (write(repo / "totals.csv", "a,b\n"),)),
        Step("Waiting for the loader.", (bash("touch started; sleep 60"),)),
    )
    process = guarded.claude.start(REQUEST, resume=run.session_id)
    wait_until((repo / "started").exists)
    kill_group(process)
    guarded.claude.end_leftovers()
    model.script(Step("ok"))
    guarded.claude.run("where were we?")
    # Every line is judged: nothing of the test that failed and was mended, nothing untrue.
    block = re.sub(r"in 0\.\d+s", "in 0.000s", block_in(model))
    lines = [line for line in block.splitlines()[2:] if not line.startswith("Git: ")]
    assert lines == [
        f"First request: {GOAL}",
        "Interrupted: Bash: touch started; sleep 60",
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


def test_a_file_that_a_shell_command_changed_is_handed_over_and_a_persons_is_not(
    guarded: Guarded, model: ScriptedModel
) -> None:
    repo = guarded.repo
    model.script(Step("I change it.", (bash("sleep 1.1; echo more >> README.md"),)), Step("Done."))
    guarded.claude.run("Add a line to the page")
    time.sleep(1.1)
    (repo / "by-hand.txt").write_text("a person's\n")
    model.script(Step("I look.", (bash("sleep 1.1; git log -1"),)), Step("Looked."))
    guarded.claude.run("Look at the log")
    model.script(Step("ok"))
    guarded.claude.run("where were we?")
    block = block_in(model)
    assert "- README.md (by shell)\n" in block, block
    assert "by-hand.txt (by shell)" not in block
    assert guarded.faults() == []


@pytest.mark.essential
def test_a_correction_and_a_constraint_survive_a_compaction_and_what_was_mended_does_not(
    guarded: Guarded, model: ScriptedModel
) -> None:
    report(guarded, model)
    session = guarded.claude.run("Write a report module with a total, and tests").session_id
    for words in ("No, semicolons instead of commas.", "Never touch the PDF export."):
        model.script(Step(f"Understood: {words[0].lower()}{words[1:]}"))
        guarded.claude.run(words, resume=session)
    model.script_compaction(summary("A report module was written."))
    guarded.claude.run("/compact", resume=session)
    model.script(Step("ok"))
    guarded.claude.run("go on", resume=session)
    block = block_in(model)
    for words in ("No, semicolons instead of commas.", "Never touch the PDF export."):
        assert block.count(words) == 1, block
    assert "AssertionError" not in block
    assert "Failed" not in block


def test_an_unrelated_task_says_nothing_of_the_goal_before_it(
    guarded: Guarded, model: ScriptedModel
) -> None:
    report(guarded, model)
    guarded.claude.run(GOAL)
    model.script(Step("The logo is green now."))
    guarded.claude.run("Paint the logo of the website green")
    model.script(Step("ok"))
    guarded.claude.run("where were we?")
    block = block_in(model)
    assert "Goal (user's words): Paint the logo of the website green" in block
    assert block.count("report module") == 1, "one line of what was before"
    assert guarded.state()["goal"] == "Paint the logo of the website green"


def test_two_tasks_with_a_branch_switch_in_between_each_have_a_block_of_their_own(
    guarded: Guarded, model: ScriptedModel
) -> None:
    report(guarded, model)
    guarded.claude.run(GOAL)
    git(guarded.repo, "switch", "-q", "-c", "logo")
    model.script(Step("The logo is green now."))
    guarded.claude.run("Paint the logo of the website green")
    copied = "its new session `logo` copied decisions and constraints from `main`; not its task"
    assert copied in newest_text(model)
    model.script(Step("ok"))
    guarded.claude.run("where were we?")
    on_logo = block_in(model)
    git(guarded.repo, "switch", "-q", "main")
    model.script(Step("ok"))
    guarded.claude.run("where were we?")
    on_main = block_in(model)
    assert "Goal (user's words): Paint the logo of the website green" in on_logo
    told = [line for line in on_logo.splitlines() if not line.startswith("Git:")]
    assert "report" not in "\n".join(told)
    assert "Goal (user's words): Write a report module with a total" in on_main
    assert "logo" not in on_main
    assert guarded.faults() == []


def test_a_task_goes_along_to_the_branch_that_its_agent_creates(
    guarded: Guarded, model: ScriptedModel
) -> None:
    model.script(Step("On a branch.", (bash("git switch -q -c logo"),)), Step("Begun."))
    session = guarded.claude.run("Paint the logo of the website green").session_id
    model.script(Step("ok"))
    guarded.claude.run("and the icon", resume=session)
    assert "the task moved along from the session `main` into `logo`" in newest_text(model)
    tasks = guarded.json("session", "tasks")["tasks"]
    assert [task["goal"] for task in tasks] == ["Paint the logo of the website green"]
    assert guarded.json("session", "tasks", "main")["tasks"][1]["moved_to"] == "logo"
    assert guarded.faults() == []


def test_the_person_reads_one_line_about_what_was_handed_back(
    guarded: Guarded, model: ScriptedModel
) -> None:
    guarded.run("note", "--goal", "Port the parser", "--decision", "By hand")
    model.script(Step("Understood."))
    with guarded.claude.interactive() as terminal:
        terminal.wait_for("❯")
        terminal.submit("where were we?")
        terminal.wait_for("Understood.")
        terminal.wait_for("gitguard: restored task 'Port the parser', 1 item")


def test_what_the_user_refuses_is_handed_over_with_what_they_said_instead(
    guarded: Guarded, model: ScriptedModel
) -> None:
    # The turn's end may come before the host has written down what was refused.
    model.script(Step("I publish it.", (bash("git push --force"),)), Step("I will use a branch."))
    with guarded.claude.interactive(permission_mode="default") as terminal:
        terminal.wait_for("❯")
        terminal.submit("Publish the fix")
        terminal.wait_for("Do you want")
        for key in ("Down", "Down", "Tab"):  # to "No", and to what shall be done instead
            terminal.send_keys(key)
            time.sleep(0.5)
        terminal.submit("use a branch instead")
        terminal.wait_for("I will use a branch.")
    model.script(Step("ok"))
    guarded.claude.run("where were we?")
    block = block_in(model)
    assert "- use a branch instead — Bash: git push --force" in block, block
    assert "Interrupted" not in block
    assert guarded.faults() == []
