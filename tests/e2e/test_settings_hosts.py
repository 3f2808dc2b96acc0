"""Advice on the settings of other real hosts: they read what was changed, and all comes back."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gitguard.hosts.adviser import find_adviser

from .claude_code import SealedClaude
from .conftest import installed
from .guarded import COMMAND, gitguard, gitguard_json
from .repository import git
from .scripted_model import Kind, ScriptedModel, Step, bash
from .sealed_hosts import Sealed, codex, gemini, opencode, pi

NOWHERE = "http://127.0.0.1:9"


def on_path(sealed: Sealed, name: str, bin_dir: Path) -> dict[str, str]:
    """Put the host's command and ours on the sealed PATH; return that environment."""
    wrapper = bin_dir / name
    wrapper.write_text("#!/bin/sh\nexec " + " ".join(sealed.command) + ' "$@"\n')
    wrapper.chmod(0o755)
    (bin_dir / "gitguard").symlink_to(COMMAND)
    return {**sealed.env, "PATH": os.pathsep.join((str(bin_dir), sealed.env["PATH"]))}


Host = Callable[[Path, Path, str], Sealed]
CASES: list[tuple[str, Host, str, str, dict[str, str]]] = [
    (
        "codex",
        codex,
        "0.171.0",
        ".codex/config.toml",
        {"model_auto_compact_token_limit": "70000"},
    ),
    ("gemini", gemini, "", ".gemini/settings.json", {"model.compressionThreshold": "0.7"}),
    (
        "pi",
        pi,
        "1.5.0",
        ".pi/agent/settings.json",
        {"compaction.reserveTokens": "12000", "compaction.keepRecentTokens": "2000"},
    ),
]


@pytest.mark.parametrize(("name", "host", "version", "file", "expected"), CASES)
def test_the_file_that_the_host_reads_is_changed_and_comes_back_byte_for_byte(
    repo: Path,
    bin_dir: Path,
    tmp_path: Path,
    name: str,
    host: Host,
    version: str,
    file: str,
    expected: dict[str, str],
) -> None:
    sealed = installed(host, tmp_path / "home", repo, NOWHERE)
    env = on_path(sealed, name, bin_dir)
    path = sealed.home / file
    before = path.read_bytes()
    command = ("config", "advise", name, "--pattern", "tool-heavy", "--apply", "--yes")
    done = gitguard_json(*command, cwd=repo, env=env)
    assert (done["version"], done["file"]) == (version, str(path))
    assert {one["key"]: one["after"] for one in done["changes"]} == expected
    assert path.read_bytes() != before
    gitguard("config", "rollback", name, "--yes", cwd=repo, env=env)
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("name", "host", "window"),
    [("codex", codex, "100,000"), ("gemini", gemini, "1,048,576"), ("pi", pi, "40,000")],
)
def test_a_window_that_the_host_itself_does_not_work_with_is_refused(
    repo: Path, bin_dir: Path, tmp_path: Path, name: str, host: Host, window: str
) -> None:
    env = on_path(installed(host, tmp_path / "home", repo, NOWHERE), name, bin_dir)
    command = ("config", "advise", name, "--window", "200000")
    said = gitguard_json(*command, cwd=repo, env=env, check=False)["error"]
    assert said["exit_code"] == 23
    assert "`--window 200000`" in said["message"]
    assert f"works with {window} tokens" in said["message"]


@pytest.mark.parametrize(
    ("name", "host", "file"),
    [("gemini", gemini, ".gemini/settings.json"), ("pi", pi, ".pi/agent/settings.json")],
)
def test_the_command_that_shows_whether_all_is_well_names_what_the_host_cannot_read(
    repo: Path, tmp_path: Path, name: str, host: Host, file: str
) -> None:
    sealed = installed(host, tmp_path / "home", repo, NOWHERE)
    (command,) = find_adviser(name).UNDO.health
    arguments = command.split()[1:]

    def says_it() -> bool:
        run = Sealed.run(sealed, *arguments)
        return "in JSON at position" in run.stdout + run.stderr

    assert not says_it()
    (sealed.home / file).write_text('{"a": 1')
    assert says_it()


def test_codex_without_a_file_gets_one_in_its_own_folder(
    repo: Path, bin_dir: Path, tmp_path: Path
) -> None:
    sealed = installed(codex, tmp_path / "home", repo, NOWHERE)
    env = on_path(sealed, "codex", bin_dir)
    path = sealed.home / ".codex/config.toml"
    path.unlink()
    command = ("config", "advise", "codex", "--pattern", "mixed", "--window", "200000")
    done = gitguard_json(*command, "--apply", "--yes", cwd=repo, env=env)
    assert (done["file"], done["backup"]) == (str(path), "")
    assert path.read_text() == "model_auto_compact_token_limit = 150000\n"
    assert git(repo, "status", "--porcelain", "--untracked-files=all") == ""
    gitguard("config", "rollback", "codex", "--yes", cwd=repo, env=env)
    assert not path.exists()


def test_codex_itself_says_what_it_does_not_read(repo: Path, bin_dir: Path, tmp_path: Path) -> None:
    sealed = installed(codex, tmp_path / "home", repo, NOWHERE)
    env = on_path(sealed, "codex", bin_dir)
    path = sealed.home / ".codex/config.toml"
    path.write_text(path.read_text().replace("= 80000", '= "many"'))
    said = gitguard_json("config", "advise", "codex", cwd=repo, env=env, check=False)
    assert "expected i64" in said["error"]["message"]


def test_opencode_itself_resolves_what_was_applied(
    repo: Path, bin_dir: Path, tmp_path: Path
) -> None:
    sealed = installed(opencode, tmp_path / "home", repo, NOWHERE)
    env = on_path(sealed, "opencode", bin_dir)
    project = repo / "opencode.json"
    config = json.loads(project.read_text())
    del config["compaction"]
    project.write_text(json.dumps(config))
    own = sealed.home / ".config/opencode/opencode.jsonc"
    own.parent.mkdir(parents=True, exist_ok=True)
    own.write_text('{\n  // mine\n  "compaction": {"prune": false},\n}\n')
    before = own.read_bytes()
    command = ("config", "advise", "opencode", "--pattern", "tool-heavy", "--window", "200000")
    done = gitguard_json(*command, "--apply", "--yes", cwd=repo, env=env)
    assert (done["file"], done["checked_by"]) == (str(own), "opencode debug config")
    assert "// mine" in own.read_text()
    resolved: dict[str, Any] = json.loads(sealed.run("debug", "config").stdout)
    assert resolved["compaction"] == {
        "prune": True,
        "tail_turns": 1,
        "preserve_recent_tokens": 10_000,
    }
    gitguard("config", "rollback", "opencode", "--yes", cwd=repo, env=env)
    assert own.read_bytes() == before


@pytest.mark.parametrize(
    ("variables", "tokens", "compactions"),
    [
        ({}, 149_000, 0),
        ({}, 151_000, 1),
        ({"CLAUDE_AUTOCOMPACT_PCT_OVERRIDE": "50"}, 81_000, 0),
        ({"CLAUDE_AUTOCOMPACT_PCT_OVERRIDE": "50"}, 82_000, 1),
        ({"CLAUDE_CODE_MAX_OUTPUT_TOKENS": "8000"}, 149_000, 0),
        ({"CLAUDE_CODE_MAX_OUTPUT_TOKENS": "8000"}, 151_000, 1),
    ],
)
def test_claude_code_compacts_where_the_advice_says(
    claude: SealedClaude,
    model: ScriptedModel,
    repo: Path,
    bin_dir: Path,
    variables: dict[str, str],
    tokens: int,
    compactions: int,
) -> None:
    claude = replace(claude, extra_env={**claude.extra_env, **variables})
    (bin_dir / "claude").symlink_to(claude.binary)
    command = ("config", "advise", "claude-code", "--pattern", "mixed", "--window", "200000")
    done = gitguard_json(*command, "--apply", "--yes", cwd=repo, env=claude.env)
    assert done["version"] == "2.1.330"
    at = "81,500" if "CLAUDE_AUTOCOMPACT_PCT_OVERRIDE" in variables else "150,000"
    practice = f"Claude Code compacts before the next request once {at} of 200,000 tokens"
    assert done["changes"][0]["practice"].startswith(practice)
    assert git(repo, "status", "--porcelain", "--untracked-files=all") == ""
    model.script(Step("one", (bash("echo one"),), input_tokens=50_000))
    model.script(Step("two", (bash("echo two"),), input_tokens=tokens))
    model.script(Step("three", input_tokens=10_000))
    assert claude.run("go", model="claude-haiku-4-5").text == "three"
    assert len(model.requests(Kind.COMPACTION)) == compactions


@pytest.mark.parametrize(
    ("switch", "settings"),
    [
        ("DISABLE_AUTO_COMPACT", {"env": {"DISABLE_AUTO_COMPACT": "1"}}),
        ("DISABLE_COMPACT", {"env": {"DISABLE_COMPACT": "1"}}),
        ("autoCompactEnabled", {"autoCompactEnabled": False}),
    ],
)
def test_claude_code_that_does_not_compact_by_itself_gets_no_advice_on_when(
    claude: SealedClaude,
    model: ScriptedModel,
    repo: Path,
    bin_dir: Path,
    switch: str,
    settings: dict[str, object],
) -> None:
    (bin_dir / "claude").symlink_to(claude.binary)
    command = ("config", "advise", "claude-code", "--pattern", "tool-heavy", "--window", "200000")
    gitguard_json(*command, "--apply", "--yes", cwd=repo, env=claude.env)
    own = claude.home / ".claude/settings.json"
    own.parent.mkdir(exist_ok=True)
    own.write_text(json.dumps(settings))
    said = gitguard_json(*command, cwd=repo, env=claude.env)
    assert (said["changes"], said["right"]) == ([], [])
    assert f"it does not compact by itself (`{switch}`), and that stays so" in said["notes"]
    model.script(Step("one", (bash("echo one"),), input_tokens=50_000))
    model.script(Step("two", (bash("echo two"),), input_tokens=151_000))
    model.script(Step("three", input_tokens=10_000))
    assert claude.run("go", model="claude-haiku-4-5").text == "three"
    assert model.requests(Kind.COMPACTION) == []
