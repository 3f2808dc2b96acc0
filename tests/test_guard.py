"""The front door does for a program what the command line does for people."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from gitguard.errors import InvalidInput, NotInitialised
from gitguard.guard import Guard
from gitguard.model.config import DEFAULTS
from gitguard.model.redaction import Redactor
from gitguard.model.session import Session
from gitguard.transcripts.exporting import Wishes
from gitguard.usecases.compacting import Tools
from gitguard.usecases.transcripts import Transcripts

from . import written_conversations as written
from .conftest import Clock


@pytest.fixture
def chat(tmp_path: Path) -> Path:
    """A conversation of five turns, which lacks a result."""
    parts: list[written.Part] = [written.user("Port the parser"), written.agent("Yes.", "call_1")]
    for number in range(4):
        parts += [written.user(f"Step {number}"), written.agent(f"Done with step {number}.")]
    return written.write(tmp_path / "chat.jsonl", written.claude_code(parts))


def test_a_session_is_closed_shown_and_brought_back(guard: Guard) -> None:
    guard.ensure()
    guard.note({"goal": "Ship it"})
    closed = guard.close_session()
    assert guard.archived_sessions() == [closed]
    assert guard.show_session("main").archived == (closed,)
    assert guard.reopen_session("main").state.goal == "Ship it"
    assert guard.archived_sessions() == []
    shown = guard.show_session()
    assert (shown.session, shown.archived, shown.standing) == ("main", (), "ours")
    assert guard.session_keys() == {"main": "main"}
    with pytest.raises(NotInitialised):
        guard.show_session("nobody")
    with pytest.raises(NotInitialised):
        guard.reopen_session("main")


def test_maintenance_is_looked_at_and_run(guard: Guard) -> None:
    guard.ensure()
    assert guard.maintenance().look().found == ()
    assert guard.maintenance().run("enforce").archived == ()


def test_a_transcript_is_imported_and_told_of(guard: Guard, chat: Path) -> None:
    guard.ensure()
    with pytest.raises(InvalidInput, match="no conversation"):
        guard.transcripts.newest()
    named = guard.transcripts.find(str(chat))
    assert guard.import_transcript(named).turns == 5
    (stored,) = guard.conversations(Session.of("main"))
    assert (stored.transcript, stored.turns) == (str(chat), 5)
    assert guard.transcripts.newest().path == str(chat)


def test_a_transcript_is_read_repaired_pruned_and_compacted(
    chat: Path, tmp_path: Path, clock: Clock
) -> None:
    transcripts = Transcripts(DEFAULTS, clock)
    named = transcripts.find(str(chat))
    assert transcripts.usage(named).tokens == 5
    assert transcripts.budget(named, turns=2).turns == 5
    assert len([*transcripts.entries(named)]) == 11
    assert len([*transcripts.export(named, Wishes())]) == 12
    before = chat.read_bytes()
    assert transcripts.repair(named, dry_run=True).counts == {"answered": 1}
    assert chat.read_bytes() == before
    assert transcripts.repair(named).counts == {"answered": 1}
    assert transcripts.prune(named, dry_run=True).done == transcripts.prune(named).done == ()
    tools = Tools(clock=clock, random=random.Random(1).randbytes, redactor=Redactor())
    assert transcripts.compact(named, tools, dry_run=True).added == 0
    assert transcripts.compact(named, tools).added > 0
    assert "Port the parser" in transcripts.compact(named, tools, keep_turns=1).summary
