"""gitguard as a user of a sealed OpenClaw has it: the installed command and its plugin."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from gitguard.store.session.workspace import Session
from tests.support.waiting import wait_until

from .guarded import BLOCK, BLOCK_END, gitguard, gitguard_json
from .openclaw import MAIN_KEY, GatewayFailure, SealedOpenClaw
from .openclaw_install import LEGACY
from .repository import git
from .scripted_model import Request, Step, ToolCall

_SAVED_WITHIN = 30.0


def enabled(version: str) -> dict[str, Any]:
    """What `gitguard init` sets in the configuration, for tests that save starting it."""
    if version == LEGACY:
        return {"hooks": {"internal": {"enabled": True}}}
    entry = {"enabled": True, "hooks": {"allowConversationAccess": True}}
    return {"plugins": {"entries": {"gitguard": entry}}}


@dataclass(frozen=True)
class GuardedOpenClaw:
    """A workspace that gitguard was installed in, and the host that works there."""

    openclaw: SealedOpenClaw

    @property
    def repo(self) -> Path:
        return self.openclaw.workspace

    @property
    def plugin(self) -> Path:
        return self.openclaw.state_dir / "extensions" / "gitguard"

    def run(self, *args: str, env: Mapping[str, str] | None = None, check: bool = True) -> str:
        """Run `gitguard` as the user would in their terminal; return what it prints."""
        env = {**self.openclaw.env, **(env or {})}
        return gitguard(*args, cwd=self.repo, env=env, check=check)

    def json(self, *args: str, key: str = MAIN_KEY, check: bool = True) -> dict[str, Any]:
        env = {**self.openclaw.env, "GITGUARD_SESSION": key}
        return gitguard_json(*args, cwd=self.repo, env=env, check=check)

    def head(self, key: str = MAIN_KEY) -> str:
        """The newest checkpoint of a session key, empty before the first."""
        ref = f"refs/heads/gitguard/{Session.of(key).name}"
        return git(self.repo, "for-each-ref", "--format=%(objectname)", ref).strip()

    def triggers(self, key: str = MAIN_KEY) -> list[str]:
        """All checkpoints, oldest first; by plain git, as anybody without gitguard would look."""
        ref = f"refs/heads/gitguard/{Session.of(key).name}"
        trailer = "%(trailers:key=Gitguard-Trigger,valueonly,separator=)"
        return git(self.repo, "log", "--reverse", f"--format={trailer}", ref).split()

    def state(self, key: str = MAIN_KEY) -> dict[str, Any]:
        """The state of the newest checkpoint, read by plain git."""
        ref = f"refs/heads/gitguard/{Session.of(key).name}"
        found = json.loads(git(self.repo, "show", f"{ref}:state.json"))
        assert isinstance(found, dict)
        return found

    def say(self, message: str, key: str = MAIN_KEY) -> str:
        """One turn, until it is saved: the host answers before a turn's end is told to plugins.

        What is said must differ from what was said before: the same words within one second are
        one exchange, so the state is the one that is saved already.
        """
        before = self.head(key)
        answer = self.openclaw.send(message, session_key=key)
        deadline = time.monotonic() + _SAVED_WITHIN
        while time.monotonic() < deadline:
            if self.head(key) != before and self.triggers(key)[-1] == "turn-end":
                return answer
            time.sleep(0.05)
        raise AssertionError(f"{message!r} was not saved: {self.triggers(key)}")

    def faults(self) -> list[str]:
        return [str(fault["error"]) for fault in self.json("status", check=False)["faults"]]


Guarding = Callable[..., AbstractContextManager[GuardedOpenClaw]]
"""Begins a guarded OpenClaw with options of the sealed one."""


def block_of(request: Request) -> str:
    """The resume block in a request, empty without one; there is never more than one."""
    before, begins, rest = request.text.partition(BLOCK)
    assert BLOCK not in rest, "the block is there twice"
    return begins + rest.partition(BLOCK_END)[0] if begins else ""


def shell(command: str) -> ToolCall:
    return ToolCall("exec", {"command": command})


def note(*options: str, tokens: int = 5_000) -> Step:
    """The agent notes something by command."""
    quoted = " ".join(option if option.startswith("--") else f"'{option}'" for option in options)
    return Step(calls=(shell(f"gitguard note {quoted}"),), input_tokens=tokens)


def says(text: str, tokens: int = 6_000) -> Step:
    return Step(text=text, input_tokens=tokens)


def kill_in_its_turn(
    guarded: GuardedOpenClaw, request: str, before: Callable[[], object] = lambda: None
) -> None:
    """Kill the Gateway as soon as the turn's shell command has begun, and something is done."""
    import threading

    failures = []

    def kill() -> None:
        wait_until((guarded.repo / "started").exists, seconds=60)
        try:
            before()
        except BaseException as failure:  # noqa: BLE001 - it belongs to the test's own thread
            failures.append(failure)
        guarded.openclaw.stop_gateway(kill=True)

    killer = threading.Thread(target=kill)
    killer.start()
    with pytest.raises(GatewayFailure):
        guarded.openclaw.send(request)
    killer.join()
    for failure in failures:
        raise failure
