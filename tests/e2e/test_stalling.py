"""No content of a file keeps a real Claude Code from its halt or from the checkpoint of a turn."""

from __future__ import annotations

from .guarded import Guarded
from .scripted_model import ScriptedModel, Step
from .test_claude_code import halting, script_until_halted

__all__ = ["halting"]

LINE = "2026-11-26 12:00:00 INFO request key=abc token=none session ok\n"


def test_beside_a_log_of_key_words_a_turn_ends_in_a_checkpoint_and_a_halt_is_denied(
    halting: Guarded, model: ScriptedModel
) -> None:
    (halting.repo / "aaa.log").write_text(LINE * 300_000)
    for number in range(5):
        (halting.repo / f"z{number}.txt").write_text("small\n")
    model.script(Step("All done."))
    halting.claude.run("Say that you are done")
    assert "turn-end" in halting.triggers()
    left_out = halting.json("status", "--files")["gaps"]["left_out"]
    assert {file["path"] for file in left_out} <= {"aaa.log"}
    script_until_halted(model)
    run = halting.claude.run("go")
    assert run.terminal_reason == "hook_stopped"
    assert not (halting.repo / "must-not-run").exists()
    assert "halt" in halting.triggers()
    assert halting.faults() == []
