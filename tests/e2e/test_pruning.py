"""What gitguard pruned, the real hosts go on from."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .claude_code import SealedClaude
from .guarded import gitguard_json
from .scripted_model import Kind, ScriptedModel, Step, ToolCall, bash
from .sealed_hosts import SealedPi

PRINTS = "seq -f 'line %g of the output' 1 700"
"""About 15,000 characters, which no host cuts by itself."""
AT_ONCE = "pruning: {idle_seconds: 0, keep_exchanges: 1, min_characters: 5000}\n"


def prune(transcript: Path, cwd: Path, env: Mapping[str, str]) -> dict[str, Any]:
    config = Path(env["HOME"], ".config/gitguard/config.yaml")
    config.parent.mkdir(parents=True, exist_ok=True)
    config.write_text(AT_ONCE)
    return gitguard_json("transcript", "prune", str(transcript), cwd=cwd, env=env)


def assert_is_trimmed(model: ScriptedModel, before: int) -> None:
    """The model is given the head and tail of the result, in a request that is much smaller."""
    said = json.dumps(model.requests(Kind.MAIN)[-1].body["messages"])
    assert "line 1 of the output" in said
    assert "line 700 of the output" in said
    assert "line 350 of the output" not in said
    assert said.count("characters left out]") == 1
    assert len(said) < before - 10_000


def size_of_last(model: ScriptedModel) -> int:
    return len(json.dumps(model.requests(Kind.MAIN)[-1].body["messages"]))


def test_claude_code_goes_on_with_a_trimmed_result(
    claude: SealedClaude, model: ScriptedModel
) -> None:
    model.script(Step("I look", (bash(PRINTS),)), Step("I saw it"))
    session = claude.run("print a lot").session_id
    before = size_of_last(model)
    [transcript] = (claude.home / ".claude/projects").glob(f"*/{session}.jsonl")
    done = prune(transcript, claude.project, claude.env)
    assert done["pruned"] == 1
    assert "line 350 of the output" in Path(done["backup"]).read_text()

    model.script(Step("I go on"))
    assert claude.run("what now?", resume=session).text == "I go on"
    assert_is_trimmed(model, before)


def test_pi_goes_on_with_a_trimmed_result(pi: SealedPi, model: ScriptedModel) -> None:
    model.script(Step("I look", (ToolCall("bash", {"command": PRINTS}),)), Step("I saw it"))
    assert pi.run("print a lot").returncode == 0
    before = size_of_last(model)
    [transcript] = pi.sessions()
    assert prune(transcript, pi.project, pi.env)["pruned"] == 1

    model.script(Step("I go on"))
    done = pi.run("what now?", session=transcript)
    assert (done.returncode, done.stdout.strip()) == (0, "I go on")
    assert_is_trimmed(model, before)
