"""What is special in the transcripts of the hosts that speak Claude Code's dialect of hooks."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from gitguard.model.conversation import COMPACTION, MESSAGE, TOOL, USER, TranscriptEntry
from gitguard.model.events import Reading, Transcript
from gitguard.transcripts import find_ended_calls, find_format, recorded_calls, summary_since
from gitguard.transcripts.exporting import Selection, json_lines
from gitguard.transcripts.fitting.context import context_of
from gitguard.transcripts.formats.recognition import recognise
from gitguard.transcripts.identity import id_of

PAYLOADS = Path(__file__).parents[2] / "payloads"
RECORDED = {
    "copilot": PAYLOADS / "copilot/events.jsonl",
    "qwen": PAYLOADS / "qwen/chat.jsonl",
    "droid": PAYLOADS / "droid/session.jsonl",
    "kimi": PAYLOADS / "kimi/wire.jsonl",
}
COMPACTED = {
    "copilot": b'"session.compaction_complete"',
    "qwen": b'"chat_compression"',
    "droid": b'"compaction_state"',
    "kimi": b'"token_counting.rebased"',
}
"""What stands in the last line of each recording's compaction that tells anything."""
TOOLS = {
    "copilot": ("create", "bash", "bash"),
    "qwen": ("run_shell_command", "write_file", "run_shell_command"),
    "droid": ("Execute", "Create", "Execute"),
    "kimi": ("Bash", "Write", "Bash"),
    "codex": ("exec_command", "apply_patch", "exec_command"),
}
EXIT_CODES = {
    "copilot": (None, 0, 3),
    "qwen": (0, None, 3),
    "droid": (0, None, 3),
    "kimi": (None, None, 3),
    "codex": (0, 0, 3),
}
AT = {"timestamp": "2026-11-27T10:00:00.000Z"}
everywhere = pytest.mark.parametrize("name", RECORDED)


@pytest.fixture
def copied(tmp_path: Path) -> Any:
    """A function that returns a copy of a recording, with what the host keeps beside it."""

    def copy(name: str) -> Path:
        beside = RECORDED[name].with_suffix(".settings.json")
        if beside.exists():
            shutil.copy(beside, tmp_path)
        return Path(shutil.copy(RECORDED[name], tmp_path))

    return copy


def the(path: Path, name: str = "") -> Transcript:
    return recognise(str(path), name)


def entries(path: Path, name: str = "") -> list[TranscriptEntry]:
    transcript = the(path, name)
    return list(find_format(transcript.format).entries(transcript))


def reading(path: Path, *, across: bool = False) -> Reading | None:
    transcript = the(path)
    return find_format(transcript.format).newest_reading(transcript, across=across)


def compactions(path: Path) -> int:
    transcript = the(path)
    return find_format(transcript.format).compactions(transcript).count


def messages(path: Path, name: str = "") -> list[str]:
    transcript = the(path, name)
    return [m.text for m in find_format(transcript.format).messages(transcript)]


def add(path: Path, *documents: dict[str, Any]) -> Path:
    with path.open("ab") as file:
        file.writelines(json.dumps(document).encode() + b"\n" for document in documents)
    return path


def upto_compaction(path: Path, mark: bytes) -> Path:
    lines = path.read_bytes().splitlines(keepends=True)
    at = next(number for number, line in enumerate(lines) if mark in line)
    path.write_bytes(b"".join(lines[: at + 1]))
    return path


# All of them


@pytest.mark.parametrize("name", [*RECORDED, "codex"])
def test_calls_are_told_with_their_ends_and_exit_codes_newest_first(name: str) -> None:
    path = RECORDED.get(name, PAYLOADS / "codex/rollout.jsonl")
    calls = list(recorded_calls(the(path)))[::-1]
    assert tuple(call.name for call in calls) == TOOLS[name]
    assert tuple(call.exit_code for call in calls) == EXIT_CODES[name]
    assert [call.is_error for call in calls] == [False, False, True]
    assert all(call.has_ended and call.given and call.text and call.at for call in calls)


@everywhere
def test_a_call_that_still_runs_has_no_end(name: str, copied: Any) -> None:
    path = copied(name)
    calls = frozenset(call.id for call in recorded_calls(the(path)))
    assert find_ended_calls(the(path), calls | {"another"}) == calls
    newest = next(recorded_calls(the(path)))
    without_end = [e.raw for e in entries(path) if newest.text not in [b.text for b in e.blocks]]
    path.write_bytes(b"".join(line + b"\n" for line in without_end))
    assert not next(recorded_calls(the(path))).has_ended
    assert find_ended_calls(the(path), calls) == calls - {newest.id}


def test_a_format_that_does_not_tell_of_calls_yields_none() -> None:
    assert list(recorded_calls(the(PAYLOADS / "pi/session.jsonl"))) == []


@everywhere
def test_exit_codes_are_exported(name: str) -> None:
    lines = [json.loads(line) for line in json_lines(the(RECORDED[name]), Selection())]
    results = [b for line in lines[1:] for b in line.get("blocks", ()) if b["kind"] == "result"]
    assert [block.get("exit_code") for block in results] == list(EXIT_CODES[name])


@pytest.mark.parametrize("name", ["copilot", "droid", "kimi"])
def test_the_summary_of_a_host_that_tells_no_hook_of_it_is_in_its_file(name: str) -> None:
    transcript = the(RECORDED[name])
    [compaction] = [entry for entry in entries(RECORDED[name]) if entry.kind == COMPACTION]
    summary = summary_since(transcript, compaction.time)
    assert "SCRIPTED-SUMMARY" in summary
    assert compaction.blocks[0].text == summary
    assert summary_since(transcript, compaction.time + 60) == ""


@pytest.mark.parametrize("name", ["copilot", "qwen", "kimi"])
def test_what_a_compaction_left_counts_until_the_next_answer(name: str, copied: Any) -> None:
    path = upto_compaction(copied(name), COMPACTED[name])
    left = reading(path)
    assert left is not None
    assert left.after_compaction
    assert left.tokens
    before = reading(path, across=True)
    assert before is not None
    assert not before.after_compaction
    assert before.model == "fake-1"


@everywhere
def test_what_a_compaction_summarized_is_in_the_context_no_more(name: str, copied: Any) -> None:
    context = context_of(entries(copied(name)))
    assert "SCRIPTED-SUMMARY" in context.summary
    texts = [b.text for e in context.entries if e.kind == MESSAGE for b in e.blocks]
    assert ("Working." in texts) == (name == "droid")
    assert "After compaction." in texts
    assert texts[-1] == "Resumed."


@everywhere
def test_a_conversation_is_known_by_its_hosts_id(name: str) -> None:
    own = id_of(the(RECORDED[name]))
    assert len(own) == 36 or name == "kimi"  # whose files do not tell


# Copilot


def event(kind: str, data: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": kind, "data": data, "id": "e1", "parentId": None, **AT, **more}


def usage_record(tokens: int, **more: Any) -> dict[str, Any]:
    usage = {"model": "fake-1", "inputTokens": tokens, "maxPromptTokens": 20_000, "duration": 500}
    return event("session.usage_record", {"usage": usage}, **more)


def test_a_sub_agent_of_copilot_takes_no_part_in_its_parents_conversation(copied: Any) -> None:
    path = copied("copilot")
    before, said, calls = reading(path), messages(path), list(recorded_calls(the(path)))
    agent = {"agentId": "f79d"}
    request = {"toolCallId": "call_9", "name": "bash", "arguments": {"command": "ls"}}
    add(
        path,
        event("user.message", {"content": "its task", "source": "agent-1"}, **agent),
        usage_record(3_000, **agent),
        event("assistant.message", {"content": "done", "toolRequests": [request]}, **agent),
        event("session.compaction_complete", {"success": True, "summaryContent": "s"}, **agent),
    )
    assert (reading(path), messages(path)) == (before, said)
    assert list(recorded_calls(the(path))) == calls
    assert compactions(path) == 1
    assert [entry.is_aside for entry in entries(path)[-4:]] == [True] * 4


@pytest.mark.parametrize(("written_at", "tokens"), [("00.400", 900), ("00.600", 15_000)])
def test_a_request_that_was_under_way_when_a_compaction_ended_had_the_old_context(
    tmp_path: Path, written_at: str, tokens: int
) -> None:
    complete = {"success": True, "postCompactionTokens": 900, "summaryContent": "so far"}
    path = add(
        tmp_path / "events.jsonl",
        usage_record(14_000, timestamp="2026-11-27T09:59:59.000Z"),
        event("session.compaction_complete", complete),
        usage_record(15_000, timestamp=f"2026-11-27T10:00:{written_at}Z"),
    )
    newest = reading(path)
    assert newest is not None
    assert newest.tokens == tokens


def test_a_compaction_of_copilots_that_failed_is_none(copied: Any) -> None:
    path = add(copied("copilot"), event("session.compaction_complete", {"success": False}))
    assert compactions(path) == 1
    assert reading(path) == reading(RECORDED["copilot"])


# Qwen


def qwen_line(kind: str, **more: Any) -> dict[str, Any]:
    return {"uuid": "u1", "parentUuid": None, "sessionId": "s", "type": kind, **AT, **more}


def qwen_said(*texts: str, **more: Any) -> dict[str, Any]:
    message = {"role": "user", "parts": [{"text": text} for text in texts]}
    return qwen_line("user", message=message, **more)


def test_what_hooks_and_qwen_say_in_the_users_name_is_not_theirs(copied: Any) -> None:
    context = "<qwen:user-prompt-submit-context>\nby a hook\n</qwen:user-prompt-submit-context>"
    path = add(
        copied("qwen"),
        qwen_said("mine", context, provenance="real_user"),
        qwen_said("<task-notification>…", provenance="system", subtype="notification"),
    )
    assert messages(path)[-2:] == ["Resumed.", "mine"]
    mine, report = entries(path)[-2:]
    assert (mine.role, mine.by_host, report.by_host) == (USER, False, True)


def test_a_compression_of_qwens_that_failed_is_none(copied: Any) -> None:
    failed = {"info": {"compressionStatus": 2, "newTokenCount": 5}, "compressedHistory": []}
    path = add(
        copied("qwen"), qwen_line("system", subtype="chat_compression", systemPayload=failed)
    )
    assert compactions(path) == 1
    assert reading(path) == reading(RECORDED["qwen"])


def test_a_sub_agent_of_qwens_has_a_conversation_of_its_own(tmp_path: Path) -> None:
    aside = {"isSidechain": True, "agentId": "general-purpose-call_0"}
    answer = {"message": {"role": "model", "parts": [{"text": "done"}]}}
    usage = {"usageMetadata": {"promptTokenCount": 3_000}}
    path = add(
        tmp_path / "agent-1.jsonl",
        qwen_said("its task", **aside),
        qwen_line("assistant", **answer, **usage, **aside),
    )
    assert the(path).format == "qwen"
    assert messages(path) == ["its task", "done"]
    newest = reading(path)
    assert newest is not None
    assert newest.tokens == 3_000


# Droid


def droid_message(content: Any, **message: Any) -> dict[str, Any]:
    return {"type": "message", "id": "m1", **AT, "message": {"content": content, **message}}


def test_usage_of_droid_stands_beside_its_file(copied: Any) -> None:
    path = copied("droid")
    assert reading(path) == reading(RECORDED["droid"])
    beside = path.with_suffix(".settings.json")
    used = {"inputTokens": 500, "cacheReadTokens": 4_000, "outputTokens": 50}
    beside.write_text(json.dumps({"lastCallTokenUsage": used, "tokenUsage": {"inputTokens": 9}}))
    newest = reading(path)
    assert newest is not None
    assert newest.tokens == 4_550
    for text in ("[", "{}", '{"lastCallTokenUsage": 7}'):
        beside.write_text(text)
        assert reading(path) is None
    beside.unlink()
    assert reading(path) is None


def test_what_droid_counted_before_a_compaction_counts_no_more(copied: Any) -> None:
    path = upto_compaction(copied("droid"), COMPACTED["droid"])
    assert reading(path) is None
    before = reading(path, across=True)
    assert before is not None
    assert before.model == "custom:Fake-0"


def test_what_droid_shows_only_the_user_or_only_the_model_is_nobodys_word(copied: Any) -> None:
    path = copied("droid")
    said = messages(path)
    text = [{"type": "text", "text": "[elided]"}]
    hook = {"role": "user", "visibility": "user_only", "hookEventName": "Stop"}
    notes = {"role": "user", "visibility": "llm_only"}
    add(path, droid_message(text, **hook), droid_message(text, **notes))
    assert messages(path) == said
    of_hook, of_host = entries(path)[-2:]
    assert of_hook.kind != MESSAGE
    assert (of_host.kind, of_host.role, of_host.by_host) == (MESSAGE, USER, True)


def test_a_file_that_ends_like_a_command_has_no_exit_code(copied: Any) -> None:
    read = {"type": "tool_result", "tool_use_id": "c", "content": "[Process exited with code 3]"}
    result = entries(add(copied("droid"), droid_message([read], role="user")))[-1]
    assert result.role == TOOL
    assert result.blocks[0].exit_code is None


# Kimi


def kimi_event(name: str, **more: Any) -> dict[str, Any]:
    return {"type": name, "agentId": "main", "time": 1_795_772_300_000, **more}


def test_kimis_window_is_that_of_the_conversations_own_requests(copied: Any) -> None:
    request = {"kind": "compaction", "model": "other", "maxTokens": 131_072}
    measured = kimi_event("token_counting.measured", tokens=700)
    newest = reading(add(copied("kimi"), kimi_event("llm.request", **request), measured))
    assert newest is not None
    assert (newest.tokens, newest.window, newest.model) == (700, 200_000, "fake-1")


def test_a_context_that_kimi_cleared_is_counted_anew(copied: Any) -> None:
    path = add(copied("kimi"), kimi_event("context.clear"))
    assert compactions(path) == 0
    assert reading(path) is None
    add(path, kimi_event("context.apply_compaction", summary="so far"))
    assert compactions(path) == 1


def test_what_hooks_and_kimi_say_in_the_users_name_is_not_theirs(copied: Any) -> None:
    def said(text: str, **origin: str) -> dict[str, Any]:
        content = [{"type": "text", "text": text}]
        message = {"role": "user", "content": content, "origin": origin}
        return kimi_event("context.append_message", message=message)

    path = copied("kimi")
    before = messages(path)
    add(
        path,
        said("by a hook", kind="hook_result", event="UserPromptSubmit"),
        said("by Kimi", kind="injection"),
        said("mine", kind="user"),
    )
    assert messages(path) == [*before, "mine"]
    assert [entry.by_host for entry in entries(path)[-3:]] == [True, True, False]


def test_the_parts_of_an_answer_of_kimis_are_one_message(tmp_path: Path) -> None:
    def part(text: str, step: str) -> dict[str, Any]:
        inside = {"type": "content.part", "stepUuid": step, "part": {"type": "text", "text": text}}
        return kimi_event("context.append_loop_event", event=inside)

    path = add(tmp_path / "wire.jsonl", part("one", "s1"), part("two", "s1"), part("three", "s2"))
    assert messages(path) == ["one\ntwo", "three"]
    assert [entry.message for entry in entries(path)] == ["s1", "s1", "s2"]
