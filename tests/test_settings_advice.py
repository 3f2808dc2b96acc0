"""What is advised for a way of working, at its boundaries, and what each host has of it."""

from __future__ import annotations

import math
from datetime import date
from typing import Any

import pytest

from gitguard.errors import InvalidDocument, InvalidInput
from gitguard.hosts import openclaw_advice
from gitguard.hosts.advising import NAMES, Found, find_adviser
from gitguard.hosts.settings_files import flat, refuse_other_changes
from gitguard.model.host_settings import Figures, Setting
from gitguard.policy.advice import Halting, figures_for, judge
from gitguard.policy.patterns import PATTERNS

USUAL = Halting(0.80, 0.85)
OLDER, NEWER = "2026.3.13", "2026.9.6"


# --- The table


@pytest.mark.parametrize(
    ("pattern", "clear_after", "protect", "trim_above", "keep_recent", "in_rows"),
    [
        ("tool-heavy", "1m", 1, 10_000, 10_000, True),
        ("conversational", "5m", 3, 50_000, 20_000, False),
        ("mixed", "2m", 2, 10_000, 20_000, False),
        ("bursty", "2m", 1, 10_000, 10_000, True),
    ],
)
def test_each_way_of_working_has_its_figures(
    pattern: str, clear_after: str, protect: int, trim_above: int, keep_recent: int, in_rows: bool
) -> None:
    found = figures_for(pattern, 200_000)
    assert (found.clear_after, found.protect, found.trim_above) == (
        clear_after,
        protect,
        trim_above,
    )
    assert (found.keep_recent, found.calls_in_rows) == (keep_recent, in_rows)


@pytest.mark.parametrize(
    ("pattern", "window", "free"),
    [
        ("conversational", 200_000, 30_000),
        ("mixed", 200_000, 50_000),
        ("bursty", 200_000, 50_000),
        ("tool-heavy", 200_000, 50_000),  # 60,000 would be more than a quarter
        ("conversational", 1_000_000, 150_000),
        ("tool-heavy", 1_000_000, 250_000),
        ("mixed", 1_000_000, 250_000),
        ("conversational", 128_000, 19_200),
        ("mixed", 128_000, 32_000),
        ("conversational", 40_000, 6_000),
        ("tool-heavy", 40_000, 10_000),
        ("tool-heavy", 199_999, 49_999),
        ("mixed", 200_001, 50_000),
        ("bursty", 1, 0),
    ],
)
def test_tokens_are_scaled_by_the_window_and_never_more_than_a_quarter_is_free(
    pattern: str, window: int, free: int
) -> None:
    found = figures_for(pattern, window)
    assert found.free == free
    assert found.free <= window / 4


@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("window", [0, 1, 3, 4, 5, 39_999, 200_000, 1_048_576])
def test_no_window_is_too_small_or_large(pattern: str, window: int) -> None:
    for halting in (None, USUAL):
        found = figures_for(pattern, window, halting=halting, hours=3)
        assert 0 <= found.free <= window // 4
        assert 0 <= found.keep_recent <= min(window // 10 + 1, 20_000)


def test_what_decided_is_said() -> None:
    assert figures_for("mixed", 200_000).why_free == ""
    assert "a quarter" in figures_for("tool-heavy", 200_000).why_free
    assert "halted" in figures_for("conversational", 200_000, halting=USUAL).why_free
    assert "hours" in figures_for("conversational", 200_000, hours=2.5).why_free


@pytest.mark.parametrize(
    ("halting", "free"),
    [
        (None, 30_000),
        (USUAL, 35_000),  # 82.5 %, between checkpoint and halt
        (Halting(0.85, 0.95), 30_000),  # 90 % comes later than the 85 % of the table
        (Halting(0.60, 0.70), 50_000),  # even a quarter comes too late, and is the most
        (Halting(0.70, 0.80), 50_000),
    ],
)
def test_the_host_compresses_before_gitguard_halts(halting: Halting | None, free: int) -> None:
    assert figures_for("conversational", 200_000, halting=halting).free == free


@pytest.mark.parametrize(("hours", "free"), [(0, 30_000), (2.0, 30_000), (2.01, 50_000)])
def test_over_two_hours_the_trigger_is_higher(hours: float, free: int) -> None:
    assert figures_for("conversational", 200_000, hours=hours).free == free


def test_another_pattern_is_refused_with_those_there_are() -> None:
    with pytest.raises(InvalidInput, match="`calm` is not a pattern") as refused:
        figures_for("calm", 200_000)
    assert "tool-heavy" in refused.value.hint


def test_a_default_that_fits_is_right_and_what_is_set_counts_before_it() -> None:
    unset = Setting("a", "A", "", "3", "it is", "3")
    verdict = judge((unset, unset.replace(before="4"), unset.replace(before="3", default="")))
    assert [one.before for one in verdict.right] == ["", "3"]
    assert [one.before for one in verdict.changes] == ["4"]


# --- OpenClaw by version


def offered(version: str, figures: Figures, **standing: str) -> dict[str, Setting]:
    named = {f"agents.defaults.{key.replace('__', '.')}": text for key, text in standing.items()}
    found = Found(version, "/x", named, figures.window)
    settings = openclaw_advice.offer(found, figures).settings
    return {one.key.removeprefix("agents.defaults."): one for one in settings}


@pytest.mark.parametrize("version", [OLDER, "2026.7.1"])
@pytest.mark.parametrize(
    ("pattern", "floor", "ttl", "protect", "trim"),
    [
        ("tool-heavy", "50000", '"1m"', "1", "10000"),
        ("conversational", "30000", '"5m"', "3", "50000"),
        ("mixed", "50000", '"2m"', "2", "10000"),
        ("bursty", "50000", '"2m"', "1", "10000"),
    ],
)
def test_the_four_settings_are_advised_up_to_2026_7(
    version: str, pattern: str, floor: str, ttl: str, protect: str, trim: str
) -> None:
    found = offered(version, figures_for(pattern, 200_000))
    assert {key: one.after for key, one in found.items()} == {
        "compaction.reserveTokensFloor": floor,
        "contextPruning.mode": '"cache-ttl"',
        "contextPruning.ttl": ttl,
        "contextPruning.keepLastAssistants": protect,
        "contextPruning.minPrunableToolChars": trim,
    }


@pytest.mark.parametrize("version", ["2026.8.0", "2026.8.2", NEWER, "2027.1.0"])
@pytest.mark.parametrize("pattern", PATTERNS)
def test_settings_that_are_gone_are_never_advised(version: str, pattern: str) -> None:
    figures = figures_for(pattern, 200_000, hours=9, spared=("browser",))
    assert set(offered(version, figures)) <= {
        "compaction.mode",
        "compaction.recentTurnsPreserve",
        "compaction.keepRecentTokens",
        "compaction.midTurnPrecheck.enabled",
        "contextPruning.mode",
        "contextPruning.ttl",
        "contextPruning.tools.deny",
    }


def test_of_a_newer_version_that_is_advised_which_it_has() -> None:
    found = offered(NEWER, figures_for("tool-heavy", 200_000), compaction__mode='"default"')
    assert {key: one.after for key, one in found.items() if not one.is_right} == {
        "compaction.mode": '"safeguard"',
        "compaction.recentTurnsPreserve": "1",
        "contextPruning.mode": '"cache-ttl"',
        "contextPruning.ttl": '"1m"',
        "compaction.keepRecentTokens": "10000",
    }


def test_defaults_of_the_host_that_fit_a_conversation_are_right() -> None:
    found = offered(OLDER, figures_for("conversational", 200_000))
    changes = {key for key, one in found.items() if not one.is_right}
    assert changes == {"compaction.reserveTokensFloor", "contextPruning.mode"}


@pytest.mark.parametrize(("pattern", "expected"), [("tool-heavy", True), ("mixed", False)])
def test_long_rows_of_calls_get_a_look_at_the_room_in_between(pattern: str, expected: bool) -> None:
    key = "compaction.midTurnPrecheck.enabled"
    assert (key in offered(NEWER, figures_for(pattern, 200_000, hours=3))) == expected
    assert key not in offered(NEWER, figures_for(pattern, 200_000, hours=1))
    assert key not in offered(OLDER, figures_for(pattern, 200_000, hours=3))


@pytest.mark.parametrize("version", [OLDER, NEWER])
def test_tools_to_spare_are_added_to_those_that_are_spared(version: str) -> None:
    figures = figures_for("mixed", 200_000, spared=("browser", "canvas"))
    found = offered(version, figures, contextPruning__tools__deny='["image", "browser"]')
    assert found["contextPruning.tools.deny"].after == '["image", "browser", "canvas"]'


@pytest.mark.parametrize("version", [OLDER, NEWER])
def test_work_with_a_browser_gets_a_tip_until_it_is_done(version: str) -> None:
    figures = figures_for("mixed", 200_000)
    tip = "`--protect browser --protect canvas`"
    found = Found(version, "/x", {})
    assert any(tip in note for note in openclaw_advice.offer(found, figures).notes)
    done = found.replace(standing={"agents.defaults.contextPruning.tools.deny": '["browser"]'})
    assert not any(tip in note for note in openclaw_advice.offer(done, figures).notes)


def test_without_a_window_nothing_is_said_in_tokens_of_it() -> None:
    for version in (OLDER, NEWER):
        found = offered(version, figures_for("tool-heavy", 0))
        assert not {"compaction.reserveTokensFloor", "compaction.keepRecentTokens"} & set(found)


# --- The others


HOSTS: list[tuple[str, str, dict[str, Any]]] = [
    ("claude-code", "tool-heavy", {"env.CLAUDE_CODE_AUTO_COMPACT_WINDOW": '"183000"'}),
    ("claude-code", "conversational", {"env.CLAUDE_CODE_AUTO_COMPACT_WINDOW": '"200000"'}),
    ("codex", "tool-heavy", {"model_auto_compact_token_limit": "150000"}),
    ("codex", "conversational", {"model_auto_compact_token_limit": "170000"}),
    ("gemini", "tool-heavy", {"model.compressionThreshold": "0.75"}),
    ("gemini", "conversational", {"model.compressionThreshold": "0.85"}),
    (
        "opencode",
        "tool-heavy",
        {
            "compaction.prune": "true",
            "compaction.tail_turns": "1",
            "compaction.preserve_recent_tokens": "10000",
        },
    ),
    (
        "opencode",
        "conversational",
        {"compaction.tail_turns": "3", "compaction.preserve_recent_tokens": "20000"},
    ),
    (
        "pi",
        "tool-heavy",
        {"compaction.reserveTokens": "50000", "compaction.keepRecentTokens": "10000"},
    ),
    (
        "pi",
        "conversational",
        {"compaction.reserveTokens": "30000", "compaction.keepRecentTokens": "20000"},
    ),
]


@pytest.mark.parametrize(("host", "pattern", "expected"), HOSTS)
def test_every_host_is_advised_on_what_it_has(
    host: str, pattern: str, expected: dict[str, str]
) -> None:
    offer = find_adviser(host).offer(Found("", "/x", {}), figures_for(pattern, 200_000))
    assert {one.key: one.after for one in offer.settings} == expected
    assert offer.notes
    assert offer.consequences


@pytest.mark.parametrize(("window", "value", "at"), [(1_000_000, "783000", "750,000")])
def test_the_window_that_claude_code_takes_is_33_000_above_where_it_compacts(
    window: int, value: str, at: str
) -> None:
    adviser = find_adviser("claude-code")
    (one,) = adviser.offer(Found("", "/x", {}), figures_for("mixed", window)).settings
    assert one.after == f'"{value}"'
    assert f"once {at} of" in one.practice


@pytest.mark.parametrize("host", ["claude-code", "codex", "pi"])
def test_where_nobody_knows_the_window_nothing_that_depends_on_it_is_advised(host: str) -> None:
    offer = find_adviser(host).offer(Found("", "/x", {}), figures_for("mixed", 0))
    assert offer.settings == ()
    assert any("--window" in note for note in offer.notes)


@pytest.mark.parametrize(("window", "settings"), [(30_000, 0), (99_999, 0), (100_000, 1)])
def test_in_a_window_below_its_least_setting_claude_code_is_advised_nothing(
    window: int, settings: int
) -> None:
    offer = find_adviser("claude-code").offer(Found("", "/x", {}), figures_for("mixed", window))
    assert len(offer.settings) == settings
    assert any(f"a window of {window:,} tokens" in note for note in offer.notes) != settings


def test_a_file_that_says_something_else_after_an_edit_is_refused() -> None:
    before = {"a": {"x": 1}, "day": date(2026, 1, 1), "nan": math.nan}
    values: dict[tuple[str, ...], str] = {("a", "b"): "2", ("c", "d"): '"e"'}
    after = {**before, "a": {"x": 1, "b": 2}, "c": {"d": "e"}}
    refuse_other_changes(before, after, values)
    for other in ({**after, "a": {"b": 2}}, {**after, "y": 1}, {**after, "c": {}}, before):
        with pytest.raises(InvalidDocument, match="without changing something else"):
            refuse_other_changes(before, other, values)


def test_a_name_with_a_dot_in_it_is_no_setting() -> None:
    assert flat({"a.b": 1, "": {"a": {"b": 2}}, "a": {"c": 3}}) == [("a.c", "3")]


def test_every_adviser_is_known_by_its_name() -> None:
    assert [find_adviser(name).NAME for name in NAMES] == list(NAMES)
    with pytest.raises(InvalidInput, match="`emacs` is not a host"):
        find_adviser("emacs")
