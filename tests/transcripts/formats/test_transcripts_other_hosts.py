"""Transcripts of hosts other than Claude Code and OpenClaw, as the programs wrote them."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gitguard.errors import InvalidDocument
from gitguard.model.conversation import (
    AGENT,
    BROKEN,
    CALL,
    COMPACTION,
    HEADER,
    MESSAGE,
    RESULT,
    TOOL,
    UNKNOWN,
    USER,
    TranscriptEntry,
)
from gitguard.model.events import Reading, Transcript
from gitguard.transcripts import find_format
from gitguard.transcripts.exporting import Selection, json_lines
from gitguard.transcripts.formats.recognition import recognise
from gitguard.transcripts.readable import markdown

PAYLOADS = Path(__file__).parents[2] / "payloads"
RECORDED = {
    "pi": PAYLOADS / "pi/session.jsonl",
    "codex": PAYLOADS / "codex/rollout.jsonl",
    "gemini": PAYLOADS / "gemini/chat.jsonl",
    "opencode": PAYLOADS / "opencode/opencode.db",
    "copilot": PAYLOADS / "copilot/events.jsonl",
    "qwen": PAYLOADS / "qwen/chat.jsonl",
    "droid": PAYLOADS / "droid/session.jsonl",
    "kimi": PAYLOADS / "kimi/wire.jsonl",
}
FILES = ("pi", "codex", "gemini", "copilot", "qwen", "droid", "kimi")
ASKED_THRICE = ("pi", "gemini")
"""Those in whose recordings the user has three prompts; in the others they have two."""
everywhere = pytest.mark.parametrize("name", RECORDED)
in_files = pytest.mark.parametrize("name", FILES)


@pytest.fixture
def copied(tmp_path: Path) -> Any:
    """A function that returns a copy of a recording."""

    def copy(name: str) -> Path:
        return Path(shutil.copy(RECORDED[name], tmp_path))

    return copy


def the(path: Path, name: str = "") -> Transcript:
    return recognise(str(path), name)


def entries(transcript: Transcript, since: int = 0) -> list[TranscriptEntry]:
    return list(find_format(transcript.format).entries(transcript, since))


def reading(transcript: Transcript) -> Reading | None:
    return find_format(transcript.format).newest_reading(transcript)


def compactions(transcript: Transcript, since: int = 0) -> tuple[int, int]:
    found = find_format(transcript.format).compactions(transcript, since)
    return found.count, found.upto


def lines_of(path: Path) -> list[bytes]:
    return path.read_bytes().splitlines(keepends=True)


def cut(path: Path, count: int) -> Path:
    """Leave the first lines of a file."""
    path.write_bytes(b"".join(lines_of(path)[:count]))
    return path


def add(path: Path, *documents: dict[str, Any]) -> Path:
    with path.open("ab") as file:
        file.writelines(json.dumps(document).encode() + b"\n" for document in documents)
    return path


# Recognition


@everywhere
def test_a_transcript_is_recognised_by_what_is_in_it(name: str, copied: Any) -> None:
    path = copied(name).rename(copied(name).parent / "conversation")
    assert the(path).format == name


def test_a_claude_code_transcript_is_recognised() -> None:
    assert the(PAYLOADS / "claude_code/transcript.jsonl").format == "claude-code"


def test_a_file_among_an_agents_sessions_is_openclaws(tmp_path: Path) -> None:
    sessions = tmp_path / "agents/main/sessions"
    sessions.mkdir(parents=True)
    path = shutil.copy(PAYLOADS / "openclaw/2026.3.13/transcript.jsonl", sessions / "x.jsonl")
    transcript = the(Path(path))
    assert (transcript.format, transcript.session) == ("openclaw", "x")
    assert entries(transcript)[0].kind == HEADER
    by_folder = the(tmp_path / "agents/main")
    assert by_folder.session == "x"
    assert entries(by_folder) == entries(transcript)


def test_a_database_of_openclaw_is_read_wherever_it_lies() -> None:
    transcript = the(PAYLOADS / "openclaw/2026.9.6/openclaw-agent.sqlite")
    assert transcript.format == "openclaw"
    assert reading(transcript) is not None


def test_an_empty_file_is_told_by_its_place(tmp_path: Path) -> None:
    path = tmp_path / ".codex/sessions/2026/rollout.jsonl"
    path.parent.mkdir(parents=True)
    path.touch()
    assert the(path).format == "codex"


@pytest.mark.parametrize("text", [b"", b"{}", b"hello\n", b"\0" * 5000, b"[1]\n", b"{" * 100_000])
def test_what_is_nobodys_is_said_to_be(tmp_path: Path, text: bytes) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(text)
    with pytest.raises(InvalidDocument, match="no transcript format"):
        recognise(str(path))
    assert recognise(str(path), "pi").format == "pi"


def test_what_is_not_there_or_no_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidDocument, match="No such file"):
        recognise(str(tmp_path / "x"))
    with pytest.raises(InvalidDocument, match="no conversation"):
        recognise(str(tmp_path))
    with pytest.raises(InvalidDocument, match="no known transcript format"):
        recognise(str(tmp_path), "other")


def test_another_database_is_refused(tmp_path: Path) -> None:
    database = sqlite3.connect(tmp_path / "x.db")
    database.execute("CREATE TABLE notes (text)")
    database.commit()
    database.close()
    with pytest.raises(InvalidDocument, match="no transcript format"):
        recognise(str(tmp_path / "x.db"))


def test_the_line_after_a_byte_order_mark_counts(copied: Any) -> None:
    path = cut(copied("pi"), 1)
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert the(path).format == "pi"
    assert entries(the(path))[0].kind == HEADER


# What the recordings say


USAGE = {
    "pi": (9_050, None, "fake/fake-1"),
    "codex": (9_750, 95_000, "gpt-5.5"),
    "gemini": (1_300, 1_048_576, "gemini-2.5-pro"),
    "opencode": (7_050, None, "fake/fake-1"),
    "copilot": (9_500, 14_000, "fake-1"),
    "qwen": (9_500, None, "fake-1"),
    "droid": (9_550, None, "custom:Fake-0"),
    "kimi": (9_550, 200_000, "fake-1"),
}


@everywhere
def test_usage_is_what_the_model_counted_last(name: str) -> None:
    found = reading(the(RECORDED[name]))
    assert found is not None
    assert (found.tokens, found.window, found.model) == USAGE[name]
    assert found.source == "transcript"
    assert not found.after_compaction
    assert compactions(the(RECORDED[name]))[0] == 1


@everywhere
def test_messages_are_what_user_and_agent_said(name: str) -> None:
    transcript = the(RECORDED[name])
    found = [(m.role, m.text) for m in find_format(name).messages(transcript)]
    assert [role for role, _ in found].count(USER) == (3 if name in ASKED_THRICE else 2)
    assert found[0][0] == USER
    assert found[1] == (AGENT, "Working.")
    assert found[-1] == (AGENT, "Resumed.")
    assert not any("SUMMARY" in text or "<" in text for _, text in found)


@everywhere
def test_every_call_has_its_result_behind_it(name: str) -> None:
    blocks = [block for entry in entries(the(RECORDED[name])) for block in entry.blocks]
    calls = [block.id for block in blocks if block.kind == CALL]
    results = [block for block in blocks if block.kind == RESULT]
    assert len(calls) == 3
    assert [block.id for block in results] == calls
    assert sum(block.is_error for block in results) == 1
    assert all(block.given for block in blocks if block.kind == CALL)


@everywhere
def test_a_compaction_is_an_entry_with_its_summary(name: str) -> None:
    found = entries(the(RECORDED[name]))
    [compaction] = [entry for entry in found if entry.kind == COMPACTION]
    assert "SCRIPTED-SUMMARY" in compaction.blocks[0].text
    known = {entry.id for entry in found}
    assert name in ("opencode", "qwen", "kimi") or known & set(compaction.kept)


@in_files
def test_entries_are_the_whole_file(name: str) -> None:
    found = [entry for entry in entries(the(RECORDED[name])) if entry.raw]
    assert b"".join(entry.raw + b"\n" for entry in found) == RECORDED[name].read_bytes()
    assert not [entry for entry in found if entry.kind == BROKEN]


@everywhere
def test_reading_goes_on_from_where_an_entry_ends(name: str) -> None:
    transcript = the(RECORDED[name])
    whole = entries(transcript)
    for entry in whole:
        if entry.raw:
            behind = [other for other in whole if other.at >= entry.end]
            tail = entries(transcript, entry.end)
            assert [e.at for e in tail] == [e.at for e in behind]


@everywhere
def test_counting_goes_on_from_a_cursor_and_begins_anew_behind_the_end(name: str) -> None:
    transcript = the(RECORDED[name])
    count, upto = compactions(transcript)
    assert compactions(transcript, upto) == (0, upto)
    assert compactions(transcript, upto + 1_000_000) == (count, upto)


# pi


def test_usage_of_a_branch_that_was_left_does_not_count(copied: Any) -> None:
    path = cut(copied("pi"), 12)
    first = json.loads(lines_of(path)[4])
    assert first["message"]["usage"]["totalTokens"] == 15_050
    added = {"type": "message", "parentId": first["id"], "timestamp": "2026-11-22T10:00:00.000Z"}
    message = {"role": "user", "content": "another way"}
    add(path, {**added, "id": "00000000", "message": message})
    found = reading(the(path))
    assert found is not None
    assert found.tokens == 15_050


@pytest.mark.parametrize(
    ("settings", "window"),
    [
        ({"id": "fake-1", "contextWindow": 40_000}, 40_000),
        ({"id": "another", "contextWindow": 40_000}, None),
        ({"id": "fake-1", "contextWindow": "many"}, None),
        ({"id": "fake-1", "contextWindow": -5}, None),
    ],
)
def test_the_window_of_a_users_own_model_is_in_pis_settings(
    tmp_path: Path, settings: dict[str, Any], window: int | None
) -> None:
    folder = tmp_path / "agent/sessions/--repo--"
    folder.mkdir(parents=True)
    path = Path(shutil.copy(RECORDED["pi"], folder))
    found = reading(the(path))
    assert found is not None
    assert (found.model, found.window) == ("fake/fake-1", None)
    models = tmp_path / "agent/models.json"
    models.write_text(json.dumps({"providers": {"fake": {"models": [settings]}}}))
    found = reading(the(path))
    assert found is not None
    assert found.window == window
    models.write_text("[not json")
    assert reading(the(path)) is not None


def test_a_compaction_of_pi_that_is_written_twice_counts_once(copied: Any) -> None:
    path = copied("pi")
    lines = lines_of(path)
    at = next(n for n, line in enumerate(lines) if b'"compaction"' in line)
    path.write_bytes(b"".join([*lines[: at + 1], lines[at], *lines[at + 1 :]]))
    assert compactions(the(path))[0] == compactions(the(RECORDED["pi"]))[0] == 1
    behind = len(b"".join(lines[: at + 1]))
    assert compactions(the(path), behind)[0] == 0


def pi_line(name: str, parent: str | None, text: str) -> dict[str, Any]:
    message = {"role": "user", "content": text}
    at = "2026-11-22T10:00:00.000Z"
    return {"type": "message", "id": name, "parentId": parent, "timestamp": at, "message": message}


def pis_messages(path: Path) -> list[str]:
    return [message.text.split()[0] for message in find_format("pi").messages(the(path, "pi"))]


def test_what_was_said_is_told_of_the_branch_that_stands(tmp_path: Path) -> None:
    header = {"type": "session", "version": 3, "id": "s", "cwd": "/repo"}
    said = [pi_line("a", None, "one"), pi_line("b", "a", "left"), pi_line("c", "b", "left too")]
    path = add(tmp_path / "x", header, *said, pi_line("d", "a", "two"), pi_line("e", "d", "three"))
    assert pis_messages(path) == ["one", "two", "three"]
    add(path, pi_line("f", "c", "back"))
    assert pis_messages(path) == ["one", "left", "left", "back"]


def test_both_ends_of_a_long_conversation_are_told_without_the_branches_that_were_left(
    tmp_path: Path,
) -> None:
    long = "x" * 1_000
    lines = [pi_line("0", None, f"0 {long}")]
    for number in range(1, 20_000):
        lines.append(pi_line(f"left{number}", str(number - 1), "left"))
        lines.append(pi_line(str(number), str(number - 1), f"{number} {long}"))
    path = add(tmp_path / "x", *lines)
    assert path.stat().st_size > 20 << 20
    told = pis_messages(path)
    # The newest line before the gap may lie on a branch that was left; nothing read tells.
    assert told.count("left") <= 1
    numbers = [int(text) for text in told if text != "left"]
    assert numbers == sorted(set(numbers))
    assert (numbers[0], numbers[-1]) == (0, 19_999)
    assert len(numbers) < 19_000


def test_what_pi_tells_the_model_by_itself_is_the_hosts(copied: Any) -> None:
    added = {"type": "message", "id": "00000000", "parentId": None}
    ran = {"role": "bashExecution", "command": "ls", "output": "a.txt"}
    path = add(
        cut(copied("pi"), 1),
        {**added, "message": ran},
        {**added, "message": {**ran, "excludeFromContext": True}},
        {**added, "type": "branch_summary", "fromId": "x", "summary": "what was tried"},
    )
    _, command, excluded, summary = entries(the(path))
    assert (command.role, command.by_host, command.blocks[0].text) == (USER, True, "ls\na.txt")
    assert (summary.role, summary.by_host, summary.blocks[0].text) == (USER, True, "what was tried")
    assert excluded.kind == UNKNOWN


def test_nothing_is_measured_right_after_pis_compaction(copied: Any) -> None:
    path = copied("pi")
    at = next(n for n, line in enumerate(lines_of(path)) if b'"compaction"' in line)
    assert reading(the(cut(path, at + 1))) is None


# Codex


def upto_compaction(path: Path, more: int) -> Path:
    lines = lines_of(path)
    return cut(path, next(n for n, x in enumerate(lines) if b'"type":"compacted"' in x) + 1 + more)


def test_codex_tells_what_a_compaction_left(copied: Any) -> None:
    assert reading(the(upto_compaction(copied("codex"), 0))) is None
    path = copied("codex")
    kinds = [json.loads(line)["payload"].get("type") for line in lines_of(path)]
    at = [json.loads(line)["type"] for line in lines_of(path)].index("compacted")
    estimated = kinds.index("token_count", at)
    found = reading(the(cut(path, estimated + 1)))
    assert found is not None
    assert found.after_compaction
    assert (found.tokens or 0) < 20_000
    assert found.window == 95_000


def test_what_codex_says_after_an_error_is_no_usage(copied: Any) -> None:
    usage = {"input_tokens": 0, "output_tokens": 0, "total_tokens": 74_950}
    info = {"last_token_usage": usage, "model_context_window": 95_000}
    payload = {"type": "token_count", "info": info}
    line = {"timestamp": "2026-11-22T10:00:00.000Z", "type": "event_msg", "payload": payload}
    found = reading(the(add(copied("codex"), line, line)))
    assert found is not None
    assert found.tokens == 9_750


def test_codex_without_records_of_usage_tells_it_by_its_counts(copied: Any) -> None:
    path = copied("codex")
    path.write_bytes(
        b"".join(line for line in lines_of(path) if b'"type":"token_usage_record"' not in line)
    )
    found = reading(the(path))
    assert found is not None
    assert (found.tokens, found.model) == (9_750, "gpt-5.5")


def test_codex_marks_what_is_not_the_users(copied: Any) -> None:
    asked = [e for e in entries(the(copied("codex"))) if e.kind == MESSAGE and e.role == USER]
    assert [e.blocks[0].text for e in asked if not e.by_host] == ["first prompt", "second prompt"]
    assert any("<environment_context>" in e.blocks[0].text for e in asked if e.by_host)


# Gemini CLI


def codex_message(role: str, text: str) -> dict[str, Any]:
    content = [{"type": "input_text" if role == "user" else "output_text", "text": text}]
    payload = {"type": "message", "role": role, "content": content}
    at = "2026-11-22T10:00:00.000Z"
    return {"timestamp": at, "type": "response_item", "payload": payload}


def taking_back(turns: object) -> dict[str, Any]:
    payload = {"type": "thread_rolled_back", "num_turns": turns}
    return {"timestamp": "2026-11-22T10:00:01.000Z", "type": "event_msg", "payload": payload}


def codexs_messages(path: Path) -> list[str]:
    """What was said, which the thread and the context tell alike."""
    told = [m.text for m in find_format("codex").messages(the(path, "codex"))]
    entered = [e for e in entries(the(path, "codex")) if e.kind == MESSAGE and not e.by_host]
    assert [e.blocks[0].text for e in entered] == told
    return told


def test_turns_that_were_taken_back_are_not_told(tmp_path: Path) -> None:
    note = codex_message("user", "<environment_context>…</environment_context>")
    turns = [codex_message(who, f"{who} {n}") for n in (1, 2, 3) for who in ("user", "assistant")]
    path = add(tmp_path / "x", note, *turns[:4], note, *turns[4:])
    add(path, taking_back(0), taking_back("x"))
    assert codexs_messages(path)[-1] == "assistant 3"
    add(path, taking_back(1), codex_message("user", "another way"))
    assert codexs_messages(path)[-2:] == ["assistant 2", "another way"]
    assert codexs_messages(add(path, taking_back(2))) == ["user 1", "assistant 1"]
    assert codexs_messages(add(path, taking_back(9))) == []


def test_what_is_taken_back_ends_at_the_last_compaction(tmp_path: Path) -> None:
    before, after = codex_message("user", "before"), codex_message("user", "after")
    compaction = {"type": "compacted", "payload": {"message": "so far", "replacement_history": []}}
    path = add(tmp_path / "x", before, compaction, after, taking_back(5))
    assert codexs_messages(path) == ["before"]
    assert [entry.kind for entry in entries(the(path, "codex"))].count(COMPACTION) == 1


def test_usage_of_turns_that_were_taken_back_does_not_count(copied: Any) -> None:
    path = copied("codex")
    assert reading(the(path)) is not None
    assert reading(the(add(path, taking_back(1)))) is None


def gemini_message(name: str, text: str, **more: Any) -> dict[str, Any]:
    at = "2026-11-22T10:00:00.000Z"
    return {"id": name, "timestamp": at, "type": "user", "content": [{"text": text}], **more}


def told(path: Path) -> list[str]:
    found = entries(the(path, "gemini"))
    return [e.blocks[0].text for e in found if e.kind == MESSAGE and e.blocks]


def said(path: Path) -> list[str]:
    return [message.text for message in find_format("gemini").messages(the(path, "gemini"))]


def test_a_message_written_again_takes_the_place_of_the_first(tmp_path: Path) -> None:
    path = add(tmp_path / "x", gemini_message("a", "one"), gemini_message("a", "two"))
    assert told(path) == said(path) == ["two"]


def test_a_history_that_is_set_replaces_the_one_before(tmp_path: Path) -> None:
    one, two, three = (gemini_message(name, f"text {name}") for name in "abc")
    path = add(tmp_path / "x", one, two, {"$set": {"messages": [two, three]}})
    assert told(path) == said(path) == ["text b", "text c"]


def test_a_history_that_is_set_twice_is_told_once(tmp_path: Path) -> None:
    one, two = gemini_message("a", "one"), gemini_message("b", "two")
    path = add(tmp_path / "x", one, two, {"$set": {"messages": []}})
    assert told(path) == []
    assert told(add(path, {"$set": {"messages": [one, two]}})) == ["one", "two"]


def test_what_is_taken_back_is_not_told(tmp_path: Path) -> None:
    messages = [gemini_message(name, name) for name in "abc"]
    path = add(tmp_path / "x", *messages, {"$rewindTo": "b"}, gemini_message("d", "d"))
    assert told(path) == said(path) == ["a", "d"]
    add(path, {"$rewindTo": "unknown"})
    assert told(path) == said(path) == []


def test_what_is_written_between_two_looks_is_told(tmp_path: Path) -> None:
    path = add(tmp_path / "x", gemini_message("a", "one"), gemini_message("b", "two"))
    found = find_format("gemini").entries(the(path, "gemini"))
    texts = [next(found).blocks[0].text]
    add(path, gemini_message("c", "three"))
    texts += [entry.blocks[0].text for entry in found]
    assert texts in (["one", "two"], ["one", "two", "three"])


def test_a_copy_of_a_snapshot_is_no_second_compression(copied: Any) -> None:
    path = copied("gemini")
    sets = [n for n, x in enumerate(lines_of(path)) if b"<state_snapshot>" in x]
    assert len(sets) == 2
    assert compactions(the(path))[0] == 1
    before = compactions(the(cut(copied("gemini"), sets[1])))
    assert before[0] == 1
    assert compactions(the(RECORDED["gemini"]), before[1])[0] == 0
    found = reading(the(cut(copied("gemini"), sets[1] + 1)))
    assert found is not None
    assert found.tokens == 1_200
    assert reading(the(cut(copied("gemini"), sets[0] + 1))) is None


def test_the_users_words_behind_those_of_a_hook_are_the_users(tmp_path: Path) -> None:
    words = "<hook_context>by a hook</hook_context>\n\nhello"
    path = add(tmp_path / "x", gemini_message("a", words))
    [message] = find_format("gemini").messages(the(path, "gemini"))
    assert message.text == "hello"
    assert not entries(the(path, "gemini"))[0].by_host


# opencode


@pytest.mark.parametrize(("context", "window"), [(40_000, 40_000), ("many", None), (0, None)])
def test_the_window_of_a_users_own_model_is_in_opencodes_settings(
    tmp_path: Path, context: object, window: int | None
) -> None:
    folder, settings = tmp_path / ".local/share/opencode", tmp_path / ".config/opencode"
    folder.mkdir(parents=True)
    settings.mkdir(parents=True)
    path = Path(shutil.copy(RECORDED["opencode"], folder))
    found = reading(the(path))
    assert found is not None
    assert (found.model, found.window) == ("fake/fake-1", None)
    models = {"fake-1": {"limit": {"context": context}}}
    text = json.dumps({"provider": {"fake": {"models": models}}})
    (settings / "opencode.json").write_text(text)
    found = reading(the(path))
    assert found is not None
    assert found.window == window
    (settings / "opencode.json").write_text("[")
    assert reading(the(path)) is not None


def changed(path: Path, statement: str, *values: Any) -> Path:
    database = sqlite3.connect(path)
    database.execute(statement, values)
    database.commit()
    database.close()
    return path


def test_a_summary_that_is_not_complete_counts_when_it_is(copied: Any) -> None:
    path = copied("opencode")
    where = "instr(data, '\"summary\":true')"
    changed(path, f"UPDATE message SET data = json_remove(data, '$.finish') WHERE {where}")
    count, upto = compactions(the(path))
    assert count == 0
    changed(path, f"UPDATE message SET data = json_set(data, '$.finish', 'stop') WHERE {where}")
    assert compactions(the(path), upto)[0] == 1


def test_a_summary_that_failed_compacts_nothing(copied: Any) -> None:
    path = copied("opencode")
    where = "instr(data, '\"summary\":true')"
    changed(path, f"UPDATE message SET data = json_set(data, '$.error', 'x') WHERE {where}")
    assert compactions(the(path))[0] == 0
    assert COMPACTION not in [entry.kind for entry in entries(the(path))]


def test_nothing_is_measured_right_after_opencodes_compaction(copied: Any) -> None:
    path = copied("opencode")
    where = "rowid > (SELECT rowid FROM message WHERE instr(data, '\"summary\":true'))"
    assert reading(the(changed(path, f"DELETE FROM message WHERE {where}"))) is None


def test_a_result_that_was_cleared_is_read_as_the_model_gets_it(copied: Any) -> None:
    path = copied("opencode")
    cleared = "UPDATE part SET data = json_set(data, '$.state.time.compacted', 1)"
    changed(path, f"{cleared} WHERE instr(data, 'callID')")
    texts = [b.text for e in entries(the(path)) for b in e.blocks if b.kind == RESULT]
    assert "[Old tool result content cleared]" in texts


def test_a_row_that_does_not_parse_is_named(copied: Any) -> None:
    path = changed(copied("opencode"), "UPDATE message SET data = '{' WHERE rowid = 2")
    assert [e.problem for e in entries(the(path)) if e.kind == BROKEN] != []
    assert compactions(the(path))[0] == 1


@pytest.mark.parametrize("wrong", ["NULL", "42", "x'ff00'", "1.5"])
@pytest.mark.parametrize("column", ["id", "data"])
def test_a_row_that_holds_anything_but_texts_is_named_and_the_rest_is_read(
    column: str, wrong: str, copied: Any
) -> None:
    path = copied("opencode")
    whole = len(entries(the(path)))
    session = the(path).session
    without_types(path, "message")
    changed(path, f"UPDATE message SET {column} = {wrong} WHERE rowid = 1")
    transcript = the(path).replace(session=session)
    found = entries(transcript)
    assert len(found) == whole
    if (column, wrong) != ("id", "x'ff00'"):  # bytes are a name as well, if an odd one
        [problem] = [entry.problem for entry in found if entry.kind == BROKEN]
        assert ("JSON object" if column == "data" else "no id") in problem
    assert list(find_format("opencode").messages(transcript))
    assert reading(transcript) is not None
    assert compactions(transcript)[0] == 1


@pytest.mark.parametrize("wrong", ["NULL", "42", "x'ff00'"])
def test_a_part_that_holds_no_text_leaves_the_others(wrong: str, copied: Any) -> None:
    path = copied("opencode")
    whole = len(entries(the(path)))
    without_types(path, "part")
    changed(path, f"UPDATE part SET data = {wrong} WHERE rowid = 1")
    assert len(entries(the(path))) == whole
    assert list(find_format("opencode").messages(the(path)))


@pytest.mark.parametrize("wrong", ["NULL", "42"])
def test_a_session_without_a_name_is_none(wrong: str, copied: Any) -> None:
    path = copied("opencode")
    without_types(path, "session")
    changed(path, f"UPDATE session SET id = {wrong}")
    with pytest.raises(InvalidDocument, match="there is no conversation in"):
        the(path)


def without_types(path: Path, table: str) -> None:
    """Make a table one whose columns take anything."""
    changed(path, f"CREATE TABLE loose AS SELECT * FROM {table} ORDER BY rowid")
    changed(path, f"DROP TABLE {table}")
    with closing(sqlite3.connect(path)) as database:
        columns = [row[1] for row in database.execute("PRAGMA table_info(loose)")]
    changed(path, f"CREATE TABLE {table} ({', '.join(columns)})")
    changed(path, f"INSERT INTO {table} SELECT * FROM loose ORDER BY rowid")
    changed(path, "DROP TABLE loose")


@pytest.mark.parametrize("moment", ["1e300", "1e22", "-1e22", "9" * 400, "NaN", "Infinity", "null"])
def test_a_time_that_is_none_is_left_out(moment: str, copied: Any) -> None:
    path = copied("opencode")
    data = '{"role": "user", "time": {"created": %s}}' % moment  # noqa: UP031
    changed(path, "UPDATE message SET data = ? WHERE rowid = 1", data)
    assert entries(the(path))[0].time == 0
    assert list(markdown(the(path), Selection()))
    assert list(find_format("opencode").messages(the(path)))


def test_a_database_without_the_session_or_its_tables_is_refused(copied: Any) -> None:
    path = copied("opencode")
    transcript = the(path)
    with pytest.raises(InvalidDocument, match="no session `other`"):
        entries(transcript.replace(session="other"))
    changed(path, "ALTER TABLE part RENAME TO parts")
    with pytest.raises(InvalidDocument, match="no such table") as refused:
        entries(transcript)
    assert "version" in refused.value.hint


def test_a_locked_database_says_so(copied: Any) -> None:
    path = copied("opencode")
    holder = sqlite3.connect(path)
    holder.execute("PRAGMA journal_mode = DELETE")
    holder.execute("BEGIN EXCLUSIVE")
    (path.parent / f"{path.name}-wal").touch()
    with pytest.raises(InvalidDocument, match="locked") as refused:
        entries(Transcript(str(path), "opencode", "x"))
    assert "again" in refused.value.hint
    holder.close()


def test_what_is_not_written_whole_yet_is_not_read(copied: Any) -> None:
    path = copied("opencode")
    transcript = the(path)
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("PRAGMA journal_mode = DELETE")
    holder.execute("PRAGMA cache_size = 1")  # so that changes are in the file before they count
    before = path.read_bytes()
    holder.execute("BEGIN EXCLUSIVE")
    holder.execute("UPDATE message SET data = data || hex(zeroblob(50000))")
    assert path.read_bytes() != before
    with pytest.raises(InvalidDocument, match="locked"):
        entries(transcript)
    broken_off = Path(shutil.copy(path, path.parent / "broken_off.db"))
    shutil.copy(f"{path}-journal", f"{broken_off}-journal")
    holder.close()
    with pytest.raises(InvalidDocument) as refused:
        entries(transcript.replace(path=str(broken_off)))
    assert "broken off" in refused.value.hint


def test_the_log_of_changes_of_a_linked_database_is_read(copied: Any) -> None:
    path = copied("opencode")
    transcript = the(path)
    whole = len(entries(transcript))
    host = sqlite3.connect(path)
    host.execute("PRAGMA journal_mode = WAL")
    host.execute("DELETE FROM message WHERE rowid = (SELECT max(rowid) FROM message)")
    host.commit()
    link = path.parent / "elsewhere" / "link.db"
    link.parent.mkdir()
    link.symlink_to(path)
    assert len(entries(transcript.replace(path=str(link)))) < whole
    host.close()


def test_no_file_comes_to_lie_beside_a_closed_database(copied: Any) -> None:
    path = copied("opencode")
    before = path.read_bytes()
    entries(the(path))
    assert list(path.parent.iterdir()) == [path]
    assert path.read_bytes() == before


# Bad input


BAD = {
    "not JSON": b"{not json}\n",
    "no object": b"[1, 2]\n",
    "a number": b"7\n",
    "NULs": b"\0" * 4096 + b"\n",
    "bytes that are no text": b'{"type": "\xff\xfe", "id": "\xc3"}\n',
    "brackets": b"[" * 100_000 + b"\n",
    "nested": b'{"type": "message", "id": "x", "message": {"content": '
    + b"[" * 100_000
    + b"]" * 100_000
    + b"}}\n",
    "unfit fields": b'{"id": 7, "parentId": {}, "type": [], "timestamp": 1, "payload": [],'
    b' "message": 3, "content": {"a": 1}, "$set": 4, "tokens": "many"}\n',
    "unfit blocks": b'{"id": "x", "type": "user", "timestamp": "", "content": [1, null, [],'
    b' {"functionResponse": 1}, {"functionCall": {"args": []}}], "toolCalls": [3]}\n',
    "an unfit item": b'{"type": "response_item", "payload": {"type": "message", "content": 3}}\n',
    "an unfit call": b'{"type": "response_item", "payload": {"type": "function_call", "call_id":'
    b' 4, "arguments": "{", "name": null}}\n',
    "blanks": b"  \t \r\n",
    "nothing": b"\n",
    "half a pair": b'{"type": "x", "text": "\\ud800"}\n',
    "a huge number": b'{"type": "x", "tokens": {"input": 1' + b"0" * 5000 + b"}}\n",
    "NaN": b'{"type": "message", "usage": NaN}\n',
}


@in_files
@pytest.mark.parametrize("bad", BAD)
def test_a_bad_line_is_named_or_unknown_and_the_rest_is_read(
    name: str, bad: str, copied: Any
) -> None:
    path = copied(name)
    whole = path.read_bytes()
    transcript = the(path)
    expected = [(e.kind, e.id) for e in entries(transcript)]
    before = reading(transcript), compactions(transcript)[0]
    path.write_bytes(whole + BAD[bad])
    found = entries(transcript)
    assert [(e.kind, e.id) for e in found[:-1]] == expected
    assert found[-1].kind in (BROKEN, UNKNOWN, MESSAGE)
    assert found[-1].raw == BAD[bad][:-1]
    if found[-1].kind != MESSAGE:
        assert (reading(transcript), compactions(transcript)[0]) == before
    list(find_format(name).messages(transcript))


@in_files
def test_a_torn_last_line_is_broken_until_it_is_whole(name: str, copied: Any) -> None:
    path = copied(name)
    whole = path.read_bytes()
    expected = [(e.kind, e.id) for e in entries(the(path))]
    path.write_bytes(whole[:-20])
    found = entries(the(path))
    assert (found[-1].kind, found[-1].raw) == (BROKEN, lines_of(path)[-1])
    path.write_bytes(whole[:-1])
    assert [(e.kind, e.id) for e in entries(the(path))] == expected


def test_lines_that_are_appended_while_we_read_are_read(copied: Any) -> None:
    path = copied("pi")
    line = lines_of(path)[-1]
    found: Iterator[TranscriptEntry] = find_format("pi").entries(the(path))
    count = len(lines_of(path))
    seen = [next(found)]
    with path.open("ab") as file:
        file.write(line)
    seen += found
    assert [entry.kind for entry in seen].count(BROKEN) == 0
    assert len(seen) in (count, count + 1)


def test_a_file_that_shrinks_while_it_is_read_is_reported(copied: Any) -> None:
    path = copied("pi")
    found = find_format("pi").entries(the(path))
    next(found)
    path.write_bytes(b"")
    with pytest.raises(InvalidDocument, match="shorter"):
        list(found)


@in_files
def test_a_file_that_is_gone_is_reported(name: str, tmp_path: Path) -> None:
    transcript = Transcript(str(tmp_path / "x"), name)
    kept = find_format(name)
    for read in (kept.newest_reading, kept.compactions):
        with pytest.raises(InvalidDocument, match="cannot read"):
            read(transcript)
    for walk in (kept.messages, kept.entries):
        with pytest.raises(InvalidDocument, match="cannot read"):
            list(walk(transcript))


def test_blank_lines_say_nothing_and_are_kept(copied: Any) -> None:
    path = copied("pi")
    path.write_bytes(path.read_bytes() + b"\n \r\n\n")
    found = entries(the(path))
    assert [entry.kind for entry in found[-3:]] == [UNKNOWN] * 3
    assert b"".join(entry.raw + b"\n" for entry in found) == path.read_bytes()


def test_a_line_beyond_all_bounds_is_named_and_the_next_one_is_read(
    copied: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gitguard.transcripts.jsonl._BLOCK", 1 << 10)
    monkeypatch.setattr("gitguard.transcripts.jsonl._LONGEST", 1 << 13)
    path = copied("pi")
    whole = path.read_bytes()
    before = [(entry.kind, entry.id) for entry in entries(the(path))]
    long = b'{"x": "' + b"y" * 20_000 + b'"}'
    path.write_bytes(long + b"\n" + whole + long)
    first, *found, last = entries(the(path, "pi"))
    for entry in (first, last):
        assert (entry.kind, entry.raw) == (BROKEN, b"")
        assert "bytes" in entry.problem
    assert [(entry.kind, entry.id) for entry in found] == before
    assert last.end == path.stat().st_size


def test_a_long_first_line_is_recognised(tmp_path: Path) -> None:
    path = tmp_path / "x"
    content = "x" * 3_000_000
    line = {"type": "message", "id": "a", "parentId": None, "message": {"content": content}}
    assert the(add(path, line)).format == "pi"


SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)
_NAMES = """
    type id parentId message role content payload timestamp usage tokens $set
    messages text toolCalls functionResponse functionCall response input output
    state status time data thoughts arguments call_id name summary
    replacement_history info last_token_usage total_tokens uuid metadata parts
    tool_use_id isSidechain compactMetadata result error completed
"""
_WORDS = """
    message user assistant gemini response_item compacted session_meta
    function_call reasoning custom_tool_call_output event_msg token_count
    toolResult compaction tool text system branch_summary compact_boundary tool_use
    tool_result <state_snapshot>
"""
DOCUMENTS = st.recursive(
    SCALARS | st.sampled_from(_WORDS.split()),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(_NAMES.split()), inner, max_size=6)
    ),
    max_leaves=30,
)


@pytest.mark.parametrize("name", [*FILES, "claude-code", "openclaw"])
@given(documents=st.lists(DOCUMENTS, max_size=6))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_document_keeps_a_reader_from_the_others(
    name: str, tmp_path: Path, documents: list[Any]
) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(b"".join(json.dumps(one).encode() + b"\n" for one in documents))
    transcript, kept = Transcript(str(path), name), find_format(name)
    found = [entry for entry in kept.entries(transcript) if entry.raw]
    assert [entry.raw for entry in found] == path.read_bytes().splitlines()
    assert all(entry.problem for entry in found if entry.kind == BROKEN)
    kept.newest_reading(transcript)
    kept.compactions(transcript)
    list(kept.messages(transcript))
    list(json_lines(transcript, Selection()))
    list(markdown(transcript, Selection()))


def test_results_stay_with_the_tool(copied: Any) -> None:
    for name in RECORDED:
        found = [e for e in entries(the(copied(name))) if any(b.kind == RESULT for b in e.blocks)]
        assert {entry.role for entry in found} == {TOOL}
