"""A state that cannot be used stops the agent, at every event of both hosts, and loses nothing."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gitguard.errors import MissingState
from gitguard.guard import Guard
from gitguard.state.task import REQUIRED
from tests.conftest import Git, start_guard
from tests.faults.sandbox import sealed
from tests.support.hostile import PAYLOADS, answer, payload
from tests.support.scratch import BIN
from tests.support.staged import made_in, staged
from tests.support.unwritable import read_only

STATUS = "STATUS:MISSING_STATE"
GOAL = "Hand-write the parser"
KEY = "agent:main:main"


TIME = "2026-01-31T09:30:00Z"
SOURCED = {"id": "d1", "origin": {"by": "agent", "when": TIME}}
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
    "the status is no status": _set("status", "nearly"),
    "updated_at is no time": _set("updated_at", "yesterday"),
    "last_action has no outcome": _set("last_action", {"summary": "x", "at": TIME}),
    "last_action is text": _set("last_action", "built"),
    "goal_from is a list": _set("goal_from", []),
    "the state is too sure": _set("state_confidence", 1.5),
    "a decision decides nothing": _set("decisions", [{"why": "y", **SOURCED}]),
    "a decision is a number": _set("decisions", [{"what": 5, "why": "y", **SOURCED}]),
    "a step was done at no time": _set("completed_steps", [{"text": "x", "origin": {"when": "?"}}]),
    "a file that was read is an object": _set("files_read", [{}]),
    "the counts are text": _set("dropped", {"decisions": "many"}),
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
KINDS = (
    "goal is missing",
    "goal is an object",
    "the version is a newer one",
    "next_action is blank",
    "a step is a number",
    "a decision decides nothing",
    *(name for name in DAMAGES if name.startswith("the file is")),
)
"""A damage of each kind, for what is asked at every event of every host."""


class Host:
    """One host's events, told to the hook command, and what its answers mean."""

    def __init__(self, name: str, root: Path) -> None:
        self.name, self.root = name, root
        self._calls = 0

    def tell(self, event: str, **changes: Any) -> str:
        if self.name == "claude-code":
            if "Tool" in event:  # a host gives each call an id of its own
                self._calls += 1
                changes.setdefault("tool_use_id", f"call-{self._calls}")
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


def begin_host(folder: Path, parameter: str) -> Host:
    guard = start_guard(folder)
    host = Host(parameter, Path(guard.workspace.place.worktree))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GITGUARD_STATE_DIR", guard.workspace.places.state_home)
        host.tell(host.hands_back)
        host.tell(host.prompt, prompt=GOAL)
    assert GOAL in state_file(host).read_text()
    return host


tmp_path = staged(host=begin_host, begun=start_guard)


@pytest.fixture
def begun(guard: Guard, monkeypatch: pytest.MonkeyPatch) -> Guard:
    monkeypatch.setenv("GITGUARD_STATE_DIR", guard.workspace.places.state_home)
    return guard


@pytest.fixture(params=["claude-code", "openclaw"])
def host(begun: Guard, tmp_path: Path) -> Any:
    """A host whose conversation has said what the goal is, by way of its hooks."""
    return made_in(tmp_path)


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


@pytest.mark.parametrize("kind", KINDS)
def test_a_state_that_cannot_be_used_stops_the_agent_and_its_copy_is_handed_out(
    host: Host, kind: str
) -> None:
    path = state_file(host)
    DAMAGES[kind](path)
    lies = kept_as_it_lies(path)
    assert host.stopped(host.tell(host.tool))
    titles = {host.prompt: r"Goal \(user's words\)", host.hands_back: "First request"}
    for event, title in titles.items():
        handed = host.handed(host.tell(event, prompt="What did you find?"))
        assert handed.startswith(STATUS)
        assert "gitguard repair --local" in handed
        assert re.search(rf"^{title}: {GOAL}", handed, re.M)
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
def test_a_repair_mends_a_state_that_cannot_be_used(begun: Guard, damage: Damage) -> None:
    begun.note({"goal": GOAL, "next_action": "Write it"})
    before = begun.state()
    path = Path(begun.store().states.path)
    damage(path)
    for ask in (begun.ensure, begun.state, lambda: begun.gate("host")):
        with pytest.raises(MissingState):
            ask()
    begun.repair_local()
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
        assert re.search(rf"^Goal \(user's words\): {GOAL}", handed, re.M)
        assert "cannot write" in handed
    assert host.tell(host.tool) == ""


def test_a_folder_that_cannot_be_written_ends_ensure_and_gate_with_missing_state(
    begun: Guard, open_guard: Callable[[], Guard]
) -> None:
    folder = read_only(Path(begun.workspace.place.worktree))
    with folder, pytest.raises(MissingState, match="cannot write"):
        open_guard().gate("host", action_changed_state=True)
    assert open_guard().gate("host").verdict.halts is False


BLOCKED = (".gitguard", ".gitguard/sessions", ".gitguard/sessions/main")
WAYS_TO_BLOCK: dict[str, Damage] = {
    "a file": Path.touch,
    "a link": lambda path: path.symlink_to(path.with_name("elsewhere")),
    "a link to nothing": lambda path: path.symlink_to("nowhere"),
    "a pipe": os.mkfifo,
}


@pytest.mark.parametrize("way", WAYS_TO_BLOCK)
@pytest.mark.parametrize("folder", BLOCKED)
def test_what_lies_in_the_place_of_a_folder_of_ours_is_a_missing_state_everywhere(
    begun: Guard, open_guard: Callable[[], Guard], folder: str, way: str
) -> None:
    host = Host("claude-code", Path(begun.workspace.place.worktree))
    host.tell(host.prompt, prompt=GOAL)
    path = host.root / folder
    path.rename(path.with_name("elsewhere"))
    WAYS_TO_BLOCK[way](path)
    assert host.stopped(host.tell(host.tool))
    assert host.handed(host.tell(host.prompt, prompt="Go on")).startswith(STATUS)
    for ask in (
        lambda: open_guard().ensure(),
        lambda: open_guard().gate("host"),
        lambda: open_guard().note({"goal": "x"}),
    ):
        with pytest.raises(MissingState, match="cannot be reached"):
            ask()
    path.unlink()
    path.with_name("elsewhere").rename(path)
    assert host.tell(host.tool) == ""
    assert open_guard().state().goal == GOAL


def test_a_clone_that_brings_such_a_file_in_stops_nobody_where_nobody_ran_init(
    begun: Guard, repo: Path, tmp_path: Path
) -> None:
    other = tmp_path / "clone"
    shutil.copytree(repo / ".git", other / ".git")
    (other / ".gitguard").symlink_to(repo / ".gitguard")
    host = Host("claude-code", other)
    assert host.tell(host.tool) == ""
    assert host.tell(host.prompt, prompt="Go on") == ""


AS_ONE_WHO_OBEYS = """
import sys
from gitguard.cli.hook import respond
from tests.faults.sandbox import obey_permissions

obey_permissions()
print(respond(["claude-code"], sys.stdin.buffer).text)
"""


def test_a_folder_that_takes_no_new_files_stops_a_tool_call_though_the_journal_can_be_written(
    begun: Guard,
) -> None:
    host = Host("claude-code", Path(begun.workspace.place.worktree))
    host.tell(host.prompt, prompt=GOAL)
    call = payload(host.tool, host.root)
    with sealed(Path(begun.store().states.path).parent):
        done = subprocess.run(
            [sys.executable, "-c", AS_ONE_WHO_OBEYS],
            input=call,
            capture_output=True,
            check=True,
            env={**os.environ, "CLAUDE_PROJECT_DIR": str(host.root)},
        )
    assert host.stopped(done.stdout.decode())
    assert host.tell(host.tool) == ""


def test_a_note_that_cannot_be_kept_is_a_missing_state_and_changes_nothing(
    begun: Guard, open_guard: Callable[[], Guard]
) -> None:
    begun.note({"goal": GOAL, "next_action": "First"})
    with read_only(Path(begun.workspace.place.worktree) / ".gitguard"):
        for change in (
            lambda: open_guard().note({"next_action": "Second"}),
            lambda: open_guard().update({"next_action": "Second"}),
            lambda: open_guard().checkpoint("why"),
            lambda: open_guard().ensure(),
            lambda: open_guard().gate("host"),
        ):
            with pytest.raises(MissingState, match="cannot write"):
                change()
        assert open_guard().state().next_action == "First"
    assert open_guard().ensure().state.next_action == "First"
