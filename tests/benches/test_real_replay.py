"""The replay of a transcript sends hooks what the real host sends (Claude Code 2.1.330)."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from .real_conversations import chosen, random_sentences, sources
from .real_replay import (
    Entry,
    Event,
    Replay,
    entries_of,
    events_of,
    moved_in_time,
    moved_path,
    without_end,
)

NOTIFICATION = "<task-notification>\n<summary>The build ended</summary>\n</task-notification>"


def at(second: int, entry: Entry) -> Entry:
    return {**entry, "timestamp": f"2026-01-01T00:00:{second:02}Z"}


def user(second: int, text: str) -> Entry:
    return at(second, {"type": "user", "message": {"role": "user", "content": text}})


def agent(second: int, text: str = "", call: str = "") -> Entry:
    content: list[Entry] = [{"type": "text", "text": text}] if text else []
    content += [{"type": "tool_use", "id": call, "name": "Bash", "input": {}}] if call else []
    return at(second, {"type": "assistant", "message": {"role": "assistant", "content": content}})


def result(second: int, call: str) -> Entry:
    content = [{"type": "tool_result", "tool_use_id": call, "content": "ok"}]
    return at(second, {"type": "user", "message": {"role": "user", "content": content}})


def queued(second: int, text: str) -> tuple[Entry, Entry]:
    """The lines when a prompt is typed during a turn, and when the model gets it."""
    attachment = {"type": "queued_command", "prompt": text, "commandMode": "prompt"}
    typed = {"type": "queue-operation", "operation": "enqueue", "content": text}
    return at(second, typed), at(second, {"type": "attachment", "attachment": attachment})


def told(*entries: Entry) -> list[Event]:
    return events_of([(json.dumps(entry), entry) for entry in entries])


def names(events: list[Event]) -> list[str]:
    return [str(event.payload["hook_event_name"]) for event in events]


def prompts(events: list[Event]) -> list[str]:
    return [event.payload["prompt"] for event in events if "prompt" in event.payload]


def test_a_prompt_typed_during_a_turn_is_told_once_with_the_id_of_the_turn() -> None:
    typed, given = queued(3, "Rename it too")
    lines = [user(1, "Port it"), agent(2, call="c1"), typed, result(4, "c1"), given]
    events = told(*lines, agent(5, "Done."))
    tools = ["PreToolUse", "UserPromptSubmit", "PostToolUse"]
    assert names(events) == ["UserPromptSubmit", *tools, "Stop"]
    first, second = (event.payload for event in events if "prompt" in event.payload)
    assert second["prompt"] == "Rename it too"
    assert first["prompt_id"] == second["prompt_id"]


def test_a_command_for_the_model_is_told_as_it_was_typed_and_one_for_the_host_is_not() -> None:
    parts = [f"<command-{name}>" for name in ("message", "name", "args")]
    explore = (
        f"{parts[0]}explore</command-message>\n{parts[1]}/explore</command-name>\n"
        f"{parts[2]}how does it\nwork</command-args>"
    )
    effort = f"{parts[1]}/effort</command-name> {parts[0]}effort</command-message>"
    assert prompts(told(user(1, explore), user(2, effort))) == ["/explore how does it\nwork"]


@pytest.mark.parametrize("text", [NOTIFICATION, "<teammate-message>idle</teammate-message>"])
def test_a_notification_begins_a_turn_and_the_one_before_it_has_its_stop(text: str) -> None:
    events = told(user(1, "Port it"), agent(2, "Started."), user(9, text), agent(10, "It ended."))
    assert names(events) == ["UserPromptSubmit", "Stop"] * 2
    assert events[1].payload["last_assistant_message"] == "Started."
    assert events[0].payload["prompt_id"] != events[2].payload["prompt_id"]


def test_a_turn_ends_when_its_last_answer_was_given() -> None:
    events = told(user(1, "Port it"), agent(2, "Done."), user(50, "And now test it"))
    assert events[1].at == events[0].at + 1
    assert events[1].lines == 2


@pytest.mark.parametrize(
    ("path", "there", "moved"),
    [
        ("/home/me/repo/src/a.py", "/home/me/repo", "/r/src/a.py"),
        (r"C:\Users\me\repo\src\a.py", r"C:\Users\me\repo", "/r/src/a.py"),
        ("c:/Users/me/repo/src/a.py", r"C:\Users\me\repo", "/r/src/a.py"),
        (r"C:\Temp\a.py", r"C:\Users\me\repo", r"C:\Temp\a.py"),
    ],
)
def test_paths_of_the_sources_folder_point_into_the_repository(
    path: str, there: str, moved: str
) -> None:
    assert moved_path(path, there, "/r") == moved


def test_a_result_that_stands_before_its_call_ends_it() -> None:
    events = told(user(1, "Port it"), result(2, "c1"), agent(3, call="c1"), agent(4, "Done."))
    assert names(events) == ["UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop"]


def test_what_the_host_adds_to_a_prompt_is_no_part_of_it() -> None:
    parts = [{"type": "text", "text": "<system-reminder>\nUse no tools.\n</system-reminder>"}]
    parts.append({"type": "text", "text": "Create a table"})
    typed = at(1, {"type": "user", "message": {"role": "user", "content": parts}})
    assert prompts(told(typed)) == ["Create a table"]


def test_a_compaction_that_the_user_asked_for_comes_behind_the_end_of_the_turn() -> None:
    boundary: Entry = {"type": "system", "subtype": "compact_boundary"}
    manual = {**boundary, "compactMetadata": {"trigger": "manual"}}
    talk = [user(1, "Port it"), agent(2, "Done.")]
    assert names(told(*talk, at(9, manual))) == ["UserPromptSubmit", "Stop", "PreCompact"]
    assert names(told(*talk, at(9, boundary))) == ["UserPromptSubmit", "PreCompact", "Stop"]


def test_lines_carry_the_time_of_the_replay_at_the_same_distances() -> None:
    lines = [user(1, "Port it"), {"type": "summary"}, agent(31, "Done.")]
    moved = moved_in_time([(json.dumps(line), line) for line in lines], 1_800_000_030)
    assert [entry.get("timestamp") for _, entry in moved] == [
        "2027-01-15T08:00:00.000Z",
        None,
        "2027-01-15T08:00:30.000Z",
    ]
    assert [json.loads(line) for line, _ in moved] == [entry for _, entry in moved]


def test_blocks_of_any_situation_leave_the_replay_as_it_was(tmp_path: Path) -> None:
    lines = [user(1, "Port the ledger to Zig"), agent(2, "The ledger is ported to Zig.")]
    entries = [(json.dumps(line), line) for line in lines]
    replay = Replay(tmp_path, entries)
    events = events_of(entries)
    replay.begin(events[0].at)
    replay.tell(without_end(events))
    assert "is ported" not in replay.block_of_new_conversation(700)
    replay.tell(events[1:])
    first = replay.block_of_new_conversation(700)
    assert "Port the ledger" in first
    assert "is ported" in first
    assert "Port the ledger" in replay.block_after_compaction(700)
    assert replay.block_of_new_conversation(700) == first


def test_chance_draws_the_same_sentences_with_the_same_seed() -> None:
    text = "\n".join(f"Sentence {number}. 第{number}句。" for number in range(900))
    drawn = random_sentences(text, 1)
    assert len(drawn) == 2_800
    assert drawn == random_sentences(text, 1) != random_sentences(text, 2)
    assert any(line.startswith("第") for line in drawn.splitlines())


def test_the_facts_name_each_conversation_once_and_hold_valid_patterns() -> None:
    names = [source.name for source in sources()]
    assert len(names) == len(set(names))
    for source in sources():
        assert source.facts
        for fact in source.facts:
            assert not fact.is_in("")
            assert all(re.compile(term) for term in fact.terms)


def test_conversations_that_are_held_out_are_measured_only_when_asked_for() -> None:
    held_out = chosen(None, held_out=True)
    others = chosen(None, held_out=False)
    assert held_out
    assert {source.name for source in held_out}.isdisjoint(source.name for source in others)
    assert chosen([held_out[0].name], held_out=False) == []


@pytest.mark.parametrize("path", ["/other/notes.md", r"C:\other\notes.md", "/../other/notes.md"])
def test_files_outside_of_the_sources_folder_exist_beside_the_repository(
    tmp_path: Path, path: str
) -> None:
    write = {"type": "tool_use", "id": "c1", "name": "Write", "input": {"file_path": path}}
    call = {"type": "assistant", "cwd": "/repo", "message": {"content": [write]}}
    lines = [user(1, "Note it"), at(2, call), result(3, "c1"), agent(4, "Noted.")]
    entries = [(json.dumps(line), line) for line in lines]
    replay = Replay(tmp_path, entries)
    replay.begin(0)
    replay.tell(events_of(entries))
    assert (tmp_path / "replay" / "elsewhere" / "other" / "notes.md").is_file()
    block = replay.block_of_new_conversation(700)
    assert "notes.md" in block
    assert "(gone)" not in block


def test_files_that_a_command_removed_or_moved_are_not_where_they_were(tmp_path: Path) -> None:
    calls = {
        "c1": ("Write", {"file_path": "/repo/src/old.md", "content": "x"}),
        "c2": ("Write", {"file_path": "/repo/src/rows.md", "content": "x"}),
        "c3": ("Bash", {"command": "cd src && rm -f old.* && git mv rows.md ../docs/lines.md"}),
    }
    lines = [user(1, "Note it")]
    for second, (call, (name, given)) in enumerate(calls.items()):
        use = {"type": "tool_use", "id": call, "name": name, "input": given}
        entry = {"type": "assistant", "cwd": "/repo", "message": {"content": [use]}}
        lines += [at(2 + 2 * second, entry), result(3 + 2 * second, call)]
    entries = [(json.dumps(line), line) for line in [*lines, agent(9, "Noted.")]]
    replay = Replay(tmp_path, entries)
    replay.begin(0)
    replay.tell(events_of(entries))
    assert (tmp_path / "replay" / "repo" / "docs" / "lines.md").is_file()
    assert "src/{rows.md,old.md} (gone)" in replay.block_of_new_conversation(700)


def test_a_refusal_of_an_older_host_is_the_users_word_and_no_failure(tmp_path: Path) -> None:
    said = (
        "The user doesn't want to proceed with this tool use. To tell you how to proceed, the user"
    )
    refused = {"type": "tool_result", "tool_use_id": "c1", "is_error": True}
    refused["content"] = f"{said} said:\nNever port it to Zig"
    lines = [user(1, "Port it"), agent(2, call="c1"), at(3, {**result(3, "c1")})]
    lines[2]["message"] = {"role": "user", "content": [refused]}
    path = tmp_path / "old.jsonl"
    path.write_text("".join(f"{json.dumps(line)}\n" for line in [*lines, agent(9, "It stays.")]))
    entries = entries_of(path)
    events = events_of(entries)
    assert "PostToolUseFailure" not in names(events)
    replay = Replay(tmp_path, entries)
    replay.begin(0)
    replay.tell(events)
    assert "Never port it to Zig — Bash" in replay.block_of_new_conversation(700)
