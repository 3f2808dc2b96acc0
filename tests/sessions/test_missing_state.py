"""A state that cannot be used stops the agent, at every event of both hosts, and loses nothing."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gitguard.errors import MissingState
from gitguard.guard import Guard
from gitguard.store.session.state_file import NEEDED, NEWEST, OPTIONAL_LISTS
from gitguard.store.session.task import REQUIRED, SCHEMA_VERSION, TaskState
from tests.conftest import Git
from tests.support.hostile import PAYLOADS, answer, payload
from tests.support.scratch import BIN
from tests.support.unwritable import read_only

STATUS = "STATUS:MISSING_STATE"
GOAL = "Hand-write the parser"
KEY = "agent:main:main"


Damage = Callable[[Path], object]
_GONE = object()


def _set(field: str, value: object) -> Damage:
    def damage(path: Path) -> None:
        document = json.loads(path.read_bytes()) | {field: value}
        if value is _GONE:
            del document[field]
        path.write_bytes(json.dumps(document).encode())

    return damage


def _replaced(by: Callable[[Path], object]) -> Damage:
    def damage(path: Path) -> None:
        path.unlink()
        by(path)

    return damage


def _linked(path: Path) -> None:
    target = path.with_name("linked-state.json")
    path.rename(target)
    path.symlink_to(target)


DAMAGES: dict[str, Damage] = {
    **{f"{name} is missing": _set(name, _GONE) for name in REQUIRED},
    **{f"{name} is an object": _set(name, {}) for name in REQUIRED},
    "the version is a newer one": _set("schema_version", 99),
    "goal is a number": _set("goal", 5),
    "goal is null": _set("goal", None),
    "goal is empty": _set("goal", ""),
    "next_action is blank": _set("next_action", " \t"),
    "a step is a number": _set("completed_steps", [5]),
    "a decision is text": _set("decisions", ["use git"]),
    "the blockers are text": _set("blockers", "none"),
    "the file is torn": lambda path: path.write_bytes(path.read_bytes()[:40]),
    "the file is empty": lambda path: path.write_bytes(b""),
    "the file is absent": _replaced(lambda path: None),
    "the file is a folder": _replaced(Path.mkdir),
    "the file is a pipe": _replaced(os.mkfifo),
    "the file is a link to its like": _linked,
    "the file is a link to nothing": _replaced(lambda path: path.symlink_to("nowhere.json")),
    "the file is a link to itself": _replaced(lambda path: path.symlink_to(path.name)),
    "the file is a link to a folder": _replaced(lambda path: path.symlink_to(path.parent)),
}


class Host:
    """One host's events, told to the hook command, and what its answers mean."""

    def __init__(self, name: str, root: Path) -> None:
        self.name, self.root = name, root

    def tell(self, event: str, **changes: Any) -> str:
        if self.name == "claude-code":
            return answer("claude-code", payload(event, self.root, **changes))
        path = PAYLOADS / "openclaw" / "2026.9.6" / f"{event}.json"
        document = json.loads(path.read_text(encoding="utf-8"))
        context = document["ctx"] if "ctx" in document else document["context"]
        context |= {"sessionKey": KEY, "workspaceDir": str(self.root), "sessionId": "S1"}
        document["sessionKey"] = KEY
        document.get("event", {}).update(changes)
        return answer("openclaw", json.dumps(document).encode())

    @property
    def prompt(self) -> str:
        return {"claude-code": "UserPromptSubmit", "openclaw": "before_prompt_build"}[self.name]

    @property
    def tool(self) -> str:
        return {"claude-code": "PreToolUse.Bash", "openclaw": "before_tool_call.exec"}[self.name]

    @property
    def compaction(self) -> str:
        return {"claude-code": "PreCompact.auto", "openclaw": "before_compaction.auto"}[self.name]

    @property
    def hands_back(self) -> str:
        return {"claude-code": "SessionStart.compact", "openclaw": "agent_bootstrap"}[self.name]

    @property
    def silent(self) -> tuple[str, ...]:
        """Events that can neither stop the agent nor tell it anything."""
        if self.name == "claude-code":
            names = ("PostToolUse.Bash", "PostToolUseFailure", "Stop", "PostCompact", "SessionEnd")
            return (*names, "SessionStart.startup", "SessionStart.resume", "statusLine")
        return (
            "after_tool_call.exec",
            "after_tool_call.exec.failing",
            "agent_end",
            "after_compaction.auto",
            "session_end",
        )

    def stopped(self, text: str) -> bool:
        document = json.loads(text)
        if self.name == "openclaw":
            return STATUS in document["block"]
        denied = document["hookSpecificOutput"]["permissionDecision"] == "deny"
        return denied and document["continue"] is False and STATUS in document["stopReason"]

    def refused(self, text: str) -> bool:
        document = json.loads(text)
        reason = document["block"] if self.name == "openclaw" else document["reason"]
        return str(reason).startswith(STATUS)

    def handed(self, text: str) -> str:
        document = json.loads(text)
        if self.name == "openclaw":
            return str(document.get("bootstrap") or document.get("context", ""))
        return str(document["hookSpecificOutput"]["additionalContext"])


@pytest.fixture
def begun(guard: Guard, monkeypatch: pytest.MonkeyPatch) -> Guard:
    monkeypatch.setenv("GITGUARD_STATE_DIR", guard.workspace.places.state_home)
    guard.ensure()
    return guard


@pytest.fixture(params=["claude-code", "openclaw"])
def host(request: pytest.FixtureRequest, begun: Guard) -> Host:
    spoken = Host(request.param, Path(begun.workspace.place.worktree))
    spoken.tell(spoken.hands_back)
    spoken.tell(spoken.prompt, prompt=GOAL)
    assert GOAL in state_file(spoken).read_text()
    return spoken


def state_file(host: Host) -> Path:
    session = "main" if host.name == "claude-code" else "*"
    folders = (host.root / ".gitguard" / "sessions").glob(f"{session}/state.json")
    return next(path for path in folders if GOAL in path.read_text())


def kept_as_it_lies(path: Path) -> object:
    if path.is_symlink():
        return os.readlink(path)
    if not path.exists():
        return None
    return path.read_bytes() if path.is_file() else path.stat().st_mode


def triggers(root: Path) -> str:
    return Git(root)("log", "--format=%(trailers:key=Gitguard-Trigger)", "--branches=gitguard/*")


def test_the_fields_that_every_tool_call_looks_for_are_those_that_are_required() -> None:
    assert set(NEEDED) == set(REQUIRED)
    assert NEWEST == SCHEMA_VERSION
    plain = {"text": str, "time": str, "count": int, "share": float}
    lists = {"texts": str, "records": dict}
    for name, kind in NEEDED.items():
        assert kind is (plain | lists)[TaskState.kinds[name].shape]
    optional = {name: kind.shape for name, kind in TaskState.kinds.items() if name not in NEEDED}
    listed = {name: lists[shape] for name, shape in optional.items() if shape in lists}
    assert listed == OPTIONAL_LISTS


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES.keys())
def test_a_state_that_cannot_be_used_stops_the_agent_and_its_copy_is_handed_out(
    host: Host, damage: Damage
) -> None:
    path = state_file(host)
    damage(path)
    lies = kept_as_it_lies(path)
    assert host.stopped(host.tell(host.tool))
    for event in (host.prompt, host.hands_back):
        handed = host.handed(host.tell(event, prompt="What did you find?"))
        assert handed.startswith(STATUS)
        assert "gitguard repair --local" in handed
        assert re.search(rf"^Goal \(the user's [a-z ]+\): {GOAL}", handed, re.M)
    for event in (*host.silent, host.compaction):
        assert "<gitguard-resume" not in host.tell(event)
    assert host.stopped(host.tell(host.tool))
    assert kept_as_it_lies(path) == lies, "nothing but `recover` moves it"
    assert "compaction" in triggers(host.root)


@pytest.mark.parametrize(
    "name", ["goal is missing", "goal is a number", "next_action is blank", "the file is torn"]
)
def test_without_a_copy_the_prompt_is_refused_with_the_way_out(
    host: Host, begun: Guard, name: str
) -> None:
    shutil.rmtree(begun.workspace.places.state_home)
    DAMAGES[name](state_file(host))
    assert host.refused(host.tell(host.prompt, prompt="Go on"))
    assert host.stopped(host.tell(host.tool))


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES.keys())
def test_recover_mends_a_state_that_cannot_be_used(begun: Guard, damage: Damage) -> None:
    begun.note({"goal": GOAL, "next_action": "Write it"})
    before = begun.state()
    path = Path(begun.store().states.path)
    damage(path)
    for ask in (begun.ensure, begun.state, lambda: begun.gate("host")):
        with pytest.raises(MissingState):
            ask()
    begun.recover()
    assert begun.ensure().state == before


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES.keys())
def test_accept_never_takes_an_incomplete_state(begun: Guard, damage: Damage) -> None:
    begun.note({"goal": GOAL, "next_action": "Write it"})
    path = Path(begun.store().states.path)
    damage(path)
    lies = kept_as_it_lies(path)
    with pytest.raises(Exception, match=r"state|next_action|goal"):
        begun.accept()
    assert kept_as_it_lies(path) == lies


def test_the_agent_may_run_the_command_that_mends_the_state(
    begun: Guard, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", BIN, prepend=os.pathsep)
    host = Host("claude-code", Path(begun.workspace.place.worktree))
    begun.note({"goal": GOAL})
    DAMAGES["goal is missing"](Path(begun.store().states.path))
    mend = {"command": "gitguard repair --local"}
    assert host.tell(host.tool, tool_input=mend) == ""
    assert host.stopped(
        host.tell(host.tool, tool_input={"command": "gitguard repair --local; rm x"})
    )


def test_gitguard_itself_writes_no_empty_goal_and_no_empty_next_action(begun: Guard) -> None:
    document = json.loads(Path(begun.store().states.path).read_bytes())
    assert (document["goal"], document["next_action"]) == ("START", "START")
    assert begun.state().is_untouched
    begun.note({"next_action": "DONE"})
    begun.note({"learnings": ["one"]}, new_task=True)
    document = json.loads(Path(begun.store().states.path).read_bytes())
    assert (document["goal"], document["next_action"]) == ("START", "START")


def test_a_durable_folder_that_cannot_be_written_is_a_missing_state(
    host: Host, begun: Guard
) -> None:
    with read_only(host.root):
        assert host.stopped(host.tell(host.tool))
        handed = host.handed(host.tell(host.prompt, prompt="What did you find?"))
        assert handed.startswith(STATUS)
        assert re.search(rf"^Goal \(the user's [a-z ]+\): {GOAL}", handed, re.M)
        assert "cannot write" in handed
    assert host.tell(host.tool) == ""


def test_a_folder_that_cannot_be_written_ends_ensure_and_gate_with_missing_state(
    begun: Guard, open_guard: Callable[[], Guard]
) -> None:
    folder = read_only(Path(begun.workspace.place.worktree))
    with folder, pytest.raises(MissingState, match="cannot write"):
        open_guard().gate("host", action_changed_state=True)
    assert open_guard().gate("host").verdict.halts is False
