"""What the hosts that speak Claude Code's dialect of hooks do, seen before gitguard comes in.

A host update that breaks one of these breaks the integration; the test's name is the promise.
"""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from .live_hosts import LIVE_HOSTS, DroidExec, LiveHost
from .recorder import Answer, Call, Recorder
from .scripted_model import Kind, ScriptedModel, Step

DIALECT = ("copilot", "qwen", "droid", "droid-exec", "kimi", "codex")
speaking = pytest.mark.parametrize("live", DIALECT, indirect=True)

TURNS: Mapping[str, str] = {
    "copilot": """
        SessionStart.new UserPromptSubmit
        PreToolUse.Bash PostToolUse.Bash PreToolUse.Write PostToolUse.Write
        PreToolUse.Bash PostToolUse.Bash
        Stop SessionEnd
    """,
    "qwen": """
        SessionStart.startup Notification UserPromptSubmit
        PreToolUse.run_shell_command PostToolUse.run_shell_command PostToolBatch UserPromptSubmit
        PreToolUse.write_file PostToolUse.write_file PostToolBatch UserPromptSubmit
        PreToolUse.run_shell_command PostToolUseFailure.run_shell_command
        PostToolBatch UserPromptSubmit
        Stop
    """,
    "droid": """
        SessionStart.startup UserPromptSubmit
        PreToolUse.Execute PostToolUse.Execute PreToolUse.Create PostToolUse.Create
        PreToolUse.Execute
        Stop SessionEnd
    """,
    "droid-exec": """
        SessionStart.startup
        PreToolUse.Execute PostToolUse.Execute PreToolUse.Create PostToolUse.Create
        PreToolUse.Execute
        Stop SessionEnd
    """,
    "kimi": """
        SessionStart.startup UserPromptSubmit
        PreToolUse.Bash PostToolUse.Bash PreToolUse.Write PostToolUse.Write
        PreToolUse.Bash PostToolUseFailure.Bash
        Stop
    """,
    "codex": """
        SessionStart.startup UserPromptSubmit
        PreToolUse.Bash PostToolUse.Bash PreToolUse.apply_patch PostToolUse.apply_patch
        PreToolUse.Bash PostToolUse.Bash
        Stop SessionEnd
    """,
}
"""The events of a turn in which a command succeeds, a file is written, and a command fails."""

COMPACTIONS: Mapping[str, tuple[str, ...]] = {
    "copilot": ("PreCompact.auto",),
    "qwen": ("PreCompact.auto", "PostCompact.auto", "SessionStart.compact"),
    "droid": (),
    "kimi": ("PreCompact.auto", "PostCompact.auto"),
    "codex": ("PreCompact.auto", "PostCompact.auto", "SessionStart.compact"),
}

COMMON = {"session_id", "cwd", "hook_event_name"}
PAYLOADS: Mapping[str, Mapping[str, set[str]]] = {
    "copilot": {
        "": {"timestamp"},
        "SessionStart": {"source", "initial_prompt"},
        "UserPromptSubmit": {"prompt"},
        "PreToolUse": {"tool_name", "tool_input"},
        "PostToolUse": {"tool_name", "tool_input", "tool_result"},
        "Stop": {"transcript_path", "stop_hook_active", "stop_reason"},
        "SessionEnd": {"reason"},
    },
    "qwen": {
        "": {"timestamp", "transcript_path", "permission_mode"},
        "SessionStart": {"source", "model"},
        "PreToolUse": {"tool_name", "tool_input", "tool_use_id", "tool_call_id", "prompt_id"},
        "PostToolUse": {
            *("tool_name", "tool_input", "tool_use_id", "tool_call_id", "prompt_id"),
            *("tool_response", "duration_ms"),
        },
        "PostToolUseFailure": {
            *("tool_name", "tool_input", "tool_use_id", "tool_call_id", "prompt_id"),
            *("error", "is_interrupt", "duration_ms"),
        },
        "PostToolBatch": {"tool_calls", "prompt_id"},
        "Stop": {
            *("stop_hook_active", "last_assistant_message", "prompt_id"),
            *("context_usage", "context_limit", "input_tokens", "background_tasks", "crons"),
        },
    },
    "droid": {
        "": {"transcript_path", "permission_mode"},
        "SessionStart": {"source", "CLAUDE_ENV_FILE"},
        "UserPromptSubmit": {"prompt", "message_id", "has_images"},
        "PreToolUse": {"tool_name", "tool_input"},
        "PostToolUse": {"tool_name", "tool_input", "tool_response"},
        "Stop": {"stop_hook_active", "message_id", "elapsed_time", "tool_execution_count"},
        "SessionEnd": {"reason", "message_id", "message_count", "session_duration_ms"},
    },
    "kimi": {
        "": {"client_type"},
        "SessionStart": {"source", "model", "profile"},
        "UserPromptSubmit": {"prompt", "is_steer"},
        "PreToolUse": {"tool_name", "tool_input", "tool_call_id"},
        "PostToolUse": {"tool_name", "tool_input", "tool_call_id", "tool_output"},
        "PostToolUseFailure": {"tool_name", "tool_input", "tool_call_id", "error"},
        "Stop": {"stop_hook_active"},
    },
    "codex": {
        "": {"transcript_path"},
        "SessionStart": {"source", "model", "permission_mode"},
        "UserPromptSubmit": {"prompt", "turn_id", "model", "permission_mode"},
        "PreToolUse": {
            *("tool_name", "tool_input", "tool_use_id"),
            *("turn_id", "model", "permission_mode"),
        },
        "PostToolUse": {
            *("tool_name", "tool_input", "tool_use_id", "tool_response"),
            *("turn_id", "model", "permission_mode"),
        },
        "Stop": {
            *("stop_hook_active", "last_assistant_message"),
            *("turn_id", "model", "permission_mode"),
        },
        "SessionEnd": {"reason"},
    },
}
"""The keys of each event's payload besides COMMON; those of all events of a host stand at ""."""

ENVIRONMENTS: Mapping[str, str] = {
    "copilot": "COPILOT_CLI",
    "qwen": "QWEN_CODE_CLI",
    "droid": "FACTORY_PROJECT_DIR",
}
"""The variable by which a hook knows its host; the others set none."""


def injecting(live: LiveHost, event: str, text: str) -> Answer:
    """The answer with which that host's model is told a text."""
    if live.name == "copilot":
        return Answer({"additionalContext": text})
    if live.name == "kimi":
        return Answer(text)
    return Answer({"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}})


def turn_of(live: LiveHost) -> list[str]:
    """The events of its turn; Droid fires another one where a client drives it."""
    [name] = (name for name, (host, _) in LIVE_HOSTS.items() if host is type(live))
    return TURNS[name].split()


def without_late(names: list[str]) -> list[str]:
    """Leave out what Kimi Code does not wait for, and may lose at the end of a run."""
    return [name for name in names if not name.startswith("PostTool")]


@pytest.mark.essential
@speaking
def test_a_turn_fires_these_events_with_these_keys(live: LiveHost, recording: Recorder) -> None:
    done = live.say(
        "Do it all.",
        Step("I echo.", (live.shell("echo hi > a.txt"),)),
        Step("I write.", (live.write("b.txt", "hello\n"),)),
        Step("I fail.", (live.shell("echo out; exit 3"),)),
        Step("All done."),
    )
    assert done.returncode == 0, done
    assert "All done." in done.stdout
    assert (live.project / "a.txt").read_text() == "hi\n"
    assert (live.project / "b.txt").read_text() == "hello\n"
    assert live.transcript.is_file()
    calls = recording.calls()
    names, expected = [call.name for call in calls], turn_of(live)
    if live.name == "kimi":
        names, expected = without_late(names), without_late(expected)
    if live.name == "copilot":
        # These two run side by side.
        names[:2], expected[:2] = sorted(names[:2]), sorted(expected[:2])
    assert names == expected
    for call in calls:
        assert_keys(live, call)
        assert call.payload["session_id"] == live.session
        assert call.cwd == str(live.project)


def assert_keys(live: LiveHost, call: Call) -> None:
    keys = PAYLOADS[live.name]
    if call.event in keys:
        assert set(call.payload) == COMMON | keys[""] | keys[call.event], call.event
    for name, variable in ENVIRONMENTS.items():
        assert (variable in call.env) == (name == live.name)


@speaking
def test_a_killed_conversation_goes_on(
    live: LiveHost, recording: Recorder, model: ScriptedModel
) -> None:
    def is_written() -> bool:
        """Copilot writes a prompt down a second or two after it began with it."""
        texts = (path.read_text(encoding="utf-8") for path in live.transcripts().values())
        return any("FIRST-PROMPT" in text for text in texts)

    live.kill_in_tool("FIRST-PROMPT", ready=is_written)
    killed = live.session
    assert killed
    assert recording.calls()[-1].event == "PreToolUse"
    live.go_on("SECOND-PROMPT", Step("Again."))
    assert live.session == killed
    newest = model.requests(Kind.MAIN)[-1]
    assert newest.count("FIRST-PROMPT") == newest.count("SECOND-PROMPT") == 1
    assert "SessionStart.resume" in recording.names()


@speaking
def test_a_compaction_fires_these_events_and_the_session_stays(
    live: LiveHost, recording: Recorder
) -> None:
    live.say("First.", Step("Hello."))
    begun, before = live.session, len(recording.names())
    after = Step("After it.", (live.shell("echo on"),))
    summarizing, *following = live.compact(after, Step("The end."))
    assert summarizing.kind is Kind.COMPACTION
    assert following[-1].count("SCRIPTED-SUMMARY") == 1
    fired = recording.names()[before:]
    told = [name for name in fired if "ompact" in name]
    if live.name == "kimi":
        # It does not wait for the hook behind the compaction.
        assert told[0] == "PreCompact.auto"
    else:
        assert tuple(told) == COMPACTIONS[live.name]
    assert live.session == begun


@pytest.mark.parametrize("live", ["copilot", "qwen", "droid"], indirect=True)
def test_a_user_can_ask_for_a_compaction(
    live: LiveHost, recording: Recorder, model: ScriptedModel
) -> None:
    live.say("First.", Step("I list.", (live.shell("seq 1 900"),)), Step("Hello."))
    begun = live.session
    live.compact_by_command()
    assert model.requests(Kind.COMPACTION)
    # Droid goes on in a new session, and says "auto" although its user asked.
    assert (live.session == begun) == (live.name != "droid")
    trigger = "auto" if live.name == "droid" else "manual"
    assert f"PreCompact.{trigger}" in recording.names()
    live.go_on("Second.", Step("Hello again."))
    assert model.requests(Kind.MAIN)[-1].count("SCRIPTED-SUMMARY") == 1


@speaking
def test_what_a_hook_says_reaches_the_model_once(
    live: LiveHost, recording: Recorder, model: ScriptedModel
) -> None:
    event = "SessionStart" if type(live) is DroidExec else "UserPromptSubmit"
    recording.answer(event, injecting(live, event, "INJECTED"))
    live.say("Hello.", Step("Hello."))
    assert [request.count("INJECTED") for request in model.requests(Kind.MAIN)] == [1]


@speaking
def test_a_denied_tool_does_not_run(
    live: LiveHost, recording: Recorder, model: ScriptedModel
) -> None:
    decision = {"permissionDecision": "deny", "permissionDecisionReason": "DENIED"}
    denial = {"hookSpecificOutput": {"hookEventName": "PreToolUse", **decision}}
    recording.answer("PreToolUse", Answer(denial))
    live.say("Do it.", Step("I do.", (live.shell("touch ran"),)), Step("The end."))
    assert not (live.project / "ran").exists()
    assert model.requests(Kind.MAIN)[-1].count("DENIED") >= 1
