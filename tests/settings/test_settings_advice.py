"""What is advised for a way of working, at its boundaries, and what each host has of it."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitguard.errors import InvalidInput
from gitguard.guard import Guard
from gitguard.hosts import ADVICE, names
from gitguard.hosts.adviser import AdviserAccess, HostConfiguration, Offer, find_adviser
from gitguard.hosts.openclaw import advice
from gitguard.hosts.settings_files import flat
from gitguard.model.host_settings import Figures, Setting
from gitguard.profile.patterns import PATTERNS
from gitguard.settings.advice import AdviceQuestion, Desk, advise
from gitguard.settings.figures import Halting, figures_for, judge
from gitguard.store.disk.program import ProgramOutcome

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
        ("tool-heavy", 200_000, 60_000),
        ("conversational", 1_000_000, 150_000),
        ("tool-heavy", 1_000_000, 300_000),
        ("mixed", 1_000_000, 250_000),
        ("conversational", 128_000, 19_200),
        ("mixed", 128_000, 32_000),
        ("conversational", 40_000, 6_000),
        ("tool-heavy", 40_000, 12_000),
        ("tool-heavy", 199_999, 59_999),
        ("mixed", 200_001, 50_000),
        ("bursty", 1, 0),
    ],
)
def test_the_tokens_of_the_table_are_scaled_by_the_window(
    pattern: str, window: int, free: int
) -> None:
    assert figures_for(pattern, window).free == free


@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("window", [0, 1, 3, 4, 5, 39_999, 200_000, 1_048_576])
def test_no_window_is_too_small_or_large(pattern: str, window: int) -> None:
    for halting in (None, USUAL):
        found = figures_for(pattern, window, halting=halting, hours=3)
        assert 0 <= found.free <= window // 2
        assert 0 <= found.keep_recent <= min(window // 10 + 1, 20_000)


def test_what_decided_is_said() -> None:
    assert figures_for("mixed", 200_000).why_free == ""
    assert figures_for("tool-heavy", 200_000).why_free == (
        "that is more than a quarter of the window: if the conversation is compacted too often, "
        "50,000 tokens are enough"
    )
    assert "halt the agent first" in figures_for("conversational", 200_000, halting=USUAL).why_free
    assert "hours" in figures_for("conversational", 200_000, hours=2.5).why_free


@pytest.mark.parametrize(
    ("halting", "free"),
    [
        (None, 30_000),
        (USUAL, 35_000),  # 82.5 %, between checkpoint and halt
        (Halting(0.85, 0.95), 30_000),  # 90 % comes later than the 85 % of the table
        (Halting(0.60, 0.70), 70_000),
        (Halting(0.70, 0.80), 50_000),
        (Halting(0.80, 0.75), 55_000),  # the halt comes first: 2.5 % of the window before it
        (Halting(0.20, 0.30), 100_000),  # more than half is never kept free
    ],
)
def test_the_host_compresses_before_gitguard_halts(halting: Halting | None, free: int) -> None:
    assert figures_for("conversational", 200_000, halting=halting).free == free


@pytest.mark.parametrize(("hours", "free"), [(0, 30_000), (2.0, 30_000), (2.01, 50_000)])
def test_over_two_hours_the_trigger_is_higher(hours: float, free: int) -> None:
    assert figures_for("conversational", 200_000, hours=hours).free == free


@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("window", [128_000, 200_000, 1_000_000])
def test_hours_matter_for_every_pattern(pattern: str, window: int) -> None:
    short, long = (figures_for(pattern, window, hours=hours) for hours in (1, 3))
    assert long.free > short.free
    assert "hours" in long.why_free


def test_what_equals_the_default_of_a_host_is_not_advised() -> None:
    adviser, window = find_adviser("claude-code"), 100_000
    figures = figures_for("tool-heavy", window, hours=3).replace(free=33_000)
    (one,) = adviser.offer(HostConfiguration("", "/x", {}), figures).settings
    assert (one.after, one.is_right) == ('"100000"', True)


def test_a_tool_that_is_named_twice_is_spared_once() -> None:
    assert figures_for("mixed", 0, spared=("b", "a", "b")).spared == ("b", "a")


@pytest.mark.parametrize(
    ("pattern", "said"), [("bursty", "exchange stays"), ("mixed", "2 exchanges stay")]
)
def test_one_exchange_is_no_plural(pattern: str, said: str) -> None:
    assert figures_for(pattern, 0).protected == f"the newest {said}"


def test_another_pattern_is_refused_with_those_there_are() -> None:
    with pytest.raises(InvalidInput, match="`calm` is not a pattern") as refused:
        figures_for("calm", 200_000)
    assert "tool-heavy" in refused.value.hint


def test_a_default_that_fits_is_right_and_what_is_set_counts_before_it() -> None:
    unset = Setting("a", "A", "", "3", "it is", "3")
    verdict = judge((unset, unset.replace(before="4"), unset.replace(before="3", default="")))
    assert [one.before for one in verdict.right] == ["", "3"]
    assert [one.before for one in verdict.changes] == ["4"]


@pytest.mark.parametrize(
    ("question", "said"),
    [
        (AdviceQuestion(hours=math.nan), "`--hours nan` is not a number of hours"),
        (AdviceQuestion(hours=math.inf), "`--hours inf` is not a number of hours"),
        (AdviceQuestion(hours=-0.1), "`--hours -0.1` is not a number of hours"),
        (AdviceQuestion(window=-1), "`--window -1` is not a usable window"),
        (AdviceQuestion(window=15_999), "`--window 15999` is not a usable window"),
        (AdviceQuestion(window=100_000_001), "`--window 100000001` is not a usable window"),
        (AdviceQuestion(spared=("browser", " ")), "is empty"),
    ],
)
def test_a_question_that_means_nothing_is_refused(
    guard: Guard, question: AdviceQuestion, said: str
) -> None:
    desk = Desk(guard.workspace.places, guard.config, guard.clock)
    with pytest.raises(InvalidInput, match=said):
        advise(desk, find_adviser("pi"), question)


# --- OpenClaw by version


def offered(version: str, figures: Figures, **standing: str) -> dict[str, Setting]:
    named = {f"agents.defaults.{key.replace('__', '.')}": text for key, text in standing.items()}
    found = HostConfiguration(version, "/x", named, figures.window)
    settings = advice.offer(found, figures).settings
    return {one.key.removeprefix("agents.defaults."): one for one in settings}


@pytest.mark.parametrize("version", [OLDER, "2026.7.1"])
@pytest.mark.parametrize(
    ("pattern", "floor", "ttl", "protect", "trim"),
    [
        ("tool-heavy", "60000", '"1m"', "1", "10000"),
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
    found = HostConfiguration(version, "/x", {})
    assert any(tip in note for note in advice.offer(found, figures).notes)
    done = found.replace(set_values={"agents.defaults.contextPruning.tools.deny": '["browser"]'})
    assert not any(tip in note for note in advice.offer(done, figures).notes)


def test_without_a_window_nothing_is_said_in_tokens_of_it() -> None:
    for version in (OLDER, NEWER):
        found = offered(version, figures_for("tool-heavy", 0))
        assert not {"compaction.reserveTokensFloor", "compaction.keepRecentTokens"} & set(found)


# --- The others


HOSTS: list[tuple[str, str, dict[str, Any]]] = [
    ("claude-code", "tool-heavy", {"env.CLAUDE_CODE_AUTO_COMPACT_WINDOW": '"173000"'}),
    ("claude-code", "conversational", {"env.CLAUDE_CODE_AUTO_COMPACT_WINDOW": '"200000"'}),
    ("codex", "tool-heavy", {"model_auto_compact_token_limit": "140000"}),
    ("codex", "conversational", {"model_auto_compact_token_limit": "170000"}),
    ("gemini", "tool-heavy", {"model.compressionThreshold": "0.7"}),
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
        {"compaction.reserveTokens": "60000", "compaction.keepRecentTokens": "10000"},
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
    offer = find_adviser(host).offer(HostConfiguration("", "/x", {}), figures_for(pattern, 200_000))
    assert {one.key: one.after for one in offer.settings} == expected
    assert offer.notes
    assert offer.consequences


@pytest.mark.parametrize(("window", "value", "at"), [(1_000_000, "783000", "750,000")])
def test_the_window_that_claude_code_takes_is_33_000_above_where_it_compacts(
    window: int, value: str, at: str
) -> None:
    adviser = find_adviser("claude-code")
    (one,) = adviser.offer(HostConfiguration("", "/x", {}), figures_for("mixed", window)).settings
    assert one.after == f'"{value}"'
    assert f"once {at} of" in one.practice


@pytest.mark.parametrize("host", ["claude-code", "codex", "pi"])
def test_where_nobody_knows_the_window_nothing_that_depends_on_it_is_advised(host: str) -> None:
    offer = find_adviser(host).offer(HostConfiguration("", "/x", {}), figures_for("mixed", 0))
    assert offer.settings == ()
    assert any("--window" in note for note in offer.notes)


@pytest.mark.parametrize(("window", "settings"), [(30_000, 0), (131_999, 0), (132_000, 1)])
def test_where_claude_code_would_keep_more_free_than_suits_it_is_advised_nothing(
    window: int, settings: int
) -> None:
    offer = find_adviser("claude-code").offer(
        HostConfiguration("", "/x", {}), figures_for("mixed", window)
    )
    assert len(offer.settings) == settings
    assert any(f"a window of {window:,} tokens" in note for note in offer.notes) != settings


def kept_free(host: str, offer: Offer, window: int) -> int:
    """Return how many tokens stay free by the settings that are advised, none where none is."""
    values: dict[str, Any] = {
        one.key.rpartition(".")[2]: json.loads(one.after) for one in offer.settings
    }
    match host:
        case "claude-code" if values:
            return window - int(values["CLAUDE_CODE_AUTO_COMPACT_WINDOW"]) + 33_000
        case "codex":
            return window - int(values["model_auto_compact_token_limit"])
        case "gemini":
            return int(window * (1 - values["compressionThreshold"]))
        case "pi":
            return int(values["reserveTokens"])
        case "openclaw":
            return int(max(values["reserveTokensFloor"], values.get("reserveTokens", 16_384)))
    return 0


@given(
    host=st.sampled_from(names(ADVICE)),
    pattern=st.sampled_from(PATTERNS),
    window=st.integers(8_000, 1_048_576),
    hours=st.sampled_from([0.0, 3.0]),
    halting=st.sampled_from([None, USUAL, Halting(0.60, 0.70)]),
)
def test_no_host_is_advised_to_keep_more_free_than_the_figures_or_a_quarter(
    host: str, pattern: str, window: int, hours: float, halting: Halting | None
) -> None:
    figures = figures_for(pattern, window, halting=halting, hours=hours)
    found = HostConfiguration(OLDER if host == "openclaw" else "", "/x", {}, window)
    free = kept_free(host, find_adviser(host).offer(found, figures), window)
    rounding = 0.005 if host == "gemini" else 0  # its setting is a share with two digits
    assert free <= max(figures.free, window // 4) + window * rounding + 1


# --- What else decides


def looked_at(
    host: str,
    tmp_path: Path,
    files: Mapping[str, object],
    answers: Mapping[str, object] | None = None,
    environment: Mapping[str, str] | None = None,
) -> HostConfiguration:
    """Let an adviser look at files of a home and a project, and at what the host's command says."""
    for name, document in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(document), encoding="utf-8")

    def ask(arguments: tuple[str, ...]) -> ProgramOutcome:
        said = (answers or {}).get(" ".join(arguments), "1.0.0")
        return ProgramOutcome(0, said if isinstance(said, str) else json.dumps(said), "")

    def read(path: str) -> bytes | None:
        return Path(path).read_bytes() if Path(path).exists() else None

    home, project = str(tmp_path / "home"), str(tmp_path / "repo")
    return find_adviser(host).read_configuration(
        AdviserAccess(ask, read, environment or {}, home, project)
    )


PERSONAL, SHARED = "repo/.claude/settings.local.json", "repo/.claude/settings.json"
USER, OWN_FILE = "home/.claude/settings.json", "home/.claude.json"
NO_AUTO = {"DISABLE_AUTO_COMPACT": "1"}
PERCENT = "CLAUDE_AUTOCOMPACT_PCT_OVERRIDE"


@pytest.mark.parametrize(
    ("files", "environment", "switch"),
    [
        ({}, {}, ""),
        ({}, NO_AUTO, "DISABLE_AUTO_COMPACT"),
        ({}, {"DISABLE_COMPACT": " Yes "}, "DISABLE_COMPACT"),
        ({}, {"DISABLE_AUTO_COMPACT": "0"}, ""),
        ({}, {"DISABLE_AUTO_COMPACT": "2"}, ""),
        ({PERSONAL: {"env": NO_AUTO}}, {}, "DISABLE_AUTO_COMPACT"),
        ({USER: {"env": {"DISABLE_AUTO_COMPACT": True}}}, {}, "DISABLE_AUTO_COMPACT"),
        ({PERSONAL: {"env": {"DISABLE_AUTO_COMPACT": "0"}}}, NO_AUTO, ""),
        ({USER: {"autoCompactEnabled": False}}, {}, "autoCompactEnabled"),
        ({SHARED: {"autoCompactEnabled": False}}, {}, "autoCompactEnabled"),
        ({USER: {"autoCompactEnabled": False}, PERSONAL: {"autoCompactEnabled": True}}, {}, ""),
        ({OWN_FILE: {"autoCompactEnabled": False}}, {}, "autoCompactEnabled"),
        ({OWN_FILE: {"autoCompactEnabled": False}, USER: {"autoCompactEnabled": True}}, {}, ""),
        ({OWN_FILE: {"env": NO_AUTO}}, {}, "DISABLE_AUTO_COMPACT"),
        ({OWN_FILE: ["no object"]}, {}, ""),
    ],
)
def test_claude_code_is_advised_nothing_where_it_does_not_compact_by_itself(
    tmp_path: Path, files: Mapping[str, object], environment: dict[str, str], switch: str
) -> None:
    found = looked_at("claude-code", tmp_path, files, environment=environment)
    offer = find_adviser("claude-code").offer(found, figures_for("mixed", 200_000))
    assert len(offer.settings) == (not switch)
    assert any(f"does not compact by itself (`{switch}`)" in n for n in offer.notes) == bool(switch)


@pytest.mark.parametrize(
    ("files", "environment", "model"),
    [
        ({USER: {"model": "a"}, SHARED: {"model": "b"}}, {}, "b"),
        ({PERSONAL: {"model": "a"}}, {"ANTHROPIC_MODEL": "b"}, "b"),
        (
            {PERSONAL: {"model": "a", "env": {"ANTHROPIC_MODEL": "c"}}},
            {"ANTHROPIC_MODEL": "b"},
            "c",
        ),
        ({PERSONAL: {"model": "a"}}, {"ANTHROPIC_MODEL": ""}, "a"),
    ],
)
def test_the_model_is_the_one_that_claude_code_works_with(
    tmp_path: Path, files: Mapping[str, object], environment: dict[str, str], model: str
) -> None:
    assert looked_at("claude-code", tmp_path, files, environment=environment).model == model


@pytest.mark.parametrize(
    ("percent", "at"),
    [("50", "81,500"), ("95", "150,000"), ("0", "150,000"), ("inf", "150,000"), ("nan", "150,000")],
)
def test_a_percentage_that_makes_claude_code_compact_earlier_is_in_what_is_said(
    tmp_path: Path, percent: str, at: str
) -> None:
    found = looked_at("claude-code", tmp_path, {}, environment={PERCENT: percent})
    (one,) = find_adviser("claude-code").offer(found, figures_for("mixed", 200_000)).settings
    assert f"once {at} of" in one.practice
    assert ("PCT_OVERRIDE" in one.practice) == (at == "81,500")


@pytest.mark.parametrize(
    ("most", "window", "value", "at"),
    [
        ("8000", 200_000, 171_000, "150,000"),
        ("64000", 200_000, 183_000, "150,000"),
        ("many", 200_000, 183_000, "150,000"),
        ("0", 200_000, 183_000, "150,000"),
        ("8000", 100_000, 100_000, "79,000"),  # the least that the host takes
        ("8000", 99_999, 0, ""),
    ],
)
def test_what_claude_code_keeps_for_an_answer_is_part_of_what_it_keeps_free(
    tmp_path: Path, most: str, window: int, value: int, at: str
) -> None:
    environment = {"CLAUDE_CODE_MAX_OUTPUT_TOKENS": most}
    found = looked_at("claude-code", tmp_path, {}, environment=environment)
    settings = find_adviser("claude-code").offer(found, figures_for("mixed", window)).settings
    assert [one.after for one in settings] == ([f'"{value}"'] if value else [])
    assert all(f"once {at} of" in one.practice for one in settings)


@pytest.mark.parametrize(
    ("window", "why"), [(100_000, "takes no smaller setting"), (200_000, "a quarter of the window")]
)
def test_what_decided_when_claude_code_compacts_is_said(
    tmp_path: Path, window: int, why: str
) -> None:
    found = looked_at("claude-code", tmp_path, {}, None, {"CLAUDE_CODE_MAX_OUTPUT_TOKENS": "8000"})
    (one,) = find_adviser("claude-code").offer(found, figures_for("tool-heavy", window)).settings
    assert why in one.practice.partition("; ")[2]


def test_settings_are_looked_for_in_the_folder_that_the_host_is_given(tmp_path: Path) -> None:
    other = str(tmp_path / "other")
    files = {
        "other/settings.json": {"model": "m"},
        "other/.claude.json": {"autoCompactEnabled": False},
        USER: {"model": "n"},
        OWN_FILE: {},
    }
    found = looked_at("claude-code", tmp_path, files, environment={"CLAUDE_CONFIG_DIR": other})
    assert (found.model, found.set_values["autoCompactEnabled"]) == ("m", "false")
    for named in (other, "~/other"):
        found = looked_at("pi", tmp_path, {}, environment={"PI_CODING_AGENT_DIR": named})
        assert found.file == f"{named.replace('~', f'{tmp_path}/home')}/settings.json"
    found = looked_at("gemini", tmp_path, {}, environment={"GEMINI_CLI_HOME": other})
    assert found.file == f"{other}/.gemini/settings.json"


def test_gemini_compresses_at_a_share_of_the_window_that_it_knows(tmp_path: Path) -> None:
    found = looked_at("gemini", tmp_path, {})
    offer = find_adviser("gemini").offer(found, figures_for("mixed", found.window))
    assert "once 786,432 of 1,048,576 tokens are used" in offer.settings[0].practice
    files = {"home/.gemini/settings.json": {"model": {"name": "gemma-4-31b-it"}}}
    assert looked_at("gemini", tmp_path, files).window == 256_000


@pytest.mark.parametrize(("value", "noted"), [("1", 1), ("TRUE", 1), ("0", 0), ("yes", 0)])
def test_what_switches_clearing_off_in_opencode_is_said(
    tmp_path: Path, value: str, noted: int
) -> None:
    paths = {"debug paths": f"config {tmp_path}/home"}
    found = looked_at("opencode", tmp_path, {}, paths, {"OPENCODE_DISABLE_PRUNE": value})
    offer = find_adviser("opencode").offer(found, figures_for("mixed", 0))
    assert sum("OPENCODE_DISABLE_PRUNE" in note for note in offer.notes) == noted


def test_of_opencodes_files_the_last_that_counts_is_the_one_to_change(tmp_path: Path) -> None:
    names = ["home/config/opencode.json", "named.json", "repo/opencode.json"]
    names += [f"{folder}/opencode.jsonc" for folder in ("repo/.opencode", "home/.opencode", "last")]
    files: dict[str, object] = {}
    paths = {"debug paths": f"config {tmp_path}/home/config"}
    environment = {
        "OPENCODE_CONFIG": str(tmp_path / "named.json"),
        "OPENCODE_CONFIG_DIR": str(tmp_path / "last"),
    }
    for number, name in enumerate(names):
        files[name] = {"compaction": {"tail_turns": number}}
        found = looked_at("opencode", tmp_path, files, paths, environment)
        assert found.file == str(tmp_path / name)
        assert found.set_values["compaction.tail_turns"] == str(number)


def test_pi_that_does_not_compact_by_itself_is_not_advised_when(tmp_path: Path) -> None:
    files = {"home/.pi/agent/settings.json": {"compaction": {"enabled": False}}}
    found = looked_at("pi", tmp_path, files)
    offer = find_adviser("pi").offer(found, figures_for("mixed", 200_000))
    assert [one.key for one in offer.settings] == ["compaction.keepRecentTokens"]
    assert "does not compact by itself" in offer.notes[0]


def test_what_else_decides_when_codex_compacts_is_said() -> None:
    standing = {"model_auto_compact_token_limit_scope": '"body_after_prefix"'}
    offer = find_adviser("codex").offer(
        HostConfiguration("", "/x", standing), figures_for("mixed", 100_000)
    )
    assert any("model_auto_compact_token_limit_scope" in note for note in offer.notes)


@pytest.mark.parametrize(
    ("text", "noted"),
    [("model_auto_compact_token_limit = 5", True), ('model = "m"', False), ("= no toml", False)],
)
def test_a_limit_that_the_project_has_for_codex_is_said(
    tmp_path: Path, text: str, noted: bool
) -> None:
    path = tmp_path / "repo/.codex/config.toml"
    path.parent.mkdir(parents=True)
    path.write_text(text, encoding="utf-8")
    checks = {"checks": {"config.load": {"details": {"config.toml": str(tmp_path / "c.toml")}}}}
    found = looked_at("codex", tmp_path, {}, {"doctor --json": checks, "debug models": {}})
    notes = find_adviser("codex").offer(found, figures_for("mixed", 100_000)).notes
    assert any(f"`{path}` has a" in note for note in notes) == noted


# --- OpenClaw's agents


def openclaw_with(tmp_path: Path, agents: dict[str, object], version: str) -> tuple[str, ...]:
    """Return the exceptions where these agents are set, in a window of 200,000."""
    windows = {"a/b": 200_000, "a/small": 40_000, "a/same": 200_000}
    models: list[dict[str, object]] = [
        {"key": key, "contextWindow": window} for key, window in windows.items()
    ]
    models[0]["tags"] = ["default"]
    answers = {
        "--version": f"OpenClaw {version}",
        "config validate --json": {"valid": True, "path": str(tmp_path / "openclaw.json")},
        "config get agents --json": agents,
        "models list --json": {"models": models},
    }
    return looked_at("openclaw", tmp_path, {}, answers).exceptions


@pytest.mark.parametrize(
    ("agent", "said"),
    [
        ({}, ""),
        ({"model": "a/same"}, ""),
        ({"model": "a/small"}, "the agent `ops` has a window of 40,000 tokens"),
        ({"model": {"primary": "a/small"}}, "the agent `ops` has a window of 40,000 tokens"),
        ({"model": "a/unlisted"}, "the agent `ops` has a model of its own, `a/unlisted`"),
        ({"contextTokens": 50_000}, "the agent `ops` has a window of 50,000 tokens"),
        ({"contextTokens": 900_000}, ""),
        ({"runtime": {"type": "acp"}}, "of the agent `ops` in another program (`runtime`)"),
        ({"runtime": {"type": "embedded"}}, ""),
    ],
)
def test_agents_for_which_the_same_numbers_mean_something_else_are_named(
    tmp_path: Path, agent: dict[str, object], said: str
) -> None:
    older = openclaw_with(tmp_path, {"list": [{"id": "main"}, {"id": "ops", **agent}]}, OLDER)
    newer = openclaw_with(tmp_path, {"entries": {"main": {}, "ops": agent}}, NEWER)
    assert older == newer
    assert len(older) == bool(said)
    assert said in "".join(older)
    figures = figures_for("mixed", 200_000)
    for version in (OLDER, NEWER):
        found = HostConfiguration(version, "/x", {}, 200_000, exceptions=older)
        assert set(older) <= set(advice.offer(found, figures).notes)


@pytest.mark.parametrize(
    ("window", "standing", "advised"),
    [
        (40_000, {}, "10000"),  # 16,384 would be kept free
        (65_532, {}, "16383"),
        (65_536, {}, None),
        (200_000, {"compaction__reserveTokens": "80000"}, "50000"),
        (200_000, {"compaction__reserveTokens": "50000"}, None),
        (40_000, {"compaction__reserveTokens": "9000"}, None),
    ],
)
def test_what_older_versions_keep_free_besides_the_floor_is_not_more_than_it(
    window: int, standing: dict[str, str], advised: str | None
) -> None:
    found = offered(OLDER, figures_for("mixed", window), **standing)
    besides = found.get("compaction.reserveTokens")
    assert (besides.after if besides else None) == advised


def test_where_openclaw_does_not_compact_by_itself_it_is_not_said_when_it_does() -> None:
    found = HostConfiguration(NEWER, "/x", {"agents.defaults.compaction.enabled": "false"}, 200_000)
    notes = advice.offer(found, figures_for("mixed", 200_000)).notes
    assert any("does not compact by itself" in note for note in notes)
    assert not any("% of the window of" in note for note in notes)


@pytest.mark.parametrize(
    ("window", "critical", "noted"),
    [(200_000, 0.85, True), (200_000, 0.95, False), (100_000, 0.80, True), (100_000, 0.85, False)],
)
def test_where_gitguard_halts_before_openclaw_compacts_the_report_says_so(
    window: int, critical: float, noted: bool
) -> None:
    figures = figures_for("mixed", window, halting=Halting(0.6, critical))
    notes = advice.offer(HostConfiguration(NEWER, "/x", {}, window), figures).notes
    assert any("gitguard halts the agent before that" in note for note in notes) == noted
    figures = figures_for("mixed", window)
    notes = advice.offer(HostConfiguration(NEWER, "/x", {}, window), figures).notes
    assert not any("halts" in note for note in notes)


@pytest.mark.parametrize("host", names(ADVICE))
def test_advice_and_rollback_say_alike_when_a_change_counts(host: str) -> None:
    found = HostConfiguration(OLDER if host == "openclaw" else "", "/x", {}, 200_000)
    adviser = find_adviser(host)
    offer = adviser.offer(found, figures_for("tool-heavy", 200_000))
    assert offer.consequences[0] == adviser.UNDO.counts


def test_a_name_with_a_dot_in_it_is_no_setting() -> None:
    assert flat({"a.b": 1, "": {"a": {"b": 2}}, "a": {"c": 3}}) == [("a.c", "3")]


def test_every_adviser_is_known_by_its_name() -> None:
    assert [find_adviser(name).NAME for name in names(ADVICE)] == list(names(ADVICE))
    with pytest.raises(InvalidInput, match="`emacs` is not a host"):
        find_adviser("emacs")
