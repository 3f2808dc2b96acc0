"""The common hook dialect: what is read of each host's payloads, and what each is answered."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gitguard.hosts import find_host
from gitguard.hosts.payload import last_lines
from gitguard.model import events
from gitguard.model.events import HookEvent, HookReply

PAYLOADS = Path(__file__).parents[1] / "payloads"
FIVE = ("copilot", "qwen", "droid", "kimi", "codex")


def read(host: str, name: str, **environment: str) -> HookEvent:
    payload: dict[str, Any] = json.loads((PAYLOADS / host / f"{name}.json").read_text())
    return find_host(host).parse_event(payload, {"HOME": "/home/user", **environment}, 1.0)


def answer(host: str, name: str, reply: HookReply) -> Any:
    """Return what a host is answered: the JSON that is printed, or the text."""
    text = find_host(host).render_reply(read(host, name), reply).text
    return json.loads(text) if text.startswith("{") else text


@pytest.mark.parametrize("host", FIVE)
def test_a_prompt_is_read_whatever_its_shape(host: str) -> None:
    event = read(host, "UserPromptSubmit")
    assert event.kind == events.PROMPT
    assert event.prompt
    assert event.host == host


SHELL_CALLS = [
    ("copilot", "PreToolUse.Bash", "PostToolUse.Bash", "PostToolUse.Bash.failed"),
    (
        "qwen",
        "PreToolUse.run_shell_command",
        "PostToolUse.run_shell_command",
        "PostToolUseFailure.run_shell_command",
    ),
    ("droid", "PreToolUse.Execute", "PostToolUse.Execute", ""),
    ("kimi", "PreToolUse.Bash", "PostToolUse.Bash", "PostToolUseFailure.Bash"),
    ("codex", "PreToolUse", "PostToolUse", ""),
]


@pytest.mark.parametrize(("host", "start", "end", "failure"), SHELL_CALLS)
def test_the_end_of_a_shell_call_is_known_by_its_start_and_says_what_it_said(
    host: str, start: str, end: str, failure: str
) -> None:
    began, ended = read(host, start), read(host, end)
    assert began.tool is not None
    assert ended.tool is not None
    assert began.tool.is_shell
    assert (began.tool.id, began.tool.command) == (ended.tool.id, ended.tool.command)
    assert began.tool.id
    assert ended.kind == events.TOOL_END
    assert ended.tool.output in ("hi", "1")
    assert ended.tool.error == ""
    if failure:
        failed = read(host, failure)
        assert failed.tool is not None
        assert failed.kind == events.TOOL_FAILED
        assert failed.tool.error.startswith("Exit code 3")


@pytest.mark.parametrize(
    ("host", "name", "files"),
    [
        ("copilot", "PreToolUse.Write", ("/repo/b.txt",)),
        ("qwen", "PreToolUse.write_file", ("/repo/b.txt",)),
        ("droid", "PreToolUse.Create", ("/repo/b.txt",)),
        ("kimi", "PreToolUse.Write", ("/repo/b.txt",)),
        ("codex", "PreToolUse.apply_patch", ("hello.py",)),
    ],
)
def test_a_call_that_writes_names_its_files_and_runs_no_command(
    host: str, name: str, files: tuple[str, ...]
) -> None:
    tool = read(host, name).tool
    assert tool is not None
    assert (tool.paths_written, tool.command) == (files, "")


@pytest.mark.parametrize(
    ("host", "name", "steps"),
    [
        ("copilot", "PreToolUse.sql", ["[>] write lexer"]),
        ("droid", "PreToolUse.TodoWrite", ["[>] write lexer", "[ ] tests"]),
        ("kimi", "PreToolUse.TodoList", ["[>] write lexer"]),
        ("codex", "PostToolUse.update_plan", ["[x] write hello", "[>] add tests"]),
    ],
)
def test_a_plan_is_read_in_the_hosts_own_shape(host: str, name: str, steps: list[str]) -> None:
    tool = read(host, name).tool
    assert tool is not None
    marks = {(True, False): "[x]", (False, True): "[>]", (False, False): "[ ]"}
    assert [f"{marks[item.done, item.active]} {item.text}" for item in tool.plan] == steps


def test_where_a_transcript_lies_is_known_without_its_name_in_the_payload() -> None:
    event = read("copilot", "UserPromptSubmit")
    assert event.transcript is not None
    assert event.transcript.path == (
        f"/home/user/.copilot/session-state/{event.host_session}/events.jsonl"
    )


@pytest.mark.parametrize("session", ["..", ".", "a/../../b", ""])
def test_no_name_of_a_conversation_leads_out_of_the_hosts_folder(session: str) -> None:
    from gitguard.hosts.copilot import hooks

    assert hooks.HOST.transcript is not None
    assert hooks.HOST.transcript({"session_id": session}, "/home/user/.copilot") == ""


def test_a_sub_agent_is_its_parents() -> None:
    parent, sub_agent = (
        read("copilot", "PreToolUse.Agent"),
        read("copilot", "PreToolUse.Bash.subagent"),
    )
    assert sub_agent.host_session == parent.host_session
    assert sub_agent.sub_agent
    assert parent.sub_agent == ""


def test_a_conversation_that_begins_is_none_that_begins_anew() -> None:
    assert read("copilot", "SessionStart.new").source == "startup"


WORDS = HookReply(context="Where you stand: …")


@pytest.mark.parametrize(
    ("host", "name", "arrives"),
    [
        ("copilot", "UserPromptSubmit", {"additionalContext": WORDS.context}),
        ("copilot", "SessionStart.new", {"additionalContext": WORDS.context}),
        ("copilot", "PostToolUse.Bash", {"additionalContext": WORDS.context}),
        ("qwen", "UserPromptSubmit", None),
        ("qwen", "SessionStart.compact", None),
        ("droid", "SessionStart.startup", None),
        ("droid", "PostToolUse.Execute", None),
        ("codex", "UserPromptSubmit", None),
        ("codex", "SessionStart.compact", None),
        ("kimi", "UserPromptSubmit", WORDS.context),
        ("kimi", "SessionStart.startup", ""),
        ("kimi", "PostToolUse.Bash", ""),
        ("copilot", "Stop", ""),
        ("qwen", "Stop", ""),
        ("droid", "Stop", ""),
        ("codex", "Stop", ""),
        ("codex", "PostCompact", ""),
    ],
)
def test_a_context_is_put_where_the_host_reads_it_and_nowhere_else(
    host: str, name: str, arrives: Any
) -> None:
    if arrives is None:
        payload = json.loads((PAYLOADS / host / f"{name}.json").read_text())
        arrives = {
            "hookSpecificOutput": {
                "hookEventName": payload["hook_event_name"],
                "additionalContext": WORDS.context,
            }
        }
    assert answer(host, name, WORDS) == arrives


TOOLS = {
    "copilot": "PreToolUse.Bash",
    "qwen": "PreToolUse.run_shell_command",
    "droid": "PreToolUse.Execute",
    "kimi": "PreToolUse.Bash",
    "codex": "PreToolUse",
}


@pytest.mark.parametrize("host", FIVE)
def test_a_denied_call_is_denied_in_the_form_that_every_host_obeys(host: str) -> None:
    denial = answer(host, TOOLS[host], HookReply(refuse="The context is full."))
    assert denial == {
        "hookSpecificOutput": {
            "hookEventName": "PreToolUse",
            "permissionDecision": "deny",
            "permissionDecisionReason": "The context is full.",
        }
    }


@pytest.mark.parametrize("host", FIVE)
def test_only_a_host_that_obeys_it_is_told_not_to_continue(host: str) -> None:
    halt = answer(host, TOOLS[host], HookReply(refuse="full", stop="full"))
    assert ("continue" in halt) is (host == "droid")


def test_a_refused_prompt_is_refused_in_each_hosts_own_form() -> None:
    reply = HookReply(refuse="The context is full.")
    block = {"decision": "block", "reason": "The context is full."}
    assert answer("copilot", "UserPromptSubmit", reply) == block
    assert answer("qwen", "UserPromptSubmit", reply) == block
    assert answer("codex", "UserPromptSubmit", reply) == block
    stop = {"continue": False, "stopReason": "The context is full."}
    assert answer("droid", "UserPromptSubmit", reply) == stop
    refused = find_host("kimi").render_reply(read("kimi", "UserPromptSubmit"), reply)
    assert (refused.text, refused.error, refused.code) == ("", "The context is full.", 2)


def test_a_prompt_without_words_carries_results_back_and_can_end_the_turn() -> None:
    event = read("qwen", "UserPromptSubmit.continuation")
    assert (event.kind, event.prompt) == (events.STEP, "")
    assert answer("qwen", "UserPromptSubmit.continuation", HookReply()) == ""
    ended = answer("qwen", "UserPromptSubmit.continuation", HookReply(stop="full"))
    assert ended == {"decision": "block", "reason": "full"}


def test_how_full_the_context_is_comes_with_the_end_of_a_turn() -> None:
    reading = read("qwen", "Stop").reading
    assert reading is not None
    assert (reading.tokens, reading.window) == (9_500, 200_000)


def test_a_commit_is_known_from_the_first_line_of_a_long_output() -> None:
    said = "[main 1421b0b] Port the reader\n" + "".join(
        f" create mode 100644 a/long/folder/of/files/part_{n}.py\n" for n in range(200)
    )
    assert last_lines(said).startswith("[main 1421b0b] Port the reader ")
    assert "[a list] of" not in last_lines("[a list] of things\n" + "x of y\n" * 200)
