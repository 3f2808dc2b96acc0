"""In the real Claude Code: what outlives DONE, and whose words are whose."""

from __future__ import annotations

from .guarded import Guarded, block_in
from .scripted_model import ScriptedModel, Step, bash, summary

GOAL = "Write b.txt. Keep it ASCII"
NOTES = "--decision 'ASCII only' --why 'the printer is old' --constraint 'never overwrite a.txt'"


def test_what_was_noted_outlives_done_in_the_same_conversation_and_the_next(
    guarded: Guarded, model: ScriptedModel
) -> None:
    model.script(
        Step("I note it.", (bash(f"gitguard note {NOTES}"),)),
        Step("I write it.", (bash("echo one > b.txt"),)),
        Step("Done.", (bash("gitguard note --next DONE"),)),
        Step("Wrote b.txt."),
    )
    session = guarded.claude.run(GOAL).session_id
    model.script(Step("Now it has two lines."))
    guarded.claude.run("That is wrong, there must be two lines", resume=session)
    model.script_compaction(summary("what happened so far"))
    guarded.claude.run("/compact", resume=session)
    model.script(Step("ok"))
    guarded.claude.run("is it right now?", resume=session)
    before = block_in(model).partition("From the task before:")[2]
    assert f"- {GOAL} (finished)" in before, block_in(model)
    assert "- constraint: never overwrite a.txt" in before
    assert "- decision: ASCII only — because the printer is old" in before
    model.script(Step("ok"))
    guarded.claude.run("where were we?")
    before = block_in(model).partition("From the task before:")[2]
    assert "- constraint: never overwrite a.txt" in before, block_in(model)
    assert "decision" not in before
    assert guarded.faults() == []


def test_a_quotation_is_no_limit_and_a_note_in_a_tool_call_is_the_agents(
    guarded: Guarded, model: ScriptedModel
) -> None:
    model.script(
        Step("I note it.", (bash("gitguard note --constraint 'ask Bob first'"),)),
        Step("He wants a.txt left alone."),
    )
    guarded.claude.run("What does Bob want?\n> Bob: you must not touch a.txt\nSay it shortly.")
    state = guarded.state()
    [prompt] = [e for e in state["exchanges"] if e["origin"]["by"] == "user"]
    assert (prompt["kind"], "[quoted: Bob: you must" in prompt["text"]) == ("request", True)
    assert [note["origin"]["by"] for note in state["constraints"]] == ["agent"]
    assert guarded.faults() == []
