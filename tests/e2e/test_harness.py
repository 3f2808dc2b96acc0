"""What the integration relies on, seen in the real Claude Code before gitguard comes in.

A host update that breaks one of these breaks the integration; the test's name is the promise.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.support.waiting import wait_until

from .claude_code import SealedClaude, Terminal
from .recorder import Answer, Recorder
from .repository import git
from .scripted_model import Kind, ScriptedModel, Step, ToolCall, bash, subagent, summary, write
from .sealing import kill_group

HAIKU = "claude-haiku-4-5"
OPUS = "claude-opus-5-5"
WINDOW_VARIABLE = "CLAUDE_CODE_AUTO_COMPACT_WINDOW"

HALT = Answer(
    {
        "continue": False,
        "stopReason": "HALTED",
        "hookSpecificOutput": {
            "hookEventName": "PreToolUse",
            "permissionDecision": "deny",
            "permissionDecisionReason": "NOT RUN",
        },
    }
)
DENY = Answer(
    {
        "hookSpecificOutput": {
            "hookEventName": "PreToolUse",
            "permissionDecision": "deny",
            "permissionDecisionReason": "NOT RUN",
        }
    }
)
REFUSE_PROMPT = Answer({"decision": "block", "reason": "REFUSED"})


def context(event: str, text: str) -> Answer:
    return Answer({"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}})


def set_window(recorder: Recorder, claude: SealedClaude, window: int) -> None:
    settings = {"env": {WINDOW_VARIABLE: str(window)}}
    recorder.install(claude.project, settings=settings)


def script_two_rounds(model: ScriptedModel, tokens: int) -> None:
    """The second answer brings the context to `tokens`; a third request follows."""
    model.script(Step("one", (bash("echo one"),), input_tokens=50_000))
    model.script(Step("two", (bash("echo two"),), input_tokens=tokens))
    model.script(Step("three", input_tokens=10_000))


def transcript_lines(path: object) -> list[dict[str, Any]]:
    text = Path(str(path)).read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


# --- A turn and its events


def test_a_turn_runs_its_tool_calls_and_fires_its_hooks_in_order(
    claude: SealedClaude, model: ScriptedModel, recorder: Recorder, repo: Path
) -> None:
    seen_at_second_request: list[str] = []
    model.script(
        Step("writing", (write(repo / "a.txt", "a\n"),)),
        Step("done", before=lambda: seen_at_second_request.append(git(repo, "status", "-s"))),
    )

    run = claude.run("write a.txt")

    assert run.text == "done"
    assert run.terminal_reason == "completed"
    assert "?? a.txt" in seen_at_second_request[0]
    assert recorder.names() == [
        "SessionStart.startup",
        "UserPromptSubmit",
        "PreToolUse.Write",
        "PostToolUse.Write",
        "Stop",
        "SessionEnd",
    ]


def test_a_failing_command_fires_the_failure_event_only(
    claude: SealedClaude, model: ScriptedModel, recorder: Recorder
) -> None:
    model.script(Step(calls=(bash("echo out; exit 3"),)))

    claude.run("fail")

    assert [call.payload["error"] for call in recorder.calls("PostToolUseFailure")] == [
        "Exit code 3\nout"
    ]
    assert recorder.calls("PostToolUse") == []


def test_a_search_without_a_match_counts_as_success(
    claude: SealedClaude, model: ScriptedModel, recorder: Recorder
) -> None:
    model.script(Step(calls=(bash("grep -q nowhere README.md"),)))

    claude.run("search")

    response = recorder.calls("PostToolUse.Bash")[0].payload["tool_response"]
    assert response["returnCodeInterpretation"] == "No matches found"
    assert recorder.calls("PostToolUseFailure") == []


def test_calls_that_the_host_rejects_fire_no_hook(
    claude: SealedClaude, model: ScriptedModel, recorder: Recorder, repo: Path
) -> None:
    edit = {"file_path": str(repo / "README.md"), "old_string": "absent", "new_string": "x"}
    model.script(
        Step(calls=(ToolCall("Edit", edit),)),
        Step(calls=(ToolCall("NoSuchTool", {}),)),
        Step(calls=(ToolCall("Bash", {"wrong": "input"}),)),
        Step("gave up"),
    )

    assert claude.run("try").text == "gave up"

    names = recorder.names()
    assert [name for name in names if "ToolUse" in name] == []


def test_the_project_variable_stays_when_the_shell_changes_folder(
    claude: SealedClaude, model: ScriptedModel, recorder: Recorder, repo: Path
) -> None:
    (repo / "sub").mkdir()
    model.script(Step(calls=(bash("cd sub"),)))

    claude.run("go")

    after = recorder.calls("PostToolUse")[0]
    assert after.cwd == after.payload["cwd"] == str(repo / "sub")
    assert after.env["CLAUDE_PROJECT_DIR"] == str(repo)
    assert after.env["CLAUDE_CODE_SESSION_ID"] == after.payload["session_id"]


def test_the_seal_holds_the_users_environment_out(
    claude: SealedClaude,
    model: ScriptedModel,
    recorder: Recorder,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("GITGUARD_E2E_LEAK", "leaked")
    model.script(Step(calls=(bash("true"),)))

    claude.run("go")

    env = recorder.calls("PostToolUse")[0].env
    assert "GITGUARD_E2E_LEAK" not in env
    assert env["HOME"] == str(claude.home)


# --- Halting


def test_a_halt_runs_no_tool_and_asks_the_model_nothing_more(
    claude: SealedClaude, model: ScriptedModel, recorder: Recorder, repo: Path
) -> None:
    recorder.answer("PreToolUse", HALT)
    model.script(Step(calls=(bash("touch ran"),)))

    run = claude.run("go")

    assert run.terminal_reason == "hook_stopped"
    assert not (repo / "ran").exists()
    assert len(model.requests()) == 1
    assert recorder.calls("Stop") == []


def test_a_denial_without_continue_false_lets_the_agent_go_on(
    claude: SealedClaude, model: ScriptedModel, recorder: Recorder, repo: Path
) -> None:
    recorder.answer("PreToolUse", DENY)
    model.script(Step(calls=(bash("touch ran"),)), Step("went on"))

    run = claude.run("go")

    assert run.text == "went on"
    assert not (repo / "ran").exists()
    assert model.requests()[-1].count("NOT RUN") == 1


def test_halting_a_sub_agent_leaves_the_main_agent_running(
    claude: SealedClaude, model: ScriptedModel, recorder: Recorder, repo: Path
) -> None:
    recorder.answer("PreToolUse.Bash", HALT)
    model.script(Step(calls=(subagent("do it"),)), Step("went on"))
    model.script_subagent(Step("try", (bash("touch ran"),)))

    run = claude.run("go")

    assert (run.text, run.terminal_reason) == ("went on", "completed")
    assert not (repo / "ran").exists()
    assert recorder.calls("SubagentStop") == []


def test_stopping_after_the_agent_tool_ends_the_main_agent_too(
    claude: SealedClaude, model: ScriptedModel, recorder: Recorder
) -> None:
    recorder.answer("PreToolUse.Bash", HALT)
    recorder.answer("PostToolUse.Agent", Answer({"continue": False, "stopReason": "HALTED"}))
    model.script(Step(calls=(subagent("do it"),)))
    model.script_subagent(Step("try", (bash("true"),)))

    assert claude.run("go").terminal_reason == "hook_stopped"
    assert len(model.requests(Kind.MAIN)) == 1


def test_a_refused_prompt_never_reaches_the_model_nor_the_resumed_session(
    claude: SealedClaude, model: ScriptedModel, recorder: Recorder
) -> None:
    recorder.answer("UserPromptSubmit", REFUSE_PROMPT)

    refused = claude.run("MARKED PROMPT")

    assert model.requests() == []
    assert "REFUSED" in refused.text
    assert refused.terminal_reason == ""
    recorder.answer("UserPromptSubmit", Answer())
    claude.run("next", resume=refused.session_id)
    assert model.requests()[0].count("MARKED PROMPT") == 0


def test_a_refused_prompt_does_not_refuse_compaction(
    claude: SealedClaude, model: ScriptedModel, recorder: Recorder
) -> None:
    session = claude.run("hello").session_id
    recorder.answer("UserPromptSubmit", REFUSE_PROMPT)
    prompts = len(recorder.calls("UserPromptSubmit"))

    claude.run("/compact", resume=session)

    assert len(model.requests(Kind.COMPACTION)) == 1
    assert len(recorder.calls("UserPromptSubmit")) == prompts


def test_all_matching_hooks_run_and_a_halt_beats_an_allowance(
    claude: SealedClaude, model: ScriptedModel, recorder: Recorder, repo: Path, tmp_path: Path
) -> None:
    other = Recorder(tmp_path / "other")
    other.folder.mkdir()
    other.answer("PreToolUse", HALT)
    add_hook(repo, "PreToolUse", other.command)
    decision = {"hookEventName": "PreToolUse", "permissionDecision": "allow"}
    recorder.answer("PreToolUse", Answer({"hookSpecificOutput": decision}))
    model.script(Step(calls=(bash("touch ran"),)))

    assert claude.run("go").terminal_reason == "hook_stopped"

    assert not (repo / "ran").exists()
    assert len(recorder.calls("PreToolUse")) == len(other.calls("PreToolUse")) == 1


def add_hook(repo: Path, event: str, command: str) -> None:
    path = repo / ".claude" / "settings.local.json"
    settings = json.loads(path.read_text(encoding="utf-8"))
    settings["hooks"][event].append({"hooks": [{"type": "command", "command": command}]})
    path.write_text(json.dumps(settings), encoding="utf-8")


def test_a_hook_that_exceeds_its_timeout_in_seconds_is_ignored(
    claude: SealedClaude, model: ScriptedModel, recorder: Recorder, repo: Path
) -> None:
    recorder.install(repo, timeout=1)
    recorder.answer("PreToolUse", replace(HALT, sleep_seconds=5.0))
    model.script(Step(calls=(bash("touch ran"),)))

    assert claude.run("go").terminal_reason == "completed"

    assert (repo / "ran").exists()
    waited = recorder.calls("PostToolUse")[0].time - recorder.calls("PreToolUse")[0].time
    assert 0.9 < waited < 3.0


# --- Injecting


def test_injected_context_reaches_every_later_request_exactly_once(
    claude: SealedClaude, model: ScriptedModel, recorder: Recorder
) -> None:
    for event in ("SessionStart", "UserPromptSubmit", "PostToolUse"):
        recorder.answer(event, context(event, f"INJECTED-AT-{event}."))
    model.script(Step(calls=(bash("true"),)))

    claude.run("go")

    first, second = model.requests()
    for event in ("SessionStart", "UserPromptSubmit"):
        marker = f"INJECTED-AT-{event}."
        assert (first.count(marker), second.count(marker)) == (1, 1)
    assert second.count("INJECTED-AT-PostToolUse.") == 1


@pytest.mark.parametrize(("length", "whole"), [(10_000, True), (10_001, False)])
def test_injected_context_arrives_whole_up_to_10000_characters(
    claude: SealedClaude, model: ScriptedModel, recorder: Recorder, length: int, whole: bool
) -> None:
    # Two bytes each: the limit counts characters.
    text = "é" * (length - 3) + "END"
    recorder.answer("UserPromptSubmit", context("UserPromptSubmit", text))

    claude.run("go")

    request = model.requests()[0]
    assert (text in request.text) is whole
    assert ("Output too large" in request.text) is not whole


# --- Compaction


def test_the_summary_is_asked_for_only_after_pre_compact_has_ended(
    claude: SealedClaude, model: ScriptedModel, recorder: Recorder
) -> None:
    session = claude.run("hello").session_id
    recorder.answer("PreCompact", Answer(sleep_seconds=0.5))
    recorder.answer("SessionStart.compact", context("SessionStart", "HANDED-BACK"))
    model.script_compaction(summary("WHAT WAS SAID"))
    earlier = len(recorder.names())

    claude.run("/compact", resume=session)

    assert recorder.names()[earlier:] == [
        "SessionStart.resume",
        "PreCompact.manual",
        "SubagentStop",
        "SessionStart.compact",
        "PostCompact.manual",
        "SessionEnd",
    ]
    asked = model.requests(Kind.COMPACTION)[0].time
    assert asked - recorder.calls("PreCompact")[0].time >= 0.5
    claude.run("next", resume=session)
    following = model.requests()[-1]
    assert (following.count("WHAT WAS SAID"), following.count("HANDED-BACK")) == (1, 1)


def test_a_failed_summary_fires_nothing_after_pre_compact(
    claude: SealedClaude, model: ScriptedModel, recorder: Recorder
) -> None:
    session = claude.run("EARLIER PROMPT").session_id
    model.fail_compactions()
    earlier = len(recorder.names())

    failed = claude.run("/compact", resume=session)

    assert "Error during compaction" in failed.text
    assert recorder.names()[earlier:] == ["SessionStart.resume", "PreCompact.manual", "SessionEnd"]
    claude.run("next", resume=session)
    assert model.requests()[-1].count("EARLIER PROMPT") == 1


def test_a_blocked_pre_compact_prevents_the_compaction(
    claude: SealedClaude, model: ScriptedModel, recorder: Recorder
) -> None:
    session = claude.run("hello").session_id
    recorder.answer("PreCompact", Answer({"decision": "block", "reason": "NOT NOW"}))

    assert "NOT NOW" in claude.run("/compact", resume=session).text

    assert model.requests(Kind.COMPACTION) == []


@pytest.mark.parametrize(
    ("name", "window", "tokens", "compactions"),
    [
        (HAIKU, 198_000, 164_800, 0),
        (HAIKU, 198_000, 165_000, 1),
        (OPUS, 858_000, 824_800, 0),
        (OPUS, 858_000, 825_000, 1),
        # One setting for both: above the model's own window it counts as that window.
        (HAIKU, 858_000, 166_800, 0),
        (HAIKU, 858_000, 167_000, 1),
    ],
)
def test_the_window_setting_compacts_33000_tokens_before_it_or_the_models_own_window(
    claude: SealedClaude,
    model: ScriptedModel,
    recorder: Recorder,
    name: str,
    window: int,
    tokens: int,
    compactions: int,
) -> None:
    set_window(recorder, claude, window)
    script_two_rounds(model, tokens)

    claude.run("go", model=name)

    assert len(model.requests(Kind.COMPACTION)) == compactions
    assert len(recorder.calls("PostCompact.auto")) == compactions


def test_an_automatic_compaction_hands_back_within_the_same_turn(
    claude: SealedClaude, model: ScriptedModel, recorder: Recorder
) -> None:
    set_window(recorder, claude, 198_000)
    recorder.answer("SessionStart.compact", context("SessionStart", "HANDED-BACK"))
    script_two_rounds(model, 166_000)

    assert claude.run("go").text == "three"

    assert recorder.names()[-6:] == [
        "PreCompact.auto",
        "SubagentStop",
        "SessionStart.compact",
        "PostCompact.auto",
        "Stop",
        "SessionEnd",
    ]
    assert model.requests()[-1].count("HANDED-BACK") == 1


def test_automatic_pre_compact_may_come_without_a_compaction(
    claude: SealedClaude, model: ScriptedModel, recorder: Recorder
) -> None:
    set_window(recorder, claude, 198_000)
    model.script(Step(calls=(bash("echo one"),), input_tokens=166_000), Step("went on"))

    assert claude.run("go").text == "went on"

    assert len(recorder.calls("PreCompact.auto")) == 1
    assert model.requests(Kind.COMPACTION) == []
    assert recorder.calls("SessionStart.compact") == recorder.calls("PostCompact") == []


def test_after_a_failed_automatic_compaction_the_agent_goes_on_with_everything(
    claude: SealedClaude, model: ScriptedModel, recorder: Recorder
) -> None:
    set_window(recorder, claude, 198_000)
    model.fail_compactions()
    script_two_rounds(model, 166_000)

    assert claude.run("EARLIER PROMPT").text == "three"

    assert recorder.names()[-3:] == ["PreCompact.auto", "Stop", "SessionEnd"]
    assert model.requests()[-1].count("EARLIER PROMPT") == 1


# --- Sub-agents


def test_sub_agent_calls_carry_the_agent_and_the_main_session(
    claude: SealedClaude, model: ScriptedModel, recorder: Recorder
) -> None:
    model.script(Step(calls=(subagent("do it"),)), Step("done"))
    model.script_subagent(Step(calls=(bash("true"),), input_tokens=77_000), Step("report"))

    run = claude.run("go")

    call = recorder.calls("PreToolUse.Bash")[0].payload
    assert call["agent_type"] == "general-purpose"
    assert call["agent_id"] == recorder.calls("SubagentStart")[0].payload["agent_id"]
    assert call["session_id"] == run.session_id
    assert {one.payload["transcript_path"] for one in recorder.calls()} == {call["transcript_path"]}
    assert "agent_id" not in recorder.calls("PreToolUse.Agent")[0].payload


def test_sub_agent_usage_stays_out_of_the_main_transcript(
    claude: SealedClaude, model: ScriptedModel, recorder: Recorder
) -> None:
    model.script(Step(calls=(subagent("do it"),)), Step("done"))
    model.script_subagent(Step(calls=(bash("true"),), input_tokens=77_000), Step("report"))

    claude.run("go")

    stopped = recorder.calls("SubagentStop")[0].payload
    assert 77_000 in assistant_usage(stopped["agent_transcript_path"])
    assert 77_000 not in assistant_usage(stopped["transcript_path"])


def assistant_usage(path: object) -> set[int]:
    lines = transcript_lines(path)
    return {
        line["message"]["usage"]["input_tokens"] for line in lines if line["type"] == "assistant"
    }


def test_a_sub_agents_compaction_fires_the_same_events_with_its_agent_id(
    claude: SealedClaude, model: ScriptedModel, recorder: Recorder
) -> None:
    set_window(recorder, claude, 198_000)
    model.script(Step(calls=(subagent("do it"),)), Step("done"))
    model.script_subagent(
        Step(calls=(bash("echo one"),), input_tokens=50_000),
        Step(calls=(bash("echo two"),), input_tokens=170_000),
        Step("report"),
    )

    claude.run("go")

    agent = recorder.calls("SubagentStart")[0].payload["agent_id"]
    for name in ("PreCompact.auto", "SessionStart.compact", "PostCompact.auto"):
        assert [call.payload["agent_id"] for call in recorder.calls(name)] == [agent]
    assert [request.agent_id for request in model.requests(Kind.COMPACTION)] == [agent]


def test_the_end_of_background_work_comes_as_a_prompt_after_the_first_stop(
    claude: SealedClaude, model: ScriptedModel, recorder: Recorder
) -> None:
    model.script(Step(calls=(subagent("do it", background=True),)), Step("waiting"), Step("done"))
    model.script_subagent(Step(calls=(bash("sleep 0.5"),)), Step("report"))

    assert claude.run("go").text == "done"

    first_stop = recorder.calls("Stop")[0].payload
    assert [task["status"] for task in first_stop["background_tasks"]] == ["running"]
    prompts = [str(call.payload["prompt"]) for call in recorder.calls("UserPromptSubmit")]
    assert prompts[0] == "go"
    assert prompts[1].startswith("<task-notification>")


# --- Crashes


def test_a_killed_turn_fires_nothing_more_and_can_be_resumed(
    claude: SealedClaude, model: ScriptedModel, recorder: Recorder, repo: Path
) -> None:
    model.script(Step(calls=(bash("echo FIRST-OUTPUT"),), input_tokens=30_000))
    model.script(Step(calls=(bash("touch started; sleep 60"),), input_tokens=40_000))
    process = claude.start("go")
    wait_until((repo / "started").exists)
    time.sleep(0.2)

    kill_group(process)

    assert claude.leftovers(), "the shell of the tool outlives its agent"
    claude.end_leftovers()
    wait_until(lambda: not claude.leftovers())
    assert recorder.names()[-1] == "PreToolUse.Bash"
    session = str(recorder.calls()[0].payload["session_id"])
    assert claude.run("again", resume=session).session_id == session
    assert model.requests()[-1].count("FIRST-OUTPUT") == 1
    assert recorder.calls("SessionStart.resume")[0].payload["context_tokens"] == 40_050


# --- The full-screen program


@contextmanager
def on_screen(claude: SealedClaude, recorder: Recorder) -> Iterator[Terminal]:
    """The program, once it shows what the status line's command says."""
    recorder.answer("statusLine", Answer("STATUS SHOWN"))
    with claude.interactive() as terminal:
        terminal.wait_for("STATUS SHOWN")
        yield terminal


def context_windows(recorder: Recorder) -> list[Mapping[str, Any]]:
    return [call.payload["context_window"] for call in recorder.calls("statusLine")]


def test_the_status_line_is_blank_before_the_first_response_and_then_has_its_usage(
    claude: SealedClaude, model: ScriptedModel, recorder: Recorder, repo: Path
) -> None:
    model.script(Step("ANSWERED", input_tokens=60_000))

    with on_screen(claude, recorder) as terminal:
        terminal.submit("hello")
        terminal.wait_for("ANSWERED")
        wait_until(lambda: len(context_windows(recorder)) > 1)

    first, last = context_windows(recorder)[0], context_windows(recorder)[-1]
    assert (first["current_usage"], first["used_percentage"]) == (None, None)
    assert first["context_window_size"] == 200_000
    assert (last["current_usage"]["input_tokens"], last["used_percentage"]) == (60_000, 30)
    assert recorder.calls("statusLine")[0].env["CLAUDE_PROJECT_DIR"] == str(repo)


def test_the_status_line_has_no_usage_after_a_compaction(
    claude: SealedClaude, model: ScriptedModel, recorder: Recorder
) -> None:
    model.script(Step("ANSWERED", input_tokens=60_000))

    with on_screen(claude, recorder) as terminal:
        terminal.submit("hello")
        terminal.wait_for("ANSWERED")
        terminal.submit("/compact")
        wait_until(lambda: bool(recorder.calls("PostCompact.manual")))
        # None or, where an answer was kept, 0: neither is a reading.
        wait_until(lambda: not context_windows(recorder)[-1]["used_percentage"])


def test_a_refused_prompt_returns_to_the_input_line(
    claude: SealedClaude, model: ScriptedModel, recorder: Recorder
) -> None:
    recorder.answer("UserPromptSubmit", REFUSE_PROMPT)

    with on_screen(claude, recorder) as terminal:
        terminal.submit("my precious words")
        terminal.wait_for("REFUSED")
        terminal.wait_for("❯ my precious words")

    assert model.requests() == []


def test_a_halt_shows_its_reason_and_leaves_the_program_open(
    claude: SealedClaude, model: ScriptedModel, recorder: Recorder
) -> None:
    recorder.answer("PreToolUse", HALT)
    model.script(Step("trying", (bash("true"),)))

    with on_screen(claude, recorder) as terminal:
        terminal.submit("go")
        terminal.wait_for("HALTED")

    assert len(model.requests()) == 1
    assert recorder.calls("SessionEnd")[-1].payload["reason"] != "completed"
