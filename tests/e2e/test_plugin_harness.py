"""What the hosts that load plugins do, seen in opencode and pi before gitguard comes in.

A host update that breaks one of these breaks the integration; the test's name is the promise.
"""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from .live_hosts import LiveHost
from .recorder import Answer, Recorder
from .scripted_model import Kind, ScriptedModel, Step

loading = pytest.mark.parametrize("live", ["opencode", "pi"], indirect=True)

TURNS: Mapping[str, str] = {
    "opencode": """
        session.created chat.message
        tool.execute.before.bash tool.execute.after.bash
        tool.execute.before.write tool.execute.after.write
        tool.execute.before.bash tool.execute.after.bash
        session.idle dispose
    """,
    "pi": """
        session_start.startup before_agent_start
        tool_call.bash tool_result.bash
        tool_call.write tool_result.write
        tool_call.bash tool_result.bash
        agent_end session_shutdown.quit
    """,
}
COMPACTIONS: Mapping[str, list[str]] = {
    "opencode": ["experimental.session.compacting", "session.compacted"],
    "pi": ["session_before_compact.threshold", "session_compact.threshold"],
}
TELLING = {"opencode": "experimental.chat.system.transform", "pi": "before_agent_start"}
"""Where a plugin can tell the model something."""
DENYING = {"opencode": "tool.execute.before", "pi": "tool_call"}


@pytest.mark.essential
@loading
def test_a_turn_fires_these_events(live: LiveHost, recording: Recorder) -> None:
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
    names = [name for name in recording.names() if name != TELLING["opencode"]]
    assert names == TURNS[live.name].split()


@loading
def test_a_killed_conversation_goes_on(
    live: LiveHost, recording: Recorder, model: ScriptedModel
) -> None:
    # pi writes a conversation down once the model has answered.
    live.kill_in_tool("FIRST-PROMPT")
    killed = live.session
    assert killed
    assert recording.calls()[-1].event == DENYING[live.name]
    live.go_on("SECOND-PROMPT", Step("Again."))
    assert live.session == killed
    newest = model.requests(Kind.MAIN)[-1]
    assert newest.count("FIRST-PROMPT") == newest.count("SECOND-PROMPT") == 1


@loading
def test_a_compaction_fires_these_events_and_the_session_stays(
    live: LiveHost, recording: Recorder
) -> None:
    live.say("First.", Step("Hello."))
    begun, before = live.session, len(recording.names())
    after = Step("After it.", (live.shell("echo on"),))
    summarizing, *following = live.compact(after, Step("The end."))
    assert summarizing.kind is Kind.COMPACTION
    assert following[-1].count("SCRIPTED-SUMMARY") >= 1
    fired = [name for name in recording.names()[before:] if "compact" in name]
    assert fired == COMPACTIONS[live.name]
    assert live.session == begun


@loading
def test_what_a_plugin_says_reaches_the_model_once(
    live: LiveHost, recording: Recorder, model: ScriptedModel
) -> None:
    recording.answer(TELLING[live.name], Answer("INJECTED"))
    live.say("Hello.", Step("Hello."))
    assert [request.count("INJECTED") for request in model.requests(Kind.MAIN)] == [1]


@loading
def test_a_denied_tool_does_not_run(
    live: LiveHost, recording: Recorder, model: ScriptedModel
) -> None:
    recording.answer(DENYING[live.name], Answer("DENIED"))
    live.say("Do it.", Step("I do.", (live.shell("touch ran"),)), Step("The end."))
    assert not (live.project / "ran").exists()
    assert model.requests(Kind.MAIN)[-1].count("DENIED") >= 1
