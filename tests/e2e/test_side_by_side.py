"""Two conversations of the real Claude Code in one checkout."""

from __future__ import annotations

from pathlib import Path

from tests.support.waiting import wait_until

from .guarded import BLOCK, Guarded
from .repository import git
from .scripted_model import Kind, ScriptedModel, Step, bash, write
from .sealing import kill_group

LINE = "[gitguard: another conversation works in this checkout at “Write a.txt carefully”. It runs"


def test_beside_a_running_command_one_line_and_after_a_kill_the_whole_block_at_once(
    guarded: Guarded, model: ScriptedModel, tmp_path: Path
) -> None:
    note = "gitguard note --goal 'Write a.txt carefully' --constraint 'ASCII only'"
    model.script(
        Step("noting", (bash(note),)),
        Step("running", (bash(f"touch {tmp_path}/begun; sleep 3000"),)),
    )
    first = guarded.claude.start("Write a.txt with one line")
    wait_until((tmp_path / "begun").exists, 60)

    model.script(Step("writing", (write(guarded.repo / "b.txt", "1\n2\n"),)), Step("Written."))
    second = guarded.claude.run("Write b.txt with two lines")
    assert second.text == "Written."
    told = model.requests(Kind.MAIN)[-1].text
    assert LINE in told
    assert BLOCK not in told
    assert "ASCII only" not in told
    state = guarded.state()
    assert state["goal"] == "Write b.txt with two lines"
    assert state["goal_from"]["conversation"] == second.session_id
    assert [task["goal"] for task in state["earlier"]] == ["Write a.txt carefully"]
    git(guarded.repo, "add", "b.txt")
    git(guarded.repo, "commit", "--quiet", "--message", "Add b")
    why = guarded.run("why", "b.txt")
    assert "Write b.txt with two lines" in why
    assert "a.txt" not in why

    kill_group(first)
    model.script(Step("Back."))
    guarded.claude.run("where were we?")
    block = model.requests(Kind.MAIN)[-1].text
    assert block.count(BLOCK) == 1
    assert "ASCII only" in block
    assert "Interrupted: Bash: touch" in block
    assert "another conversation" not in block.lower().partition(BLOCK)[2]
    assert guarded.faults() == []


def test_a_turn_that_an_error_of_the_model_ended_is_over(
    guarded: Guarded, model: ScriptedModel
) -> None:
    model.script(*[Step(error_status=400, error_message="scripted failure")] * 8)
    with guarded.claude.interactive() as terminal:
        terminal.wait_for("Context: unknown", 60)
        terminal.submit("Port the parser")
        terminal.wait_for("scripted failure", 60)
        model.replace_script(Step("Back."))
        guarded.claude.run("where were we?")
    told = model.requests(Kind.MAIN)[-1].text
    assert "Port the parser" in told
    assert told.count(BLOCK) == 1
    assert "nother conversation" not in told
