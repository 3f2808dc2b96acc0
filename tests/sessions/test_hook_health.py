"""Installed hooks are compared with the host's settings as they are now; silence is not health."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitguard import Guard
from gitguard.cli.sessions import _overview_text
from gitguard.hosts.base import InstallOptions
from gitguard.hosts.claude_code import hooks, installing
from gitguard.hosts.claude_code.health import folder_changes, hook_problems, switches
from gitguard.hosts.claude_code.hooks import HOOK_EVENTS
from gitguard.sessions.hook_health import hook_health
from gitguard.store.session.workspace import Session, UserDirs
from tests.support.conversation import Conversation

EXECUTABLE = str(Path(sys.executable).with_name("gitguard"))
PERSONAL = ".claude/settings.local.json"
Settings = dict[str, Any]
SWITCHED_OFF = f"`disableAllHooks` in `{PERSONAL}` switches them off; remove it there"
leaf = st.none() | st.booleans() | st.integers() | st.text()


class Installed(Conversation):
    """A conversation in a repository in which `gitguard init` was run."""

    def __init__(self, folder: Path, *, shared: bool = False) -> None:
        super().__init__(folder)
        self.home = folder / "home"
        self.home.mkdir()
        self.trust(True)
        on_path = Path(EXECUTABLE).parent
        environment = {"PATH": f"{on_path}{os.pathsep}{os.environ['PATH']}"}
        self._places = UserDirs(
            state_home=str(folder / "state"),
            config_home=str(folder / "config"),
            environment=environment,
            home=str(self.home),
        )
        self.guard.install("claude-code", InstallOptions(EXECUTABLE, shared=shared))
        for path in (self.root / ".claude").rglob("*"):
            os.utime(path, (self.clock(), self.clock()))

    def with_environment(self, **more: str) -> Guard:
        """A guard of somebody with these variables."""
        environment = {**self._places.environment, **more}
        return Guard(str(self.root), self._places.replace(environment=environment), self.clock)

    def trust(self, trusted: bool) -> None:
        projects = {str(self.root): {"hasTrustDialogAccepted": trusted}}
        (self.home / ".claude.json").write_text(json.dumps({"projects": projects}))

    def change(self, change: Callable[[Settings], object], name: str = PERSONAL) -> None:
        """Somebody edits settings."""
        path = self.root / name
        settings = json.loads(path.read_text()) if path.exists() else {}
        change(settings)
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(settings))

    def problems(self) -> str:
        return "; ".join(p for health in hook_health(self.guard.workspace) for p in health.problems)

    def status(self) -> str:
        return _overview_text(self.guard.status())


@pytest.fixture
def talk(tmp_path: Path) -> Installed:
    return Installed(tmp_path)


def hook(settings: Settings, event: str) -> Settings:
    entry: Settings = settings["hooks"][event][-1]["hooks"][-1]
    return entry


def limit(settings: Settings, event: str, **changes: object) -> None:
    settings["hooks"][event][-1].update(changes)


# What is compared


def test_after_an_installation_every_hook_is_as_installed(talk: Installed) -> None:
    (health,) = hook_health(talk.guard.workspace)
    assert (health.problems, health.notes) == ((), ())
    assert f"Hooks: claude-code as installed in `{PERSONAL}`" in talk.status()


def test_an_installation_for_everybody_is_looked_for_in_the_shared_settings(tmp_path: Path) -> None:
    talk = Installed(tmp_path, shared=True)
    assert talk.problems() == ""
    talk.change(lambda settings: settings["hooks"].pop("Stop"), ".claude/settings.json")
    assert talk.problems() == "Stop missing from `.claude/settings.json`; run `gitguard init` again"


def test_shared_settings_that_came_with_the_project_are_looked_over_too(tmp_path: Path) -> None:
    talk = Installed(tmp_path, shared=True)
    (Path(talk.guard.workspace.state_folder) / "_claude-code.json").unlink()
    assert "Hooks: claude-code as installed in `.claude/settings.json`" in talk.status()
    talk.change(lambda settings: settings["hooks"].pop("Stop"), ".claude/settings.json")
    assert talk.problems().startswith("Stop missing")


def test_where_nothing_was_installed_nothing_is_called_healthy(tmp_path: Path) -> None:
    text = _overview_text(Conversation(tmp_path).guard.status())
    assert "Hooks: none installed here" in text
    assert "as installed" not in text


@pytest.mark.parametrize("event", HOOK_EVENTS)
def test_each_hook_that_is_missing_is_named(talk: Installed, event: str) -> None:
    talk.change(lambda settings: settings["hooks"].pop(event))
    assert talk.problems() == f"{event} missing from `{PERSONAL}`; run `gitguard init` again"
    assert f"Warning: hooks of claude-code: {event} missing" in talk.status()


@pytest.mark.parametrize(
    ("change", "name"),
    [
        (lambda s: limit(s, "PreToolUse", matcher="Edit|Write"), "PreToolUse (matcher)"),
        (lambda s: limit(s, "PreToolUse", **{"if": "Bash(git *)"}), "PreToolUse (if)"),
        (lambda s: hook(s, "Stop").update(timeout=1), "Stop (timeout)"),
        (lambda s: hook(s, "Stop").update({"async": True}), "Stop (async)"),
        (lambda s: hook(s, "Stop").update(type="prompt"), "Stop (type)"),
        (
            lambda s: hook(s, "Stop").update(command="false && gitguard hook claude-code"),
            "Stop (command)",
        ),
    ],
    ids=["matcher", "condition", "timeout", "asynchronous", "type", "command"],
)
def test_a_hook_that_was_changed_is_named_with_what_changed(
    talk: Installed, change: Callable[[Settings], object], name: str
) -> None:
    talk.change(change)
    assert talk.problems() == f"changed in `{PERSONAL}`: {name}; run `gitguard init` again"


@given(st.recursive(leaf, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)))
def test_settings_of_any_shape_without_our_hooks_are_never_healthy(value: object) -> None:
    for settings in ({"hooks": value}, {"hooks": {"Stop": value}}, {"hooks": {"Stop": [value]}}):
        assert hook_problems(settings, PERSONAL, "") != []
    assert switches({"env": value, "disableAllHooks": value}, PERSONAL) in ([], [SWITCHED_OFF])
    assert folder_changes({"env": value}, PERSONAL, {}) == []


@pytest.mark.parametrize(
    "variable", ["GITGUARD_ROOT", "GITGUARD_STATE_DIR", "HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"]
)
def test_settings_that_send_hooks_to_other_folders_are_named(
    talk: Installed, variable: str
) -> None:
    talk.change(lambda settings: settings.update(env={variable: "/elsewhere", "LANG": "C"}))
    assert talk.problems() == (
        f"`{variable}` in `env` of `{PERSONAL}` makes hooks use other folders than this command "
        "does; remove it there, or set it here too"
    )
    there = talk.with_environment(**{variable: "/elsewhere"})
    assert all(not health.problems for health in hook_health(there.workspace))


def test_a_command_that_runs_something_else_is_a_missing_hook(talk: Installed) -> None:
    talk.change(lambda settings: hook(settings, "Stop").update(command="true"))
    assert talk.problems().startswith("Stop missing")


@pytest.mark.parametrize("matcher", ["", "*"])
def test_a_matcher_that_limits_nothing_is_no_change(talk: Installed, matcher: str) -> None:
    talk.change(lambda settings: limit(settings, "PreToolUse", matcher=matcher))
    assert talk.problems() == ""


def test_other_hooks_and_settings_beside_ours_are_no_change(talk: Installed) -> None:
    def add(settings: Settings) -> None:
        settings["model"] = "opus"
        other = {"matcher": "Bash", "hooks": [{"type": "command", "command": "./check.sh"}]}
        settings["hooks"]["PreToolUse"].insert(0, other)

    talk.change(add)
    assert talk.problems() == ""


@pytest.mark.parametrize("name", [PERSONAL, ".claude/settings.json"])
def test_hooks_that_a_project_file_switches_off_are_named(talk: Installed, name: str) -> None:
    talk.change(lambda settings: settings.update(disableAllHooks=True), name)
    assert talk.problems() == f"`disableAllHooks` in `{name}` switches them off; remove it there"
    talk.change(lambda settings: settings.update(disableAllHooks=False), name)
    assert talk.problems() == ""


def test_hooks_that_the_users_own_settings_switch_off_are_named(talk: Installed) -> None:
    own = talk.home / ".claude" / "settings.json"
    own.parent.mkdir()
    own.write_text('{"disableAllHooks": true}')
    assert f"`disableAllHooks` in `{own}` switches them off" in talk.problems()


def test_gitguards_own_switch_is_named_in_settings_and_in_the_environment(talk: Installed) -> None:
    (health,) = hook_health(talk.with_environment(GITGUARD_HOOKS="off").workspace)
    assert health.problems == ("`GITGUARD_HOOKS=off` is set in this environment; unset it",)
    talk.change(lambda settings: settings.setdefault("env", {}).update(GITGUARD_HOOKS="off"))
    assert f"`GITGUARD_HOOKS=off` in `env` of `{PERSONAL}` switches them off" in talk.problems()


def test_what_cannot_be_read_is_unknown_and_never_healthy(talk: Installed) -> None:
    own = talk.home / ".claude" / "settings.json"
    own.parent.mkdir()
    own.write_text("{ not JSON")
    (talk.home / ".claude.json").write_text("{ not JSON")
    (health,) = hook_health(talk.guard.workspace)
    assert len(health.notes) == 2
    assert all("unknown" in note for note in health.notes)
    (talk.root / PERSONAL).write_text("{ not JSON")
    assert "so it is unknown whether the host runs them" in talk.problems()
    ledger = Path(talk.guard.workspace.state_folder) / "_claude-code.json"
    ledger.write_text("{ not JSON")
    assert "what was installed is unknown" in talk.status()
    assert "as installed in" not in talk.status()


def test_a_folder_that_the_host_does_not_trust_is_named(talk: Installed) -> None:
    talk.trust(False)
    assert "the host was not told to trust this folder" in talk.status()
    projects = {str(talk.root.parent): {"hasTrustDialogAccepted": True}}
    (talk.home / ".claude.json").write_text(json.dumps({"projects": projects}))
    assert "not trusted" not in talk.status()
    assert "; trusted; " in talk.status()


def test_hooks_whose_program_is_gone_are_named(tmp_path: Path) -> None:
    talk = Conversation(tmp_path)
    talk.guard.install("claude-code", InstallOptions(str(tmp_path / "venv" / "gitguard")))
    places = talk._places.replace(environment={"PATH": "/usr/bin:/bin"})
    (health,) = hook_health(Guard(str(talk.root), places, talk.clock).workspace)
    assert any("no `gitguard` is on PATH" in problem for problem in health.problems)


def test_a_linked_worktree_relies_on_the_settings_of_the_main_one(talk: Installed) -> None:
    talk.git("worktree", "add", "-q", "../linked")
    linked = Guard(str(talk.root.parent / "linked"), talk._places, talk.clock)
    assert [health.problems for health in hook_health(linked.workspace)] == [()]
    shutil.rmtree(talk.root / ".claude")
    assert [bool(health.problems) for health in hook_health(linked.workspace)] == [True]


def test_after_uninstalling_no_hook_is_missed(talk: Installed) -> None:
    talk.guard.uninstall("claude-code", dry_run=False)
    assert hook_health(talk.guard.workspace) == ()


# What is said


def test_after_a_clean_worktree_ensure_status_and_verify_name_the_missing_hooks(
    talk: Installed,
) -> None:
    talk.git("clean", "-fdxq")
    missing = f"hooks of claude-code: all are missing from `{PERSONAL}`; run `gitguard init` again"
    assert missing in talk.guard.ensure().notes
    assert f"Warning: {missing}." in talk.status().splitlines()
    assert [missing in report.notes for report in talk.guard.verify()] == [True]
    talk.guard.sessions.fork(Session.of("another"))
    reports = talk.guard.verify(every_session=True)
    assert [missing in report.notes for report in reports] == [True, False]
    talk.guard.install("claude-code", InstallOptions(EXECUTABLE))
    assert missing not in talk.status()


def test_status_names_missing_hooks_where_no_session_is(talk: Installed) -> None:
    talk.git("clean", "-fdxq")
    shutil.rmtree(talk.guard.workspace.anchor_folder(talk.guard.sessions.current()))
    assert "all are missing" in talk.status()


def test_the_call_that_removed_the_hooks_tells_the_agent_once(talk: Installed) -> None:
    talk.prompt("Clean up")
    call = {"tool_input": {"command": "git clean -fdx"}, "tool_use_id": "clean"}
    talk.send("PreToolUse.Bash", **call)
    talk.git("clean", "-fdxq")
    answer = talk.send("PostToolUse.Bash", **call)
    context = answer["hookSpecificOutput"]["additionalContext"]
    assert context.startswith("[gitguard: hooks of claude-code: all are missing")
    assert len(context.splitlines()) == 1
    assert talk.send("PostToolUse.Bash", tool_use_id="next") == {}


def test_a_prompt_tells_of_missing_hooks_and_of_nothing_else(talk: Installed) -> None:
    talk.prompt("Begin")
    talk.send("Stop", last_assistant_message="Done.")
    talk.uses(160_000)
    talk.git("switch", "-q", "-c", "login")
    talk.change(lambda settings: settings["hooks"].pop("Stop"))
    context = talk.prompt("Go on")
    assert "Stop missing from" in context.splitlines()[0]
    assert "the branch `login`" not in context
    assert "Not told: [gitguard: the branch `login`" in talk.status()
    assert "Stop missing" not in talk.prompt("And on"), "it is told once"


def test_the_files_that_a_hook_looks_for_are_those_of_the_installation() -> None:
    assert hooks.HOST.abilities.settings_files == (installing.PERSONAL, installing.SHARED)


def test_hooks_that_all_run_are_no_line(talk: Installed) -> None:
    assert "missing" not in talk.prompt("Begin")
    assert talk.send("PostToolUse.Bash") == {}


# The last event


def test_status_says_which_files_and_that_head_changed_since_the_last_event(
    talk: Installed,
) -> None:
    talk.clock.now = time.time() + 60
    talk.prompt("Begin")
    talk.send("Stop", last_assistant_message="Done.")
    at = talk.guard.status().last_event.at
    talk.clock.pass_by(7_200)
    assert f"Last event of a host: {at} (2 h ago)" in talk.status().splitlines()
    talk.clock.pass_by(-7_200)
    for name, age in (("by_hand.py", 300.0), ("before.py", -300.0)):
        (talk.root / name).write_text("1\n")
        os.utime(talk.root / name, (talk.clock() + age, talk.clock() + age))
    event = talk.guard.status().last_event
    assert (event.at, event.changed) == (at, ("by_hand.py",))
    assert "changed since, up to" in talk.status()
    talk.git("add", "--all")
    commit_at(talk, talk.clock() + 400)
    assert talk.guard.status().last_event.head_moved_at
    assert "HEAD moved at" in talk.status()


def commit_at(talk: Installed, at: float) -> None:
    """Somebody commits at a time."""
    date = f"{at:.0f} +0000"
    names = ("AUTHOR_NAME", "AUTHOR_EMAIL", "COMMITTER_NAME", "COMMITTER_EMAIL")
    environment = {f"GIT_{name}": "x" for name in names} | {"GIT_COMMITTER_DATE": date}
    environment |= {"PATH": os.environ["PATH"], "HOME": str(talk.home)}
    subprocess.run(["git", "commit", "-qm", "by hand"], cwd=talk.root, env=environment, check=True)


def test_without_any_event_status_says_none_yet(talk: Installed) -> None:
    assert "Last event of a host: none yet" in talk.status().splitlines()
