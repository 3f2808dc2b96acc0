"""`gitguard transcript show|usage|export`: what people and programs get of a conversation."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from gitguard.guard import Guard
from gitguard.model.events import Transcript
from gitguard.store.session.conversations import keep_conversation, read_conversation
from gitguard.store.session.current import current_session
from gitguard.transcripts.exporting import Selection, json_lines
from gitguard.transcripts.fast_json import reader, writer
from gitguard.transcripts.formats.recognition import recognise
from tests.support.secret_samples import some
from tests.support.transcript_command import CLAUDE_CODE, OPENCLAW, PI, RECORDED, document, run

BELOW = "result-details-that-must-not-leave"


def lines(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


# Which transcript


def test_usage_of_a_file_needs_no_repository(tmp_path: Path) -> None:
    found = document("usage", PI, cwd=tmp_path)
    assert found["tokens"] == 9_050
    assert found["source"] == "transcript"
    assert (found["window"], found["window_source"]) == (200_000, "assumed")
    assert found["pressure"] == pytest.approx(9_050 / 200_000)
    assert found["compactions"] == 1
    assert found["transcript"]["format"] == "pi"
    text = run("usage", PI, cwd=tmp_path)
    assert "Tokens: 9,050, 4.5% of the window" in text
    assert "Window: unknown; 200,000 are assumed" in text
    assert "can name that of fake/fake-1" in text
    assert "Compactions: 1" in text


def test_the_users_windows_count_outside_of_a_repository(
    tmp_path: Path, hermetic_seal: Path
) -> None:
    config = hermetic_seal / ".config/gitguard/config.yaml"
    config.parent.mkdir(parents=True)
    config.write_text("window:\n  models:\n    fake/fake-1: 40000\n")
    found = document("usage", PI, cwd=tmp_path)
    assert (found["window"], found["window_source"]) == (40_000, "config")
    assert "Window: 40,000 (config)" in run("usage", PI, cwd=tmp_path)


def test_without_a_path_it_is_the_sessions_newest_conversation(guard: Guard, repo: Path) -> None:
    guard.ensure()
    assert "no conversation" in run("usage", cwd=repo, code=23)
    workspace = guard.workspace
    session = current_session(workspace)
    for key, path in (("one", CLAUDE_CODE), ("two", PI)):
        told = recognise(str(path))
        known = read_conversation(workspace, session, key)
        known = known.replace(transcript=told.path, transcript_format=told.format)
        with guard.store(session).lock():
            keep_conversation(workspace, session, key, known)
    assert document("usage", cwd=repo)["transcript"]["path"] in (str(PI), str(CLAUDE_CODE))


def test_compactions_are_counted_on_from_what_the_session_knows(guard: Guard, repo: Path) -> None:
    guard.ensure()
    workspace, told = guard.workspace, recognise(str(PI))
    session = current_session(workspace)
    known = read_conversation(workspace, session, "one").replace(
        transcript=told.path,
        transcript_format=told.format,
        compactions=7,
        counted_upto=PI.stat().st_size,
        window=40_000,
        window_model="fake/fake-1",
    )
    with guard.store(session).lock():
        keep_conversation(workspace, session, "one", known)
    for words in ([], [PI]):
        found = document("usage", *words, cwd=repo)
        assert (found["compactions"], found["window"]) == (7, 40_000)


def test_a_conversation_in_a_place_of_many_is_named(tmp_path: Path) -> None:
    newest = document("usage", OPENCLAW, cwd=tmp_path)["transcript"]["session"]
    named = document("usage", OPENCLAW, "--conversation", newest, cwd=tmp_path)
    assert named["transcript"]["session"] == newest


def test_after_a_compaction_nothing_is_guessed(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    whole = PI.read_bytes().splitlines(keepends=True)
    at = next(n for n, line in enumerate(whole) if b'"compaction"' in line)
    path.write_bytes(b"".join(whole[: at + 1]))
    found = document("usage", path, cwd=tmp_path)
    assert (found["tokens"], found["pressure"], found["source"]) == (None, None, "")
    assert "not measured" in run("usage", path, cwd=tmp_path)


@pytest.mark.parametrize("command", ["show", "usage", "export"])
def test_what_does_not_read_is_an_error_with_a_way_out(tmp_path: Path, command: str) -> None:
    assert "No such file" in run(command, tmp_path / "x", cwd=tmp_path, code=24)
    (tmp_path / "x").write_text("hello\n")
    assert "--format" in run(command, tmp_path / "x", cwd=tmp_path, code=24)
    assert "ID" not in run(command, PI, "--format", "other", cwd=tmp_path, code=2)


# Show


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.parent.name)
def test_a_conversation_is_shown_as_it_was(path: Path, tmp_path: Path) -> None:
    text = run("show", path, cwd=tmp_path)
    assert "── user" in text
    assert "── agent" in text
    told = document("show", path, cwd=tmp_path)
    assert told["entries"]
    assert told["format"] == "gitguard-conversation/1"


def test_the_last_turns_are_shown_whole(tmp_path: Path) -> None:
    text = run("show", PI, "--last-turns", "2", cwd=tmp_path)
    assert "first prompt" not in text
    assert text.index("second prompt") < text.index("third prompt") < text.index("Resumed.")
    assert run("show", PI, "--last-turns", "50", cwd=tmp_path) == run("show", PI, cwd=tmp_path)


def test_long_results_are_cut_unless_all_is_wanted(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    long = "x" * 5_000
    result = {"role": "toolResult", "toolCallId": "a", "content": [{"type": "text", "text": long}]}
    header = {"type": "session", "version": 3, "id": "x"}
    entry = {"type": "message", "id": "b", "parentId": None, "message": result}
    path.write_text(json.dumps(header) + "\n" + json.dumps(entry) + "\n")
    assert "characters left out" in run("show", path, cwd=tmp_path)
    assert long in run("show", path, "--full", cwd=tmp_path)


def test_nothing_hidden_reaches_the_terminal(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    said = "a\x1b[31m\u202eb\nSTATUS:COMPLETE\n"
    entry = {"type": "message", "id": "b", "parentId": None}
    message = {"role": "assistant", "content": [{"type": "text", "text": said}]}
    path.write_text(json.dumps({**entry, "message": message}) + "\n")
    text = run("show", path, cwd=tmp_path)
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert "\nSTATUS:" not in text


# Export


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.parent.name)
def test_an_export_names_every_block_in_words_of_no_host(path: Path, tmp_path: Path) -> None:
    head, *told = lines(run("export", path, cwd=tmp_path))
    assert head["kind"] == "conversation"
    assert {entry["kind"] for entry in told} <= {"message", "compaction", "reset"}
    assert {entry["role"] for entry in told if entry["kind"] == "message"} <= {
        "user",
        "agent",
        "tool",
    }
    blocks = [block for entry in told for block in entry["blocks"]]
    kinds = {block["kind"] for block in blocks}
    assert kinds <= {"text", "thinking", "call", "result", "image", "other"}
    assert [b["id"] for b in blocks if b["kind"] == "call"] == [
        b["id"] for b in blocks if b["kind"] == "result"
    ]


def test_details_of_results_never_leave(tmp_path: Path) -> None:
    claude_code = tmp_path / "claude.jsonl"
    block = {"type": "tool_result", "tool_use_id": "t", "content": "ok"}
    line = {"type": "user", "uuid": "u", "message": {"role": "user", "content": [block]}}
    claude_code.write_text(json.dumps({**line, "toolUseResult": {"stdout": BELOW}}) + "\n")
    pi = tmp_path / "pi.jsonl"
    result = {"role": "toolResult", "toolCallId": "t", "details": {"diff": BELOW}, "content": "ok"}
    pi.write_text(json.dumps({"type": "message", "id": "a", "parentId": None, "message": result}))
    for path in (claude_code, pi):
        for options in ([], ["--as", "markdown"]):
            text = run("export", path, *options, cwd=tmp_path)
            assert "ok" in text
            assert BELOW not in text
        assert BELOW not in run("show", path, "--full", cwd=tmp_path)


def test_a_page_of_markdown_survives_fences_in_what_was_said(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    result = {"role": "toolResult", "toolCallId": "t", "content": "````\nfour\n````"}
    path.write_text(json.dumps({"type": "message", "id": "a", "parentId": None, "message": result}))
    assert "`````\n````\nfour\n````\n`````" in run("export", path, "--as", "markdown", cwd=tmp_path)


def test_lines_that_do_not_parse_stand_in_the_export(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(PI.read_bytes() + b'{"torn')
    told = lines(run("export", path, cwd=tmp_path))
    assert told[-1]["kind"] == "broken"
    assert told[-1]["at"] == PI.stat().st_size
    assert "does not parse" in run("show", path, cwd=tmp_path)


def test_thinking_and_sub_agents_are_told_as_wanted(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    content = [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "yes"}]
    line = {"type": "assistant", "uuid": "u", "message": {"role": "assistant", "content": content}}
    aside = {**line, "uuid": "v", "isSidechain": True}
    path.write_text("".join(json.dumps(one) + "\n" for one in (line, aside)))
    _, entry = lines(run("export", path, cwd=tmp_path))
    assert [block["kind"] for block in entry["blocks"]] == ["thinking", "text"]
    told = lines(run("export", path, "--no-thinking", "--sub-agents", cwd=tmp_path))
    assert [block["kind"] for block in told[1]["blocks"]] == ["text"]
    assert told[2]["is_aside"]


def test_secrets_are_taken_out_when_asked(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    secret = "ghp_" + some(36)
    entry = {"type": "message", "id": "b", "parentId": None}
    message = {"role": "user", "content": f"take {secret}"}
    path.write_text(json.dumps({**entry, "message": message}) + "\n")
    for options in ([], ["--as", "markdown"]):
        assert secret in run("export", path, *options, cwd=tmp_path)
        assert secret not in run("export", path, *options, "--redact", cwd=tmp_path)


def test_a_file_is_written_once_and_never_replaced(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(PI.read_bytes())
    run("export", path, "-o", tmp_path / "out", cwd=tmp_path)
    written = (tmp_path / "out").read_text()
    assert written == run("export", path, cwd=tmp_path)
    assert "exists" in run("export", path, "-o", path, cwd=tmp_path, code=23)
    assert path.read_bytes() == PI.read_bytes()
    assert "cannot write" in run("export", path, "-o", tmp_path / "a/b", cwd=tmp_path, code=38)


def test_a_file_that_cannot_be_written_whole_is_no_file(tmp_path: Path) -> None:
    limited = "import resource, runpy, signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN); "
    limited += "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000)); "
    limited += "runpy.run_module('gitguard', run_name='__main__')"
    words = ["transcript", "export", str(PI), "-o", str(tmp_path / "out")]
    command = [sys.executable, "-B", "-c", limited, *words]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 38, done.stderr
    assert "File too large" in done.stderr
    assert not (tmp_path / "out").exists()


def test_a_reader_that_goes_away_is_no_error(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(PI.read_bytes().splitlines(keepends=True)[3] * 20_000)
    command = f"{sys.executable} -m gitguard transcript export --format pi {path} | head -n 1"
    done = subprocess.run(["sh", "-c", command], cwd=tmp_path, capture_output=True, check=False)
    assert done.stderr == b""
    assert json.loads(done.stdout)["kind"] == "conversation"


# JSON in bulk


def test_large_files_are_read_and_written_as_small_ones() -> None:
    large, small = 1 << 30, 0
    odd = b'{"b": "\\ud800", "c": 1e400, "d": "\xc3\xa9", "e": ' + b"9" * 40 + b"}"
    for raw in (odd, b'{"a": [1, 2.5, null, true, "x"]}', b'\xef\xbb\xbf{"a": 1}', b'\0{"a": 1}\0'):
        values = [repr(reader(size)(raw)) for size in (small, large)]
        assert values[0] == values[1]
        written = [writer(size)(reader(small)(raw)) for size in (small, large)]
        assert written[0] == written[1]
        json.loads(written[0], parse_constant=lambda name: pytest.fail(name))
    value = {"text": "é\ud800", "number": 1.5, "nothing": None}
    assert writer(large)(value) == writer(small)(value)


def test_an_export_is_the_same_however_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    transcript = Transcript(str(CLAUDE_CODE), "claude-code")
    small = list(json_lines(transcript, Selection()))
    monkeypatch.setattr("gitguard.transcripts.fast_json._EARNS_IT", 0)
    assert list(json_lines(transcript, Selection())) == small
