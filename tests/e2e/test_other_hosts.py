"""Conversations made by the real programs of other hosts, read back."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

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
from gitguard.model.events import Transcript
from gitguard.transcripts import find_format, recorded_calls, summary_since
from gitguard.transcripts.formats.recognition import recognise

from .conftest import installed
from .live_hosts import LiveHost
from .scripted_model import DEFAULT_SUMMARY, Kind, ScriptedModel, Step, ToolCall
from .sealed_hosts import SealedPi, codex, gemini, opencode


def entries_of(transcript: Transcript) -> list[TranscriptEntry]:
    found = list(find_format(transcript.format).entries(transcript))
    assert not [entry for entry in found if entry.kind == BROKEN]
    return found


def said(transcript: Transcript) -> list[tuple[str, str]]:
    messages = find_format(transcript.format).messages(transcript)
    return [(message.role, message.text.strip('"')) for message in messages]


def calls_and_results(entries: list[TranscriptEntry]) -> tuple[list[str], list[str]]:
    """Return the ids of calls and of results, in the order in which they stand."""
    blocks = [block for entry in entries for block in entry.blocks]
    calls = [block.id for block in blocks if block.kind == CALL]
    return calls, [block.id for block in blocks if block.kind == RESULT]


def assert_every_line_is_there(path: Path, entries: list[TranscriptEntry]) -> None:
    assert b"".join(entry.raw + b"\n" for entry in entries) == path.read_bytes()
    assert [entry.end for entry in entries[:-1]] == [entry.at for entry in entries[1:]]


def usage(transcript: Transcript) -> tuple[int | None, str, int]:
    """Return the tokens used, by which model, and how many compactions there were."""
    kept = find_format(transcript.format)
    reading = kept.newest_reading(transcript)
    assert reading is not None
    return reading.tokens, reading.model, kept.compactions(transcript).count


def window(transcript: Transcript) -> int | None:
    reading = find_format(transcript.format).newest_reading(transcript)
    return reading.window if reading else None


def unknown_types(entries: list[TranscriptEntry], *names: str) -> Counter[Any]:
    found = [json.loads(entry.raw) for entry in entries if entry.kind == UNKNOWN]
    return Counter(tuple(document.get(name) for name in names) for document in found)


@pytest.mark.essential
def test_pi(pi: SealedPi, model: ScriptedModel) -> None:
    two = (
        ToolCall("bash", {"command": "seq 1 900"}),
        ToolCall("write", {"path": "a", "content": ""}),
    )
    model.script(
        Step("Working.", two, input_tokens=15_000),
        Step("Two.", (ToolCall("bash", {"command": "false"}),), input_tokens=15_000),
        Step("Near the limit.", input_tokens=34_000),
        Step("Second answer.", input_tokens=8_000),
        Step("Resumed.", input_tokens=9_000),
    )
    assert pi.run("first prompt", "second prompt").returncode == 0
    [file] = pi.sessions()
    assert pi.run("third prompt", session=file).returncode == 0
    assert pi.sessions() == [file]

    transcript = recognise(str(file))
    assert transcript.format == "pi"
    assert usage(transcript) == (9_050, "fake/fake-1", 1)
    assert said(transcript) == [
        (USER, "first prompt"),
        (AGENT, "Working."),
        (AGENT, "Two."),
        (AGENT, "Near the limit."),
        (USER, "second prompt"),
        (AGENT, "Second answer."),
        (USER, "third prompt"),
        (AGENT, "Resumed."),
    ]
    entries = entries_of(transcript)
    assert_every_line_is_there(file, entries)
    assert Counter(entry.kind for entry in entries) == {
        HEADER: 1,
        UNKNOWN: 3,
        MESSAGE: 11,
        COMPACTION: 1,
    }
    told_by_host = {("model_change",), ("thinking_level_change",), ("message",)}
    assert set(unknown_types(entries, "type")) == told_by_host
    calls, results = calls_and_results(entries)
    assert len(calls) == 3
    assert calls == results
    failed = [b for e in entries if e.role == TOOL for b in e.blocks if b.is_error]
    assert [block.id for block in failed] == calls[2:]
    [compaction] = [entry for entry in entries if entry.kind == COMPACTION]
    assert "SCRIPTED-SUMMARY" in compaction.blocks[0].text
    assert compaction.keeps_on
    assert compaction.kept[0] in {entry.id for entry in entries}


@pytest.mark.essential
def test_opencode(repo: Path, tmp_path: Path) -> None:
    listing = ToolCall("bash", {"command": "seq 1 300", "description": "list"})
    missing = ToolCall("read", {"filePath": str(repo / "missing.txt")})
    with ScriptedModel() as model:
        model.script(
            Step("Working.", (listing, missing), input_tokens=15_000),
            Step(
                "More.", (ToolCall("bash", {"command": "exit 3", "description": "fail"}),), 39_000
            ),
            Step("After compaction.", input_tokens=6_000),
            Step("Resumed.", input_tokens=7_000),
        )
        host = installed(opencode, tmp_path / "home", repo, model.url)
        assert host.run("run", "first").returncode == 0
        assert host.run("run", "--continue", "second").returncode == 0

    path = tmp_path / "home/.local/share/opencode/opencode.db"
    before = path.read_bytes()
    transcript = recognise(str(path))
    assert transcript.format == "opencode"
    assert usage(transcript) == (7_050, "fake/fake-1", 1)
    assert said(transcript) == [
        (USER, "first"),
        (AGENT, "Working."),
        (AGENT, "More."),
        (AGENT, "After compaction."),
        (USER, "second"),
        (AGENT, "Resumed."),
    ]
    entries = entries_of(transcript)
    assert [e.kind for e in entries if e.kind != MESSAGE] == [UNKNOWN, COMPACTION]
    calls, results = calls_and_results(entries)
    assert len(calls) == 3
    assert calls == results
    assert [b.is_error for e in entries for b in e.blocks if b.kind == RESULT] == [0, 1, 0]
    assert path.read_bytes() == before
    exported = json.loads(host.run("export", transcript.session).stdout)
    assert_every_row_is_there(exported, entries)


def assert_every_row_is_there(exported: dict[str, Any], entries: list[TranscriptEntry]) -> None:
    """What the program itself exports is what was read, but for the ids that rows have."""
    rows = [[json.loads(part) for part in entry.raw.split(b"\n")] for entry in entries if entry.raw]
    told = [[message["info"], *message["parts"]] for message in exported["messages"]]
    assert [[without_ids(part) for part in row] for row in rows] == [
        [without_ids(part) for part in message] for message in told
    ]


def without_ids(document: dict[str, Any]) -> dict[str, Any]:
    names = ("id", "sessionID", "messageID")
    return {name: value for name, value in document.items() if name not in names}


PATCH = "*** Begin Patch\n*** Add File: hello.py\n+print(1)\n*** End Patch\n"


@pytest.mark.essential
def test_codex(repo: Path, tmp_path: Path) -> None:
    two = (
        ToolCall("exec_command", {"cmd": "echo one"}),
        ToolCall("apply_patch", {"input": PATCH}),
    )
    with ScriptedModel() as model:
        model.script(
            Step("Working.", two, input_tokens=20_000),
            Step("Two.", (ToolCall("exec_command", {"cmd": "exit 3"}),), input_tokens=85_000),
            Step("After compaction.", input_tokens=9_000),
            Step("Resumed.", input_tokens=9_700),
        )
        host = installed(codex, tmp_path / "home", repo, model.url)
        assert host.run("exec", "first prompt").returncode == 0
        assert host.run("exec", "resume", "--last", "second prompt").returncode == 0

    [file] = (tmp_path / "home/.codex/sessions").rglob("rollout-*.jsonl")
    transcript = recognise(str(file))
    assert transcript.format == "codex"
    assert usage(transcript) == (9_750, "gpt-5.5", 1)
    assert window(transcript) == 95_000
    assert said(transcript) == [
        (USER, "first prompt"),
        (AGENT, "Working."),
        (AGENT, "Two."),
        (AGENT, "After compaction."),
        (USER, "second prompt"),
        (AGENT, "Resumed."),
    ]
    entries = entries_of(transcript)
    assert_every_line_is_there(file, entries)
    assert {name for (name,) in unknown_types(entries, "type")} <= {
        "event_msg",
        "turn_context",
        "world_state",
        "token_usage_record",
    }
    calls, results = calls_and_results(entries)
    assert len(calls) == 3
    assert calls == results
    assert [b.is_error for e in entries for b in e.blocks if b.kind == RESULT] == [0, 0, 1]
    [compaction] = [entry for entry in entries if entry.kind == COMPACTION]
    assert DEFAULT_SUMMARY in compaction.blocks[0].text
    ours = [entry.id for entry in entries if entry.role == USER and not entry.by_host]
    assert ours[0] in compaction.kept


def test_codex_right_after_a_compaction(repo: Path, tmp_path: Path) -> None:
    with ScriptedModel() as model:
        call = ToolCall("exec_command", {"cmd": "echo one"})
        model.script(Step("", (call,), input_tokens=85_000))
        host = installed(codex, tmp_path / "home", repo, model.url)
        assert host.run("exec", "first prompt").returncode == 0
    [file] = (tmp_path / "home/.codex/sessions").rglob("rollout-*.jsonl")
    lines = file.read_bytes().splitlines(keepends=True)
    at = next(n for n, line in enumerate(lines) if b'"compacted"' in line)
    kinds = [json.loads(line)["payload"].get("type") for line in lines]
    estimated = kinds.index("token_count", at)
    file.write_bytes(b"".join(lines[: estimated + 1]))
    reading = find_format("codex").newest_reading(Transcript(str(file), "codex"))
    assert reading is not None
    assert reading.after_compaction
    assert reading.tokens is not None
    assert 0 < reading.tokens < 20_000


@pytest.mark.essential
def test_gemini(repo: Path, tmp_path: Path) -> None:
    two = (
        ToolCall("run_shell_command", {"command": "echo one"}),
        ToolCall("write_file", {"file_path": "hello.py", "content": "x"}),
    )
    long = " ".join(f"word{number}" for number in range(3_000))
    always = ("-m", "gemini-2.5-pro", "--approval-mode", "yolo")
    with ScriptedModel() as model:
        model.script(
            Step("Working.", two, input_tokens=900),
            Step(
                "Two.", (ToolCall("read_file", {"file_path": "missing.txt"}),), input_tokens=1_000
            ),
            Step(long, input_tokens=1_500),
            Step("After compression.", input_tokens=1_200),
            Step("Resumed.", input_tokens=1_300),
        )
        host = installed(gemini, tmp_path / "home", repo, model.url)
        assert host.run(*always, "-p", "first prompt").returncode == 0
        assert host.run(*always, "-r", "latest", "-p", "second prompt").returncode == 0
        file, *strays = sorted((tmp_path / "home/.gemini/tmp").rglob("chats/session-*.jsonl"))
        for stray in strays:
            # A run that resumes in another minute also begins a file, and says nothing in it.
            stray.unlink()
        between = recognise(str(file))
        assert usage(between) == (1_200, "gemini-2.5-pro", 1)
        assert host.run(*always, "-r", "latest", "-p", "third prompt").returncode == 0

    transcript = recognise(str(file))
    assert transcript.format == "gemini"
    assert usage(transcript) == (1_300, "gemini-2.5-pro", 1)
    assert window(transcript) == 1_048_576
    assert said(transcript) == [
        (USER, "first prompt"),
        (AGENT, "Working."),
        (AGENT, "Two."),
        (AGENT, long),
        (USER, "second prompt"),
        (AGENT, "After compression."),
        (USER, "third prompt"),
        (AGENT, "Resumed."),
    ]
    entries = entries_of(transcript)
    assert_every_line_is_there(file, [entry for entry in entries if entry.raw])
    told = [e.blocks[0].text for e in entries if e.kind == MESSAGE and e.role != TOOL]
    assert [text for text in told if not text.startswith(("<session_context>", "Got it."))] == [
        text for _, text in said(transcript)
    ]
    calls, results = calls_and_results(entries)
    assert len(calls) == 3
    assert calls == results
    assert [b.is_error for e in entries for b in e.blocks if b.kind == RESULT] == [0, 0, 1]
    [compaction] = [entry for entry in entries if entry.kind == COMPACTION]
    assert compaction.blocks[0].text == f"<state_snapshot>{DEFAULT_SUMMARY}</state_snapshot>"


READ_ONLY = ("copilot", "qwen", "droid", "kimi")
MEASURED = {"copilot": 9_500, "qwen": 9_500, "droid": 9_550, "kimi": 9_550}
"""Tokens by the last answer; some hosts count it too."""
WINDOWS = {"copilot": 20_000, "kimi": 200_000}
MODELS = {"droid": "custom:fake-1"}


@pytest.mark.essential
@pytest.mark.parametrize("live", READ_ONLY, indirect=True)
def test_a_conversation_of_a_host_of_the_dialect(live: LiveHost) -> None:
    live.say(
        "first prompt",
        Step("Working.", (live.write("hello.py", "print(1)\n"),), input_tokens=9_000),
        Step("Two.", (live.shell("exit 3"),), input_tokens=9_000),
        Step("First answer.", input_tokens=9_000),
    )
    live.compact(Step("After compaction.", input_tokens=8_000))
    live.go_on("third prompt", Step("Resumed.", input_tokens=9_500))

    transcript = recognise(str(live.transcript))
    assert transcript == Transcript(str(live.transcript), live.name, live.session)
    tokens, model, compactions = usage(transcript)
    assert (tokens, model) == (MEASURED[live.name], MODELS.get(live.name, "fake-1"))
    assert window(transcript) == WINDOWS.get(live.name)
    spoken = said(transcript)
    assert [text for role, text in spoken if role == USER] == [
        "first prompt",
        "Go on, please.",
        "third prompt",
    ]
    assert spoken[1:4] == [(AGENT, "Working."), (AGENT, "Two."), (AGENT, "First answer.")]
    assert spoken[-1] == (AGENT, "Resumed.")
    entries = entries_of(transcript)
    assert_every_line_is_there(live.transcript, entries)
    summaries = [e.blocks[0].text for e in entries if e.kind == COMPACTION]
    assert len(summaries) == compactions > 0
    assert all(DEFAULT_SUMMARY in summary for summary in summaries)
    assert (DEFAULT_SUMMARY in summary_since(transcript, 1)) == (live.name != "qwen")
    calls, results = calls_and_results(entries)
    assert calls == results
    recorded = list(recorded_calls(transcript))[::-1]
    assert [call.id for call in recorded] == calls
    wrote, failed, *listed = recorded
    assert (wrote.is_error, failed.is_error, failed.exit_code) == (False, True, 3)
    assert {call.is_error for call in listed} == {False}


@pytest.mark.parametrize("live", READ_ONLY, indirect=True)
def test_a_host_of_the_dialect_goes_on_with_a_torn_file_by_itself(
    live: LiveHost, model: ScriptedModel
) -> None:
    working = Step("Working.", (live.shell("echo OUTPUT"),))
    live.say("FIRST-PROMPT", working, Step("First answer."))
    with live.transcript.open("ab") as file:
        file.write(b'{"type":"message","id":"x","mess')
    assert live.go_on("SECOND-PROMPT", Step("Resumed.")).returncode == 0
    request = model.requests(Kind.MAIN)[-1]
    assert request.count("FIRST-PROMPT") == request.count("SECOND-PROMPT") == 1
    assert "OUTPUT" in request.text
    spoken = said(recognise(str(live.transcript)))
    assert spoken[-1] == (AGENT, "Resumed.")
    # Qwen Code writes its next line behind the torn one, where nobody reads it.
    assert ((USER, "SECOND-PROMPT") in spoken) == (live.name != "qwen")
