"""Pressure bands: exact at their boundaries, assessed after every five tool calls."""

from __future__ import annotations

import itertools
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitguard.hooks.gate import HALT
from gitguard.hooks.gate import decide as gate
from gitguard.hooks.notices import Occasion, halt_line, line_of
from gitguard.hosts.openclaw import hooks
from gitguard.model.config.config import DEFAULTS, Thresholds
from gitguard.model.events import (
    PROMPT,
    TOOL_END,
    TOOL_FAILED,
    Abilities,
    HookEvent,
    Pressure,
    Reading,
    ToolCall,
    Window,
)
from gitguard.pressure.bands import band_of, bands
from gitguard.state.entries import ENDED, FAILED, JournalEntry
from gitguard.store.session.host_session import HostSession
from gitguard.store.session.journal import JournalFile
from tests.support.conversation import Conversation
from tests.support.tool_events import after_failure, after_tool, talk, tmp_path

__all__ = ["talk", "tmp_path"]

WINDOW = 200_000


@pytest.mark.parametrize(
    ("pressure", "name", "most_calls"),
    [
        (0.0, "continue", None),
        (0.4999, "continue", None),
        (0.50, "hand-over-heavy", 3),
        (0.6999, "hand-over-heavy", 3),
        (0.70, "hand-over-any", 1),
        (0.8499, "hand-over-any", 1),
        (0.85, "checkpoint", None),
        (1.0, "checkpoint", None),
    ],
)
def test_a_band_begins_at_its_boundary(pressure: float, name: str, most_calls: int | None) -> None:
    band = band_of(pressure, DEFAULTS)
    assert (band.name, band.most_calls) == (name, most_calls)


@pytest.mark.parametrize(
    ("tokens", "name"),
    [
        (99_999, "continue"),
        (100_000, "hand-over-heavy"),
        (139_999, "hand-over-heavy"),
        (140_000, "hand-over-any"),
        (169_999, "hand-over-any"),
        (170_000, "checkpoint"),
    ],
)
def test_a_share_of_whole_tokens_meets_the_boundary(tokens: int, name: str) -> None:
    assert band_of(tokens / WINDOW, DEFAULTS).name == name


@given(st.floats(0, 1), st.floats(0, 1))
def test_more_pressure_is_never_a_lower_band(one: float, other: float) -> None:
    low, high = sorted((one, other))
    rising = bands(DEFAULTS)
    assert rising.index(band_of(low, DEFAULTS)) <= rising.index(band_of(high, DEFAULTS))


@pytest.mark.parametrize("critical", [0.4, 0.6, 0.92])
def test_a_configured_halt_moves_band_advice_and_halt_line(critical: float) -> None:
    thresholds = Thresholds(warning=0.2, compress=0.3, critical=critical)
    config = DEFAULTS.replace(thresholds=thresholds)
    record = HostSession(started_at="2026-01-31T09:30:00Z", warned=3)

    def spoken(share: float) -> tuple[str, bool, bool]:
        pressure = Pressure(share, None, Window(WINDOW, "host"), "given")
        _, advice = line_of(record, pressure, config, Occasion(calls=5, assess=True))
        _, halt = halt_line(record, pressure, config)
        return band_of(share, config).name, "gitguard checkpoint" in advice, bool(halt)

    assert gate(critical, thresholds).action == HALT
    assert spoken(critical) == ("checkpoint", True, True)
    below, is_saving_advised, is_halted = spoken(critical - 0.01)
    assert below != "checkpoint"
    assert not is_saving_advised
    assert not is_halted


def test_configured_levels_of_delegation_move_the_bands() -> None:
    gauge = DEFAULTS.gauge.replace(hand_over_heavy=0.3, hand_over_any=0.6)
    config = DEFAULTS.replace(gauge=gauge)
    assert [band.begins for band in bands(config)] == [0.0, 0.3, 0.6, 0.85]
    assert band_of(0.29, config).name == "continue"
    assert band_of(0.3, config).name == "hand-over-heavy"
    assert band_of(0.6, config).name == "hand-over-any"


def test_a_bands_beginning_is_that_of_the_configured_halt() -> None:
    config = DEFAULTS.replace(thresholds=Thresholds(critical=0.92))
    assert band_of(0.95, config).begins == 0.92
    assert band_of(0.9, config).begins == 0.70


def test_the_band_is_assessed_after_every_fifth_call_and_its_advice_said_once_a_rise(
    talk: Conversation,
) -> None:
    told = "[Context: 52% | 104k/200k tokens] Hand work of more than 3 tool calls to a sub-agent."
    for _ in range(2):
        talk.uses(104_000)
        said = [after_tool(talk) for _ in range(10)]
        assert said == ["", "", "", "", told, "", "", "", "", ""]
        talk.uses(93_000)
        after_tool(talk)  # a fall of a step
        [after_tool(talk) for _ in range(4)]


def test_below_the_bands_nothing_is_said(talk: Conversation) -> None:
    talk.uses(99_999)
    assert [after_tool(talk) for _ in range(10)] == [""] * 10


def test_a_fifth_call_that_failed_is_answered_as_any_other(talk: Conversation) -> None:
    talk.uses(104_000)
    assert [after_tool(talk) for _ in range(4)] == [""] * 4
    assert "more than 3" in after_failure(talk)


def test_what_the_user_interrupts_does_not_count(talk: Conversation) -> None:
    talk.uses(104_000)
    for _ in range(4):
        after_tool(talk)
    assert after_failure(talk, is_interrupt=True) == ""
    assert "more than 3" in after_tool(talk)


def test_calls_of_sub_agents_and_of_other_conversations_do_not_count(talk: Conversation) -> None:
    other = talk.beside("S2")
    other.prompt("Begin as well")
    talk.uses(104_000)
    for _ in range(4):
        assert after_tool(talk, agent_id="sub") == ""
        assert after_tool(talk) == ""
        assert after_tool(other) == ""
    assert "more than 3" in after_tool(talk)


def test_calls_are_counted_on_behind_a_journal_that_was_begun_anew(talk: Conversation) -> None:
    talk.uses(40_000)
    said = []
    for number in range(1, 11):
        if number == 7:
            talk.uses(104_000)
        said += [number] if after_tool(talk) else []
        store = talk.guard.store()
        with store.lock():
            ready, part = store.fold(store.state())
            begun = store.journal.restart(part.entries[-4:])
            store.states.write(ready.state, ready, journal_id=begun.id, journal_offset=begun.end)
    assert said == [10]


def test_a_count_that_was_written_by_hand_is_not_believed(talk: Conversation) -> None:
    talk.uses(104_000)
    for _ in range(3):
        after_tool(talk)
    journal = talk.guard.store().journal
    line = Path(journal.path).read_bytes().splitlines(keepends=True)[-1]
    with Path(journal.path).open("ab") as file:
        file.write(line.replace(b'"calls":3', b'"calls":4'))
    assert after_tool(talk) == ""
    assert after_tool(talk) == ""


@given(
    st.text(min_size=1) | st.just("half a pair: \ud800"),
    st.lists(st.sampled_from(["end", "fail", "other", "sub"]), max_size=12),
)
def test_any_name_of_a_conversation_is_counted(name: str, calls: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        journal = JournalFile(f"{folder}/journal.jsonl", itertools.count().__next__)
        expected = 0
        for call in calls:
            whose = name + "'" if call == "other" else name
            event = FAILED if call == "fail" else ENDED
            known = journal.calls(whose)
            entry = JournalEntry(
                event, "2026-01-31T09:30:00Z", whose, summary=f'"host_session":"{name}"'
            )
            if call == "end" or call == "other":
                entry = entry.replace(calls=known + 1)
            journal.append(entry.replace(sub_agent="a" if call == "sub" else ""))
            expected += call in ("end", "fail")
        assert journal.calls(name) == expected


def unheard(talk: Conversation, kind: str, tokens: int) -> str:
    """An event of a host that passes nothing on after tool calls; return what it is answered."""
    talk.clock.pass_by(1)
    reading = Reading("hook", talk.clock(), tokens=tokens, window=WINDOW)
    event = HookEvent(
        kind, "S1", str(talk.root), prompt="go on", tool=ToolCall("exec"), reading=reading
    )
    return talk.guard.handle(event, Abilities(hears=(PROMPT,))).context


def test_where_tool_calls_get_no_answer_the_next_prompt_advises(talk: Conversation) -> None:
    assert not hooks.HOST.abilities.hears_after_tools
    for _ in range(5):
        assert unheard(talk, TOOL_END, 104_000) == ""
    assert "more than 3" in unheard(talk, PROMPT, 104_000)
    for _ in range(4):
        assert unheard(talk, TOOL_END, 104_000) == ""
    assert unheard(talk, PROMPT, 104_000) == ""


def test_where_calls_are_counted_anew_the_next_prompt_still_advises(talk: Conversation) -> None:
    for _ in range(30):
        unheard(talk, TOOL_END, 104_000)
    assert "more than 3" in unheard(talk, PROMPT, 104_000)
    store = talk.guard.store()
    with store.lock():
        for number in range(400):
            store.journal.append(
                JournalEntry(ENDED, store.now, "S2", calls=number, summary="x" * 300)
            )
    for _ in range(5):
        assert unheard(talk, TOOL_END, 93_000) == ""
    assert "more than 3" in unheard(talk, PROMPT, 104_000)
    assert unheard(talk, PROMPT, 104_000) == ""


def test_where_tool_calls_get_no_answer_the_next_prompt_warns(talk: Conversation) -> None:
    for kind in (TOOL_END, TOOL_FAILED):
        assert unheard(talk, kind, 151_000) == ""
        assert talk.triggers() == ["start", "auto-75pct"]
    assert "Compact soon" in unheard(talk, PROMPT, 151_000)


def test_where_tool_calls_get_no_answer_a_fall_between_prompts_arms_again(
    talk: Conversation,
) -> None:
    assert "Compact soon" in unheard(talk, PROMPT, 151_000)
    for tokens in (100_000, 151_000):
        assert unheard(talk, TOOL_END, tokens) == ""
    assert talk.triggers().count("auto-75pct") == 2
    assert "Compact soon" in unheard(talk, PROMPT, 151_000)
    assert talk.triggers().count("auto-75pct") == 2
