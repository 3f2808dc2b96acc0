"""gitguard in the real OpenClaw: the version with SQLite transcripts and the one with files."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from .conftest import openclaw_version
from .guarded import COMMAND
from .guarded_openclaw import GuardedOpenClaw, Guarding, block_of, note, says, shell
from .openclaw import GatewayFailure, SealedOpenClaw
from .openclaw_install import CURRENT
from .scripted_model import Kind, ScriptedModel, Step, ToolCall

BIG_WINDOW = 200_000
CRITICAL = 175_000
"""Of a window of 200,000: above our halt at 170,000, below the host's compaction at 180,000."""


@pytest.fixture
def guarded(guard_openclaw: Guarding) -> Iterator[GuardedOpenClaw]:
    with guard_openclaw() as found:
        yield found


@pytest.fixture
def roomy(guard_openclaw: Guarding) -> Iterator[GuardedOpenClaw]:
    """With a window in which gitguard halts before the host compacts."""
    with guard_openclaw(window=BIG_WINDOW) as found:
        yield found


@pytest.fixture(params=[pytest.param("safeguard", marks=pytest.mark.essential), "default"])
def compacting(
    request: pytest.FixtureRequest, guard_openclaw: Guarding
) -> Iterator[GuardedOpenClaw]:
    with guard_openclaw(compaction_mode=request.param) as found:
        yield found


# The block


@pytest.mark.essential
def test_the_block_is_in_the_request_of_gateway_and_local_runs_and_survives_a_kill(
    guarded: GuardedOpenClaw, model: ScriptedModel
) -> None:
    openclaw = guarded.openclaw
    openclaw.start_gateway()
    model.script(
        note("--goal", "Port the parser", "--next", "Write the tokenizer"),
        Step(calls=(ToolCall("write", {"path": "hello.py", "content": "print('hi')\n"}),)),
        Step(calls=(shell("false"),)),
        says("Begun."),
    )
    guarded.say("Port the parser, please")
    assert block_of(model.requests(Kind.MAIN)[0]) == "", "a new session key starts clean"
    state = guarded.state()
    assert state["goal"] == "Port the parser"
    assert [artifact["path"] for artifact in state["artifacts"]] == ["hello.py"]
    assert [failure["what"] for failure in state["failed_attempts"]] == ["exec: false"]
    assert {"exec", "write"} <= set(state["tools_used"])

    model.script(says("Go on."))
    guarded.say("Go on")
    block = block_of(model.requests(Kind.MAIN)[-1])
    assert "Goal: Port the parser" in block
    assert "Next action: Write the tokenizer" in block
    assert "hello.py" in block

    model.script(
        Step(calls=(shell("gitguard note --decision 'Hand-written' && kill -9 $PPID; sleep 60"),)),
    )
    with pytest.raises(GatewayFailure):
        _kill_when_noted(guarded, model)
    model.script(says("Back again."))
    done = openclaw.run("What now?")
    assert done.returncode == 0, done.stderr
    block = block_of(model.requests(Kind.MAIN)[-1])
    assert "Hand-written" in block, "what was noted right before the kill"
    assert guarded.faults() == []


def _kill_when_noted(guarded: GuardedOpenClaw, model: ScriptedModel) -> None:
    """Kill the Gateway from outside as soon as the note of its turn is on disk."""
    import threading

    def kill() -> None:
        folder = guarded.repo / ".gitguard" / "sessions"
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            if any("Hand-written" in path.read_text() for path in folder.glob("*/state.json")):
                break
            time.sleep(0.05)
        guarded.openclaw.stop_gateway(kill=True)

    killer = threading.Thread(target=kill)
    killer.start()
    try:
        guarded.openclaw.send("Decide")
    finally:
        killer.join()


# Compactions


def _long_turn(first: int, second: int) -> tuple[Step, Step]:
    filler = "for i in $(seq 1 1500); do echo line $i of the long output; done"
    return Step(calls=(shell(filler),), input_tokens=first), says("Read it all. " * 40, second)


def test_a_checkpoint_is_there_before_the_summarising_request_and_the_block_after_it(
    compacting: GuardedOpenClaw, model: ScriptedModel
) -> None:
    openclaw = compacting.openclaw
    openclaw.start_gateway()
    seen: list[list[str]] = []
    model.script_compaction(
        *(Step(text="SUMMARY of it all", before=lambda: seen.append(compacting.triggers())),) * 4
    )
    model.script(note("--goal", "Port the parser", tokens=9_000), says("Noted.", 10_000))
    openclaw.send("Port the parser")
    for number, tokens in enumerate(((12_000, 14_000), (16_000, 18_000), (24_000, 36_000))):
        model.script(*_long_turn(*tokens))
        openclaw.send(f"Read part {number}")
    if not seen:  # some compact before the next turn, not behind the last
        model.script(says("Well.", 9_000))
        openclaw.send("And now?")
    assert seen, "the host did not compact"
    assert "compaction" in seen[0], "the ref had not moved when the summary was asked for"
    model.script(says("On it.", 8_000))
    openclaw.send("Go on")
    assert "Goal: Port the parser" in block_of(model.requests(Kind.MAIN)[-1])
    (conversation,) = compacting.json("status")["host_sessions"].values()
    assert conversation["epoch"] == 1, conversation
    assert compacting.triggers().count("compaction") == 1
    assert compacting.faults() == []


# The halt


@pytest.mark.essential
def test_at_critical_pressure_tools_are_refused_with_the_way_out(
    roomy: GuardedOpenClaw, model: ScriptedModel
) -> None:
    openclaw = roomy.openclaw
    openclaw.start_gateway()
    model.script(
        note("--goal", "Port the parser"),
        Step(calls=(shell("touch first"),), input_tokens=CRITICAL),
        Step(calls=(shell("touch second"),), input_tokens=CRITICAL + 500),
        says("I was stopped.", CRITICAL + 600),
    )
    openclaw.send("Port the parser")
    assert not (roomy.repo / "first").exists()
    assert not (roomy.repo / "second").exists()
    assert "halt" in roomy.triggers()
    told = model.requests(Kind.MAIN)[-1].text
    assert "STATUS:HALT_CONTEXT_LIMIT" in told
    assert "/compact" in told
    asked = len(model.requests(Kind.MAIN))
    model.script(Step(calls=(shell("touch third"),), input_tokens=CRITICAL), says("Stopped."))
    if openclaw.version == CURRENT:
        with pytest.raises(GatewayFailure):
            openclaw.send("Go on all the same")
        assert len(model.requests(Kind.MAIN)) == asked, "the turn is stopped before the model"
    else:
        openclaw.send("Go on all the same")
        assert not (roomy.repo / "third").exists(), "there is no turn-level stop: tools are denied"
    conversations = roomy.json("status")["host_sessions"].values()
    assert [bool(one["halt"]) for one in conversations] == [True]


def test_a_reset_ends_the_halt_and_keeps_the_state(
    roomy: GuardedOpenClaw, model: ScriptedModel
) -> None:
    openclaw = roomy.openclaw
    openclaw.start_gateway()
    model.script(
        note("--goal", "Port the parser"),
        Step(calls=(shell("touch first"),), input_tokens=CRITICAL),
        says("I was stopped.", CRITICAL),
    )
    openclaw.send("Port the parser")
    openclaw.call("sessions.reset", {"key": "agent:main:main", "reason": "new"})
    model.script(Step(calls=(shell("touch second"),), input_tokens=9_000), says("Done."))
    openclaw.send("Go on")
    assert (roomy.repo / "second").exists()
    assert any("Goal: Port the parser" in block_of(r) for r in model.requests(Kind.MAIN)[-2:])


# Sessions


def test_one_session_keys_state_never_reaches_anothers_conversation(
    guarded: GuardedOpenClaw, model: ScriptedModel
) -> None:
    openclaw = guarded.openclaw
    openclaw.start_gateway()
    goals = {"agent:main:alice": "Fly to Japan", "agent:main:bob": "Paint the fence"}
    for key, goal in goals.items():
        model.script(note("--goal", goal), says("Noted."))
        guarded.say(f"Please: {goal}", key)
    for key, goal in goals.items():
        model.script(says("Yes."))
        guarded.say("Go on", key)
        block = block_of(model.requests(Kind.MAIN)[-1])
        other = next(text for name, text in goals.items() if name != key)
        assert goal in block
        assert other not in model.requests(Kind.MAIN)[-1].text
        assert guarded.state(key)["goal"] == goal
    model.script(says("Hello."))
    openclaw.send("Hello", session_key="agent:main:carol")
    assert block_of(model.requests(Kind.MAIN)[-1]) == ""
    assert guarded.json("session", "list")["current"] not in goals
    assert guarded.faults() == []


# What goes wrong on our side is not the agent's


@pytest.mark.parametrize(
    "trouble",
    [pytest.param("missing", marks=pytest.mark.essential), "hanging", "failing", "babbling"],
)
def test_whatever_becomes_of_our_process_the_agent_goes_on(
    guarded: GuardedOpenClaw, model: ScriptedModel, trouble: str, tmp_path: Path, bin_dir: Path
) -> None:
    program = tmp_path / "troubled"
    scripts = {
        "hanging": "#!/bin/sh\nexec sleep 30\n",
        "failing": "#!/bin/sh\necho oops >&2\nexit 3\n",
        "babbling": "#!/bin/sh\necho '{\"block\": '; echo 'not json'\n",
    }
    if trouble == "missing":
        (bin_dir / "gitguard").unlink()
    else:
        program.write_text(scripts[trouble])
        program.chmod(0o755)
    config = json.loads((guarded.plugin / "config.json").read_text())
    limits = {name: min(limit, 1_500) for name, limit in config["limits"].items()}
    changed = {**config, "executable": str(program), "limits": limits}
    (guarded.plugin / "config.json").write_text(json.dumps(changed))
    openclaw = guarded.openclaw
    openclaw.start_gateway()
    model.script(Step(calls=(shell("touch made"),)), says("Made it."))
    assert "Made it." in openclaw.send("Make it")
    assert (guarded.repo / "made").exists()


def test_a_hang_of_ten_seconds_does_not_cost_the_tool_call(
    guarded: GuardedOpenClaw, model: ScriptedModel, tmp_path: Path
) -> None:
    program = tmp_path / "slow"
    program.write_text(
        "#!/bin/sh\nread -r line\ncase $line in *before_tool_call*) sleep 10;; esac\n"
    )
    program.chmod(0o755)
    config = json.loads((guarded.plugin / "config.json").read_text())
    (guarded.plugin / "config.json").write_text(json.dumps({**config, "executable": str(program)}))
    guarded.openclaw.start_gateway()
    model.script(Step(calls=(shell("touch made"),)), says("Made it."))
    assert "Made it." in guarded.openclaw.send("Make it")
    assert (guarded.repo / "made").exists()


# What is said of the context


def test_a_warning_comes_with_the_next_prompt_and_once(
    roomy: GuardedOpenClaw, model: ScriptedModel
) -> None:
    roomy.openclaw.start_gateway()
    model.script(note("--goal", "Port the parser"), says("Begun.", tokens=132_000))
    roomy.say("Port the parser, please")
    for file, tokens in (("lexer.py", 132_500), ("parser.py", 133_000)):
        model.script(says(f"Ported {file}.", tokens=tokens))
        roomy.say(f"Go on with {file}")
    warned = [
        request.text.count("Delegate tool-heavy work, and `gitguard note` what is not saved yet.")
        for request in model.requests(Kind.MAIN)
    ]
    assert warned[-2] == 1, warned
    assert warned[-1] <= 1, "the history may hold what was said before, and no more"
    (conversation,) = roomy.json("status")["host_sessions"].values()
    assert conversation["warned"] == 1
    assert roomy.faults() == []


# Installation


@pytest.mark.essential
def test_init_and_uninstall_by_the_hosts_own_command(
    version: str, model: ScriptedModel, repo: Path, bin_dir: Path, tmp_path: Path
) -> None:
    installed = openclaw_version(version)
    wrapper = bin_dir / "openclaw"
    wrapper.write_text("#!/bin/sh\nexec " + " ".join(installed.command) + ' "$@"\n')
    wrapper.chmod(0o755)
    (bin_dir / "gitguard").symlink_to(COMMAND)
    sealed = SealedOpenClaw(installed, tmp_path / "home", repo, model.url, extra_path=(bin_dir,))
    with sealed as openclaw:
        guarded = GuardedOpenClaw(openclaw)
        plain = openclaw.config()
        said = guarded.run("init", "--host", "openclaw")
        assert "extensions/gitguard" in said
        assert openclaw.cli("config", "validate").returncode == 0
        again = guarded.run("init", "--host", "openclaw")
        assert "Ran" not in again
        openclaw.start_gateway()
        model.script(note("--goal", "Port the parser"), says("Noted."), says("Yes."))
        guarded.say("Port the parser")
        guarded.say("Go on")
        assert "Goal: Port the parser" in block_of(model.requests(Kind.MAIN)[-1])
        openclaw.stop_gateway()
        guarded.run("uninstall", "--host", "openclaw")
        assert not guarded.plugin.exists()
        given_back = openclaw.config()
        for key in ("plugins", "hooks"):
            rest = json.dumps(given_back.get(key, {}))
            assert "gitguard" not in rest
        assert (
            given_back["agents"]["defaults"]["compaction"]
            == plain["agents"]["defaults"]["compaction"]
        )
        assert given_back.get("hooks", {}).get("internal", {}).get("enabled") in (None, False)
