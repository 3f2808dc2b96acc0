"""What `gitguard init` sets up works in the real Claude Code."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from .claude_code import SealedClaude
from .guarded import Guarded
from .repository import git
from .scripted_model import Kind, ScriptedModel, Step, bash, write


def status(repo: Path) -> str:
    return git(repo, "status", "--porcelain", "--untracked-files=all")


def journal(repo: Path) -> list[dict[str, Any]]:
    files = (repo / ".gitguard" / "sessions").glob("*/journal*.jsonl")
    lines = [json.loads(line) for file in files for line in file.read_text().splitlines()]
    return [line for line in lines if "event" in line]


def triggers(repo: Path) -> list[str]:
    form = "--format=%(trailers:key=Gitguard-Trigger,valueonly,separator=%x20)"
    return git(repo, "log", form, "gitguard/main").split()


@pytest.mark.essential
def test_after_init_the_hooks_run_and_git_status_is_clean(
    claude: SealedClaude, model: ScriptedModel, repo: Path
) -> None:
    Guarded(claude).run("init")
    assert status(repo) == ""
    model.script(Step("writing", (write(repo / "a.txt", "a\n"),)), Step("done"))

    assert claude.run("write a.txt").text == "done"

    events = [(entry["event"], entry.get("tool", "")) for entry in journal(repo)]
    assert ("tool-start", "Write") in events
    assert ("tool-end", "Write") in events
    assert Guarded(claude).faults() == []
    assert status(repo) == "?? a.txt\n"
    assert "turn-end" in triggers(repo)


@pytest.mark.essential
def test_a_repository_without_gitguard_on_the_machine_is_not_disturbed(
    claude: SealedClaude, model: ScriptedModel, repo: Path
) -> None:
    Guarded(claude).run("init", "--shared")
    model.script(Step("running", (bash("true"),)), Step("done"))

    run = claude.run("go")

    assert (run.text, run.terminal_reason) == ("done", "completed")
    assert journal(repo) == []


@pytest.mark.essential
def test_uninstalled_the_host_runs_without_us(
    claude: SealedClaude, model: ScriptedModel, repo: Path
) -> None:
    Guarded(claude).run("init")
    Guarded(claude).run("uninstall")
    model.script(Step("running", (bash("true"),)), Step("done"))

    assert claude.run("go").text == "done"

    assert journal(repo) == []
    assert status(repo) == ""


@pytest.mark.parametrize(
    ("name", "tokens", "compactions"),
    [
        ("claude-haiku-4-5", 160_000, 0),
        ("claude-haiku-4-5", 169_900, 1),
        ("claude-opus-5-5", 800_000, 0),
        ("claude-opus-5-5", 849_000, 1),
    ],
)
def test_the_host_compacts_by_itself_between_80_and_85_percent(
    claude: SealedClaude,
    model: ScriptedModel,
    repo: Path,
    name: str,
    tokens: int,
    compactions: int,
) -> None:
    Guarded(claude).run("init")
    model.script(Step("one", (bash("echo one"),), input_tokens=50_000))
    model.script(Step("two", (bash("echo two"),), input_tokens=tokens))
    model.script(Step("three", input_tokens=10_000))

    run = claude.run("go", model=name)

    assert run.text == "three"
    assert len(model.requests(Kind.COMPACTION)) == compactions
    assert triggers(repo).count("compaction") == compactions
    assert "halt" not in triggers(repo)
    assert Guarded(claude).faults() == []


def test_declined_the_host_does_not_compact(
    claude: SealedClaude, model: ScriptedModel, repo: Path
) -> None:
    Guarded(claude).run("init", "--no-compaction-trigger")
    model.script(Step("one", (bash("echo one"),), input_tokens=50_000))
    model.script(Step("two", input_tokens=169_900))

    claude.run("go")

    assert model.requests(Kind.COMPACTION) == []


def init_beside_status_line(claude: SealedClaude, command: str) -> None:
    """Install for a user who has a status line of their own in all projects."""
    user = claude.home / ".claude" / "settings.json"
    user.parent.mkdir(parents=True, exist_ok=True)
    own = {"type": "command", "command": command}
    user.write_text(json.dumps({"statusLine": own}), encoding="utf-8")
    Guarded(claude).run("init")


def test_the_status_line_shows_the_gauge_below_the_users_own(
    claude: SealedClaude, model: ScriptedModel, repo: Path
) -> None:
    init_beside_status_line(claude, "printf 'MY OWN LINE\\nAND ANOTHER'; cat > /dev/null")
    model.script(Step("ANSWERED", input_tokens=60_000))

    with claude.interactive() as terminal:
        terminal.wait_for("MY OWN LINE")
        terminal.submit("hello")
        terminal.wait_for("ANSWERED")
        screen = terminal.wait_for("30%")

    lines = [line.strip() for line in screen.splitlines()]
    first = next(i for i, line in enumerate(lines) if "MY OWN LINE" in line)
    assert "AND ANOTHER" in lines[first + 1]
    assert "30%" in lines[first + 2]
    assert Guarded(claude).faults() == []
    assert status(repo) == ""


def test_a_slow_status_line_of_the_users_does_not_hide_ours(
    claude: SealedClaude, model: ScriptedModel
) -> None:
    init_beside_status_line(claude, "sleep 600; echo TOO LATE")
    model.script(Step("ANSWERED", input_tokens=60_000))

    with claude.interactive() as terminal:
        terminal.wait_for("❯")
        terminal.submit("hello")
        terminal.wait_for("ANSWERED")
        terminal.wait_for("30%", timeout=30)
