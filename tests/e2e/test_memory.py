"""What the real hosts hand back of conversations in which nobody took a note."""

from __future__ import annotations

from pathlib import Path

from tests.support.waiting import wait_until

from .guarded import BLOCK, Guarded
from .guarded_openclaw import BLOCK_END
from .repository import git
from .scripted_model import Kind, ScriptedModel, Step, ToolCall, bash, summary, write
from .sealing import kill_group

FAILING = "python3 -m unittest test_report"
REQUEST = "No, separate the values by semicolons. Never touch the PDF export."


def newest_text(model: ScriptedModel) -> str:
    """All that the newest request says."""
    return model.requests(Kind.MAIN)[-1].text


def block_in(model: ScriptedModel) -> str:
    """The block of the newest request."""
    _, begins, behind = newest_text(model).rpartition(BLOCK)
    return begins + behind.partition(BLOCK_END)[0] if begins else ""


def edit(path: Path, old: str, new: str) -> ToolCall:
    return ToolCall("Edit", {"file_path": str(path), "old_string": old, "new_string": new})


def script_a_task(model: ScriptedModel, repo: Path) -> None:
    """Write a test that fails, say why it did, mend it."""
    module, tests = repo / "report.py", repo / "test_report.py"
    wrong = "def total(rows):\n    return sum(rows[1:])\n"
    checks = (
        "import unittest\nfrom report import total\n\n\nclass T(unittest.TestCase):\n"
        "    def test_total(self):\n        self.assertEqual(total([1, 2]), 3)\n"
    )
    model.script(
        Step("I write both.", (write(module, wrong), write(tests, checks))),
        Step("Now the tests.", (bash(FAILING),)),
        Step("", (ToolCall("Read", {"file_path": str(module)}),)),
        Step("It skips the first row.", (edit(module, "rows[1:]", "rows"),)),
        Step("Again.", (bash(FAILING),)),
        Step(
            "The report adds up now.\n\n"
            "## Findings\n- The loader left out the first row, 1 of 2 values.\n"
            "- Loading 40,000 rows takes 310 ms.\n\n"
            "Next: write the totals to `totals.csv`."
        ),
    )


def test_a_conversation_without_a_note_is_handed_over_after_a_kill(
    guarded: Guarded, model: ScriptedModel
) -> None:
    repo = guarded.repo
    script_a_task(model, repo)
    run = guarded.claude.run("Write a report module with a total, and tests for it")
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
    assert block_in(model).splitlines()[2:] == [
        "Goal (the user's words): Write a report module with a total, and tests for it",
        "Interrupted: Bash: touch started; sleep 60",
        f"The user's last request: {REQUEST}",
        "Said before the turn was cut off: Waiting for the loader.",
        "Earlier answers:",
        "- Findings: The loader left out the first row, 1 of 2 values."
        " Loading 40,000 rows takes 310 ms.",
        "Checks, as last run:",
        f"- {FAILING}: passed — Ran 1 test in 0.000s OK",
        "Files:",
        "- totals.csv",
        "- report.py",
        "- test_report.py",
        "Full state: `gitguard show state`. Record progress: `gitguard note`.",
    ]
    assert guarded.faults() == []


def test_a_correction_and_a_constraint_survive_a_compaction_and_what_was_mended_does_not(
    guarded: Guarded, model: ScriptedModel
) -> None:
    script_a_task(model, guarded.repo)
    session = guarded.claude.run("Write a report module with a total, and tests").session_id
    for words in ("No, semicolons instead of commas.", "Never touch the PDF export."):
        model.script(Step("Understood."))
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
    script_a_task(model, guarded.repo)
    guarded.claude.run("Write a report module with a total, and tests for it")
    model.script(Step("The logo is green now."))
    guarded.claude.run("Paint the logo of the website green")
    model.script(Step("ok"))
    guarded.claude.run("where were we?")
    block = block_in(model)
    assert "Goal (the user's words): Paint the logo of the website green" in block
    assert block.count("report module") == 1, "one line of what was before"
    assert guarded.state()["goal"] == "Paint the logo of the website green"


def test_two_tasks_with_a_branch_switch_in_between_each_have_a_block_of_their_own(
    guarded: Guarded, model: ScriptedModel
) -> None:
    script_a_task(model, guarded.repo)
    guarded.claude.run("Write a report module with a total, and tests for it")
    git(guarded.repo, "switch", "-q", "-c", "logo")
    model.script(Step("The logo is green now."))
    guarded.claude.run("Paint the logo of the website green")
    assert "its session `logo` begins with what `main` knows" in newest_text(model)
    model.script(Step("ok"))
    guarded.claude.run("where were we?")
    on_logo = block_in(model)
    git(guarded.repo, "switch", "-q", "main")
    model.script(Step("ok"))
    guarded.claude.run("where were we?")
    on_main = block_in(model)
    assert "Goal (the user's words): Paint the logo of the website green" in on_logo
    assert "report" not in on_logo
    assert "Goal (the user's words): Write a report module with a total" in on_main
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
