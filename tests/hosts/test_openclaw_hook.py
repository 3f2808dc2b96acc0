"""The hook command, told of OpenClaw's events: one user's state is nobody else's."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Git, OpenGuard
from tests.support import forked

COMMAND = Path(sys.executable).with_name("gitguard")
PAYLOADS = Path(__file__).parents[1] / "payloads" / "openclaw" / "2026.9.6"
ANNA, BEN = "agent:main:anna", "agent:main:ben"
SECRET = "Rename the vault to Quokka"


class Gateway:
    """Tells the hook command of events as the plugin does, wherever the Gateway was started."""

    def __init__(self, state: Path) -> None:
        self.environment = {
            "PATH": "/usr/bin:/bin",
            "HOME": str(state.parent / "home"),
            "GITGUARD_STATE_DIR": str(state),
        }

    def tell(self, name: str, key: str, workspace: Path, **event: Any) -> dict[str, Any]:
        document = json.loads((PAYLOADS / f"{name}.json").read_text(encoding="utf-8"))
        context = document["ctx"] if "ctx" in document else document["context"]
        # Hosts may give two sessions of two agents one id.
        context |= {"sessionKey": key, "workspaceDir": str(workspace), "sessionId": "same"}
        document["sessionKey"] = key
        document.get("event", {}).update(event)
        command = ["gitguard", "hook", "openclaw"]
        done = forked.run(command, Path("/"), self.environment, stdin=json.dumps(document))
        assert done.returncode == 0, done.stderr
        answer = json.loads(done.stdout or "{}")
        assert isinstance(answer, dict)
        return answer

    def turn(self, key: str, workspace: Path, prompt: str) -> str:
        """Run a turn in which one tool is called; return all that the agent was handed."""
        handed = [
            self.tell("agent_bootstrap", key, workspace),
            self.tell("before_prompt_build", key, workspace, prompt=prompt),
            self.tell("before_tool_call.progress_card", key, workspace),
            self.tell("after_tool_call.progress_card", key, workspace),
            self.tell("agent_end", key, workspace, answer=f"On it: {prompt}"),
        ]
        return json.dumps(handed)


@pytest.fixture
def gateway(tmp_path: Path) -> Gateway:
    return Gateway(tmp_path / "state")


@pytest.fixture
def workspace(open_guard: OpenGuard, repo: Path) -> Path:
    open_guard().ensure()
    return repo


def test_two_keys_know_nothing_of_each_other(gateway: Gateway, workspace: Path, git: Git) -> None:
    gateway.turn(ANNA, workspace, SECRET)
    gateway.tell("before_compaction.auto", ANNA, workspace)
    handed = gateway.turn(BEN, workspace, "Something else")
    handed += gateway.turn(BEN, workspace, "More of it")
    assert "Quokka" not in handed
    assert "Something else" in handed
    assert "Quokka" in gateway.turn(ANNA, workspace, "Go on")
    branches = git("for-each-ref", "--format=%(refname)", "refs/heads/gitguard").split()
    kept = {b: git("show", f"{b}:state.json") + git("show", f"{b}:snapshot.yaml") for b in branches}
    assert [branch for branch, text in kept.items() if "Quokka" in text] == [
        branch for branch in branches if "anna" in branch
    ]
    plan = [item for branch, text in kept.items() if "ben" in branch for item in text.splitlines()]
    assert sum("Write hello.py" in line for line in plan) == 1


@pytest.mark.parametrize(
    ("words", "answer"),
    [("Paint the logo of the website green", "It is green now."), ("Paint hello.py", "Done.")],
)
def test_a_conversation_begun_anew_under_its_old_name_has_its_own_goal(
    gateway: Gateway, workspace: Path, words: str, answer: str
) -> None:
    gateway.turn(ANNA, workspace, "Write a report module with a total, and tests for it")
    time.sleep(1.1)  # times are kept in seconds
    gateway.tell("command_new", ANNA, workspace)
    gateway.tell("agent_bootstrap", ANNA, workspace)
    gateway.tell("before_prompt_build", ANNA, workspace, prompt=words)
    if "hello.py" in words:  # so few words are a request only once a call takes them up
        gateway.tell("before_tool_call.write", ANNA, workspace)
        gateway.tell("after_tool_call.write", ANNA, workspace)
    gateway.tell("agent_end", ANNA, workspace, answer=answer)
    gateway.tell("command_new", ANNA, workspace)
    block = gateway.tell("agent_bootstrap", ANNA, workspace)["bootstrap"]
    assert re.search(rf"Goal \(.*\): {words}", block), block
    assert "tests for it (last request answered)" in block


def test_an_agent_is_told_of_the_archived_session_before_its_own(
    gateway: Gateway, workspace: Path
) -> None:
    gateway.turn(ANNA, workspace, SECRET)
    close = [str(COMMAND), "--session", ANNA, "session", "close"]
    subprocess.run(close, cwd=workspace, env=gateway.environment, check=True, capture_output=True)
    told = [gateway.tell("agent_bootstrap", ANNA, workspace)["bootstrap"] for _ in range(2)]
    assert f"an older session `{ANNA}` is archived" in told[0]
    assert told[0] == told[1], "each changed byte would cost the host its cache"
    assert "Quokka" not in told[0]
    assert gateway.tell("agent_bootstrap", BEN, workspace) == {}
    gateway.turn(ANNA, workspace, "Begin anew")
    assert "is archived" not in gateway.tell("agent_bootstrap", ANNA, workspace)["bootstrap"]


def test_a_gateway_that_a_session_started_still_serves_all(
    gateway: Gateway, workspace: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    gateway.environment |= {
        "GITGUARD_SESSION": ANNA,
        "GITGUARD_ROOT": str(other),
        "GITGUARD_HOST_SESSION": "same",
    }
    gateway.turn(BEN, workspace, SECRET)
    assert "Quokka" not in gateway.turn(ANNA, workspace, "Hello")
    assert "Quokka" in gateway.turn(BEN, workspace, "Go on")
    assert list(other.iterdir()) == []


def test_a_person_hears_which_session_a_halt_may_be_in(gateway: Gateway, workspace: Path) -> None:
    gateway.turn(ANNA, workspace, "Hello")
    done = subprocess.run(
        [str(COMMAND), "override", "--reason", "go on"],
        cwd=workspace,
        env=gateway.environment,
        text=True,
        capture_output=True,
        check=False,
        timeout=30,
    )
    assert done.returncode == 23
    assert f"--session KEY: {ANNA}" in done.stderr
