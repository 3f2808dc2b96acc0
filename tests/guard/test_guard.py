"""The front door does for a program what the command line does for people."""

from __future__ import annotations

import os
import random
import time
from pathlib import Path

import pytest

from gitguard.compaction.transcripts import Transcripts
from gitguard.compaction.with_session import Asking, Surroundings
from gitguard.errors import InvalidInput, NotInitialised
from gitguard.guard import Guard
from gitguard.model.config.config import DEFAULTS
from gitguard.store.session.workspace import Session, UserDirs
from gitguard.transcripts.exporting import Selection
from tests.conftest import Clock, OpenGuard
from tests.support import written_conversations as written


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
    closed = guard.sessions.close()
    assert guard.sessions.archived() == [closed]
    assert guard.sessions.show("main").archived == (closed,)
    assert guard.sessions.reopen("main").state.goal == "Ship it"
    assert guard.sessions.archived() == []
    shown = guard.sessions.show()
    assert (shown.session, shown.archived, shown.standing) == ("main", (), "ours")
    assert guard.sessions.keys() == {"main": "main"}
    with pytest.raises(NotInitialised):
        guard.sessions.show("nobody")
    with pytest.raises(NotInitialised):
        guard.sessions.reopen("main")


def test_a_halt_is_lifted_for_a_reason_only(guard: Guard) -> None:
    guard.ensure()
    with pytest.raises(InvalidInput, match="needs a reason"):
        guard.override("S1", " ")


def test_maintenance_is_looked_at_and_run(guard: Guard) -> None:
    guard.ensure()
    assert guard.sessions.maintenance().plan().found == ()
    assert guard.sessions.maintenance().run("enforce").archived == ()


def test_a_transcript_is_imported_and_told_of(guard: Guard, chat: Path) -> None:
    guard.ensure()
    with pytest.raises(InvalidInput, match="no conversation"):
        guard.transcripts.newest()
    named = guard.transcripts.find(str(chat))
    assert guard.sessions.import_transcript(named).turns == 5
    (stored,) = guard.sessions.conversations(Session.of("main"))
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
    assert len([*transcripts.export(named, Selection())]) == 12
    before = chat.read_bytes()
    assert transcripts.repair(named, dry_run=True).counts == {"answered": 1}
    assert chat.read_bytes() == before
    assert transcripts.repair(named).counts == {"answered": 1}
    assert transcripts.prune(named, dry_run=True).changed == transcripts.prune(named).changed == ()
    given = Surroundings(random.Random(1).randbytes)
    assert transcripts.compact(named, given, dry_run=True).added == 0
    assert transcripts.compact(named, given).added > 0
    done = transcripts.compact(named, given, keep_turns=1)
    assert "Port the parser" in done.summary
    assert (done.session, done.checkpoints) == ("", ())


def test_a_compaction_is_the_sessions_and_asks_the_users_summarizer(
    open_guard: OpenGuard, places: UserDirs, chat: Path
) -> None:
    config = Path(places.config_home, "config.yaml")
    config.parent.mkdir()
    config.write_text("summarizer: [sh, -c, echo They talked.]\n")
    guard = open_guard()
    guard.ensure()
    guard.note({"goal": "Ship it"})
    named = guard.transcripts.find(str(chat))
    guard.sessions.import_transcript(named)
    told: list[tuple[int, int]] = []
    asking = Asking(places.environment, time.monotonic, time.sleep, random.random)
    given = Surroundings(os.urandom, asking, lambda *done: told.append(done))
    rehearsed = guard.transcripts.compact(named, given, dry_run=True)
    assert (rehearsed.summarized_by, rehearsed.checkpoints) == ("mechanical", ())
    assert "Ship it" in rehearsed.summary
    done = guard.transcripts.compact(named, given)
    assert (done.session, done.summarized_by, done.notes) == ("main", "command", ())
    assert [saved.trigger for saved in done.checkpoints] == ["compaction"] * 2
    assert "They talked." in done.summary
    assert "Ship it" in done.summary
    assert told[-1] == (1, 1)
    with pytest.raises(NotInitialised):
        open_guard(session="typo").transcripts.compact(named, given, keep_turns=1)
