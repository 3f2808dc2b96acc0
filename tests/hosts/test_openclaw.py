"""OpenClaw's adapter: recorded events become ours, answers become the plugin's, faults stay in."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitguard.errors import GitguardError, InvalidDocument
from gitguard.hosts import HOSTS, find_host, surrounding_session
from gitguard.hosts.openclaw import hooks
from gitguard.model import events
from gitguard.model.events import HookEvent, HookReply

PAYLOADS = Path(__file__).parents[1] / "payloads" / "openclaw"
VERSIONS = ("2026.9.6", "2026.3.13")
NOW = 1_795_300_000.0
ENVIRONMENT = {"HOME": "/home/user"}
KEY = "agent:main:main"


def recorded(version: str, name: str) -> dict[str, Any]:
    text = (PAYLOADS / version / f"{name}.json").read_text(encoding="utf-8")
    document = json.loads(text)
    assert isinstance(document, dict)
    # Where an event does not say it, the plugin remembers it from an earlier one.
    known: dict[str, Any] = document["ctx"] if "ctx" in document else document["context"]
    known.setdefault("workspaceDir", "/repo")
    known.setdefault("sessionKey", document.get("sessionKey", KEY))
    return document


def parse(payload: dict[str, Any], environment: dict[str, str] | None = None) -> HookEvent:
    return hooks.HOST.parse_event(payload, environment or ENVIRONMENT, NOW)


def tool_event(name: str, parameters: dict[str, Any], **event: Any) -> HookEvent:
    payload = recorded(VERSIONS[0], "after_tool_call.write")
    payload["event"] |= {"toolName": name, "params": parameters, **event}
    return parse(payload)


# --- Events

EVENTS = {
    "agent_bootstrap": events.BOOTSTRAP,
    "agent_bootstrap.local": events.BOOTSTRAP,
    "command_new": events.SESSION_START,
    "command_reset.reset": events.SESSION_START,
    "before_prompt_build": events.PROMPT,
    "before_prompt_build.local": events.PROMPT,
    "before_tool_call.write": events.TOOL_START,
    "before_tool_call.exec": events.TOOL_START,
    "after_tool_call.write": events.TOOL_END,
    "after_tool_call.exec": events.TOOL_END,
    "after_tool_call.exec.background": events.TOOL_END,
    "after_tool_call.exec.failing": events.TOOL_FAILED,
    "after_tool_call.read.error": events.TOOL_FAILED,
    "after_tool_call.edit.error": events.TOOL_FAILED,
    "before_compaction.auto": events.COMPACTION_START,
    "after_compaction.auto": events.COMPACTION_END,
    "agent_end": events.TURN_END,
    "llm_output": events.OTHER,
}
ONLY_NEWER = {
    "session_compact_before.auto": events.COMPACTION_START,
    "session_compact_before.rpc": events.COMPACTION_START,
    "session_compact_after.auto": events.COMPACTION_END,
    "session_compact_after.rpc": events.COMPACTION_END,
    "before_compaction.default_mode": events.COMPACTION_START,
    "after_compaction.default_mode": events.COMPACTION_END,
    "before_tool_call.progress_card": events.TOOL_START,
    "after_tool_call.apply_patch": events.TOOL_END,
    "session_end": events.SESSION_END,
    "session_end.reset": events.SESSION_END,
}
ONLY_OLDER = {"session_compact_before.chat": events.COMPACTION_START}


@pytest.mark.parametrize(
    ("version", "name", "kind"),
    [
        *((version, name, kind) for version in VERSIONS for name, kind in EVENTS.items()),
        *((VERSIONS[0], name, kind) for name, kind in ONLY_NEWER.items()),
        *((VERSIONS[1], name, kind) for name, kind in ONLY_OLDER.items()),
    ],
)
def test_every_recorded_event_gets_its_kind_session_and_workspace(
    version: str, name: str, kind: str
) -> None:
    event = parse(recorded(version, name))
    assert (event.kind, event.project_dir) == (kind, "/repo")
    assert event.session in (KEY, "agent:main:incident-42")
    assert event.host_session
    assert event.sub_agent == ""


@pytest.mark.parametrize("name", ["command_new", "command_reset.reset"])
def test_a_reset_ends_what_the_session_was(name: str) -> None:
    assert parse(recorded(VERSIONS[0], name)).source == events.STARTED_ANEW


def test_a_session_that_ends_by_a_compaction_goes_on() -> None:
    payload = recorded(VERSIONS[0], "session_end")
    payload["event"]["reason"] = "compaction"
    assert parse(payload).kind == events.OTHER


def test_the_transcript_is_where_the_agent_keeps_its_sessions() -> None:
    payload = recorded(VERSIONS[0], "before_prompt_build")
    transcript = parse(payload).transcript
    assert transcript is not None
    assert transcript.path == "/home/user/.openclaw/agents/main"
    assert (transcript.format, transcript.session) == ("openclaw", payload["ctx"]["sessionId"])
    moved = parse(payload, {"HOME": "/home/user", "OPENCLAW_STATE_DIR": "~/other"}).transcript
    assert moved is not None
    assert moved.path == "/home/user/other/agents/main"


@pytest.mark.parametrize("agent", ["", ".", "..", "../x", "a/b"])
def test_an_agents_name_leads_nowhere_else(agent: str) -> None:
    payload = recorded(VERSIONS[0], "before_prompt_build")
    payload["ctx"]["agentId"] = agent
    assert parse(payload).transcript is None


@pytest.mark.parametrize("key", ["agent:main:subagent:1234", "temp:slug-generator"])
def test_sub_agents_and_the_hosts_helpers_are_left_alone(key: str) -> None:
    payload = recorded(VERSIONS[0], "before_tool_call.write")
    payload["ctx"]["sessionKey"] = key
    assert parse(payload).kind == events.OTHER
    helper = recorded(VERSIONS[1], "agent_bootstrap.slug_generator")
    assert parse(helper).kind == events.OTHER


@pytest.mark.parametrize("version", VERSIONS)
def test_a_snapshot_can_say_which_agent_spoke_on_which_channel(version: str) -> None:
    event = parse(recorded(version, "before_prompt_build"))
    assert (event.agent, event.channel) == ("main", "webchat")


def test_keys_that_begin_alike_are_different_sessions() -> None:
    payload = recorded(VERSIONS[0], "before_prompt_build")
    payload["ctx"]["sessionKey"] = KEY + "x" * 5000
    assert parse(payload).session == KEY + "x" * 5000


# --- Prompts


@pytest.mark.parametrize(
    ("prompt", "words"),
    [
        ("go on", "go on"),
        ("[Sun 2026-11-22 01:11 UTC] go on", "go on"),
        (
            'Conversation info (untrusted metadata):\n```json\n{\n  "a": 1\n}\n```\n\n'
            "Sender (untrusted metadata):\n```json\n{}\n```\n\n[Sun 2026-11-22 01:11 GMT+1] go on",
            "go on",
        ),
        ("[1] is the first", "[1] is the first"),
        ("Look (untrusted data):\n```json\n{", "Look (untrusted data):\n```json\n{"),
    ],
)
def test_the_users_words_stand_without_the_hosts(prompt: str, words: str) -> None:
    payload = recorded(VERSIONS[1], "before_prompt_build")
    payload["event"]["prompt"] = prompt
    assert parse(payload).prompt == words


@pytest.mark.parametrize("trigger", ["heartbeat", "cron", "memory"])
def test_a_prompt_that_the_host_wrote_is_not_the_users(trigger: str) -> None:
    payload = recorded(VERSIONS[0], "before_prompt_build")
    payload["ctx"]["trigger"] = trigger
    event = parse(payload)
    assert (event.kind, event.prompt) == (events.PROMPT, "")


# --- Tool calls


@pytest.mark.parametrize(
    ("name", "parameters", "read", "written"),
    [
        ("read", {"path": "a.py"}, ("/repo/a.py",), ()),
        ("read", {"file_path": "/etc/x"}, ("/etc/x",), ()),
        ("write", {"path": "a.py", "content": "x"}, (), ("/repo/a.py",)),
        ("edit", {"path": "src/a.py", "edits": []}, (), ("/repo/src/a.py",)),
        ("exec", {"command": "cat a.py"}, (), ()),
        (
            "apply_patch",
            {
                "input": "*** Begin Patch\n*** Add File: a\n+x\n*** Update File: b\n"
                "*** Move to: c\n@@\n-x\n+*** Add File: no\n*** Delete File: d\n*** End Patch"
            },
            (),
            ("/repo/a", "/repo/b", "/repo/c", "/repo/d"),
        ),
        ("write", {"path": 5}, (), ()),
        ("write", {"path": "x" * 5000}, (), ()),
    ],
)
def test_files_that_a_tool_touches_are_told(
    name: str, parameters: dict[str, Any], read: tuple[str, ...], written: tuple[str, ...]
) -> None:
    tool = tool_event(name, parameters).tool
    assert tool is not None
    assert (tool.paths_read, tool.paths_written) == (read, written)


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"error": "boom"}, "boom"),
        ({"result": {"isError": True, "content": [{"type": "text", "text": "no"}]}}, "no"),
        (
            {"result": {"details": {"exitCode": 2, "aggregated": "bad\n"}}},
            "exit code 2: bad",
        ),
        ({"result": {"details": {"exitCode": 0, "aggregated": "fine"}}}, None),
        ({"result": {"details": {"exitCode": None}}}, None),
        ({"result": "text"}, None),
    ],
)
def test_a_command_that_ends_with_another_code_than_zero_has_failed(
    changes: dict[str, Any], error: str | None
) -> None:
    event = tool_event("exec", {"command": "x"}, **changes)
    assert event.tool is not None
    assert event.kind == (events.TOOL_END if error is None else events.TOOL_FAILED)
    assert event.tool.error == (error or "")


@pytest.mark.parametrize(
    ("name", "given", "is_shell"),
    [
        ("exec", {"command": "gitguard status"}, True),
        ("exec", {"command": "gitguard status", "timeout": 9}, True),
        ("exec", {"command": "gitguard status", "env": {"PATH": "/tmp"}}, False),
        ("exec", {"command": "gitguard status", "host": "node"}, False),
        ("process", {"command": "gitguard status"}, False),
    ],
)
def test_a_call_that_says_more_than_its_command_is_no_plain_shell(
    name: str, given: dict[str, Any], is_shell: bool
) -> None:
    tool = tool_event(name, given).tool
    assert tool is not None
    assert tool.is_shell is is_shell


def test_a_command_is_told_whole_and_summed_up_in_one_line() -> None:
    command = "echo one\n" + "echo two; " * 100
    tool = tool_event("exec", {"command": command}).tool
    assert tool is not None
    assert tool.command == command
    assert len(tool.summary) <= 200
    assert "\n" not in tool.summary


@pytest.mark.parametrize("name", ["progress_card", "update_plan"])
def test_a_plan_is_told_as_a_whole(name: str) -> None:
    steps = [{"step": "one", "status": "completed"}, {"step": "two", "status": "pending"}, {}]
    tool = tool_event(name, {"plan": steps}).tool
    assert tool is not None
    assert [(item.text, item.done) for item in tool.plan] == [("one", True), ("two", False)]
    assert tool.whole_plan


def test_of_a_call_through_another_tool_the_inner_one_counts() -> None:
    for moment in ("before", "after"):
        inner = parse(recorded(VERSIONS[0], f"{moment}_tool_call.progress_card"))
        assert inner.kind in (events.TOOL_START, events.TOOL_END)
        assert inner.tool is not None
        plan = [(item.text, item.done) for item in inner.tool.plan]
        assert plan == [("Write hello.py", True), ("Add tests", False), ("Publish", False)]
        assert parse(recorded(VERSIONS[0], f"{moment}_tool_call.tool_call")).kind == events.OTHER


# --- How full the context is


def with_usage(name: str, **usage: Any) -> HookEvent:
    return parse({**recorded(VERSIONS[0], name), "usage": usage})


def test_pressure_is_what_the_newest_answer_used() -> None:
    at = (NOW - 5) * 1000
    event = with_usage(
        "before_tool_call.write",
        input=9000,
        output=50,
        cacheRead=100,
        cacheWrite=None,
        window=40_000,
        provider="fake",
        model="fake-1",
        at=at,
    )
    assert event.reading is not None
    assert (event.reading.tokens, event.reading.window) == (9150, 40_000)
    assert (event.reading.source, event.reading.at) == ("hook", NOW - 5)
    assert event.model == "fake/fake-1"


@pytest.mark.parametrize("at", [None, "x", True, 1e300, -1, (NOW + 60) * 1000])
def test_a_reading_is_never_of_the_future(at: Any) -> None:
    event = with_usage("before_tool_call.write", input=10, at=at)
    assert event.reading is not None
    assert event.reading.at <= NOW


@pytest.mark.parametrize("tokens", [0, -5, 10**12, True, "9000", 1.5])
def test_a_number_that_cannot_be_is_no_reading(tokens: Any) -> None:
    assert with_usage("before_tool_call.write", input=tokens).reading is None


def test_a_compactions_end_says_what_is_left() -> None:
    for name in ("session_compact_after.auto", "after_compaction.auto"):
        reading = with_usage(name, input=33_000, window=40_000, at=NOW * 1000).reading
        assert reading is not None
        assert (reading.tokens, reading.after_compaction) == (17_830, True)
    older = parse({**recorded(VERSIONS[1], "after_compaction.auto"), "usage": {"input": 33_000}})
    assert older.reading is None


# --- Answers


@pytest.mark.parametrize(
    ("name", "reply", "answer"),
    [
        ("agent_bootstrap", HookReply(context="block"), {"bootstrap": "block"}),
        ("before_prompt_build", HookReply(context="line"), {"context": "line"}),
        (
            "before_prompt_build",
            HookReply(refuse="halted"),
            {"context": "halted", "block": "halted"},
        ),
        ("before_tool_call.write", HookReply(stop="halted"), {"block": "halted"}),
        ("before_tool_call.write", HookReply(refuse="no"), {"block": "no"}),
        ("before_tool_call.write", HookReply(context="x"), None),
        ("after_tool_call.write", HookReply(context="x"), None),
        ("agent_end", HookReply(), None),
        ("agent_bootstrap", HookReply(), None),
    ],
)
def test_answers_are_what_the_plugin_understands(
    name: str, reply: HookReply, answer: dict[str, str] | None
) -> None:
    text = hooks.HOST.render_reply(parse(recorded(VERSIONS[0], name)), reply).text
    assert text == "" if answer is None else json.loads(text) == answer


@pytest.mark.parametrize("kind", [*hooks.KINDS.values(), events.OTHER])
def test_the_plugin_is_answered_before_the_host_stops_waiting(kind: str) -> None:
    # 15 s for tool calls, which are refused without an answer, and for prompts; 30 s for others.
    impatient = kind in (events.TOOL_START, events.PROMPT, events.BOOTSTRAP)
    assert 2 < hooks.HOST.time_limit(kind) < (15 if impatient else 30)


# --- The shell of an agent


@pytest.mark.parametrize(
    ("environment", "session"),
    [
        ({}, ""),
        ({"GITGUARD_HOST_SESSION": "S1"}, ""),
        ({"OPENCLAW_SHELL": "exec", "GITGUARD_HOST_SESSION": "S1"}, "S1"),
        ({"OPENCLAW_SHELL": "exec"}, "openclaw"),
        ({"OPENCLAW_SHELL": "tui-local"}, ""),
    ],
)
def test_an_agents_shell_is_told_from_a_persons(environment: dict[str, str], session: str) -> None:
    assert HOSTS["openclaw"].marks.conversation(environment) == session
    assert surrounding_session(environment) == session


def test_the_host_is_found_by_its_name() -> None:
    assert find_host("openclaw").name == "openclaw"


# --- What cannot be read


@pytest.mark.parametrize("missing", ["sessionKey", "workspaceDir"])
def test_an_event_without_session_or_workspace_is_refused(missing: str) -> None:
    payload = recorded(VERSIONS[0], "before_tool_call.write")
    del payload["ctx"][missing]
    with pytest.raises(InvalidDocument, match=missing):
        parse(payload)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=8,
)
NAMES = st.sampled_from(
    ["hook", "event", "ctx", "type", "action", "sessionKey", "context", "usage", "params", "result"]
)
INNER = st.sampled_from(
    ["sessionKey", "workspaceDir", "toolName", "params", "result", "reason", "prompt", "sessionId"]
)
ANYTHING = st.dictionaries(NAMES, JSON | st.dictionaries(INNER, JSON, max_size=6), max_size=8)


@given(ANYTHING, st.sampled_from([*hooks.KINDS, "other"]))
def test_whatever_comes_in_only_our_errors_come_out(payload: dict[str, Any], name: str) -> None:
    ctx = {"sessionKey": KEY, "workspaceDir": "/repo"}
    for document in (payload, {"ctx": ctx, **payload, "hook": name}):
        try:
            event = parse(document)
        except GitguardError:
            continue
        hooks.HOST.render_reply(event, HookReply(context="x", stop="y"))


@given(
    st.sampled_from(["read", "write", "exec", "apply_patch", "update_plan", "other"]),
    JSON,
    JSON,
    JSON,
)
def test_whatever_a_tool_call_holds_it_is_told(
    name: str, parameters: Any, result: Any, usage: Any
) -> None:
    payload = recorded(VERSIONS[0], "after_tool_call.write")
    payload["event"] |= {"toolName": name, "params": parameters, "result": result}
    event = parse({**payload, "usage": usage})
    assert event.tool is not None
    event.tool.summary.encode()
    event.tool.error.encode()
