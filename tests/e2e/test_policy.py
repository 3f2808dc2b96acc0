"""What is said of a filling context reaches a real Claude Code once, and is acted on."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from .claude_code import SealedClaude
from .guarded import COMMAND, Guarded
from .repository import git
from .scripted_model import Kind, ScriptedModel, Step, bash

WINDOW = 200_000
HAND_OVER = "Delegate tool-heavy work, and `gitguard note` what is not saved yet."
COMPACT = "Compact soon; state saved. First `gitguard note` decisions, dead ends and the next step."
STATUS = "STATUS:HALT_CONTEXT_LIMIT"
WARNING = re.compile(
    r"⚠️ Context: (\d+)% \((\d+)k/200k\)\.(?: Estimated runway: ~(\d+) tool calls\.)? (.+)"
)


@pytest.fixture
def guarded(claude: SealedClaude, bin_dir: Path) -> Guarded:
    """Without the host's own trigger, so that pressure can become critical."""
    (bin_dir / "gitguard").symlink_to(COMMAND)
    found = Guarded(claude)
    found.run("init", "--no-compaction-trigger")
    return found


def filling(model: ScriptedModel, *tokens: int) -> None:
    """Script one command an answer, each at this usage, and a last word."""
    for number, used in enumerate(tokens):
        calls = (bash(f"echo {number}"),)
        model.script(Step(f"step {number}", calls, input_tokens=used, output_tokens=0))
    model.script(Step("All done.", input_tokens=tokens[-1], output_tokens=0))


def said(model: ScriptedModel) -> list[tuple[str, str, str, str]]:
    """The warnings in the newest request, which holds the whole conversation."""
    return WARNING.findall(model.requests(Kind.MAIN)[-1].text)


def test_each_warning_reaches_the_model_once_and_the_checkpoint_stands_in_git(
    guarded: Guarded, model: ScriptedModel
) -> None:
    filling(model, *range(76_000, 157_000, 4_000))
    guarded.claude.run("go")
    (hand_over, compact) = said(model)
    assert (hand_over[3], compact[3]) == (HAND_OVER, COMPACT)
    # Each call took 4,000 tokens, and the halt is at 170,000; a reading may be one answer late.
    for _, used, left, _ in (hand_over, compact):
        assert abs(int(left) - (170 - int(used)) / 4) <= 2
    assert 65 <= int(hand_over[0]) <= 68
    assert 75 <= int(compact[0]) <= 78
    assert guarded.triggers().count("auto-75pct") == 1
    assert "Gitguard-Trigger: auto-75pct" in git(guarded.repo, "log", "--format=%B", guarded.branch)
    assert "halt" not in guarded.triggers()
    assert guarded.faults() == []


def test_the_advice_of_a_band_comes_after_a_fifth_call_and_once_a_rise(
    guarded: Guarded, model: ScriptedModel
) -> None:
    filling(model, *[110_000] * 11)
    guarded.claude.run("go")
    text = model.requests(Kind.MAIN)[-1].text
    assert text.count("Hand work of more than 3 tool calls to a sub-agent.") == 1
    shown = guarded.json("policy", "show")
    assert (shown["band"]["name"], shown["calls"]) == ("hand-over-heavy", 11)
    asked = guarded.json("policy", "spawn", "--tool-calls", "6")
    assert (asked["answer"], asked["pressure"]) == ("spawn", 0.55)


def test_a_warning_reaches_the_model_after_a_call_that_failed(
    guarded: Guarded, model: ScriptedModel
) -> None:
    for number in range(3):
        calls = (bash(f"exit {number + 1}"),)
        model.script(Step(f"step {number}", calls, input_tokens=152_000, output_tokens=0))
    model.script(Step("All done.", input_tokens=152_000, output_tokens=0))
    guarded.claude.run("go")
    ((*_, recommendation),) = said(model)
    assert recommendation == COMPACT
    assert guarded.triggers().count("auto-75pct") == 1
    assert guarded.faults() == []


def test_the_halts_message_says_how_full_the_context_is(
    guarded: Guarded, model: ScriptedModel
) -> None:
    filling(model, *range(100_000, 200_000, 12_000))
    run = guarded.claude.run("go")
    assert run.terminal_reason == "hook_stopped"
    (transcript,) = guarded.claude.home.glob(f".claude/projects/*/{run.session_id}.jsonl")
    halts = re.findall(rf"{STATUS}\\n(.*?)\\n", transcript.read_text(encoding="utf-8"))
    assert halts, "the halt's message is not in the conversation"
    for line in halts:
        share = re.match(r"⚠️ Context: (\d+)% ", line)
        assert share
        assert int(share[1]) >= 85
    assert guarded.faults() == []
