"""gitguard set up for the real hosts: installed, looked over, and taken out byte for byte."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from .conftest import installed
from .guarded import COMMAND, GuardedHost
from .live_hosts import LIVE_HOSTS, Codex, LiveHost
from .scripted_model import ScriptedModel, Step

SPEAKING = ("copilot", "qwen", "droid", "kimi", "codex")
speaking = pytest.mark.parametrize("live", SPEAKING, indirect=True)
only_codex = pytest.mark.parametrize("live", ["codex"], indirect=True)


def status_of(project: GuardedHost) -> dict[str, Any]:
    """What `status` says of the one host."""
    (host,) = project.json("status")["hosts"]
    assert isinstance(host, dict)
    return host


def contents(live: LiveHost) -> dict[Path, bytes]:
    """Every file that the host's user has."""
    return {path: path.read_bytes() for path in live.home.rglob("*") if path.is_file()}


def with_gitguard(live: LiveHost, bin_dir: Path) -> GuardedHost:
    (bin_dir / "gitguard").symlink_to(COMMAND)
    return GuardedHost(live)


def put_program_on_path(live: LiveHost, bin_dir: Path) -> None:
    """Let PATH find the host's own command."""
    (bin_dir / live.name).symlink_to(live.sealed.command[0])


@pytest.mark.essential
@speaking
def test_the_host_is_found_set_up_heard_of_and_given_back_byte_for_byte(
    live: LiveHost, bin_dir: Path
) -> None:
    project = with_gitguard(live, bin_dir)
    put_program_on_path(live, bin_dir)
    before = contents(live)
    assert project.json("init")["hosts"] == [live.name]
    live.approve_hooks()
    found = status_of(project)
    assert (found["is_installed"], found["problems"], found["last_event"]) == (True, [], "")
    live.say("Write a report module.", Step("I begin.", (live.shell("echo on"),)), Step("Done."))
    found = status_of(project)
    assert found["problems"] == []
    assert found["last_event"]
    assert found["version"] in ("", *found["tried"])
    assert f"Hooks: {live.name} as installed in `{live.home}" in project.run("status")
    project.run("uninstall")
    file = Path(found["where"])
    left = contents(live).get(file)
    if live.name == "qwen":  # it adds the version of its settings when it starts
        assert left == b'{\n  "$version": 4\n}\n'
    else:
        assert left == before.get(file)
    assert project.json("status")["hosts"][0]["is_installed"] is False


@speaking
def test_a_hook_that_somebody_took_out_is_named(live: LiveHost, bin_dir: Path) -> None:
    project = with_gitguard(live, bin_dir)
    put_program_on_path(live, bin_dir)
    project.run("init")
    file = Path(status_of(project)["where"])
    file.write_text(file.read_text().replace("gitguard hook", "gitguard hooks"))
    problem = status_of(project)["problems"][0]
    assert problem.startswith(f"all are missing from `{file}`; run `gitguard init --host")
    assert f"Warning: hooks of {live.name}: {problem}" in project.run("status")


@pytest.mark.essential
@only_codex
def test_status_tells_whether_codex_trusts_the_hooks(live: LiveHost, bin_dir: Path) -> None:
    assert isinstance(live, Codex)
    project = with_gitguard(live, bin_dir)
    assert "Codex runs no hook before you approve it" in project.run("init")
    assert "no `codex` is on PATH" in project.run("status")
    put_program_on_path(live, bin_dir)
    untrusted = status_of(project)
    assert (untrusted["trust"], untrusted["version"]) == ("untrusted", "0.171.0")
    assert "you have not approved 7 of 7 in Codex" in project.run("status")
    assert b"trusted_hash" not in (live.home / ".codex/config.toml").read_bytes()

    live.approve_hooks()
    assert status_of(project)["trust"] == "trusted"
    assert "; trusted; no event yet; version 0.171.0 tried" in project.run("status")

    hooks = live.home / ".codex/hooks.json"
    installed = hooks.read_text()
    hooks.write_text(installed.replace('"timeout": 60', '"timeout": 61'))
    changed = status_of(project)
    assert changed["trust"] == "modified"
    assert "1 of 7 changed since you approved them" in "".join(changed["problems"])
    assert "PreCompact (timeout)" in "".join(changed["problems"])
    project.run("init")
    assert hooks.read_text() == installed
    assert status_of(project)["trust"] == "trusted"

    config = live.home / ".codex/config.toml"
    config.write_text(config.read_text() + "\n[features]\nhooks = false\n")
    switched_off = status_of(project)
    assert switched_off["trust"] == "off"
    assert "`features.hooks`" in "".join(switched_off["problems"])


SWITCHES = [
    ("copilot", ".github/copilot/settings.json", '{"disableAllHooks": true}'),
    ("copilot", ".claude/settings.local.json", '{"disableAllHooks": true}'),
    ("qwen", ".qwen/settings.json", '{"disableAllHooks": true}'),
    ("droid-exec", ".factory/settings.json", '{"hooks": {"hooksDisabled": true}}'),
    ("droid-exec", ".factory/hooks.json", '{"hooksDisabled": true}'),
]


@pytest.mark.parametrize(("live", "file", "settings"), SWITCHES, indirect=["live"])
def test_what_status_calls_a_switch_silences_the_host(
    live: LiveHost, guarded_live: GuardedHost, file: str, settings: str
) -> None:
    path = live.project / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(settings)
    assert f"`{path}` switches them off" in status_of(guarded_live)["problems"][0]
    live.say("Say hello.", Step("I begin.", (live.shell("echo on"),)), Step("Hello."))
    assert status_of(guarded_live)["last_event"] == ""


def test_two_hosts_are_set_up_side_by_side_and_each_conversation_is_under_its_name(
    model: ScriptedModel, repo: Path, bin_dir: Path, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    lives = []
    for name in ("qwen", "kimi"):
        host, sealed = LIVE_HOSTS[name]
        lives.append(host(installed(sealed, home, repo, model.url), model, (bin_dir,)))
        put_program_on_path(lives[-1], bin_dir)
    before = contents(lives[0])
    project = with_gitguard(lives[0], bin_dir)
    assert project.run("init", check=False).startswith("Found qwen: ")
    assert project.json("init", "--yes")["hosts"] == ["qwen", "kimi"]
    for live in lives:
        live.say("Say hello.", Step("I begin.", (live.shell("echo on"),)), Step("Hello."))
        live.end()
    status = project.json("status")
    conversations = [record["host"] for record in status["host_sessions"].values()]
    assert sorted(conversations) == ["kimi", "qwen"]
    assert all(host["last_event"] for host in status["hosts"])
    assert project.json("uninstall")["hosts"] == ["qwen", "kimi"]
    kept = home / ".kimi-code/config.toml"
    assert kept.read_bytes() == before[kept]
    assert b"gitguard" not in (home / ".qwen/settings.json").read_bytes()
