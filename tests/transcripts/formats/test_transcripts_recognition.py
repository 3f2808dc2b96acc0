"""A transcript is its own host's or nobody's, and what holds no message is an error."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from gitguard.compaction.transcripts import HOST, JSON_LINES, MARKDOWN, Transcripts
from gitguard.errors import GitguardError, InvalidDocument, InvalidInput
from gitguard.model.config.config import DEFAULTS
from gitguard.model.conversation import CALL, MESSAGE, RESULT, TranscriptEntry
from gitguard.model.events import Transcript
from gitguard.model.redaction.redactor import Redactor
from gitguard.pressure.usage import find_conversation, usage_of
from gitguard.profile.profiling import profile_of
from gitguard.transcripts import find_format
from gitguard.transcripts.exporting import Selection
from gitguard.transcripts.formats import NAMES
from gitguard.transcripts.formats.recognition import recognise
from gitguard.transcripts.formats.writable import writer_of
from gitguard.transcripts.identity import id_of
from gitguard.transcripts.plain_lines import zstd_module
from gitguard.transcripts.rewriting.repair import repair
from tests.support.written_conversations import (
    Document,
    Part,
    Result,
    agent,
    claude_code,
    pi,
    user,
    write,
)

zstd = zstd_module()
PAYLOADS = Path(__file__).parents[2] / "payloads"
SAID: Sequence[Part] = (user("look"), agent("", "c1"), Result("c1", "src"), agent("it is there"))
AT = {"timestamp": "2026-11-26T11:55:02.607Z"}
LINK = {"id": "cf09794a-630f-4f37-a34b-4d19d5e8c211", "parentId": "49d6e006"}
MARKS = {"uuid": "68cbcfa5-4f37", "parentUuid": None, "sessionId": "510d9e72", "cwd": "/repo"}
DROIDS = {"role": "user", "content": [], "visibility": "user_only", "hookEventName": "Stop"}
CALLED = [{"type": "tool_use", "id": "call_0", "name": "Execute", "input": {}}]
PARTS = [{"text": "make a file"}]
ALIKE: dict[str, list[Document]] = {
    "copilot": [
        {"type": "session.start", "data": {"sessionId": "8d05"}, "id": "a", "parentId": None, **AT},
        {"type": "user.message", "data": {"content": "make a file"}, **LINK, **AT},
        {"type": "assistant.message", "data": {"content": "done"}, **LINK, **AT},
    ],
    "qwen": [
        {**MARKS, **AT, "type": "user", "message": {"role": "user", "parts": PARTS}},
        {**MARKS, **AT, "type": "system", "subtype": "ui_telemetry", "systemPayload": {}},
        {**MARKS, **AT, "type": "assistant", "message": {"role": "model", "parts": PARTS}},
    ],
    "droid": [
        {"type": "session_start", "id": "dbc5", "title": "t", "version": 2, "cwd": "/repo"},
        {"type": "message", **LINK, **AT, "message": DROIDS},
        {"type": "message", **LINK, **AT, "message": {"role": "assistant", "content": CALLED}},
    ],
    "kimi": [
        {"type": "metadata", "protocol_version": "1.5", "created_at": 1},
        {"type": "turn.prompt", "agentId": "main", "input": PARTS, "time": 1},
        {"type": "context.append_message", "agentId": "main", "message": {"role": "user"}},
    ],
}
READERS: dict[str, Callable[[Transcripts, Transcript], object]] = {
    "usage": lambda t, named: t.usage(named),
    "budget": lambda t, named: t.budget(named),
    "show": lambda t, named: list(t.paragraphs(named, Selection())),
    "document": lambda t, named: t.document(named, Selection()),
    "prune": lambda t, named: t.prune(named, dry_run=True),
    JSON_LINES: lambda t, named: list(t.export(named, Selection(), JSON_LINES)),
    MARKDOWN: lambda t, named: list(t.export(named, Selection(), MARKDOWN)),
    HOST: lambda t, named: list(t.export(named, Selection(), HOST)),
}


def read_by_all(path: Path, name: str = "") -> None:
    """Read a transcript in every way, as a user would."""
    transcripts = Transcripts(DEFAULTS, lambda: 0)
    for kind, reader in READERS.items():
        named = transcripts.find(str(path), name)
        if kind not in ("prune", HOST) or named.format in ("pi", "claude-code"):
            reader(transcripts, named)
    profile_of(named, DEFAULTS, Redactor())


@pytest.mark.parametrize("host", ALIKE)
@pytest.mark.parametrize("first", range(3))
@pytest.mark.parametrize("place", ["x", ".claude/projects/x", ".pi/agent/sessions"])
def test_lines_that_are_much_alike_are_their_own_hosts_from_whatever_line_on(
    tmp_path: Path, host: str, first: int, place: str
) -> None:
    folder = tmp_path / place
    folder.mkdir(parents=True)
    path = write(folder / "conversation.jsonl", ALIKE[host][first:])
    assert recognise(str(path)).format == host
    for name in set(NAMES) - {host}:
        with pytest.raises(GitguardError):
            find_conversation(str(path), name)


@pytest.mark.parametrize("host", ALIKE)
def test_a_host_whose_files_are_only_read_finds_them_as_they_were(
    tmp_path: Path, host: str
) -> None:
    path = write(tmp_path / "conversation.jsonl", ALIKE[host])
    whole = path.read_bytes()
    for name in NAMES:
        with pytest.raises(GitguardError):
            repair(Transcript(str(path), name), lambda: 0)
    with pytest.raises(InvalidInput, match=f"a {host} transcript, which gitguard only reads"):
        writer_of(recognise(str(path)))
    assert path.read_bytes() == whole


@pytest.mark.parametrize(
    ("place", "host", "conversation"),
    [
        (".copilot/session-state/8d05/events.jsonl", "copilot", "8d05"),
        (".kimi-code/sessions/wd_1/session_2/agents/main/wire.jsonl", "kimi", "session_2"),
        (".qwen/projects/-repo/chats/510d.jsonl", "qwen", "510d"),
        (".factory/sessions/-repo/dbc5.jsonl", "droid", "dbc5"),
    ],
)
def test_a_conversation_is_named_by_its_file_or_the_folder_that_holds_it(
    tmp_path: Path, place: str, host: str, conversation: str
) -> None:
    path = tmp_path / place
    path.parent.mkdir(parents=True)
    path.touch()
    assert recognise(str(path)) == Transcript(str(path), host, conversation)
    assert recognise(str(path), "", conversation).session == conversation
    with pytest.raises(InvalidInput, match="holds one conversation"):
        recognise(str(path), "", "another")
    moved = write(tmp_path / "moved.jsonl", ALIKE[host])
    assert recognise(str(moved)).session == "moved"


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("name", ["claude-code", "pi", "codex", "gemini", "openclaw"])
@pytest.mark.parametrize(
    "lines",
    [[{"a": 1}, {"b": [2]}], [b"not a line of JSON"], [b""], [{"type": "other", "id": "x"}]],
)
def test_a_forced_format_without_one_message_is_an_error(
    tmp_path: Path, reader: str, name: str, lines: list[Any]
) -> None:
    path = write(tmp_path / "some.jsonl", lines)
    transcripts = Transcripts(DEFAULTS, lambda: 0)
    with pytest.raises((InvalidDocument, InvalidInput)) as refused:
        READERS[reader](transcripts, transcripts.find(str(path), name))
    assert refused.value.hint


@pytest.mark.parametrize("name", ["claude-code", "pi"])
def test_a_repair_with_a_forced_format_leaves_foreign_documents_alone(
    tmp_path: Path, name: str
) -> None:
    path = write(tmp_path / "some.jsonl", [{"a": 1}, {"b": [2]}])
    whole = path.read_bytes()
    with pytest.raises(InvalidInput, match=f"no line of {name} is in"):
        repair(Transcript(str(path), name), lambda: 0)
    assert path.read_bytes() == whole


def entries_of(named: Transcript) -> list[TranscriptEntry]:
    return [e for e in find_format(named.format).entries(named) if e.kind == MESSAGE]


def blocks(named: Transcript) -> list[str]:
    return [block.kind for entry in entries_of(named) for block in entry.blocks]


# A sub-agent's own transcript


@pytest.fixture
def sub_agents(tmp_path: Path) -> Path:
    lines = [{**line, "isSidechain": True, "agentId": "a1"} for line in claude_code(SAID)]
    for line in lines:
        if line["type"] == "assistant":
            line["message"] |= {"model": "claude-haiku-4-5"}
    return write(tmp_path / "agent-a1.jsonl", lines)


def test_a_sub_agents_own_transcript_is_its_conversation(sub_agents: Path) -> None:
    named = recognise(str(sub_agents))
    assert named.format == "claude-code"
    assert [e.is_aside for e in entries_of(named)] == [False] * 4
    assert blocks(named).count(CALL) == 1
    assert usage_of(named, DEFAULTS).tokens == 5
    said = [message.text for message in find_format("claude-code").messages(named)]
    assert said == ["look", "it is there"]
    assert "it is there" in "".join(Transcripts(DEFAULTS, lambda: 0).paragraphs(named, Selection()))
    read_by_all(sub_agents)


def test_a_sub_agents_own_transcript_is_repaired_and_not_compacted(sub_agents: Path) -> None:
    named = recognise(str(sub_agents))
    with sub_agents.open("a") as file:
        file.write("{torn\n")
    assert repair(named, lambda: 0).counts == {"broken": 1}
    with pytest.raises(InvalidInput, match="is a sub-agent's own transcript"):
        writer_of(named)


def test_a_sub_agents_own_compactions_count(sub_agents: Path) -> None:
    boundary = {"type": "system", "subtype": "compact_boundary", "uuid": "b", "isSidechain": True}
    metadata = {"parentUuid": None, "compactMetadata": {"postTokens": 7}, **AT}
    with sub_agents.open("a") as file:
        file.write(json.dumps({**boundary, **metadata}) + "\n")
    usage = usage_of(recognise(str(sub_agents)), DEFAULTS)
    assert (usage.compactions, usage.tokens) == (1, 7)


def test_a_sub_agents_lines_in_a_main_conversation_stay_asides(tmp_path: Path) -> None:
    side = [{**line, "isSidechain": True} for line in claude_code([user("side"), agent("x")])]
    path = write(tmp_path / "s.jsonl", [*claude_code(SAID), *side])
    named = recognise(str(path))
    assert [e.is_aside for e in entries_of(named)] == [False] * 4 + [True] * 2
    assert "side" not in [m.text for m in find_format("claude-code").messages(named)]


# Compressed rollouts


@pytest.mark.parametrize("suffix", [".jsonl.zst", ".bin"])
def test_a_compressed_rollout_is_read_like_a_plain_one(tmp_path: Path, suffix: str) -> None:
    plain = PAYLOADS / "codex/rollout.jsonl"
    packed = tmp_path / f"rollout{suffix}"
    packed.write_bytes(zstd.compress(plain.read_bytes()))
    named, own = recognise(str(packed)), recognise(str(plain))
    assert named.format == "codex"
    assert entries_of(named) == entries_of(own)
    compressed, usage = usage_of(named, DEFAULTS), usage_of(own, DEFAULTS)
    assert compressed.replace(transcript=own) == usage
    assert usage.tokens
    assert id_of(named) == id_of(own)
    assert list(find_format("codex").messages(named)) == list(find_format("codex").messages(own))
    read_by_all(packed)
    read_by_all(packed, "codex")


def test_a_rollout_that_does_not_unpack_is_an_error(tmp_path: Path) -> None:
    packed = zstd.compress((PAYLOADS / "codex/rollout.jsonl").read_bytes())
    for damage in (packed[: len(packed) // 2], packed[:20] + b"\xff" * 40 + packed[60:]):
        path = tmp_path / "rollout.jsonl.zst"
        path.write_bytes(damage)
        for name in ("", "codex"):
            with pytest.raises(InvalidDocument):
                read_by_all(path, name)


def test_a_compressed_file_of_another_host_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "chat.jsonl.zst"
    path.write_bytes(zstd.compress(write(tmp_path / "c.jsonl", pi(SAID)).read_bytes()))
    for name in ("", "pi"):
        with pytest.raises(InvalidDocument, match="only plain files are read") as refused:
            find_conversation(str(path), name)
        assert "zstd -d" in refused.value.hint


# Chats of one JSON document


def chat(**more: Any) -> Document:
    call = {"id": "w1", "name": "write_file", "args": {"file_path": "a.txt"}}
    response = {
        "functionResponse": {"id": "w1", "name": "write_file", "response": {"output": "ok"}}
    }
    answer: Document = {
        "id": "m2",
        **AT,
        "type": "gemini",
        "content": "Written.",
        "model": "gemini-2.5-flash",
    }
    answer |= {"tokens": {"input": 12_874}, "toolCalls": [{**call, "result": [response]}]}
    messages = [{"id": "m1", **AT, "type": "user", "content": "write a file"}, answer]
    return {"sessionId": "s-1", "projectHash": "00", **more, "messages": messages}


@pytest.mark.parametrize("indent", [None, 2])
def test_a_chat_of_one_json_document_is_read(tmp_path: Path, indent: int | None) -> None:
    path = tmp_path / "session-2026-01-10T02-00-aaaaaaaa.json"
    path.write_text(json.dumps(chat(), indent=indent))
    named = recognise(str(path))
    assert named.format == "gemini"
    usage = usage_of(named, DEFAULTS)
    assert (usage.tokens, usage.model, usage.compactions) == (12_874, "gemini-2.5-flash", 0)
    said = [message.text for message in find_format("gemini").messages(named)]
    assert said == ["write a file", "Written."]
    assert len(entries_of(named)) == 2
    assert blocks(named)[-2:] == [CALL, RESULT]
    assert id_of(named) == "s-1"
    read_by_all(path)
    read_by_all(path, "gemini")


@pytest.mark.parametrize(
    "odd", ["1e400", "[" * 400 + "]" * 400, "8" * 6_000, '"\\ud800"'], ids=lambda odd: odd[:6]
)
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"], ids=["plain", "marked"])
def test_a_chat_of_one_json_document_may_hold_what_pythons_json_does_not_read(
    tmp_path: Path, odd: str, mark: bytes
) -> None:
    path = tmp_path / "session-2026-01-10T02-00-aaaaaaaa.json"
    document = json.dumps(chat(later="ODD")).replace('"ODD"', odd).replace('"a.txt"', odd)
    path.write_bytes(mark + document.encode() + b"\r\n\r\n")
    named = recognise(str(path))
    assert usage_of(named, DEFAULTS).tokens == 12_874
    assert blocks(named)[-2:] == [CALL, RESULT]
    read_by_all(path)


# pi's format 1


def first_format(parts: Sequence[Part]) -> list[Document]:
    header, *lines = pi(parts)
    header = {name: header[name] for name in ("type", "id", "cwd")} | AT
    return [header, *({k: v for k, v in d.items() if k not in LINK} for d in lines)]


def test_pis_first_format_is_read(tmp_path: Path) -> None:
    path = write(tmp_path / "2025_aaaa.jsonl", first_format(SAID))
    named = recognise(str(path))
    assert named.format == "pi"
    assert usage_of(named, DEFAULTS).tokens == 5
    assert [m.text for m in find_format("pi").messages(named)] == ["look", "it is there"]
    assert len(entries_of(named)) == 4
    assert id_of(named) == "01a1-ffc5"
    assert repair(named, lambda: 0).needs_nothing
    read_by_all(path)
    read_by_all(path, "pi")
