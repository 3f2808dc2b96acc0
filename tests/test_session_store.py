"""The session store tells which conversations belong to which session, and never drifts."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from gitguard.errors import InvalidDocument, NotInitialised
from gitguard.guard import Guard
from gitguard.model.events import Transcript
from gitguard.model.host_session import HostReading, HostSession
from gitguard.model.session import Session
from gitguard.transcripts.recognition import recognise
from gitguard.usecases.listing import import_transcript, stored_conversations

from .conftest import OpenGuard
from .conversation import Conversation
from .test_cli import Place

NOW = "2026-01-31T09:30:00Z"
LATER = "2026-01-31T10:30:00Z"


def lines(path: Path, *entries: dict[str, object]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(entry) + "\n" for entry in entries))
    return path


def said(number: int, text: str) -> dict[str, object]:
    return {
        "type": "user",
        "uuid": f"u{number}",
        "sessionId": "S9",
        "timestamp": f"2026-01-31T09:3{number}:00Z",
        "message": {"role": "user", "content": text},
    }


def answered(number: int, tokens: int) -> dict[str, object]:
    return {
        "type": "assistant",
        "uuid": f"a{number}",
        "sessionId": "S9",
        "timestamp": f"2026-01-31T09:3{number}:30Z",
        "message": {
            "id": f"m{number}",
            "role": "assistant",
            "model": "claude-haiku-4-5",
            "content": [{"type": "text", "text": "unmistakable"}],
            "usage": {"input_tokens": tokens, "output_tokens": 10},
        },
    }


COMPACTED: dict[str, object] = {
    "type": "system",
    "subtype": "compact_boundary",
    "uuid": "c1",
    "sessionId": "S9",
    "timestamp": "2026-01-31T09:35:00Z",
    "compactMetadata": {"trigger": "auto", "preTokens": 150_000},
}


@pytest.fixture
def transcript(tmp_path: Path) -> Path:
    path = tmp_path / "projects" / "S9.jsonl"
    return lines(path, said(1, "one"), answered(1, 900), said(2, "two"), answered(2, 1_990))


@pytest.fixture
def begun(guard: Guard) -> Guard:
    guard.ensure()
    return guard


# From hooks


def test_what_hooks_told_is_told(tmp_path: Path) -> None:
    conversation = Conversation(tmp_path)
    conversation.prompt()
    conversation.uses(60_000)
    (one,) = stored_conversations(conversation.guard.store())
    assert one.conversation == "S1"
    assert one.transcript == str(conversation.transcript)
    assert one.format == "claude-code"
    assert (one.total_tokens, one.total_tokens_fresh) == (60_000, True)
    assert one.context_tokens == 200_000
    assert (one.compaction_count, one.turns, one.problem) == (0, 1, "")


def test_tokens_from_before_a_compaction_are_not_fresh(tmp_path: Path) -> None:
    conversation = Conversation(tmp_path)
    conversation.prompt()
    conversation.uses(150_000)
    conversation.compacts()
    (one,) = stored_conversations(conversation.guard.store())
    assert (one.total_tokens, one.total_tokens_fresh) == (None, False)
    assert one.compaction_count == 1
    conversation.uses(20_000)
    (one,) = stored_conversations(conversation.guard.store())
    assert (one.total_tokens, one.total_tokens_fresh) == (20_000, True)


def test_a_transcript_that_is_gone_leaves_what_was_last_known(begun: Guard, tmp_path: Path) -> None:
    store = begun.store()
    reading = HostReading(source="status-line", at=1.0, tokens=5_000, model="claude-haiku-4-5")
    known = HostSession(
        started_at=NOW,
        transcript=str(tmp_path / "gone.jsonl"),
        transcript_format="claude-code",
        reading=reading,
        compactions=2,
    )
    with store.lock():
        begun.workspace.keep_host_session(store.session, "S1", known)
    (one,) = stored_conversations(store)
    assert (one.total_tokens, one.total_tokens_fresh) == (5_000, False)
    assert one.compaction_count == 2
    assert "gone.jsonl" in one.problem


def test_the_one_used_last_comes_first(begun: Guard) -> None:
    store = begun.store()
    hosts = {
        "older": HostSession(started_at=NOW, used_at=NOW),
        "newer": HostSession(started_at=NOW, used_at=LATER),
    }
    record = begun.workspace.read_record(store.session)
    begun.workspace.write_record(store.session, record.replace(host_sessions=hosts))
    assert [one.conversation for one in stored_conversations(store)] == ["newer", "older"]


def test_a_transcript_that_was_written_since_is_more_recent_than_its_record(
    begun: Guard, transcript: Path
) -> None:
    import_transcript(begun.store(), recognise(str(transcript)))
    os.utime(transcript, (4_000_000_000, 4_000_000_000))
    (one,) = stored_conversations(begun.store())
    assert one.updated_at == "2096-10-02T07:06:40Z"


# Import


def test_an_imported_conversation_is_known_with_its_counts(begun: Guard, transcript: Path) -> None:
    before = transcript.read_bytes()
    done = import_transcript(begun.store(), recognise(str(transcript)))
    assert (done.conversation, done.session) == ("S9", "main")
    assert (done.turns, done.entries, done.compactions, done.was_known) == (2, 4, 0, False)
    (one,) = stored_conversations(begun.store())
    assert (one.session_id, one.transcript) == ("S9", str(transcript))
    assert (one.total_tokens, one.total_tokens_fresh) == (2_000, True)
    assert transcript.read_bytes() == before


def test_nothing_of_it_is_copied(begun: Guard, transcript: Path, repo: Path) -> None:
    import_transcript(begun.store(), recognise(str(transcript)))
    ours = [*(repo / ".gitguard").rglob("*"), *(repo.parent / "state").rglob("*")]
    kept = b"".join(path.read_bytes() for path in ours if path.is_file())
    assert b"unmistakable" not in kept
    assert str(transcript).encode() in kept


def test_imported_again_it_has_its_newer_counts(begun: Guard, transcript: Path) -> None:
    import_transcript(begun.store(), recognise(str(transcript)))
    with transcript.open("a") as opened:
        opened.write(json.dumps(COMPACTED) + "\n" + json.dumps(said(6, "three")) + "\n")
    done = import_transcript(begun.store(), recognise(str(transcript)))
    assert (done.turns, done.compactions, done.was_known) == (3, 1, True)
    (one,) = stored_conversations(begun.store())
    assert (one.compaction_count, one.turns) == (1, 3)


def test_an_import_changes_nothing_else_of_a_known_conversation(tmp_path: Path) -> None:
    conversation = Conversation(tmp_path)
    conversation.prompt()
    conversation.uses(190_000)
    conversation.bash("ls")
    guard = conversation.guard
    before = guard.workspace.read_record(guard.store().session).host_sessions["S1"]
    assert before.halt is not None
    named = Transcript(str(conversation.transcript), "claude-code", before.transcript_session)
    done = import_transcript(guard.store(), named)
    after = guard.workspace.read_record(guard.store().session).host_sessions
    assert done.conversation == "S1"
    assert after.keys() == {"S1"}
    assert after["S1"].halt == before.halt
    assert after["S1"].turns == before.turns


def test_compactions_are_not_counted_twice_after_an_import(begun: Guard, transcript: Path) -> None:
    with transcript.open("a") as opened:
        opened.write(json.dumps(COMPACTED) + "\n")
    import_transcript(begun.store(), recognise(str(transcript)))
    for _ in range(2):
        (one,) = stored_conversations(begun.store())
        assert one.compaction_count == 1


def test_a_session_that_is_not_there_gets_no_conversation(begun: Guard, transcript: Path) -> None:
    with pytest.raises(NotInitialised):
        import_transcript(begun.store(Session.of("none")), recognise(str(transcript)))


def test_what_does_not_read_is_not_recorded(begun: Guard, tmp_path: Path) -> None:
    named = Transcript(str(tmp_path / "none.jsonl"), "claude-code", "none")
    with pytest.raises(InvalidDocument):
        import_transcript(begun.store(), named)
    assert stored_conversations(begun.store()) == ()


def test_a_record_that_somebody_else_wrote_is_not_believed(
    begun: Guard, transcript: Path, open_guard: OpenGuard
) -> None:
    import_transcript(begun.store(), recognise(str(transcript)))
    path = Path(begun.workspace.session_folder(Session.of("main")), "session.json")
    path.write_text(path.read_text().replace("S9.jsonl", "other.jsonl"))
    assert stored_conversations(open_guard().store()) == ()


# No index


def test_there_is_no_index_that_could_drift(begun: Guard, open_guard: OpenGuard) -> None:
    begun.use_session(Session.of("other"))
    head = begun.sessions()["other"]
    open_guard().use_session(Session.of("main"))
    begun.repository().delete_ref("refs/heads/gitguard/other", head)
    assert begun.sessions() == {"main": begun.sessions()["main"], "other": ""}


# The command line


@pytest.fixture
def typed(tmp_path: Path) -> Place:
    place = Place(tmp_path / "place")
    place.type("gitguard ensure")
    return place


def test_import_and_show(typed: Place, transcript: Path) -> None:
    said = typed.type(f"gitguard transcript import {transcript}")
    assert "Session `main` knows `S9` as a conversation of it: 2 turns, 0 compactions" in said
    shown = typed.type("gitguard session show")
    assert "Conversation S9: 2 turns, 0 compactions" in shown
    assert "Tokens: 2,000 of 200,000" in shown
    assert f"Transcript: {transcript} (claude-code)" in shown


def test_list_and_show_have_the_entry_s_fields(typed: Place, transcript: Path) -> None:
    typed.type(f"gitguard transcript import {transcript}")
    shown = json.loads(typed.type("gitguard session show --json"))["conversations"]
    listed = json.loads(typed.type("gitguard session list --json"))["conversations"]["main"]
    assert shown == listed
    (one,) = shown
    assert {name: one[name] for name in ("session_id", "transcript", "context_tokens")} == {
        "session_id": "S9",
        "transcript": str(transcript),
        "context_tokens": 200_000,
    }
    assert (one["total_tokens"], one["total_tokens_fresh"]) == (2_000, True)
    assert one["compaction_count"] == 0


def test_a_conversation_is_imported_to_a_named_session(typed: Place, transcript: Path) -> None:
    typed.type("gitguard session fork other; gitguard session use main")
    typed.type(f"gitguard transcript import {transcript} --session other")
    assert "S9" in typed.type("gitguard session show other")
    assert "S9" not in typed.type("gitguard session show main")


def test_without_a_path_nothing_is_imported(typed: Place) -> None:
    assert typed.run("gitguard transcript import").returncode == 23


def test_a_session_that_is_not_there_is_not_shown(typed: Place) -> None:
    assert typed.run("gitguard session show none").returncode == 21
