"""Hooks of a real Claude Code that went missing, were switched off or run elsewhere are told of."""

from __future__ import annotations

import json
from pathlib import Path

from . import sealed_hosts
from .conftest import installed
from .guarded import BLOCK, COMMAND, Guarded, gitguard, gitguard_json
from .scripted_model import Kind, ScriptedModel, Step, ToolCall, bash

MISSING = "hooks of claude-code: all are missing from `.claude/settings.local.json`"
PERSONAL = ".claude/settings.local.json"


def test_a_turn_that_removes_the_hooks_tells_the_agent_and_status_says_so(
    guarded: Guarded, model: ScriptedModel
) -> None:
    model.script(
        Step("I clean up", (bash("git clean -fdxq"),)),
        Step("I go on", (bash("echo done > result.txt"),)),
        Step("All done."),
    )
    guarded.claude.run("Clean the repository")
    # The host still runs the hook at the end of that very call, and none a few seconds later.
    told = model.requests(Kind.MAIN)[-1].text
    assert told.count(MISSING) == 1
    assert not (guarded.repo / PERSONAL).exists()
    status = guarded.run("status")
    assert f"Warning: {MISSING}" in status
    assert "Last event of a host: " in status
    assert MISSING in guarded.run("ensure")
    assert MISSING in guarded.run("verify")
    guarded.run("init")
    assert f"Hooks: claude-code as installed in `{PERSONAL}`" in guarded.run("status")


def test_hooks_that_are_switched_off_save_nothing_and_status_names_the_switch(
    guarded: Guarded, model: ScriptedModel
) -> None:
    path = guarded.repo / PERSONAL
    settings = json.loads(path.read_text())
    path.write_text(json.dumps(settings | {"disableAllHooks": True}))
    before = guarded.head()
    model.script(Step("I write", (bash("echo 1 > result.txt"),)), Step("All done."))
    guarded.claude.run("Write the result")
    assert (guarded.repo / "result.txt").exists()
    assert guarded.head() == before, "nothing was saved"
    status = guarded.run("status")
    assert f"`disableAllHooks` in `{PERSONAL}` switches them off; remove it there" in status
    assert "Last event of a host: none yet" in status
    path.write_text(json.dumps(settings))
    model.script(Step("I write", (bash("echo 2 > result.txt"),)), Step("All done."))
    guarded.claude.run("Write the result")
    assert guarded.head() != before
    status = guarded.run("status")
    assert "claude-code 2.1.330," in status, "its version was tried"
    assert "switches them off" not in status


def test_the_hooks_of_claude_code_that_copilot_runs_are_answered_as_copilots(
    model: ScriptedModel, repo: Path, tmp_path: Path
) -> None:
    """Copilot CLI takes hooks out of `.claude/settings.local.json`."""
    shell = ToolCall("bash", {"command": "echo hi > result.txt", "description": "write"})
    copilot = installed(sealed_hosts.copilot, tmp_path / "home", repo, model.url)
    env = {**copilot.env, "PATH": f"{COMMAND.parent}:{copilot.env['PATH']}"}
    gitguard("init", "--host", "claude-code", cwd=repo, env=env)
    gitguard("note", "--goal", "Port the parser to Rust", cwd=repo, env=env)
    model.script(Step("I write", (shell,)), Step("All done."))
    copilot.run("-p", "make a file", "--allow-all-tools", "--allow-all-paths")
    assert (repo / "result.txt").exists()
    assert [request.count(BLOCK) for request in model.requests()] == [1, 1]
    (record,) = gitguard_json("status", cwd=repo, env=env)["host_sessions"].values()
    assert record["host"] == "copilot"
    assert record["delivery"]["event"] == "prompt"
    status = gitguard("status", cwd=repo, env=env)
    assert "Hooks: copilot not installed here by this user; last event " in status
