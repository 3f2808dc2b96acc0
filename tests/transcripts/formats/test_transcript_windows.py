"""The window that a conversation is held against: one for all who ask, before and after."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from gitguard.compaction.budget import budget_of
from gitguard.compaction.compacting import Tools, compact
from gitguard.compaction.pruning import plan
from gitguard.compaction.with_session import Surroundings
from gitguard.guard import Guard
from gitguard.model.config.config import DEFAULTS
from gitguard.model.events import Transcript
from gitguard.model.redaction.redactor import Redactor
from gitguard.pressure.usage import usage_of
from gitguard.store.session.conversations import keep_conversation, read_conversation
from gitguard.store.session.current import current_session
from gitguard.transcripts import find_format
from gitguard.transcripts.formats.recognition import recognise
from tests.support import spoken
from tests.support.openclaw_sessions import LAY_OUT, MAIN
from tests.support.spoken import NOW, turns
from tests.support.transcript_command import CLAUDE_CODE, PAYLOADS, PI

OPUS = "claude-opus-5-5"
TOOLS = Tools(clock=lambda: NOW, random=os.urandom, redactor=Redactor())


def answered(path: Path, dialect: str, model: str = OPUS) -> Transcript:
    """A long conversation, whose answers name their model and count its tokens."""
    transcript = spoken.DIALECTS[dialect](path, turns(8))
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    for line in lines:
        message = line.get("message", {})
        if message.get("role") == "assistant":
            message["model"] = model
            message["usage"] = {"input": 9_000, "input_tokens": 9_000}
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return transcript


def test_what_the_host_reported_is_the_window_for_all(guard: Guard, tmp_path: Path) -> None:
    guard.ensure()
    workspace, session = guard.workspace, current_session(guard.workspace)
    transcript = spoken.pi(tmp_path / "talk.jsonl", turns(8))
    known = read_conversation(workspace, session, "one").replace(
        transcript=transcript.path, transcript_format="pi", window=1_000_000
    )
    with guard.store(session).lock():
        keep_conversation(workspace, session, "one", known)
    told = guard.transcripts
    assert told.usage(transcript).window == 1_000_000
    assert told.budget(transcript).budget.window == 1_000_000
    assert told.compact(transcript, Surroundings(os.urandom), dry_run=True).window == 1_000_000
    for dry_run in (True, False):
        assert told.prune(transcript, dry_run=dry_run).room == 500_000


@pytest.mark.parametrize("dialect", spoken.DIALECTS)
@pytest.mark.parametrize("models", [{}, {OPUS: 700_000}], ids=["table", "own"])
def test_a_compaction_does_not_forget_the_model(
    dialect: str, models: dict[str, int], tmp_path: Path
) -> None:
    config = DEFAULTS.replace(window=DEFAULTS.window.replace(models=models))
    transcript = answered(tmp_path / "talk.jsonl", dialect)
    before = usage_of(transcript, config)
    assert before.window == models.get(OPUS, 1_000_000)
    compact(transcript, config, TOOLS)
    after = usage_of(transcript, config)
    assert (after.tokens, after.compactions) == (None, 1)
    assert (after.window, after.window_source, after.model) == (
        before.window,
        before.window_source,
        before.model,
    )
    assert budget_of(transcript, config).budget.window == before.window
    assert plan(transcript, config, NOW).room == before.window // 2


def test_nor_does_what_a_host_writes_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "talk.jsonl"
    transcript = answered(path, "claude-code")
    mark: dict[str, Any] = {"type": "system", "subtype": "compact_boundary", "uuid": "m"}
    mark |= {"timestamp": "2026-11-21T20:09:06Z", "compactMetadata": {"postTokens": 5_000}}
    path.write_text(f"{path.read_text()}{json.dumps(mark)}\n")
    found = usage_of(transcript, DEFAULTS)
    assert (found.tokens, found.source, found.window) == (5_000, "compaction", 1_000_000)


def test_a_window_in_pis_own_settings_is_not_forgotten_either(tmp_path: Path) -> None:
    path = tmp_path / "agent" / "sessions" / "folder" / "t.jsonl"
    path.parent.mkdir(parents=True)
    lines = PI.read_bytes().splitlines(keepends=True)
    at = next(n for n, line in enumerate(lines) if b'"compaction"' in line)
    path.write_bytes(b"".join(lines[: at + 1]))
    models = {"providers": {"fake": {"models": [{"id": "fake-1", "contextWindow": 64_000}]}}}
    (tmp_path / "agent" / "models.json").write_text(json.dumps(models))
    found = usage_of(Transcript(str(path), "pi"), DEFAULTS)
    assert (found.tokens, found.window, found.window_source) == (None, 64_000, "host")


COMPACTED = [
    CLAUDE_CODE,
    PI,
    PAYLOADS / "codex/rollout.jsonl",
    PAYLOADS / "gemini/chat.jsonl",
    PAYLOADS / "opencode/opencode.db",
]


@pytest.mark.parametrize("path", COMPACTED, ids=lambda path: path.parent.name)
def test_behind_compactions_every_format_finds_an_answer(path: Path, tmp_path: Path) -> None:
    copy = tmp_path / path.name
    shutil.copy(path, copy)
    transcript = recognise(str(copy))
    found = find_format(transcript.format).newest_reading(transcript, across=True)
    assert found is not None
    assert found.model
    assert not found.after_compaction


def test_who_prunes_and_who_budgets_reserve_the_same(tmp_path: Path) -> None:
    session = LAY_OUT["2026.9.6"](tmp_path / "main")[MAIN]
    transcript = Transcript(str(tmp_path / "main"), "openclaw", session)
    config = DEFAULTS.replace(budget=DEFAULTS.budget.replace(history_share=1.0))
    room = plan(transcript, config, NOW).room
    assert room == budget_of(transcript, config).budget.history == 30_000
