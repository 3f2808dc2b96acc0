"""The session store tells which conversations belong to which session, and never drifts."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest

from gitguard.errors import InvalidDocument, NotInitialised
from gitguard.guard import Guard
from gitguard.model.events import Transcript
from gitguard.sessions.stored_sessions import import_transcript, stored_conversations
from gitguard.store.session.conversations import keep_conversation, read_conversation
from gitguard.store.session.host_session import HostReading, HostSession, read_record, write_record
from gitguard.store.session.workspace import Session
from gitguard.transcripts.formats.recognition import recognise
from tests.conftest import OpenGuard
from tests.support.command_place import Place
from tests.support.conversation import Conversation
from tests.support.transcript_lines import lines, said

NOW = "2026-01-31T09:30:00Z"
LATER = "2026-01-31T10:30:00Z"


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
        keep_conversation(begun.workspace, store.session, "S1", known)
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
    record = read_record(begun.workspace, store.session)
    write_record(begun.workspace, store.session, record.replace(host_sessions=hosts))
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


CLAUDE_CODE_NUMBERS, PI_NUMBERS = (2_000, 2), (700, 1)


@pytest.fixture
def twins(tmp_path: Path, transcript: Path) -> list[Path]:
    """Two files of one name: Claude Code's of two turns, pi's of one."""
    one = tmp_path / "k1" / "t.jsonl"
    one.parent.mkdir()
    one.write_bytes(transcript.read_bytes())
    return [one, pi_file(tmp_path / "k2" / "t.jsonl", "P1")]


def pi_file(path: Path, own: str) -> Path:
    usage = {"input": 690, "output": 10, "totalTokens": 700}
    question = {"role": "user", "content": "one"}
    answer = {"role": "assistant", "content": [], "model": "fake-1", "usage": usage}
    when = {"timestamp": "2026-01-31T09:31:00Z"}
    header = {"id": own} if own else {}
    return lines(
        path,
        {"type": "session", "version": 3, **header, "cwd": "/repo", **when},
        {"type": "message", "id": "m1", "parentId": None, "message": question, **when},
        {"type": "message", "id": "m2", "parentId": "m1", "message": answer, **when},
    )


def numbers(guard: Guard) -> dict[str, tuple[int | None, int]]:
    return {
        one.transcript: (one.total_tokens, one.turns) for one in stored_conversations(guard.store())
    }


@pytest.mark.parametrize("order", [(0, 1), (1, 0), (0, 1, 0, 1)])
def test_files_of_one_name_are_two_conversations(
    order: tuple[int, ...], begun: Guard, twins: list[Path]
) -> None:
    done = [import_transcript(begun.store(), recognise(str(twins[number]))) for number in order]
    assert [one.conversation for one in done] == [("S9", "P1")[number] for number in order]
    assert [one.was_known for one in done] == [False, False, True, True][: len(order)]
    one, two = map(str, twins)
    assert numbers(begun) == {one: CLAUDE_CODE_NUMBERS, two: PI_NUMBERS}


@pytest.mark.parametrize("own", ["", "S9"])
def test_what_has_no_name_of_its_own_is_told_apart_by_its_place(
    own: str, begun: Guard, twins: list[Path], tmp_path: Path
) -> None:
    every = [twins[0], *(pi_file(tmp_path / folder / "t.jsonl", own) for folder in ("k3", "k4"))]
    for _ in range(2):
        done = [import_transcript(begun.store(), recognise(str(path))) for path in every]
    assert len({one.conversation for one in done}) == 3
    assert all(one.was_known for one in done)
    assert numbers(begun) == {
        str(path): PI_NUMBERS if number else CLAUDE_CODE_NUMBERS
        for number, path in enumerate(every)
    }


def test_a_file_that_was_moved_is_the_same_conversation(begun: Guard, transcript: Path) -> None:
    import_transcript(begun.store(), recognise(str(transcript)))
    moved = transcript.rename(transcript.with_name("moved.jsonl"))
    done = import_transcript(begun.store(), recognise(str(moved)))
    assert (done.conversation, done.was_known) == ("S9", True)
    assert numbers(begun) == {str(moved): CLAUDE_CODE_NUMBERS}


def test_by_a_link_it_is_the_same_conversation(begun: Guard, transcript: Path) -> None:
    import_transcript(begun.store(), recognise(str(transcript)))
    (transcript.parent / "linked").symlink_to(transcript.parent)
    linked = transcript.parent / "linked" / transcript.name
    assert import_transcript(begun.store(), recognise(str(linked))).was_known
    assert len(numbers(begun)) == 1


def test_a_sub_agents_file_does_not_take_the_conversations_name(
    begun: Guard, tmp_path: Path, transcript: Path
) -> None:
    sub_agent = lines(tmp_path / "agent-1.jsonl", {**said(1, "task"), "isSidechain": True})
    for path, name in ((sub_agent, "agent-1"), (transcript, "S9")):
        assert import_transcript(begun.store(), recognise(str(path))).conversation == name


def test_a_conversation_that_begins_with_anothers_lines_has_its_own_name(
    begun: Guard, tmp_path: Path
) -> None:
    path = lines(tmp_path / "S10.jsonl", said(1, "one"), {**said(2, "two"), "sessionId": "S10"})
    assert import_transcript(begun.store(), recognise(str(path))).conversation == "S10"


@pytest.mark.parametrize(
    ("file", "own"),
    [
        ("codex/rollout.jsonl", "01a20281-eb2d-7951-a735-e64de3f804e4"),
        ("pi/session.jsonl", "01a20281-def8-7002-af33-98cdc1682721"),
        ("gemini/chat.jsonl", "a14505ba-9170-4201-a828-cfca02098a2d"),
        ("claude_code/transcript.jsonl", "b3629474-83e9-4fba-8a33-9c06b5431bb1"),
        ("openclaw/2026.3.13/transcript.jsonl", "b39398ea-6569-466c-8260-7f9553d4dafa"),
    ],
)
def test_every_hosts_file_tells_the_conversations_id(file: str, own: str, begun: Guard) -> None:
    named = recognise(str(Path(__file__).parents[2] / "payloads" / file))
    assert import_transcript(begun.store(), named).conversation == own


@pytest.mark.parametrize("own", ["\ud800", "x" * 201, "a\x1b[2Jb", 7, None, ["S"], {}])
def test_an_id_that_is_none_is_not_taken(own: object, begun: Guard, tmp_path: Path) -> None:
    path = lines(tmp_path / "t.jsonl", {**said(1, "one"), "sessionId": own})
    assert import_transcript(begun.store(), recognise(str(path))).conversation == "t"


def test_an_import_changes_nothing_else_of_a_known_conversation(tmp_path: Path) -> None:
    conversation = Conversation(tmp_path)
    conversation.prompt()
    conversation.uses(190_000)
    conversation.bash("ls")
    guard = conversation.guard
    before = read_record(guard.workspace, guard.store().session).host_sessions["S1"]
    assert before.halt is not None
    named = Transcript(str(conversation.transcript), "claude-code", before.transcript_session)
    done = import_transcript(guard.store(), named)
    after = read_record(guard.workspace, guard.store().session).host_sessions
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


def test_an_imported_conversation_stays_with_its_session(begun: Guard, transcript: Path) -> None:
    import_transcript(begun.store(), recognise(str(transcript)))
    begun.sessions.fork(Session.of("two"))
    begun.sessions.use(Session.of("three"))
    known = {name: begun.store(Session.of(name)) for name in ("main", "two", "three")}
    at = {name: len(stored_conversations(store)) for name, store in known.items()}
    assert at == {"main": 1, "two": 0, "three": 0}


def test_a_conversation_that_a_hook_tells_of_goes_on_in_the_next_session(tmp_path: Path) -> None:
    conversation = Conversation(tmp_path)
    guard = conversation.guard
    conversation.prompt()
    conversation.uses(1_000)
    known = read_conversation(guard.workspace, guard.store().session, "S1")
    told = Transcript(known.transcript, known.transcript_format, known.transcript_session)
    import_transcript(guard.store(), told)
    guard.sessions.use(Session.of("two"))
    assert [one.conversation for one in stored_conversations(guard.store())] == ["S1"]


def test_an_imported_conversation_that_goes_on_is_one_like_others(
    begun: Guard, transcript: Path
) -> None:
    import_transcript(begun.store(), recognise(str(transcript)))
    store = begun.store()
    known = read_conversation(begun.workspace, store.session, "S9")
    assert known.imported
    with store.lock():
        keep_conversation(begun.workspace, store.session, "S9", known)
    import_transcript(begun.store(), recognise(str(transcript)))
    assert not read_conversation(begun.workspace, store.session, "S9").imported


def test_an_imported_conversation_was_used_when_its_newest_entry_was_written(
    begun: Guard, transcript: Path
) -> None:
    import_transcript(begun.store(), recognise(str(transcript)))
    known = read_conversation(begun.workspace, begun.store().session, "S9")
    assert known.last_use == "2026-01-31T09:32:30Z"


def test_without_times_it_was_used_when_its_file_was_written(begun: Guard, tmp_path: Path) -> None:
    untimed = {name: value for name, value in said(1, "one").items() if name != "timestamp"}
    path = lines(tmp_path / "t.jsonl", untimed)
    os.utime(path, (1_000_000_000, 1_000_000_000))
    done = import_transcript(begun.store(), recognise(str(path)))
    known = read_conversation(begun.workspace, begun.store().session, done.conversation)
    assert known.last_use == "2001-09-09T01:46:40Z"


# No index


def test_there_is_no_index_that_could_drift(begun: Guard, open_guard: OpenGuard) -> None:
    begun.sessions.use(Session.of("other"))
    head = begun.sessions.heads()["other"]
    open_guard().sessions.use(Session.of("main"))
    begun.repository().delete_ref("refs/heads/gitguard/other", head)
    assert begun.sessions.heads() == {"main": begun.sessions.heads()["main"], "other": ""}


# The command line


@pytest.fixture
def typed(tmp_path: Path) -> Place:
    place = Place(tmp_path / "place")
    place.type("gitguard ensure")
    return place


def test_import_and_show(typed: Place, transcript: Path) -> None:
    said = typed.type(f"gitguard transcript import {transcript}")
    assert "Added the conversation `S9` of the session `main`: 2 turns, 0 compactions" in said
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


@pytest.mark.parametrize(
    "command",
    [
        "session close ''",
        "session reopen ''",
        "session reopen main --head ''",
        "session show ''",
        "session use ''",
        "session fork ''",
        "session close --session ''",
        "--session '' session close",
        "override --reason why --host-session ''",
    ],
)
def test_a_name_that_is_given_and_empty_is_refused(command: str, typed: Place) -> None:
    before = typed.type("git for-each-ref; ls .gitguard/sessions")
    done = typed.run(f"gitguard {command}")
    assert (done.returncode, "is given and empty" in done.stderr) == (23, True)
    assert typed.type("git for-each-ref; ls .gitguard/sessions") == before


# Archived ones


def test_nothing_is_imported_to_an_archived_session(typed: Place, transcript: Path) -> None:
    typed.type("gitguard session fork one; gitguard session use main; gitguard session close one")
    ages = re.compile('"age": "[^"]*"')
    before = ages.sub("", typed.type("gitguard session list --json"))
    done = typed.run(f"gitguard transcript import {transcript} --session one")
    assert done.returncode == 23
    assert "the session `one` is archived" in done.stderr
    assert "`gitguard session reopen one`" in done.stderr
    assert ages.sub("", typed.type("gitguard session list --json")) == before
    typed.type("gitguard session reopen one")
    assert "Added the conversation" in typed.type(f"gitguard transcript import {transcript}")


@pytest.mark.parametrize("key", ["one", "feature/x"])
def test_an_archived_session_is_shown_as_such(key: str, typed: Place) -> None:
    typed.type(f"gitguard session fork {key}; gitguard session use main")
    assert json.loads(typed.type(f"gitguard session show {key} --json"))["archived"] == []
    typed.type(f"gitguard session close {key}")
    for named in (key, Session.of(key).name):
        (one,) = json.loads(typed.type(f"gitguard session show {named} --json"))["archived"]
        shown = typed.type(f"gitguard session show {named}")
        way_out = f"gitguard session reopen {Session.of(key).name} --head {one['commit'][:12]}"
        assert f"Archived: {one['ref']}; `{way_out}` restores it" in shown
    typed.type(way_out)
    assert "Archived" not in typed.type(f"gitguard session show {key}")


def test_a_session_in_force_takes_imports_beside_its_archived_history(
    typed: Place, transcript: Path
) -> None:
    typed.type("gitguard session close main; gitguard ensure")
    assert "Added the conversation" in typed.type(f"gitguard transcript import {transcript}")
