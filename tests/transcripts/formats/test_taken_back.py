"""What of a conversation the user took back, as transcripts show it (seen in the live hosts)."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from gitguard.model.events import Transcript
from gitguard.transcripts import find_format, original_of, prompt_history
from tests.support.transcript_lines import lines

GOAL, WRONG, RIGHT = "Write a report module.", "Rewrite it in Rust.", "Add the export."
AT = "2026-11-27T20:3{}:00.000Z"
Line = dict[str, Any]


def claude(number: int, parent: str | None, text: str, role: str = "user") -> Line:
    message = {"role": role, "id": f"m{number}", "content": [{"type": "text", "text": text}]}
    named = {"uuid": f"l{number}", "parentUuid": parent, "timestamp": AT.format(number)}
    return {"type": role, "sessionId": "S", **named, "message": message}


def qwen(number: int, parent: str | None, text: str, role: str = "user") -> Line:
    message = {"role": role, "parts": [{"text": text}]}
    named = {"uuid": f"l{number}", "parentUuid": parent, "timestamp": AT.format(number)}
    return {"type": role, "sessionId": "S", **named, "message": message}


def pi(number: int, parent: str | None, text: str, role: str = "user") -> Line:
    message = {"role": role, "content": [{"type": "text", "text": text}]}
    named = {"id": f"l{number}", "parentId": parent, "timestamp": AT.format(number)}
    return {"type": "message", **named, "message": message}


def a_rewind(number: int, parent: str) -> Line:
    named = {"uuid": f"l{number}", "parentUuid": parent, "timestamp": AT.format(number)}
    return {"type": "system", "subtype": "rewind", "sessionId": "S", **named, "systemPayload": {}}


def kimi(number: int, text: str) -> Line:
    content = [{"type": "text", "text": text}]
    message = {"role": "user", "content": content, "origin": {"kind": "user"}}
    return {"type": "context.append_message", "message": message, "time": number * 1000}


def an_undo(number: int, count: int) -> Line:
    return {"type": "context.undo", "agentId": "main", "count": count, "time": number * 1000}


def codex(ordinal: int, text: str) -> Line:
    payload = {"type": "message", "role": "user", "content": [{"text": text}]}
    named = {"timestamp": AT.format(ordinal % 10), "ordinal": ordinal}
    return {**named, "type": "response_item", "payload": payload}


def codex_begins(thread: str, base: Line | None = None, ordinal: int = 0) -> Line:
    payload = {"id": thread, **({"history_base": base} if base else {})}
    named = {"timestamp": AT.format(0), "ordinal": ordinal}
    return {**named, "type": "session_meta", "payload": payload}


def taken_back(name: str, path: Path) -> dict[str, bool]:
    history = prompt_history(Transcript(str(path), name), 0)
    return {prompt.text: prompt.is_taken_back for prompt in history.prompts}


REWOUND = {GOAL: False, WRONG: True, RIGHT: False}


def rewound(line: Any, *before: Line) -> list[Line]:
    """A conversation whose second turn was taken back."""
    return [
        line(0, None, GOAL),
        line(1, "l0", "Done.", "assistant"),
        line(2, "l1", WRONG),
        line(3, "l2", "Begun.", "assistant"),
        *before,
        line(5, "l4" if before else "l1", RIGHT),
    ]


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("claude-code", rewound(claude)),
        ("pi", rewound(pi)),
        ("qwen", rewound(qwen, a_rewind(4, "l1"))),
        ("kimi", [kimi(0, GOAL), kimi(1, WRONG), an_undo(2, 1), kimi(3, RIGHT)]),
    ],
    ids=["claude-code", "pi", "qwen", "kimi"],
)
def test_what_the_user_takes_back_is_told_from_what_stands(
    tmp_path: Path, name: str, written: Sequence[Line]
) -> None:
    path = lines(tmp_path / "conversation.jsonl", *written)
    assert taken_back(name, path) == REWOUND


def test_undos_one_after_the_other_take_back_what_still_stood(tmp_path: Path) -> None:
    written = (kimi(0, GOAL), kimi(1, WRONG), an_undo(2, 1), kimi(3, RIGHT), an_undo(4, 2))
    path = lines(tmp_path / "wire.jsonl", *written)
    assert taken_back("kimi", path) == {GOAL: True, WRONG: True, RIGHT: True}


@pytest.mark.parametrize(("name", "line"), [("claude-code", claude), ("pi", pi)])
def test_only_what_was_taken_back_since_the_file_was_read_is_looked_for(
    tmp_path: Path, name: str, line: Any
) -> None:
    path = lines(tmp_path / "a.jsonl", *rewound(line)[:4])
    read_upto = path.stat().st_size
    transcript = Transcript(str(path), name)
    lines(path, *rewound(line)[:4], line(4, "l3", "On."), line(5, "l4", "Done.", "assistant"))
    assert prompt_history(transcript, read_upto).prompts == ()
    lines(path, *rewound(line))
    history = prompt_history(transcript, read_upto)
    assert {prompt.text: prompt.is_taken_back for prompt in history.prompts} == REWOUND
    lines(path, *rewound(line)[:4], line(4, None, RIGHT))
    history = prompt_history(transcript, read_upto)
    assert [prompt.is_taken_back for prompt in history.prompts] == [True, True, False]


def test_a_rewind_to_the_beginning_takes_the_first_prompt_back(tmp_path: Path) -> None:
    path = lines(tmp_path / "a.jsonl", claude(0, None, GOAL), claude(1, None, RIGHT))
    assert taken_back("claude-code", path) == {GOAL: True, RIGHT: False}


def test_what_stands_before_a_compaction_is_not_taken_back(tmp_path: Path) -> None:
    boundary = {
        **claude(2, None, ""),
        "type": "system",
        "subtype": "compact_boundary",
        "logicalParentUuid": "l1",
    }
    written = (claude(0, None, GOAL), claude(1, "l0", WRONG), boundary, claude(3, "l2", RIGHT))
    path = lines(tmp_path / "a.jsonl", *written)
    assert not any(taken_back("claude-code", path).values())


def test_lines_whose_beginning_is_not_there_and_lines_in_a_circle_stand(tmp_path: Path) -> None:
    written = (
        claude(0, "gone", GOAL),
        claude(1, "l2", WRONG),
        claude(2, "l1", "x", "assistant"),
        claude(3, "elsewhere", RIGHT),
    )
    path = lines(tmp_path / "a.jsonl", *written)
    assert not any(taken_back("claude-code", path).values())


def test_codex_goes_on_in_a_file_that_names_where_the_older_one_ends(tmp_path: Path) -> None:
    day = tmp_path / "sessions/2026/11/27"
    day.mkdir(parents=True)
    first = day / "rollout-2026-11-27T20-28-30-T1.jsonl"
    lines(first, codex_begins("T1"), codex(7, GOAL), codex(25, WRONG))
    second = day / "rollout-2026-11-27T20-35-09-T1_S2.jsonl"
    base = {"thread_id": "T1", "end_ordinal_exclusive": 23}
    lines(second, codex_begins("T1", base, 23), codex(26, RIGHT))
    assert taken_back("codex", second) == REWOUND

    fork = day / "rollout-2026-11-27T20-36-00-T2.jsonl"
    lines(fork, codex_begins("T2", base, 23), codex(24, RIGHT))
    assert taken_back("codex", fork) == {RIGHT: False}, "the conversation that it left goes on"


def test_droids_copy_names_the_last_message_that_it_has(tmp_path: Path) -> None:
    def message(name: str, text: str, role: str = "user") -> Line:
        said = {"role": role, "content": [{"type": "text", "text": text}]}
        return {"type": "message", "id": name, "timestamp": AT.format(1), "message": said}

    begins: Line = {"type": "session_start", "id": "S1"}
    said = (message("a", GOAL), message("b", "Done.", "assistant"), message("c", WRONG))
    lines(tmp_path / "S1.jsonl", begins, *said)
    copied: Line = {"type": "session_start", "id": "S2", "parent": "S1", "forkedAtMessageId": "b"}
    copy = lines(tmp_path / "S2.jsonl", copied, *said[:2])
    name, history = original_of(Transcript(str(copy), "droid"))
    assert name == "S1"
    assert {p.text: p.is_taken_back for p in history.prompts} == {GOAL: False, WRONG: True}
    assert original_of(Transcript(str(tmp_path / "S1.jsonl"), "droid"))[0] == ""


def copilot(number: int, text: str) -> Line:
    named = {"id": f"e{number}", "parentId": None, "timestamp": AT.format(number)}
    return {"type": "user.message", "data": {"content": text}, **named}


def test_a_host_that_removes_what_is_taken_back_leaves_a_shorter_transcript(tmp_path: Path) -> None:
    path = lines(tmp_path / "events.jsonl", copilot(0, GOAL), copilot(2, WRONG))
    transcript = Transcript(str(path), "copilot")
    read_upto = find_format("copilot").compactions(transcript).upto
    assert prompt_history(transcript, read_upto).removed_since == -1
    lines(path, copilot(0, GOAL))
    history = prompt_history(transcript, read_upto)
    assert [prompt.text for prompt in history.prompts] == [GOAL]
    assert history.removed_since > 0


def test_what_opencode_reverted_is_gone_before_it_is_removed(tmp_path: Path) -> None:
    path = tmp_path / "opencode.db"
    with closing(sqlite3.connect(path)) as database:
        database.execute("CREATE TABLE session (id TEXT, revert TEXT)")
        database.execute(
            "CREATE TABLE message (id TEXT, session_id TEXT, time_created INTEGER, data TEXT)"
        )
        database.execute("CREATE TABLE part (id TEXT, message_id TEXT, data TEXT)")
        database.execute("INSERT INTO session VALUES ('S', NULL)")
        for number, text in enumerate((GOAL, WRONG)):
            data = json.dumps({"role": "user", "time": {"created": number * 1000 + 1000}})
            message = (f"m{number}", "S", number, data)
            database.execute("INSERT INTO message VALUES (?, ?, ?, ?)", message)
            part = json.dumps({"type": "text", "text": text})
            database.execute(
                "INSERT INTO part VALUES (?, ?, ?)", (f"p{number}", f"m{number}", part)
            )
        database.commit()
        transcript = Transcript(str(path), "opencode", "S")
        read_upto = find_format("opencode").compactions(transcript).upto
        assert prompt_history(transcript, read_upto).removed_since == -1
        database.execute("UPDATE session SET revert = ?", (json.dumps({"messageID": "m1"}),))
        database.commit()
        history = prompt_history(transcript, read_upto)
        assert [prompt.text for prompt in history.prompts] == [GOAL]
        assert history.removed_since == 1
