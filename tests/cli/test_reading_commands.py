"""A question is no change: what only asks or reads leaves the workspace and its history alone."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner, Result

from gitguard.cli.app import app
from tests.support.conversation import Conversation
from tests.support.staged import made_in, staged

READING = (
    "at HEAD",
    "bundle",
    "completion bash",
    "config advise claude-code",
    "config advise pi --pattern bursty",
    "diff 1",
    "handoff read",
    "log",
    "log HEAD..",
    "policy brief Test",
    "policy show",
    "policy spawn --category research",
    "policy spawn --tool-calls 8 --pressure 0.6",
    "profile TRANSCRIPT",
    "profile --history",
    "resume",
    "report",
    "scan",
    "search mend",
    "search mend --untrusted",
    "session list",
    "session tasks",
    "session show",
    "show state",
    "show snapshot",
    "show summary 1",
    "status",
    "transcript budget TRANSCRIPT",
    "transcript export TRANSCRIPT",
    "transcript show TRANSCRIPT",
    "transcript usage TRANSCRIPT",
    "trust list",
    "verify",
    "verify --all",
    "why touched.py",
    "why touched.py:1",
)
PREVIEWS = (
    "repair --dry-run",
    "restore 1 --dry-run",
    "transcript prune TRANSCRIPT --dry-run",
    "transcript repair TRANSCRIPT --dry-run",
    "uninstall --dry-run",
)
WRITING = {
    *("checkpoint", "config rollback", "ensure", "gate", "handoff clear"),
    "handoff take",
    *("handoff write", "hook", "init", "note", "override", "pin", "publish", "purge"),
    *("repair", "restore", "session close", "session fork", "session maintain", "session reopen"),
    *("session use", "settle", "sync", "transcript compact", "transcript import"),
    *("transcript prune", "trust add", "trust remove"),
    *("transcript repair", "uninstall", "update"),
}


def begin_talk(folder: Path) -> Conversation:
    for host in ("claude", "pi"):
        (folder / host).write_text("#!/bin/sh\necho 2.1.100\n")
        (folder / host).chmod(0o755)
    talk = Conversation(folder)
    (talk.root / "memory").mkdir()
    for name in ("memory/today.md", "staged.py", "touched.py"):
        (talk.root / name).write_text(f"{name}\n")
    talk.git("add", "memory", "touched.py")
    talk.git("commit", "--quiet", "--message", "second")
    talk.git("add", "staged.py")
    talk.prompt("Find the bug")
    talk.bash("make test")
    talk.uses(40_000)
    talk.guard.note({"goal": "Mend it", "next_action": "Read the log"})
    talk.guard.checkpoint("Before the question")
    os.utime(talk.root / "touched.py", (1, 1))  # whoever refreshes the index writes it
    return talk


tmp_path = staged(talk=begin_talk)


@pytest.fixture
def talk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A session with a log of the day, a dirty index, staged work and a transcript."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    return made_in(tmp_path)


def ran(talk: Conversation, command: str) -> Result:
    folder = talk.root.parent
    environment = {
        "GITGUARD_STATE_DIR": str(folder / "state"),
        "GITGUARD_CONFIG_DIR": str(folder / "config"),
    }
    transcript = f"{talk.transcript} --format claude-code"
    words = command.replace("TRANSCRIPT", transcript).split()
    return CliRunner().invoke(app, ["--root", str(talk.root), *words], env=environment)


def contents(talk: Conversation) -> dict[str, object]:
    """Return every file, folder and link of worktree and git directory; a lock's file is empty."""
    paths = [path for path in talk.root.rglob("*") if path.suffix != ".lock"]
    return {
        str(path): os.readlink(path)
        if path.is_symlink()
        else (path.read_bytes(), path.stat().st_mtime_ns)
        if path.is_file()
        else "folder"
        for path in (*paths, talk.transcript)
    }


@pytest.mark.parametrize("command", [*READING, *PREVIEWS])
def test_what_only_asks_or_reads_writes_nothing_in_the_workspace(
    talk: Conversation, command: str
) -> None:
    before, refs = contents(talk), talk.git("for-each-ref")
    result = ran(talk, command)
    finds_nothing = command.startswith("why")  # no work of the agent's is in that file
    assert result.exit_code == int(finds_nothing), result.output
    assert talk.git("for-each-ref") == refs
    assert contents(talk) == before


def commands_of(command: click.Command, name: str = "") -> Iterator[str]:
    """Yield the names of all commands."""
    if not isinstance(command, click.Group):
        yield name
        return
    context = click.Context(command)
    for each in command.list_commands(context):
        inner = command.get_command(context, each)
        assert inner is not None
        yield from commands_of(inner, f"{name} {each}".strip())


def test_every_command_is_either_one_that_writes_or_tried_as_one_that_does_not() -> None:
    names = set(commands_of(app))
    tried = {name for name in names for command in READING if f"{command} ".startswith(f"{name} ")}
    assert tried | WRITING == names
    assert not tried & WRITING
