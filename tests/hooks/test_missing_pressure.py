"""What is not known of the context is said to be unknown, by the gate, the hooks and the gauge."""

from __future__ import annotations

import pytest

from gitguard.hooks.gate import CONTINUE, HALT, decide
from gitguard.model.config.config import Thresholds, WindowConfig
from gitguard.model.events import Reading
from gitguard.pressure.gauge import measure, resolve_window
from tests.support.conversation import Conversation
from tests.support.hook_replies import denies
from tests.support.tool_events import talk, tmp_path

__all__ = ["talk", "tmp_path"]


def test_the_gate_says_unknown_where_no_usage_was_ever_read(talk: Conversation) -> None:
    first = talk.guard.gate("another")
    assert first.verdict.action == CONTINUE
    assert first.verdict.pressure is None
    assert first.verdict.reasons[0].startswith("context usage is unknown")
    later = talk.guard.gate("another")
    assert later.verdict.action == HALT, "the contract's rule for missing pressure"


def test_a_conversation_whose_transcript_tells_nothing_goes_on_and_is_unknown(
    talk: Conversation,
) -> None:
    for turn in range(4):
        talk.prompt(f"Turn {turn}")
        verdict = talk.guard.gate("S1").verdict
        assert verdict.action == CONTINUE
        assert verdict.pressure is None
        assert "unknown" in verdict.reasons[0]
        assert "0.00" not in str(verdict.reasons)
    talk.uses(100_000)
    assert talk.guard.gate("S1").verdict.reasons[0].startswith("pressure is 0.50")


def test_a_transcript_that_cannot_be_read_lets_the_agent_go_on_and_is_said_once(
    talk: Conversation,
) -> None:
    talk.uses(100_000)
    talk.transcript.unlink()
    talk.transcript.mkdir()
    said = [talk.prompt("Go on") for _ in range(3)]
    assert talk.bash("echo hi > x") == {}
    assert sum("Context: unknown" in text for text in said) == 1
    assert talk.guard.gate("S1").verdict.action == CONTINUE
    assert "unknown" in talk.guard.gate("S1").verdict.reasons[0]
    assert talk.faults()
    talk.transcript.rmdir()
    talk.uses(100_000)
    assert "unknown" not in talk.prompt("Go on")


def test_a_halted_conversation_stays_halted_where_its_transcript_cannot_be_read(
    talk: Conversation,
) -> None:
    talk.uses(180_000)
    assert denies(talk.bash("echo hi"))
    talk.transcript.unlink()
    talk.transcript.mkdir()
    assert denies(talk.bash("echo hi"))
    assert talk.guard.gate("S1").verdict.action == HALT


def test_a_checkpoint_that_knows_no_pressure_says_unknown(talk: Conversation) -> None:
    talk.guard.note({"goal": "Ship it"})
    talk.send("Stop")
    [checkpoint] = talk.guard.log(1)
    assert checkpoint.pressure is None
    assert "Gitguard-Pressure: unknown" in talk.git("log", "-1", "--format=%B", "gitguard/main")


def test_the_status_line_shows_no_gauge_of_nothing(talk: Conversation) -> None:
    line = talk.send_raw("statusLine", context_window={})
    assert "Context: unknown" in line


@pytest.mark.parametrize("window", [1, 4_000, 8_192, 15_999])
def test_a_window_below_16_000_tokens_is_gauged_and_gated(window: int) -> None:
    resolved = resolve_window("m", window, WindowConfig())
    assert (resolved.tokens, resolved.source) == (window, "host")
    for share in (0.5, 0.9):
        reading = Reading("hook", 1.0, tokens=int(window * share) or 1, window=window)
        pressure = measure(reading, resolved, first_turn=False)
        assert pressure is not None
        halts = pressure.share >= Thresholds().critical
        assert decide(pressure.share, Thresholds()).halts is halts


def test_hooks_of_a_host_with_such_a_window_halt_at_critical(talk: Conversation) -> None:
    window = {"context_window_size": 8_192, "current_usage": {"input_tokens": 7_500}}
    assert "Context: 91%" in talk.send_raw("statusLine", context_window=window)
    assert denies(talk.bash("echo hi"))
    assert talk.guard.gate("S1").verdict.action == HALT
    assert talk.faults() == []


def test_a_conversation_that_goes_on_in_another_file_may_tell_no_usage_at_its_first_prompt(
    talk: Conversation,
) -> None:
    for number in range(3):
        talk.prompt(f"Write part {number} of the report")
        talk.uses(9_000)
        talk.send("Stop")
    talk.transcript = talk.transcript.with_name("S1_continued.jsonl")
    talk.transcript.write_text("{}\n")
    talk.prompt("Add the export instead")
    assert talk.faults() == []
    talk.prompt("And a header")
    assert "tells no usage" in talk.faults()[0]
