"""A window's parts, and what of a conversation they are held against."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from hypothesis import given
from hypothesis import strategies as st

from gitguard.cli.app import app
from gitguard.compaction.budget import budget_of
from gitguard.errors import InvalidConfig
from gitguard.model.config.config import DEFAULTS, read_config
from gitguard.model.config.transcripts import BudgetConfig
from gitguard.model.conversation import HEADER, MESSAGE, TranscriptEntry
from gitguard.model.events import Transcript
from gitguard.transcripts.fitting.budget import Budget, caps_reserve, divide
from tests.support.openclaw_sessions import LAY_OUT, MAIN
from tests.support.spoken import DIALECTS, Said

USUAL = BudgetConfig()
TALK: list[Said] = [
    ("user", "a" * 400),
    ("call", "1", "bash"),
    ("result", "1", "b" * 4_000),
    ("agent", "c" * 40),
    ("user", "d" * 4),
    ("agent", "e" * 8),
]


def test_a_window_is_divided_into_reserve_history_and_working_space() -> None:
    assert divide(200_000, USUAL) == Budget(200_000, 20_000, 100_000, 80_000, 120_000)


def test_the_margin_is_applied_once_so_the_safeguard_budget_is_120_000() -> None:
    """Share times margin, and no estimate is multiplied by the margin again."""
    assert divide(200_000, USUAL).safeguard == 200_000 * 0.5 * 1.2 == 120_000


@pytest.mark.parametrize(("window", "reserve"), [(200_000, 20_000), (40_000, 10_000)])
def test_a_newer_version_reserves_at_most_a_fourth(window: int, reserve: int) -> None:
    assert divide(window, USUAL, capped=True).reserve == reserve
    assert divide(window, USUAL).reserve == 20_000


@pytest.mark.parametrize("window", [16_000, 20_000, 25_001, 32_000, 39_999, 40_000, 50_000])
@pytest.mark.parametrize("capped", [False, True])
def test_the_history_of_a_small_window_has_its_share_of_it(window: int, capped: bool) -> None:
    parts = divide(window, USUAL, capped=capped)
    assert parts.history == round(window * 0.5)
    assert 0 < parts.reserve <= 20_000


def test_a_large_share_of_history_leaves_the_reserve_a_fourth_of_the_window() -> None:
    config = BudgetConfig(20_000, 0.95, 1.2, {})
    assert divide(200_000, config).reserve == 20_000
    assert (divide(16_000, config).reserve, divide(16_000, config).history) == (4_000, 12_000)


def test_the_version_of_the_first_entry_tells_which_reserve_it_is() -> None:
    def first(raw: bytes, kind: str = HEADER) -> TranscriptEntry:
        return TranscriptEntry(0, 1, raw, kind)

    assert caps_reserve(first(b'{"type":"session","version":4}'))
    assert not caps_reserve(first(b'{"type":"session","version":3}'))
    assert not caps_reserve(first(b'{"version":4}', MESSAGE))
    assert not caps_reserve(None)
    for odd in (b"", b"[]", b'{"version":"4"}', b'{"version":true}', b"[" * 100_000, b"\xff"):
        assert not caps_reserve(first(odd))


configs = st.builds(
    BudgetConfig, st.integers(0, 10**6), st.floats(0, 1), st.floats(1, 2), st.just({})
)


@given(st.integers(16_000, 10**8), configs, st.booleans())
def test_the_parts_always_add_up_to_the_window(
    window: int, config: BudgetConfig, capped: bool
) -> None:
    parts = divide(window, config, capped=capped)
    assert parts.reserve + parts.history + parts.working == window
    assert min(parts.reserve, parts.history, parts.working) >= 0
    assert parts.history <= parts.safeguard <= window - parts.reserve


@pytest.mark.parametrize("margin", [0.9, 2.1, -1])
def test_a_margin_that_is_none_is_refused(margin: float) -> None:
    with pytest.raises(InvalidConfig, match="safety_margin"):
        read_config({"budget": {"safety_margin": margin}}, what="config")


@pytest.mark.parametrize(("version", "reserve"), [("2026.3.13", 20_000), ("2026.9.6", 10_000)])
def test_a_recorded_conversations_version_says_what_is_reserved(
    tmp_path: Path, version: str, reserve: int
) -> None:
    session = LAY_OUT[version](tmp_path / "main")[MAIN]
    standing = budget_of(Transcript(str(tmp_path / "main"), "openclaw", session), DEFAULTS)
    assert (standing.budget.window, standing.budget.reserve) == (40_000, reserve)
    assert standing.usage.tokens == 9_050
    assert standing.turns > 0


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_conversation_is_held_against_its_budget(tmp_path: Path, dialect: str) -> None:
    transcript = DIALECTS[dialect](tmp_path / "talk.jsonl", TALK)
    standing = budget_of(transcript, DEFAULTS, turns=1)
    assert standing.budget == divide(200_000, USUAL)
    assert standing.turns == 2
    assert standing.history == pytest.approx((400 + 4_000 + 40 + 4 + 8) / 4, abs=8)
    assert standing.limited_turns == 1
    assert standing.limited_history == 3
    assert standing.over_history == standing.over_safeguard == 0


def test_the_window_is_found_and_bounded_as_everywhere(tmp_path: Path) -> None:
    transcript = DIALECTS["pi"](tmp_path / "talk.jsonl", TALK)

    def window(model: str = "", **settings: Any) -> tuple[int, str, str]:
        config = DEFAULTS.replace(window=DEFAULTS.window.replace(**settings))
        found = budget_of(transcript, config, model=model)
        return found.budget.window, found.usage.window_source, found.warning

    assert window() == (200_000, "assumed", "")
    assert window("claude-opus-5-5")[:2] == (1_000_000, "model")
    assert window("claude-opus-5-5", models={"claude-opus-5-5": 64_000})[:2] == (64_000, "config")
    small, source, warning = window(cap=20_000)
    assert (small, source) == (20_000, "assumed, cap")
    assert "only 20,000 tokens" in warning
    assert window(cap=15_999)[0] == 15_999


def test_a_history_over_its_share_says_by_how_much(tmp_path: Path) -> None:
    transcript = DIALECTS["pi"](tmp_path / "talk.jsonl", [("user", "x" * 600_000)])
    standing = budget_of(transcript, DEFAULTS)
    assert (standing.over_history, standing.over_safeguard) == (50_000, 30_000)


def test_our_limit_counts_before_a_hosts_of_the_same_name(tmp_path: Path) -> None:
    transcript = DIALECTS["pi"](tmp_path / "talk.jsonl", TALK)
    channels = {"telegram": {"dmHistoryLimit": 2, "historyLimit": 9}}
    config = read_config({"budget": {"history_limits": {"telegram.dms": 1}}}, what="config")

    def turns(user_config: bool, key: str) -> int | None:
        chosen = config if user_config else DEFAULTS
        limit = budget_of(transcript, chosen, session_key=key, channels=channels).limit
        return limit.turns if limit else None

    assert turns(False, "agent:a:telegram:dm:1:thread:2") == 2
    assert turns(True, "agent:a:telegram:dm:1:thread:2") == 1
    assert turns(True, "agent:a:telegram:group:1") == 9
    assert turns(True, "agent:a:main") is None


def test_a_repository_does_not_say_how_much_counts(repo: Path, tmp_path: Path) -> None:
    ran(repo, "ensure")
    (repo / ".gitguard" / "config.yaml").write_text("budget: {reserve_tokens: 1}\n")
    transcript = DIALECTS["pi"](tmp_path / "talk.jsonl", TALK)
    assert "reserve: 20,000" in ran(repo, "transcript", "budget", transcript.path).output


def ran(root: Path, *arguments: str, stdin: str | None = None) -> Result:
    return CliRunner().invoke(app, ["--root", str(root), *arguments], input=stdin)


def test_the_command_shows_the_split(repo: Path, tmp_path: Path) -> None:
    transcript = DIALECTS["claude-code"](tmp_path / "talk.jsonl", TALK)
    said = ran(repo, "transcript", "budget", transcript.path, "--turns", "1")
    assert said.exit_code == 0, said.output
    for line in (
        "Window: 200,000 tokens (assumed: set `window.default` in your config.yaml)",
        "  reserve: 20,000 for system prompt, tools and context files",
        "  history: 100,000",
        "  working space: 80,000",
        "Safeguard: a compaction cuts the history down to 120,000",
        "Limit: the last 1 turn (given), which leaves about 3 tokens in 1 turn",
    ):
        assert line in said.output
    key = ("--session-key", "agent:a:telegram:dm:1", "--channels", "-", "--json")
    told = ran(
        repo,
        *("transcript", "budget", transcript.path, *key),
        stdin=json.dumps({"telegram": {"dmHistoryLimit": 1}}),
    )
    document = json.loads(told.output)
    assert document["budget"]["safeguard"] == 120_000
    assert document["limit"] == {"turns": 1, "source": "telegram.dms"}


def test_without_a_conversation_it_says_what_to_name(repo: Path) -> None:
    ran(repo, "ensure")
    said = ran(repo, "transcript", "budget", "--json")
    error = json.loads(said.output) if said.output.startswith("{") else {}
    assert said.exit_code or error
    assert "InvalidInput" in repr(said.exception) or "no conversation" in said.output
