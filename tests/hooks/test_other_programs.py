"""Hooks that another program runs leave no receipt, and `status` names that program."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gitguard.cli.sessions import _overview_text
from gitguard.hosts.claude_code import health, hooks
from gitguard.hosts.openclaw import health as openclaw_health
from gitguard.model.text import timestamp
from tests.e2e import claude_code, openclaw_install
from tests.support.conversation import BLOCK, Conversation
from tests.support.staged import staged_object

PAYLOADS = Path(__file__).parents[1] / "payloads"
MARKS = {
    "copilot": ("COPILOT_CLI", "Copilot CLI"),
    "qwen": ("QWEN_CODE_CLI", "Qwen Code"),
    "droid": ("FACTORY_PROJECT_DIR", "Droid"),
}


def begin_talk(folder: Path) -> Conversation:
    """A repository with a task that the next conversation would be handed."""
    talk = Conversation(folder)
    talk.prompt("Port the parser to Rust")
    talk.send("Stop", last_assistant_message="The parser reads 12 of 14 grammars.")
    return talk


tmp_path, talk = staged_object("talk", begin_talk)


def send(talk: Conversation, program: str, event: str, **environment: str) -> str:
    """Send what a program sends to the hooks of Claude Code's settings."""
    talk.clock.pass_by(1)
    document: dict[str, Any] = json.loads((PAYLOADS / program / f"{event}.json").read_text())
    document["cwd"] = str(talk.root)
    around = {"CLAUDE_PROJECT_DIR": str(talk.root), "HOME": "/home/user", **environment}
    parsed = hooks.parse_event(document, around, talk.clock())
    return hooks.render_reply(parsed, talk.guard.handle(parsed, hooks.ABILITIES))


@pytest.mark.parametrize("program", MARKS)
def test_a_program_that_cannot_read_the_block_gets_no_receipt(
    talk: Conversation, program: str
) -> None:
    mark, name = MARKS[program]
    assert BLOCK not in send(talk, program, "UserPromptSubmit", **{mark: "1"})
    (record,) = (r for key, r in talk.guard.status().host_sessions.items() if key != talk.session)
    assert record.delivery is None
    assert (record.ran_by, record.ran_at) == (name, timestamp(talk.clock()))
    text = _overview_text(talk.guard.status())
    assert f"Warning: {name} ran the hooks of claude-code at {record.ran_at} and got no" in text
    assert f"run by {name}" in text
    assert "got a resume block" not in text


def test_a_whole_life_of_another_program_is_captured_and_leaves_no_fault(
    talk: Conversation,
) -> None:
    life = ("SessionStart.new", "UserPromptSubmit", "PreToolUse.Bash", "PostToolUse.Bash", "Stop")
    assert {send(talk, "copilot", event, COPILOT_CLI="1") for event in life} == {""}
    assert talk.faults() == []
    assert "make a file" in str(talk.guard.state())


@pytest.mark.parametrize("program", ["qwen", "droid"])
def test_a_transcript_in_another_programs_folder_tells_without_a_mark(
    talk: Conversation, program: str
) -> None:
    assert BLOCK not in send(talk, program, "UserPromptSubmit")
    assert MARKS[program][1] in _overview_text(talk.guard.status())


@pytest.mark.parametrize("mark", [mark for mark, _ in MARKS.values()])
def test_a_mark_that_was_inherited_from_another_programs_shell_counts_for_nothing(
    talk: Conversation, mark: str
) -> None:
    document = json.loads((PAYLOADS / "claude_code" / "UserPromptSubmit.json").read_text())
    transcript = "/home/user/.claude/projects/-repo/S2.jsonl"
    document |= {"session_id": "S2", "cwd": str(talk.root), "transcript_path": transcript}
    around = {"CLAUDE_PROJECT_DIR": str(talk.root), "HOME": "/home/user", mark: "1"}
    event = hooks.parse_event(document, around, talk.clock())
    assert event.ran_by == ""
    assert BLOCK in hooks.render_reply(event, talk.guard.handle(event, hooks.ABILITIES))
    named = {**around, "CLAUDE_CONFIG_DIR": "/elsewhere"}
    assert hooks.parse_event(document, named, 0).ran_by, "the user's own folder is another one"


def test_a_moved_repository_is_still_told_to_who_can_read_it(talk: Conversation) -> None:
    send(talk, "copilot", "UserPromptSubmit", COPILOT_CLI="1")
    assert BLOCK in talk.beside("S3").prompt("where were we?")


def test_the_versions_that_count_as_tried_are_those_that_the_tests_run() -> None:
    assert health.TRIED == (claude_code.VERSION,)
    assert openclaw_health.TRIED == openclaw_install.VERSIONS


@pytest.mark.parametrize(
    ("mark", "shown"),
    [
        ("claude-code_2-1-330_harness", "claude-code 2.1.330,"),
        ("claude-code_2-1-331_harness", "2.1.331 (not tried with this gitguard; tried: 2.1.330)"),
        ("", "claude-code, version unknown"),
    ],
)
def test_a_version_of_the_host_that_was_not_tried_is_marked_so(
    talk: Conversation, mark: str, shown: str
) -> None:
    document = json.loads((PAYLOADS / "claude_code" / "UserPromptSubmit.json").read_text())
    document |= {"session_id": "S2", "cwd": str(talk.root)}
    around = {"CLAUDE_PROJECT_DIR": str(talk.root), "AI_AGENT": mark}
    talk.guard.handle(hooks.parse_event(document, around, talk.clock()), hooks.ABILITIES)
    lines = _overview_text(talk.guard.status()).splitlines()
    assert any("Conversation S2" in line and shown in line for line in lines)
