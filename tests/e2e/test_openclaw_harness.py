"""What the real OpenClaw does, in both versions: the facts that gitguard's plugin rests on."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from .conftest import openclaw_version
from .openclaw import MAIN_KEY, GatewayFailure, SealedOpenClaw
from .openclaw_install import CURRENT, LEGACY, VERSIONS
from .openclaw_probe import Call, Probe
from .openclaw_turns import compact
from .scripted_model import (
    Kind,
    Request,
    ScriptedModel,
    Step,
    ToolCall,
    blocks_of_message,
    exec_,
    read_file,
)

BLOCK = "PROBE-BLOCK"
SAFEGUARD = [(version, "safeguard") for version in VERSIONS]
EVERY_MODE = [*SAFEGUARD, *((version, "default") for version in VERSIONS)]


@dataclass(frozen=True)
class Probed:
    """A running Gateway with a recording plugin in it."""

    openclaw: SealedOpenClaw
    model: ScriptedModel
    probe: Probe
    key: str = MAIN_KEY

    @property
    def version(self) -> str:
        return self.openclaw.version

    @property
    def awaits_compaction_hooks(self) -> bool:
        return self.version == CURRENT and self.openclaw.compaction_mode == "safeguard"

    def turn(self, *steps: Step) -> list[Request]:
        """One turn in the test's own session; return the requests it made to the model."""
        before = len(self.model.requests())
        self.model.script(*steps)
        self.openclaw.send("Go on, please.", self.key)
        return self.model.requests()[before:]

    def calls(self, *hooks: str) -> list[Call]:
        found = [call for call in self.probe.calls() if call.hook in hooks]
        return [call for call in found if _session_key(call) == self.key]


def _session_key(call: Call) -> str:
    keyed: Mapping[str, Any] = call.event if call.ctx is None else call.ctx
    return str(keyed.get("sessionKey", ""))


@pytest.fixture(scope="module")
def running(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Probed]:
    """One Gateway for all tests of one version in one compaction mode (the parameter)."""
    version, mode = request.param
    root = tmp_path_factory.mktemp("openclaw")
    probe = Probe(root / "probe")
    with (
        ScriptedModel() as model,
        SealedOpenClaw(
            openclaw_version(version),
            root / "home",
            root / "workspace",
            model.url,
            compaction_mode=mode,
            plugins=(probe.install(),),
            extra_config=probe.config(version),
            extra_env=probe.env,
        ) as openclaw,
    ):
        openclaw.start_gateway()
        yield Probed(openclaw, model, probe)


@pytest.fixture
def probed(running: Probed, request: pytest.FixtureRequest) -> Iterator[Probed]:
    yield replace(running, key=f"agent:main:test-{zlib.crc32(request.node.name.encode())}")
    running.probe.answer_nothing()


def result_of(request: Request) -> str:
    """What the model was told of its last tool call."""
    blocks = [b for message in request.body["messages"] for b in blocks_of_message(message)]
    return str([b for b in blocks if b.get("type") == "tool_result"][-1]["content"])


@pytest.mark.parametrize("running", SAFEGUARD, indirect=True)
class TestTurns:
    def test_what_bootstrap_pushes_is_in_the_system_prompt_of_every_turn(
        self, probed: Probed
    ) -> None:
        probed.probe.answer("agent:bootstrap", bootstrap=BLOCK)
        for turn in (1, 2, 3):
            (request,) = probed.turn(Step(text="Done."))
            # The legacy version hands the same list out again: a push alone adds up.
            pushed = turn if probed.version == LEGACY else 1
            assert request.count(BLOCK) == pushed
            assert BLOCK in str(request.body["system"])

    def test_bootstrap_names_session_and_workspace(self, probed: Probed) -> None:
        probed.turn(Step(text="Done."))
        context = probed.calls("agent:bootstrap")[0].event["context"]
        assert context["workspaceDir"] == str(probed.openclaw.workspace)
        assert (context["sessionKey"], context["agentId"]) == (probed.key, "main")

    def test_usage_is_known_after_each_model_call_and_before_its_tool_calls(
        self, probed: Probed
    ) -> None:
        probed.turn(
            Step(calls=(exec_("true"),), input_tokens=7_000),
            Step(calls=(exec_("true"),), input_tokens=8_000),
            Step(text="Done.", input_tokens=9_000),
        )
        seen = [
            call.event["message"]["usage"]["input"] if "message" in call.event else "tool"
            for call in probed.calls("before_message_write", "before_tool_call")
            if call.event.get("message", {}).get("role", "assistant") == "assistant"
        ]
        assert seen == [7_000, "tool", 8_000, "tool", 9_000]

    def test_an_exit_code_is_in_the_details_of_a_result(self, probed: Probed) -> None:
        probed.turn(Step(calls=(exec_("exit 3"),)), Step(text="Done."))
        (call,) = probed.calls("after_tool_call")
        assert call.event["result"]["details"]["exitCode"] == 3
        assert "error" not in call.event

    def test_parallel_calls_start_before_the_first_ends(self, probed: Probed) -> None:
        both = (exec_("sleep 0.5"), read_file("AGENTS.md"))
        probed.turn(Step(calls=both), Step(text="Done."))
        order = [call.hook for call in probed.calls("before_tool_call", "after_tool_call")]
        assert order[:2] == ["before_tool_call"] * 2

    def test_the_environment_of_a_command_can_be_given(self, probed: Probed) -> None:
        probed.probe.answer("before_tool_call", merges_params={"env": {"GIVEN": "by-plugin"}})
        requests = probed.turn(Step(calls=(exec_("echo [$GIVEN]"),)), Step(text="Done."))
        assert result_of(requests[-1]) == "[by-plugin]"

    def test_the_current_version_asks_for_the_environment_of_commands(self, probed: Probed) -> None:
        probed.probe.answer("resolve_exec_env", returns={"GIVEN": "by-hook"})
        requests = probed.turn(Step(calls=(exec_("echo [$GIVEN]"),)), Step(text="Done."))
        assert result_of(requests[-1]) == ("[by-hook]" if probed.version == CURRENT else "[]")

    def test_session_keys_are_conversations_of_their_own(self, probed: Probed) -> None:
        probed.model.script(Step(text="OF-THE-FIRST"), Step(text="OF-THE-SECOND"))
        probed.openclaw.send("First.", probed.key)
        probed.openclaw.send("Second.", f"{probed.key}-other")
        (request,) = probed.turn(Step(text="Done."))
        assert request.count("OF-THE-FIRST") == 1
        assert request.count("OF-THE-SECOND") == 0


@pytest.mark.parametrize("running", SAFEGUARD, indirect=True)
class TestStopping:
    def test_a_denied_call_does_not_run_and_the_model_is_told_why(self, probed: Probed) -> None:
        probed.probe.answer("before_tool_call", returns={"block": True, "blockReason": "BECAUSE"})
        requests = probed.turn(Step(calls=(exec_("touch ran"),)), Step(text="Done."))
        assert "BECAUSE" in result_of(requests[-1])
        assert not (probed.openclaw.workspace / "ran").exists()

    def test_only_the_current_version_can_stop_a_turn_before_the_model_is_asked(
        self, probed: Probed
    ) -> None:
        halt = {"outcome": "block", "reason": "halted", "message": "THE-WAY-OUT"}
        probed.probe.answer("before_agent_run", returns=halt)
        before = len(probed.model.requests())
        if probed.version == LEGACY:
            assert len(probed.turn(Step(text="Done."))) == 1
            return
        with pytest.raises(GatewayFailure):
            probed.openclaw.send("Go on.", probed.key)
        refused = probed.openclaw.agent("Go on.")
        assert "could not be sent: THE-WAY-OUT" in refused.stdout
        assert len(probed.model.requests()) == before

    def test_a_throwing_handler_blocks_the_call_in_the_current_version_only(
        self, probed: Probed
    ) -> None:
        probed.probe.answer("before_tool_call", throws="broken plugin")
        requests = probed.turn(Step(calls=(exec_("echo ran"),)), Step(text="Done."))
        assert (result_of(requests[-1]) == "ran") == (probed.version == LEGACY)

    @pytest.mark.parametrize("hook", ["before_prompt_build", "agent:bootstrap"])
    def test_a_handler_that_throws_before_the_model_is_asked_stops_nothing(
        self, probed: Probed, hook: str
    ) -> None:
        probed.probe.answer(hook, throws="broken plugin")
        assert len(probed.turn(Step(text="Done."))) == 1


@pytest.mark.parametrize("running", SAFEGUARD, indirect=True)
class TestSessions:
    def test_a_reset_is_a_command_event_with_the_key(self, probed: Probed) -> None:
        probed.turn(Step(text="Done."))
        before = probed.openclaw.session_ids()[probed.key]
        probed.openclaw.call("sessions.reset", {"key": probed.key, "reason": "new"})
        event = probed.calls("command:new")[0].event
        assert event["context"]["previousSessionEntry"]["sessionId"] == before
        after = probed.openclaw.session_ids()[probed.key]
        assert (after == before) == (probed.version == CURRENT)

    def test_the_current_version_tells_its_plan_in_one_whole_call(self, probed: Probed) -> None:
        plan = [{"step": "Write it", "status": "in_progress"}]
        wrapped = {"id": "openclaw:core:progress_card", "args": {"plan": plan}}
        probed.turn(Step(calls=(ToolCall("tool_call", wrapped),)), Step(text="Done."))
        told = [call for call in probed.calls("after_tool_call") if "error" not in call.event]
        names = [call.event["toolName"] for call in told]
        if probed.version == LEGACY:
            assert names == []
            return
        assert names == ["progress_card", "tool_call"]
        assert told[0].event["params"] == {"plan": plan}


@pytest.mark.parametrize("running", EVERY_MODE, indirect=True)
class TestCompaction:
    def test_a_handler_that_blocks_is_done_before_the_summarising_request(
        self, probed: Probed
    ) -> None:
        probed.probe.answer("agent:bootstrap", bootstrap=BLOCK)
        probed.probe.answer("before_compaction", blocks_seconds=1)
        summarising, following = compact(probed.openclaw, probed.model, probed.key)
        announced = probed.calls("before_compaction")[0]
        assert summarising.time - announced.time >= 1
        assert summarising.count(BLOCK) == 0
        assert following.kind is Kind.MAIN
        assert following.count(BLOCK) >= 1

    def test_only_safeguard_mode_of_the_current_version_waits_for_a_promise(
        self, probed: Probed
    ) -> None:
        probed.probe.answer("before_compaction", sleeps_seconds=1.5)
        summarising, _ = compact(probed.openclaw, probed.model, probed.key)
        announced = probed.calls("before_compaction")[0]
        waited = summarising.time - announced.time >= 1.5
        assert waited == probed.awaits_compaction_hooks

    def test_the_internal_event_comes_in_safeguard_mode_of_the_current_version_only(
        self, probed: Probed
    ) -> None:
        compact(probed.openclaw, probed.model, probed.key)
        internal = probed.calls("session:compact:before")
        assert bool(internal) == probed.awaits_compaction_hooks
        ctx = probed.calls("before_compaction")[0].ctx or {}
        assert ("sessionId" in ctx) == bool(internal)


@pytest.mark.parametrize("version", VERSIONS)
class TestInstalling:
    def test_a_plugin_among_the_extensions_works_without_a_gateway(
        self, version: str, tmp_path: Path
    ) -> None:
        probe = Probe(tmp_path / "home/.openclaw/extensions/probe")
        with (
            ScriptedModel([Step(text="Done.")]) as model,
            SealedOpenClaw(
                openclaw_version(version),
                tmp_path / "home",
                tmp_path / "workspace",
                model.url,
                extra_config=probe.config(version),
                extra_env=probe.env,
            ) as openclaw,
        ):
            probe.install()
            probe.answer("agent:bootstrap", bootstrap=BLOCK)
            assert openclaw.run("Go on, please.").returncode == 0
        assert model.requests(Kind.MAIN)[0].count(BLOCK) >= 1
        assert "before_prompt_build" in probe.names()

    def test_the_legacy_version_refuses_the_key_the_current_one_needs(
        self, version: str, tmp_path: Path
    ) -> None:
        sealed = SealedOpenClaw(
            openclaw_version(version), tmp_path / "home", tmp_path / "workspace", "http://127.0.0.1"
        )
        with sealed as openclaw:
            before = openclaw.config()
            key = "plugins.entries.anthropic.hooks.allowConversationAccess"
            done = openclaw.cli("config", "set", key, "true", "--strict-json")
            if version == LEGACY:
                assert done.returncode == 1
                assert "Unrecognized key" in done.stderr
                assert openclaw.config() == before
            else:
                assert done.returncode == 0
                assert openclaw.config()["gateway"] == before["gateway"]
