"""Warnings at 65, 75 and 85 %: one line each, once a rise, with the checkpoint that they name."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gitguard.hooks import tool_calls, warnings
from gitguard.hooks.conversation import Conversation as OpenConversation
from gitguard.hooks.gate import checkpointed, is_calm, rearmed, risen_to
from gitguard.hooks.gate import decide as gate
from gitguard.hooks.notices import Occasion, calls_left, line_of
from gitguard.hooks.warnings import highest, tokens_per_call, warning_line
from gitguard.model import events
from gitguard.model.config.config import DEFAULTS, GaugeConfig
from gitguard.model.events import (
    FIRST_TURN,
    TOOL_END,
    Abilities,
    HookEvent,
    Pressure,
    Reading,
    ToolCall,
    Transcript,
    Window,
)
from gitguard.store.session.host_session import HostSession
from tests.support.conversation import Conversation
from tests.support.staged import staged_object
from tests.support.tool_events import after_failure, after_tool

HAND_OVER = "Delegate tool-heavy work, and `gitguard note` what is not saved yet."
COMPACT = "Compact soon; state saved. First `gitguard note` decisions, dead ends and the next step."
CRITICAL = "Context nearly full; state saved. Run /compact or /clear."
UNKNOWN_HOST = "Context nearly full; state saved. Compact the context or begin a new conversation."


def begin_talk(folder: Path) -> Conversation:
    talk = Conversation(folder)
    talk.prompt("Begin")
    return talk


tmp_path, talk = staged_object("talk", begin_talk)


# What is said


@pytest.mark.parametrize(
    ("pressure", "warning"),
    [
        (0.0, 0),
        (0.6499, 0),
        (0.65, warnings.HAND_OVER),
        (0.7499, warnings.HAND_OVER),
        (0.75, warnings.COMPACT),
        (0.8499, warnings.COMPACT),
        (0.85, warnings.CRITICAL),
        (1.0, warnings.CRITICAL),
    ],
)
def test_a_warning_is_due_from_its_level_on(pressure: float, warning: int) -> None:
    assert GaugeConfig().warning_at(pressure) == warning


@pytest.mark.parametrize(
    ("warning", "recommendation"),
    [
        (warnings.HAND_OVER, HAND_OVER),
        (warnings.COMPACT, COMPACT),
        (warnings.CRITICAL, CRITICAL),
    ],
)
def test_a_warning_is_exactly_one_line(warning: int, recommendation: str) -> None:
    room = "/compact or /clear"
    line = warning_line(warning, 0.66, 132_400, 200_000, 12, saved=True, room_commands=room)
    runway = "Estimated runway: ~12 tool calls."
    assert line == f"⚠️ Context: 66% (132k/200k). {runway} {recommendation}"
    without = warning_line(warning, 0.66, 132_400, 200_000, None, saved=True, room_commands=room)
    assert without == f"⚠️ Context: 66% (132k/200k). {recommendation}"


@pytest.mark.parametrize("warning", [warnings.COMPACT, warnings.CRITICAL])
def test_a_warning_with_which_nothing_was_saved_says_nothing_of_saving(warning: int) -> None:
    line = warning_line(warning, 0.86, 172_000, 200_000, None, room_commands="/compact or /new")
    assert "saved" not in line
    assert "Writing" not in line
    assert ("/new" in line) == (warning == warnings.CRITICAL)


def test_no_share_is_rounded_up_to_a_level_that_it_is_below() -> None:
    line = warning_line(warnings.COMPACT, 0.849, 169_800, 200_000, None)
    assert line.startswith("⚠️ Context: 84% (169k/200k).")
    full = Pressure(0.849, 169_800, Window(200_000, "model"), "transcript")
    assert full.gauge_line() == "[Context: 84% | 169k/200k tokens]"
    by_share = Pressure(0.29, None, Window(200_000, "model"), "given")
    assert "29% | 58k/200k" in by_share.gauge_line()
    assert gate(0.8499, DEFAULTS.thresholds).reasons[0].startswith("pressure is 0.84,")
    assert gate(0.29, DEFAULTS.thresholds).reasons[0].startswith("pressure is 0.29,")


@pytest.mark.parametrize(
    ("before", "calls_before", "now", "calls_now", "average"),
    [
        (20_000, 5, 30_000, 10, 2_000.0),
        (20_000, 5, 30_000, 9, 0.0),
        (-1, 0, 30_000, 10, 0.0),
        (30_000, 5, 20_000, 10, 0.0),
    ],
)
def test_the_average_of_a_call_is_this_conversations_own(
    before: float, calls_before: int, now: float, calls_now: int, average: float
) -> None:
    assert tokens_per_call(before, calls_before, now, calls_now) == average


def test_at_most_one_line_is_picked_and_it_is_the_highest() -> None:
    assert highest("warning", "advice", "gauge") == "warning"
    assert highest("", "advice", "gauge") == "advice"
    assert highest("", "", "") == ""


# When it is said


def test_each_level_is_said_once_a_rise(talk: Conversation) -> None:
    said = []
    for tokens in (129_999, 130_000, 131_000, 149_999, 150_000, 151_000, 169_999):
        talk.uses(tokens)
        said.append(after_tool(talk))
    assert [bool(line) for line in said] == [False, True, False, False, True, False, True]
    assert said[1] == f"⚠️ Context: 65% (130k/200k). {HAND_OVER}"
    assert said[4] == f"⚠️ Context: 75% (150k/200k). {COMPACT}"


def test_calls_that_fail_are_warned_and_saved_as_those_that_do_not(talk: Conversation) -> None:
    talk.uses(152_000)
    assert after_failure(talk).endswith(COMPACT)
    assert talk.triggers()[-1] == "auto-75pct"
    assert after_failure(talk) == ""


def test_a_jump_over_several_levels_says_the_gravest_alone(talk: Conversation) -> None:
    talk.uses(152_000)
    assert after_tool(talk).endswith(COMPACT)
    talk.uses(152_100)
    assert after_tool(talk) == ""


def test_a_compaction_arms_the_warnings_again(talk: Conversation) -> None:
    talk.uses(131_000)
    assert after_tool(talk).endswith(HAND_OVER)
    talk.send("PreCompact")
    talk.compacts(20_000)
    talk.send("SessionStart.compact")
    talk.uses(131_000)
    assert after_tool(talk).endswith(HAND_OVER)


def test_a_fall_without_a_compaction_arms_what_lies_above_it(talk: Conversation) -> None:
    talk.uses(151_000)
    assert after_tool(talk).endswith(COMPACT)
    talk.uses(140_000)
    assert after_tool(talk) == ""
    talk.uses(150_000)
    assert after_tool(talk).endswith(COMPACT)


def test_the_next_conversation_is_warned_for_itself(talk: Conversation) -> None:
    talk.uses(131_000)
    assert after_tool(talk).endswith(HAND_OVER)
    other = talk.beside("S2")
    other.prompt("Begin")
    other.uses(131_000)
    assert after_tool(other).endswith(HAND_OVER)


def test_a_prompt_warns_as_a_tool_call_does(talk: Conversation) -> None:
    talk.uses(131_000)
    assert talk.prompt().endswith(HAND_OVER)
    assert talk.prompt() == ""


def test_the_runway_comes_from_this_conversations_own_calls(talk: Conversation) -> None:
    said = []
    for number in range(1, 13):
        talk.uses(100_000 + 3_000 * number)
        said.append(after_tool(talk))
    # From the fifth call on 3,000 tokens each; at 130,000 of 200,000 there are 40,000 to the halt.
    assert said[9].startswith("⚠️ Context: 65% (130k/200k). Estimated runway: ~13 tool calls. ")


@pytest.mark.parametrize(
    ("used", "left"),
    [
        # Pruned at the fifteenth call, at which 120,000 had grown to more; then 3,000 tokens each.
        ([(5, 100_000), (10, 120_000), (15, 50_000), (25, 80_000), (30, 95_000)], 25),
        # Not below where the average began, but below what was used by then.
        ([(5, 60_000), (10, 120_000), (15, 70_000), (25, 100_000), (30, 115_000)], 18),
        ([(5, 100_000), (10, 120_000), (15, 50_000)], None),
    ],
)
def test_where_the_context_shrank_the_average_begins_anew(
    used: list[tuple[int, int]], left: int | None
) -> None:
    known = HostSession(started_at="2026-01-31T09:30:00Z")
    for calls, tokens in used[:-1]:
        known, _ = line_of(known, using(tokens), DEFAULTS, Occasion(calls))
    calls, tokens = used[-1]
    assert calls_left(known, using(tokens), DEFAULTS, calls) == left


def using(tokens: int) -> Pressure:
    return Pressure(tokens / 200_000, tokens, Window(200_000, "host"), "transcript")


def test_a_context_that_shrank_below_the_bands_is_noticed(talk: Conversation) -> None:
    for tokens in (90_000, 40_000):
        talk.uses(tokens)
        for _ in range(5):
            after_tool(talk)
    assert talk.guard.status().host_sessions["S1"].paced_tokens == 40_000


def test_warning_advice_and_gauge_never_come_together(talk: Conversation) -> None:
    talk.uses(104_000)
    for _ in range(4):
        after_tool(talk)
    talk.uses(161_000)
    line = after_tool(talk)  # a fifth call, a new level and a checkpoint at once
    assert line == f"⚠️ Context: 80% (161k/200k). {COMPACT}"
    assert "auto-80pct" in talk.triggers()


def test_two_hooks_at_once_say_a_warning_once(talk: Conversation) -> None:
    talk.uses(131_000)
    event = HookEvent(
        TOOL_END,
        "S1",
        str(talk.root),
        tool=ToolCall("Bash"),
        transcript=Transcript(str(talk.transcript), "claude-code"),
    )
    guard = talk.guard
    begun = [
        OpenConversation(guard.workspace, guard.config, event, abilities=Abilities())
        for _ in range(2)
    ]
    for conversation in begun:
        tool_calls.answer(conversation)
    assert [len(conversation.lines) for conversation in begun] == [1, 0]


PRESSURES = st.lists(st.integers(1, 1000), max_size=12)


@given(PRESSURES)
def test_whatever_pressure_does_each_level_comes_once_a_rise(thousandths: list[int]) -> None:
    known, said = HostSession(started_at="2026-01-31T09:30:00Z"), set[int]()
    for share in thousandths:
        known, line = line_of(known, using(share * 200), DEFAULTS, Occasion(calls=9))
        said = {level for level in said if share > level - 50}
        reached = {level for level in (650, 750, 850) if share >= level}
        assert line.startswith("⚠️") == (max(reached, default=0) > max(said, default=0))
        assert "\n" not in line
        said |= reached


@given(PRESSURES)
@example([860, 780, 860])
def test_the_warning_that_names_a_checkpoint_always_comes_with_one(thousandths: list[int]) -> None:
    for config in (DEFAULTS, DEFAULTS.replace(gauge=GaugeConfig(checkpoint_at=0.6))):
        known = HostSession(started_at="2026-01-31T09:30:00Z")
        for share in thousandths:
            pressure = using(share * 200)
            trigger = risen_to(known, pressure, config)
            known = checkpointed(known, pressure) if trigger else known
            moment = Occasion(calls=9, saved=bool(trigger))
            known, line = line_of(known, pressure, config, moment)
            assert trigger or "; state saved" not in line
            assert not trigger or not line.startswith("⚠️") or "Compact soon." not in line


@given(PRESSURES)
def test_a_checkpoint_comes_only_where_usage_moved_or_a_warning_came(
    thousandths: list[int],
) -> None:
    known, last = HostSession(started_at="2026-01-31T09:30:00Z"), 0
    for share in thousandths:
        pressure = using(share * 200)
        trigger = risen_to(known, pressure, DEFAULTS)
        known = checkpointed(known, pressure) if trigger else known
        known, line = line_of(known, pressure, DEFAULTS, Occasion(calls=9))
        assert not trigger or abs(share - last) >= 50 or line.startswith("⚠️")
        last = share if trigger else last


@pytest.mark.parametrize("source", ["host", "assumed"])
@pytest.mark.parametrize(
    ("thousandths", "trigger"),
    [
        ([749], ""),
        ([750], "auto-75pct"),
        ([820], "auto-80pct"),
        ([900], "auto-85pct"),
        ([820, 869], "auto-85pct"),
        ([820, 900], "auto-85pct"),
        ([860, 909], ""),
        ([860, 910], "auto-80pct"),
        ([760, 809], ""),
        ([760, 810], "auto-80pct"),
        ([760, 900], "auto-85pct"),
    ],
)
def test_a_jump_saves_one_checkpoint_named_after_the_highest_level(
    thousandths: list[int], trigger: str, source: str
) -> None:
    record, taken = HostSession(started_at="2026-01-31T09:30:00Z"), ""
    window = Window(200_000, source)
    for share in thousandths:
        pressure = Pressure(share / 1000, share * 200, window, "given", source == "assumed")
        taken = risen_to(record, pressure, DEFAULTS)
        record = checkpointed(record, pressure) if taken else record
    assert taken == trigger


def test_where_nothing_is_measured_nothing_has_fallen() -> None:
    told = HostSession(started_at="2026-01-31T09:30:00Z", warned=2, checkpointed_tokens=152_000)
    unmeasured = Pressure(0.0, None, Window(200_000, "host"), FIRST_TURN)
    assert rearmed(told, unmeasured, DEFAULTS) == told
    assert is_calm(told, unmeasured, DEFAULTS)


# What is done


def test_at_seventy_five_percent_a_checkpoint_is_written_and_the_next_one_needs_its_step(
    talk: Conversation,
) -> None:
    talk.uses(152_000)
    after_tool(talk)
    assert talk.triggers()[-1] == "auto-75pct"
    talk.uses(161_999)
    after_tool(talk)
    assert "auto-80pct" not in talk.triggers()
    talk.uses(162_000)
    after_tool(talk)
    assert talk.triggers()[-1] == "auto-80pct"
    assert talk.triggers().count("auto-75pct") == 1


def test_a_small_fall_and_rise_saves_nothing_again(talk: Conversation) -> None:
    said = []
    for tokens in (152_000, 149_000, 151_000, 140_100, 151_000):
        talk.uses(tokens)
        said.append(after_tool(talk))
    assert [COMPACT in line for line in said] == [True, False, False, False, False]
    assert talk.triggers().count("auto-75pct") == 1
    talk.uses(140_000)
    after_tool(talk)
    talk.uses(150_000)
    assert COMPACT in after_tool(talk)
    assert talk.triggers().count("auto-75pct") == 2


def test_the_critical_warning_is_saved_however_near_the_last_checkpoint_is(
    talk: Conversation,
) -> None:
    for tokens in (164_000, 171_000, 172_000):
        talk.uses(tokens)
        talk.prompt()
    assert talk.triggers() == ["start", "auto-80pct", "auto-85pct"]


def denial(answer: dict[str, Any]) -> str:
    """What the agent reads of a denied tool call."""
    return str(answer["hookSpecificOutput"]["permissionDecisionReason"])


def test_a_halts_message_says_how_full_the_context_is(talk: Conversation) -> None:
    talk.uses(172_000)
    first, second, third = denial(talk.bash("echo hi")).splitlines()
    assert first == "STATUS:HALT_CONTEXT_LIMIT"
    assert second == "⚠️ Context: 86% (172k/200k)."
    assert "pressure is 0.86" in third


def test_what_a_halt_says_later_does_not_contradict_itself(talk: Conversation) -> None:
    talk.uses(170_000)
    talk.bash("echo hi")
    talk.uses(184_000)
    later = talk.bash("echo hi", tool_use_id="toolu_02")["stopReason"]
    prompt = talk.prompt()
    assert "⚠️ Context: 85% (170k/200k)." in later, "as it was when the halt began"
    assert "⚠️ Context: 92% (184k/200k)." in prompt
    for said in (later, prompt):
        assert "the halt began with: pressure is 0.85, critical from 0.85" in said


def test_a_halt_holds_and_warns_though_the_journal_does_not_read(talk: Conversation) -> None:
    journal = Path(talk.guard.store().journal.path)
    journal.unlink()
    journal.mkdir()
    talk.uses(172_000)
    said = denial(talk.bash("echo hi"))
    assert "⚠️ Context: 86% (172k/200k)." in said
    assert "The checkpoint failed" in said


def test_a_halt_for_a_missing_pressure_names_no_figure(talk: Conversation) -> None:
    for kind in (events.PROMPT, events.PROMPT, events.TOOL_START):
        event = HookEvent(kind, "H", str(talk.root), prompt="Go on", tool=ToolCall("exec"))
        reply = talk.guard.handle(event, Abilities(offers_pressure=False))
    assert "no context usage given" in reply.refuse
    assert "⚠️" not in reply.refuse


def asked(talk: Conversation, share: float) -> str:
    """A program without hooks asks the gate; return the line on the context."""
    gated = talk.guard.gate("program", Reading("given", talk.clock(), share=share))
    return gated.line


def test_a_program_that_asks_the_gate_is_warned_the_same_way(talk: Conversation) -> None:
    assert asked(talk, 0.64) == ""
    assert asked(talk, 0.65).endswith(HAND_OVER)
    assert asked(talk, 0.66) == ""
    assert asked(talk, 0.75).endswith(COMPACT)
    assert talk.triggers()[-1] == "auto-75pct"
    assert asked(talk, 0.86).endswith(UNKNOWN_HOST)
    assert asked(talk, 0.87).endswith(UNKNOWN_HOST), "every halt's message says it"


@pytest.mark.parametrize(("host", "command"), [("claude-code", "/clear"), ("openclaw", "/new")])
@pytest.mark.parametrize("key", ["one", "halted"])
def test_the_gates_line_names_the_command_of_the_conversations_host(
    talk: Conversation, host: str, command: str, key: str
) -> None:
    share = 0.9 if key == "halted" else 0.849
    own = "gauge: {warn_critical: 0.84}"
    (talk.root / ".gitguard" / "config.yaml").write_text(own)
    gated = talk.guard.gate(key, Reading("given", talk.clock(), share=share), host=host)
    assert gated.verdict.halts == (key == "halted")
    assert gated.line.endswith(f"Run /compact or {command}.")


# The death spiral

SPIRAL = "A new conversation would keep more than another compaction."


def compacted(talk: Conversation, summary: str = "") -> str:
    talk.compacts(20_000, summary)
    return talk.prompt()


def test_the_spiral_reason_is_part_of_every_hand_back_while_it_is_true(
    talk: Conversation,
) -> None:
    talk.guard.note({"goal": "Ship it"})
    said = [compacted(talk) for _ in range(6)]
    assert ["new conversation" in text for text in said] == [False] * 2 + [True] * 4
    assert not any(SPIRAL in text for text in said), "the block has said it"
    assert "new conversation" not in talk.prompt(), "and once a compaction"


def test_it_is_part_of_every_hand_back_after_a_compaction_that_an_event_told_of(
    talk: Conversation,
) -> None:
    talk.guard.note({"goal": "Ship it"})
    said = []
    for _ in range(6):
        talk.send("PreCompact")
        talk.compacts(20_000)
        answer = talk.send("SessionStart.compact")
        said.append(str(answer["hookSpecificOutput"]["additionalContext"]))
        said.append(talk.prompt())
    assert ["new conversation" in text for text in said[::2]] == [False] * 2 + [True] * 4
    assert not any("new conversation" in text for text in said[1::2])


def test_it_stands_behind_a_hand_off_file_that_takes_the_blocks_place(
    talk: Conversation,
) -> None:
    (talk.root.parent / "config").mkdir()
    (talk.root.parent / "config" / "config.yaml").write_text("handoff: {enabled: true}\n")
    talk.clock.now = time.time()
    said = []
    for _ in range(6):
        talk.send("PreCompact")
        said.append(compacted(talk))
    assert [text.count(SPIRAL) for text in said] == [0] * 2 + [1] * 4
    assert f"⚠️ Context: 3 compactions. {SPIRAL}" in said[2]


@pytest.mark.parametrize(("characters", "is_said"), [(240_000, False), (240_004, True)])
def test_a_summary_of_more_than_thirty_percent_of_the_window_is_said_once_a_compaction(
    talk: Conversation, characters: int, is_said: bool
) -> None:
    said = [compacted(talk, "x" * characters), talk.prompt(), compacted(talk, "x" * 250_000)]
    why = "summaries fill 3"
    assert [text.count(why) for text in said] == [is_said, 0, 1]


def test_in_a_turn_that_goes_on_behind_its_compaction_it_is_said_as_well(
    talk: Conversation,
) -> None:
    talk.send("PreCompact")
    talk.compacts(70_000, "x" * 250_000)
    talk.send("SessionStart.compact")
    talk.uses(70_000)
    said = [after_tool(talk) for _ in range(10)]
    assert [SPIRAL in line for line in said] == [False] * 4 + [True] + [False] * 5
    assert talk.guard.status().host_sessions["S1"].epoch == 1


def test_a_summary_in_a_transcript_that_was_written_anew_is_seen(talk: Conversation) -> None:
    for _ in range(2_000):
        talk.uses(20_000)
    talk.prompt()
    talk.transcript.write_text("")
    assert "summaries fill 3" in compacted(talk, "x" * 250_000)
    assert talk.faults() == []


def test_a_summary_that_does_not_read_hides_no_compaction(talk: Conversation) -> None:
    talk.compacts(20_000)
    with talk.transcript.open("ab") as file:
        file.write(b'{"type": "user", "isCompactSummary": tr')
    talk.prompt()
    assert talk.guard.status().host_sessions["S1"].epoch == 1
    assert talk.faults() == []


# The configuration


def test_a_repository_may_only_lower_the_levels(talk: Conversation) -> None:
    path = talk.root / ".gitguard" / "config.yaml"
    path.write_text("gauge: {warn_critical: 0.9, warn_compact: 0.3}\n")
    gauge = talk.guard.config.gauge
    assert (gauge.warn_compact, gauge.warn_critical) == (0.3, 0.85)
    assert gauge.warn_hand_over == pytest.approx(0.26), "it stays as far below the next one"
    talk.uses(60_000)
    assert after_tool(talk).endswith(COMPACT)
    assert talk.triggers()[-1] == "auto-75pct"
