"""Hooks in a file of the host's user are compared with what was installed, and silence is told."""

from __future__ import annotations

import json
import os
import re
import stat
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import tomlkit

from gitguard import Guard, hosts
from gitguard.cli.sessions import _overview_text
from gitguard.hosts.base import InstallOptions
from gitguard.hosts.health import OFF, TRUSTED, UNKNOWN, UNTRUSTED, HookHealth
from gitguard.hosts.user_hooks import BARE, TABLES, UserHooks
from gitguard.sessions.hook_health import hook_health
from tests.conftest import OpenGuard
from tests.support.house import PACKAGE

TESTS = PACKAGE.parent / "tests"
HOSTS = ("copilot", "qwen", "droid", "kimi", "codex")
EXECUTABLE = str(Path(sys.executable).with_name("gitguard"))
every_host = pytest.mark.parametrize("host", HOSTS)


class Installed:
    """A user in whose repository `gitguard init` was run for a host."""

    def __init__(self, host: str, open_guard: OpenGuard, home: Path) -> None:
        self.host, self.home = host, home
        self.bin = home / "bin"
        self.bin.mkdir()
        path = f"{self.bin}{os.pathsep}{Path(EXECUTABLE).parent}{os.pathsep}/usr/bin:/bin"
        environment = {"PATH": path, "HOME": str(home)}
        self.guard: Guard = open_guard(home=str(home), environment=environment)
        self.guard.install(host, InstallOptions(EXECUTABLE))
        installing = hosts.find_installing(host)
        assert isinstance(installing, UserHooks)
        self.installing = installing
        folder = hosts.HOSTS[host].marks.folder
        self.file = home / folder / self.installing.file

    @property
    def root(self) -> Path:
        return Path(self.guard.workspace.place.worktree)

    def health(self, *, asks: bool = False) -> HookHealth:
        (health,) = hook_health(self.guard.workspace, asks=asks)
        return health

    def change(self, event: str, **changes: object) -> None:
        """Somebody edits the hook of an event; without changes it is taken out."""
        is_toml = self.file.suffix == ".toml"
        text = self.file.read_text()
        settings: dict[str, Any] = tomllib.loads(text) if is_toml else json.loads(text)
        if self.installing.shape == TABLES:
            listed = settings["hooks"]
            at = next(n for n, hook in enumerate(listed) if hook["event"] == event)
            listed[at].update(changes)
            settings["hooks"] = listed if changes else listed[:at] + listed[at + 1 :]
        else:
            events = settings if self.installing.shape == BARE else settings["hooks"]
            events[event][0]["hooks"][0].update(changes)
            if not changes:
                del events[event]
        text = tomlkit.dumps(settings) if is_toml else json.dumps(settings)
        self.file.write_text(text)

    def answer(self, *messages: object) -> None:
        """Put the host's program on PATH, which says this whatever it is asked."""
        lines = "\n".join(json.dumps(message) for message in messages)
        program = self.bin / self.host
        program.write_text(
            f"#!/bin/sh\nread line\ncat <<'END'\n{lines}\nEND\nread line\nsleep 30\n"
        )
        program.chmod(program.stat().st_mode | stat.S_IXUSR)


@pytest.fixture
def installed(host: str, open_guard: OpenGuard, hermetic_seal: Path) -> Installed:
    return Installed(host, open_guard, hermetic_seal)


@every_host
def test_after_an_installation_every_hook_is_as_installed(host: str, installed: Installed) -> None:
    health = installed.health()
    assert (health.host, health.where) == (host, str(installed.file))
    assert (health.problems, health.notes) == ((), ())
    assert f"Hooks: {host} as installed in `{installed.file}`" in _overview_text(
        installed.guard.status()
    )


@every_host
def test_a_hook_that_is_gone_or_was_changed_is_named(host: str, installed: Installed) -> None:
    again = f"run `gitguard init --host {host}` again"
    installed.change("Stop")
    assert installed.health().problems == (f"Stop missing from `{installed.file}`; {again}",)
    installed.change("PreCompact", timeout=1)
    installed.change("PreToolUse", matcher="Edit")
    _, changed = installed.health().problems
    assert changed == (
        f"changed in `{installed.file}`: PreToolUse (matcher), PreCompact (timeout); {again}"
    )
    installed.file.unlink()
    assert installed.health().problems == (f"all are missing from `{installed.file}`; {again}",)


@every_host
def test_what_cannot_be_read_is_unknown_and_never_healthy(host: str, installed: Installed) -> None:
    installed.file.write_text("{ not [ settings")
    assert "so it is unknown whether the host runs them" in installed.health().sentence


@every_host
def test_a_gitguard_that_is_gone_is_named(
    host: str, open_guard: OpenGuard, hermetic_seal: Path
) -> None:
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(hermetic_seal)}
    guard = open_guard(home=str(hermetic_seal), environment=environment)
    guard.install(host, InstallOptions("/gone/gitguard"))
    (health,) = hook_health(guard.workspace)
    assert "`/gone/gitguard` is not there" in health.sentence


@pytest.mark.parametrize(
    ("host", "file", "settings", "named"),
    [
        ("copilot", "~/.copilot/hooks/gitguard.json", {"disableAllHooks": True}, "disableAllHooks"),
        ("copilot", ".github/copilot/settings.json", {"disableAllHooks": True}, "disableAllHooks"),
        ("copilot", ".claude/settings.local.json", {"disableAllHooks": True}, "disableAllHooks"),
        ("qwen", "~/.qwen/settings.json", {"disableAllHooks": True}, "disableAllHooks"),
        ("qwen", ".qwen/settings.json", {"disableAllHooks": True}, "disableAllHooks"),
        ("droid", "~/.factory/hooks.json", {"hooksDisabled": True}, "hooksDisabled"),
        ("droid", ".factory/hooks.json", {"hooksDisabled": True}, "hooksDisabled"),
        ("droid", "~/.factory/settings.json", {"hooks": {"hooksDisabled": True}}, "hooksDisabled"),
        ("droid", ".factory/settings.json", {"hooks": {"hooksDisabled": True}}, "hooksDisabled"),
        ("codex", "~/.codex/config.toml", {"features": {"hooks": False}}, "features.hooks"),
        ("codex", ".codex/config.toml", {"features": {"hooks": False}}, "features.hooks"),
    ],
)
def test_a_setting_that_switches_hooks_off_is_named(
    file: str, settings: dict[str, Any], named: str, installed: Installed
) -> None:
    path = Path(file.replace("~", str(installed.home)))
    path = path if path.is_absolute() else installed.root / path
    path.parent.mkdir(parents=True, exist_ok=True)
    before = json.loads(path.read_text()) if path.exists() else {}
    document = {**before, **settings}
    is_toml = path.suffix == ".toml"
    path.write_text(tomlkit.dumps(document) if is_toml else json.dumps(document))
    (problem,) = installed.health().problems
    assert problem.endswith(f"{named}` in `{path}` switches them off; remove it there")


# What Codex's program says


INITIALIZED = {"id": 0, "result": {"userAgent": "gitguard/0.171.0 (Debian 12.0.0; x86_64) unknown"}}


def listed(*states: str, enabled: bool = True, errors: tuple[str, ...] = ()) -> dict[str, Any]:
    """The answer to `hooks/list`, as 0.171.0 gives it."""
    hooks = [
        {"command": "gitguard hook codex || true", "trustStatus": state, "enabled": enabled}
        for state in states
    ]
    others = [{"command": "./mine.sh", "trustStatus": "untrusted", "enabled": True}]
    problems = [{"path": "/", "message": message} for message in errors]
    return {"id": 1, "result": {"data": [{"hooks": hooks + others, "errors": problems}]}}


only_codex = pytest.mark.parametrize("host", ["codex"])


@only_codex
@pytest.mark.parametrize(
    ("answer", "trust", "problem"),
    [
        (listed("trusted", "managed"), TRUSTED, ""),
        (listed("trusted", "untrusted"), UNTRUSTED, "you have not approved 1 of 2 in Codex"),
        (listed("modified", "trusted"), "modified", "1 of 2 changed since you approved them"),
        (listed("trusted", enabled=False), OFF, "1 of 1 are switched off in Codex"),
        (listed(), OFF, "Codex lists none of them"),
    ],
    ids=["trusted", "untrusted", "modified", "disabled", "none"],
)
def test_status_says_what_the_program_says(
    installed: Installed, answer: dict[str, Any], trust: str, problem: str
) -> None:
    installed.answer({"method": "configWarning", "params": {}}, INITIALIZED, answer)
    (host,) = installed.guard.status().hosts
    assert (host.trust, host.version) == (trust, "0.171.0")
    assert problem in "".join(host.sentences)
    assert bool(problem) == bool(host.sentences)


@only_codex
def test_ensure_and_verify_say_too_that_hooks_are_not_approved(installed: Installed) -> None:
    installed.answer(INITIALIZED, listed("untrusted", "untrusted"))
    sentence = "hooks of codex: you have not approved 2 of 2 in Codex"
    notes = installed.guard.ensure().notes
    assert any(note.startswith(sentence) for note in notes)
    (report,) = installed.guard.verify()
    assert any(note.startswith(sentence) for note in report.notes)


@only_codex
@pytest.mark.parametrize(
    "messages",
    [
        (),
        ("no object",),
        (INITIALIZED, {"id": 1, "result": {"data": [{}]}}),
        (INITIALIZED, {"id": 1, "error": {"code": -32601}}),
        (INITIALIZED, listed(errors=("config.toml:1:6: unclosed array",))),
        (INITIALIZED, listed("a new word")),
    ],
    ids=["nothing", "garbage", "another shape", "refused", "broken settings", "another word"],
)
def test_what_the_program_does_not_say_is_unknown(
    installed: Installed, messages: tuple[object, ...]
) -> None:
    installed.answer(*messages)
    health = installed.health(asks=True)
    assert (health.trust, health.problems) == (UNKNOWN, ())
    assert health.notes[0].startswith("whether Codex trusts them is unknown: ")


@only_codex
def test_nobody_is_asked_where_the_program_is_not_on_path_or_a_hook_looks(
    installed: Installed,
) -> None:
    health = installed.health(asks=True)
    assert (health.trust, health.problems) == (UNKNOWN, ())
    assert health.notes == ("no `codex` is on PATH to ask whether it trusts them",)
    installed.answer(INITIALIZED, listed("untrusted"))
    (health,) = hook_health(installed.guard.workspace, "codex")
    assert (health.trust, health.problems) == (TRUSTED, ())


def test_the_text_that_codex_is_asked_to_trust_stays_the_same_across_versions() -> None:
    merged = hosts.find_installing("codex").merge({}, "/home/me/.local/bin/gitguard")
    pinned = TESTS / "payloads/codex/installed-hooks.json"
    assert merged == json.loads(pinned.read_text()), (
        "a changed text or time limit switches the hooks off until each user approves them again"
    )


def test_each_host_was_tried_with_the_version_that_its_tests_run() -> None:
    text = (TESTS / "e2e/sealed_hosts.py").read_text()
    pinned = dict(re.findall(r'fetch\("([a-z]+)-([\d.]+)"', text))
    for host in HOSTS:
        assert (pinned[host],) == hosts.find_health(host).TRIED
