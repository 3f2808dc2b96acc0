"""The plugin: its folder, its script beside every fault of gitguard, and `init` where it runs."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import gitguard
from gitguard import hosts
from gitguard.errors import InvalidInput
from gitguard.guard.hosts import plugin_installs, write_plugin_folder
from gitguard.hosts.base import InstallOptions
from gitguard.hosts.dialect import KINDS, TIMEOUT, TIMEOUTS
from gitguard.settings.plugin_folder import plugin_files
from tests.conftest import OpenGuard
from tests.support.scratch import BIN

ROOT = Path(__file__).parents[2]
PAYLOADS = ROOT / "tests" / "payloads"
EVENT = '{"hook_event_name": "PreToolUse", "session_id": "S1"}'
PLUGGED = ("claude-code", "copilot", "qwen", "droid", "codex")
VARIABLES = {
    "claude-code": ("CLAUDE_PROJECT_DIR", "CLAUDECODE"),
    "copilot": ("CLAUDE_PROJECT_DIR", "COPILOT_PROJECT_DIR", "COPILOT_CLI"),
    "qwen": ("CLAUDE_PROJECT_DIR", "QWEN_PROJECT_DIR", "QWEN_CODE_CLI"),
    "droid": ("CLAUDE_PROJECT_DIR", "FACTORY_PROJECT_DIR"),
    "codex": (),
}
"""What each host's hooks have in their environment."""
HOOKS_DIGEST = "2f56fd8f9927c4b07bbc8d349af6321edbc0a4dd039b19d162a21dd916b2fdfa"


@pytest.fixture
def plugin(tmp_path: Path) -> Path:
    folder = tmp_path / "plugin"
    write_plugin_folder(str(folder))
    return folder


def hooks() -> dict[str, Any]:
    document = json.loads(plugin_files()["gitguard/hooks/hooks.json"])
    assert list(document) == ["hooks"]
    return {event: hook for event, [group] in document["hooks"].items() for hook in group["hooks"]}


# The folder


def test_the_folder_holds_what_hosts_and_marketplaces_ask_for(plugin: Path) -> None:
    marketplace = json.loads((plugin / ".claude-plugin/marketplace.json").read_text())
    manifest = json.loads((plugin / "gitguard/.claude-plugin/plugin.json").read_text())
    [offered] = marketplace["plugins"]
    assert (plugin / offered["source"]).is_dir()
    assert offered["version"] == manifest["version"] == gitguard.__version__
    assert len((plugin / "gitguard/README.md").read_text().split()) in range(30, 50)
    assert (plugin / "gitguard/LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()
    assert (plugin / "gitguard/icon.svg").read_text().startswith("<svg ")
    skill = plugin / "gitguard/skills/gitguard/SKILL.md"
    assert skill.read_bytes() == (ROOT / "templates/SKILL.md").read_bytes()


def test_the_hooks_are_those_of_the_dialect_in_the_form_that_all_five_hosts_read() -> None:
    assert set(hooks()) == set(KINDS)
    for event, hook in hooks().items():
        wanted = {**TIMEOUTS, "SessionEnd": 3}.get(event, TIMEOUT)
        assert hook["timeout"] == wanted < 1000
        assert hook["command"].endswith(f'gitguard-hook.sh" {event}')
        assert hook.keys() == {"type", "command", "timeout"}
    groups = json.loads(plugin_files()["gitguard/hooks/hooks.json"])["hooks"].values()
    assert all(group.keys() == {"hooks"} for [group] in groups), "no matcher"


def test_the_text_of_the_hooks_stays_the_same_because_codex_would_ask_anew() -> None:
    text = plugin_files()["gitguard/hooks/hooks.json"]
    assert hashlib.sha256(text).hexdigest() == HOOKS_DIGEST
    assert gitguard.__version__.encode() not in text


def test_a_second_writing_changes_nothing_and_a_changed_file_is_written_again(plugin: Path) -> None:
    assert write_plugin_folder(str(plugin)) == []
    script = plugin / "gitguard/hooks/gitguard-hook.sh"
    script.write_text("exit 1\n")
    (plugin / "mine.txt").write_text("mine\n")
    assert [edit.what for edit in write_plugin_folder(str(plugin), dry_run=True)] == ["changed"]
    assert script.read_text() == "exit 1\n"
    write_plugin_folder(str(plugin))
    assert script.read_bytes() == plugin_files()["gitguard/hooks/gitguard-hook.sh"]
    assert (plugin / "mine.txt").exists()


@pytest.mark.parametrize("other", ["notes.txt", ".claude-plugin/marketplace.json"])
def test_a_folder_with_something_else_in_it_is_refused(tmp_path: Path, other: str) -> None:
    path = tmp_path / "folder" / other
    path.parent.mkdir(parents=True)
    path.write_text('{"name": "other"}')
    with pytest.raises(InvalidInput, match="is not empty"):
        write_plugin_folder(str(tmp_path / "folder"))
    assert [path for path in (tmp_path / "folder").rglob("*") if path.is_file()] == [path]


def test_every_host_that_takes_the_plugin_says_how_to_install_it_also_from_a_strange_folder() -> (
    None
):
    installs = {found.host: found for found in plugin_installs("/tmp/my plugin")}
    assert sorted(installs) == sorted(PLUGGED) == sorted(hosts.names(hosts.PLUGIN))
    assert all("'/tmp/my plugin" in found.commands[0] for found in installs.values())
    assert "gitguard@'my plugin'" in installs["droid"].commands[1]
    assert "/hooks" in installs["codex"].after


# The script


class Script:
    """The plugin's script, run by a host that has a home folder and a PATH."""

    def __init__(self, plugin: Path, home: Path, shell: str) -> None:
        self.path = plugin / "gitguard/hooks/gitguard-hook.sh"
        self.home = home
        self.tools = home / "tools"
        self.tools.mkdir(parents=True)
        self.env = {"HOME": str(home), "PATH": f"{self.tools}:/usr/bin:/bin"}
        self.shell = shell

    def run(
        self, event: str = "PreToolUse", data: str = EVENT, **env: str
    ) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [self.shell, str(self.path), event],
            input=data,
            env={**self.env, **env},
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        assert (done.returncode, done.stderr) == (0, "")
        return done


def program(path: Path, body: str, shell: str = "/bin/sh") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!{shell}\n{body}\n")
    path.chmod(0o755)
    return path


SHELLS = [shell for shell in ("dash", "bash") if shutil.which(shell)]


@pytest.fixture(params=SHELLS)
def script(request: pytest.FixtureRequest, plugin: Path, tmp_path: Path) -> Script:
    return Script(plugin, tmp_path / "a home", str(shutil.which(request.param)))


def test_the_script_is_correct_for_every_shell(plugin: Path) -> None:
    path = plugin / "gitguard/hooks/gitguard-hook.sh"
    subprocess.run([f"{BIN}/shellcheck", "--shell=sh", str(path)], check=True)


def test_an_event_goes_to_gitguard_and_its_answer_to_the_host(script: Script) -> None:
    program(script.tools / "gitguard", 'cat >"$HOME/event"; echo "{\\"ran\\": \\"$*\\"}"')
    assert json.loads(script.run().stdout) == {"ran": "hook codex"}
    assert (script.home / "event").read_text() == EVENT
    done = script.run(CLAUDE_PROJECT_DIR="/repo")
    assert json.loads(done.stdout) == {"ran": "hook claude-code"}


FAULTS = {
    "fails": "echo '{}'; exit 1",
    "refuses": "echo '{}'; echo no >&2; exit 2",
    "is refused in a tool": "echo error >&2; exit 37",
    "prints a traceback": "echo 'Traceback (most recent call last):'",
    "prints half an object": "printf '{\"decision\": '",
    "prints other than text": "printf '\\000\\377\\200'",
    "prints nothing": ":",
    "is killed": "echo '{}'; kill -9 $$",
    "ends before it reads": "exec <&-; exit 3",
    "is no program": "\x00\x01",
}


@pytest.mark.parametrize("fault", FAULTS)
def test_whatever_gitguard_does_nothing_is_said_and_nothing_is_refused(
    script: Script, fault: str
) -> None:
    program(script.tools / "gitguard", FAULTS[fault])
    assert script.run("PreToolUse", EVENT + " " * (1 << 20)).stdout == ""


@pytest.mark.parametrize("tool", ["timeout", "perl"])
def test_a_gitguard_that_hangs_is_ended_before_the_host_would(
    script: Script, tool: str, tmp_path: Path
) -> None:
    program(script.tools / "gitguard", "exec sleep 50")
    only = tmp_path / "only"
    only.mkdir()
    for name in (tool, "sleep", "cat"):
        (only / name).symlink_to(str(shutil.which(name)))
    begun = time.monotonic()
    assert script.run("SessionEnd", PATH=f"{script.tools}:{only}").stdout == ""
    assert time.monotonic() - begun < hooks()["SessionEnd"]["timeout"]


def test_the_limits_are_a_second_below_those_of_the_hooks(script: Script) -> None:
    program(script.tools / "timeout", 'echo "{$3}"')
    program(script.tools / "gitguard", ":")
    limits = {event: int(script.run(event).stdout.strip("{}\n")) for event in hooks()}
    assert limits == {event: hook["timeout"] - 1 for event, hook in hooks().items()}


FOLDERS = (
    ".local/bin",
    "bin",
    ".local/share/pipx/venvs/gitguard-workspace/bin",
    ".local/pipx/venvs/gitguard-workspace/bin",
    ".local/share/uv/tools/gitguard-workspace/bin",
)


@pytest.mark.parametrize("folder", FOLDERS)
def test_gitguard_is_found_where_people_have_it(script: Script, folder: str) -> None:
    program(script.home / folder / "gitguard", "echo '{}'")
    assert script.run().stdout == "{}\n"


@pytest.mark.parametrize("variable", ["PIPX_BIN_DIR", "UV_TOOL_BIN_DIR"])
def test_folders_that_pipx_and_uv_were_told_count(script: Script, variable: str) -> None:
    path = program(script.home / "elsewhere" / "gitguard", "echo '{}'")
    assert script.run(**{variable: str(path.parent)}).stdout == "{}\n"


def test_a_named_program_goes_first_then_the_recorded_one_and_then_the_path(
    script: Script, plugin: Path
) -> None:
    named = program(script.home / "named", "echo '{named}'")
    recorded = program(script.home / "recorded", "echo '{recorded}'")
    program(script.tools / "gitguard", "echo '{path}'")
    program(script.home / ".local/bin/gitguard", "echo '{home}'")
    write_plugin_folder(str(plugin), str(recorded))
    assert script.run(GITGUARD_BIN=str(named)).stdout == "{named}\n"
    assert script.run(GITGUARD_BIN="/nowhere").stdout == "{recorded}\n"
    recorded.unlink()
    assert script.run().stdout == "{path}\n"
    (script.tools / "gitguard").unlink()
    assert script.run().stdout == "{home}\n"


@pytest.mark.parametrize("project", ["", "/repo"])
def test_without_gitguard_the_person_is_told_once_a_day_at_the_start_of_a_session(
    script: Script, project: str
) -> None:
    env = {"CLAUDE_PROJECT_DIR": project} if project else {}
    for event in hooks():
        if event != "SessionStart":
            assert script.run(event, **env).stdout == ""
    told = json.loads(script.run("SessionStart", **env).stdout)
    context = told["hookSpecificOutput"]["additionalContext"]
    assert "pipx install ." in context
    assert "pipx install ." in told["systemMessage"]
    assert told["hookSpecificOutput"]["hookEventName"] == "SessionStart"
    outside = {"additionalContext": context} if project else {}
    assert told == {
        "hookSpecificOutput": told["hookSpecificOutput"],
        "systemMessage": told["systemMessage"],
        **outside,
    }
    assert script.run("SessionStart", **env).stdout == ""
    mark = script.home / ".cache/gitguard/plugin-hint"
    os.utime(mark, (time.time() - 90_000,) * 2)
    assert script.run("SessionStart", **env).stdout != ""


def test_where_it_cannot_be_remembered_nobody_is_told(script: Script) -> None:
    (script.home / ".cache").write_text("no folder\n")
    assert script.run("SessionStart").stdout == ""


@pytest.mark.parametrize("script", SHELLS[:1], indirect=True)
@pytest.mark.parametrize("host", PLUGGED)
def test_each_host_is_told_apart_by_its_payloads_and_marks(
    script: Script, plugin: Path, repo: Path, host: str
) -> None:
    def run(*words: str) -> str:
        command = [f"{BIN}/gitguard", *words]
        done = subprocess.run(
            command, cwd=repo, env=script.env, capture_output=True, text=True, check=True
        )
        return done.stdout

    run("ensure")
    write_plugin_folder(str(plugin), f"{BIN}/gitguard")
    folder = PAYLOADS / host.replace("-", "_")
    payload = json.loads((folder / "UserPromptSubmit.json").read_text()) | {"cwd": str(repo)}
    if host == "codex":
        payload["transcript_path"] = None  # as in a conversation that is not kept
    script.run("UserPromptSubmit", json.dumps(payload), **dict.fromkeys(VARIABLES[host], str(repo)))
    [conversation] = json.loads(run("status", "--json"))["host_sessions"].values()
    assert conversation["host"] == host


# Installed in a host

RECORDS: dict[str, tuple[str, str, str]] = {
    "claude-code": (
        ".claude/settings.json",
        '{"enabledPlugins": {"gitguard@gg": true}}',
        "claude plugin uninstall gitguard@gg",
    ),
    "copilot": (
        ".copilot/settings.json",
        '{"enabledPlugins": {"gitguard@gg": true}}',
        "copilot plugin uninstall gitguard@gg",
    ),
    "droid": (
        ".factory/settings.json",
        '{"enabledPlugins": {"gitguard@gg": true}}',
        "droid plugin uninstall gitguard@gg",
    ),
    "codex": (
        ".codex/config.toml",
        '[plugins."gitguard@gg"]\nenabled = true\n',
        "codex plugin remove gitguard@gg",
    ),
    "qwen": (
        ".qwen/extension-store/state.json",
        '{"extensions": {"a33e": {"name": "gitguard", "defaultActivation": "enabled", '
        '"workspaceOverrides": {}}}}',
        "qwen extensions uninstall gitguard",
    ),
}
"""Each host's record of an installed plugin, as the host wrote it, and how it is removed."""
MINE = InstallOptions(str(Path(sys.executable).with_name("gitguard")))


def write_record(home: Path, host: str, text: str) -> Path:
    path = home / RECORDS[host][0]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


@pytest.mark.parametrize("host", RECORDS)
def test_where_the_plugin_runs_init_writes_no_settings_and_says_so(
    host: str, open_guard: OpenGuard, hermetic_seal: Path
) -> None:
    guard = open_guard(home=str(hermetic_seal))
    record = write_record(hermetic_seal, host, RECORDS[host][1])
    outcome = guard.install(host, MINE)
    assert (outcome.changes, record.read_text()) == ((), RECORDS[host][1])
    assert outcome.startup is not None
    assert any("so no settings are written" in note for note in outcome.notes)
    left = guard.uninstall(host).notes
    assert any(f"remove it with `{RECORDS[host][2]}`" in note for note in left)


@pytest.mark.parametrize("host", RECORDS)
@pytest.mark.parametrize("switch", ["off", "another plugin", "nothing"])
def test_where_the_plugin_does_not_run_init_writes_settings(
    host: str, switch: str, open_guard: OpenGuard, hermetic_seal: Path
) -> None:
    text = RECORDS[host][1]
    if switch == "off":
        text = text.replace("true", "false").replace('"enabled"', '"disabled"')
    elif switch == "another plugin":
        text = text.replace("gitguard", "gitguard-other")
    else:
        text = ""
    guard = open_guard(home=str(hermetic_seal))
    write_record(hermetic_seal, host, text)
    outcome = guard.install(host, MINE)
    assert outcome.changes
    assert not [note for note in outcome.notes if "plugin" in note]


@pytest.mark.parametrize(
    "rule", ['"legacyPathRules": ["!/repo/*"]', '"workspaceOverrides": {"a": 1}']
)
def test_an_extension_that_is_off_in_some_folders_counts_as_off(
    rule: str, open_guard: OpenGuard, hermetic_seal: Path
) -> None:
    text = RECORDS["qwen"][1].replace('"workspaceOverrides": {}', rule)
    write_record(hermetic_seal, "qwen", text)
    assert open_guard(home=str(hermetic_seal)).install("qwen", MINE).changes


def test_a_project_may_switch_the_plugin_off(open_guard: OpenGuard, hermetic_seal: Path) -> None:
    guard = open_guard(home=str(hermetic_seal))
    write_record(hermetic_seal, "claude-code", RECORDS["claude-code"][1])
    project = Path(guard.workspace.place.worktree) / ".claude/settings.local.json"
    project.parent.mkdir()
    project.write_text('{"enabledPlugins": {"gitguard@gg": false}}')
    assert guard.install("claude-code", MINE).changes


def test_shared_settings_are_written_for_those_who_have_no_plugin(
    open_guard: OpenGuard, hermetic_seal: Path
) -> None:
    guard = open_guard(home=str(hermetic_seal))
    write_record(hermetic_seal, "claude-code", RECORDS["claude-code"][1])
    assert guard.install("claude-code", MINE.replace(shared=True)).changes


def test_settings_from_before_the_plugin_stay_and_init_says_how_they_go(
    open_guard: OpenGuard, hermetic_seal: Path
) -> None:
    guard = open_guard(home=str(hermetic_seal))
    for host in ("claude-code", "droid"):
        guard.install(host, MINE)
        write_record(hermetic_seal, host, RECORDS[host][1])
        notes = guard.install(host, MINE).notes
        assert any(f"`gitguard uninstall --host {host}`" in note for note in notes)


@pytest.mark.parametrize("host", RECORDS)
def test_a_record_that_cannot_be_read_is_unknown_and_settings_are_written(
    host: str, open_guard: OpenGuard, hermetic_seal: Path
) -> None:
    record = write_record(hermetic_seal, host, "{[")
    outcome = open_guard(home=str(hermetic_seal)).install(host, MINE)
    assert any(
        f"whether {host} has gitguard's plugin is unknown: `{record}`" in note
        for note in outcome.notes
    )


@pytest.mark.parametrize("host", RECORDS)
def test_status_says_of_the_host_that_the_plugin_runs_gitguard(
    host: str, open_guard: OpenGuard, hermetic_seal: Path
) -> None:
    guard = open_guard(home=str(hermetic_seal))
    guard.ensure()
    assert [status.host for status in guard.status().hosts] == []
    write_record(hermetic_seal, host, RECORDS[host][1])
    [status] = guard.status().hosts
    name = RECORDS[host][2].rpartition(" ")[2]
    assert (status.host, status.where) == (host, f"plugin {name}")
    assert status.is_installed
    assert status.problems == ()


def test_init_writes_the_plugin_and_prints_each_hosts_commands(repo: Path, tmp_path: Path) -> None:
    folder = tmp_path / "gitguard-plugin"

    def init(*options: str) -> str:
        command = [f"{BIN}/gitguard", "init", "--plugin", str(folder), *options]
        return subprocess.run(
            command, cwd=repo, stdout=subprocess.PIPE, text=True, check=True
        ).stdout

    assert f"Would write `{folder}/gitguard/hooks/hooks.json`." in init("--dry-run")
    assert not folder.exists()
    done = json.loads(init("--json"))
    assert {change["what"] for change in done["changes"]} == {"created"}
    assert [found["host"] for found in done["install"]] == list(hosts.names(hosts.PLUGIN))
    assert (folder / "gitguard/hooks/gitguard-path").read_text() == f"{BIN}/gitguard\n"
    assert "needs no change" in init()
    assert not (repo / ".gitguard").exists()
