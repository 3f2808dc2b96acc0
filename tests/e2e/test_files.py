"""Files that an agent of the real hosts wrote and destroyed come back, to the last byte."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.support.waiting import wait_until

from .guarded import Guarded
from .guarded_openclaw import GuardedOpenClaw, Guarding, kill_in_its_turn, shell
from .openclaw import MAIN_KEY
from .scripted_model import ScriptedModel, Step, ToolCall, bash, write
from .sealing import kill_group

Files = dict[str, bytes]
DESTROY = "git reset --hard --quiet && git clean -fdq -e .gitguard -e .claude && touch started"


def files_of(repo: Path) -> Files:
    """Return what a user would miss: all files but git's, the host's and ours."""
    not_theirs = (".git", ".gitguard", ".claude", ".openclaw", "started")
    paths = (path for path in repo.rglob("*") if path.is_file())
    named = {path.relative_to(repo).as_posix(): path for path in paths}
    return {n: p.read_bytes() for n, p in named.items() if n.split("/")[0] not in not_theirs}


def bring_back(run: Callable[..., str], log: Callable[..., dict[str, object]], repo: Path) -> None:
    """Put back what was there before the destruction, and hold restore and undo to every byte."""
    (repo / "started").unlink()
    destroyed = files_of(repo)
    assert "parser.py" not in destroyed
    checkpoints = log("log", "--most", "50")["checkpoints"]
    assert isinstance(checkpoints, list)
    newest = next(c for c in checkpoints if c["trigger"] == "before-destructive")
    name = f"cp_{newest['sequence']:03d}"
    status = run("status")
    assert "process ended in the middle of a turn while" in status
    assert f"what lay there before it destroyed something is in {name}" in status
    run("restore", name, "--files", "--yes")
    restored = files_of(repo)
    assert restored["parser.py"] == b"def parse(): ...\n"
    assert b"sed was here" in restored["README.md"]
    assert restored["by-hand.txt"] == b"a person's\n"
    run("restore", "--undo", "--yes")
    assert files_of(repo) == destroyed
    run("restore", "--undo", "--yes")
    assert files_of(repo) == restored


def refuses_meanwhile(run: Callable[..., str]) -> None:
    """While the agent works, nothing is put back, and `status` does not take it for dead."""
    assert "process ended" not in run("status")
    shown = run("restore", "1", "--files", "--theirs-too", "--dry-run")
    assert "Not now: an agent's turn has not ended in this worktree" in shown


@pytest.mark.essential
def test_claude_code_is_killed_after_it_destroyed_files(
    guarded: Guarded, model: ScriptedModel
) -> None:
    repo = guarded.repo
    (repo / "by-hand.txt").write_bytes(b"a person's\n")
    model.script(
        Step("I write it.", (write(repo / "parser.py", "def parse(): ...\n"),)),
        Step("I edit it.", (bash("sed -i '1s/$/ sed was here/' README.md"),)),
        Step("I clean up.", (bash(f"{DESTROY}; sleep 60"),)),
    )
    process = guarded.claude.start("Write the parser")
    wait_until((repo / "started").exists)
    refuses_meanwhile(guarded.run)
    kill_group(process)
    guarded.claude.end_leftovers()
    bring_back(guarded.run, guarded.json, repo)
    assert guarded.faults() == []


def test_what_claude_code_did_until_escape_was_pressed_is_put_back_at_once(
    guarded: Guarded, model: ScriptedModel
) -> None:
    repo = guarded.repo
    before = files_of(repo)
    model.script(Step("I edit it.", (bash("echo oops > README.md; touch started; sleep 60"),)))
    with guarded.claude.interactive() as terminal:
        terminal.wait_for("❯")
        terminal.submit("Edit the readme")
        wait_until((repo / "started").exists)
        refuses_meanwhile(guarded.run)
        terminal.send_keys("Escape")
        terminal.wait_for("Interrupted")
        wait_until(lambda: "Not now" not in guarded.run("restore", "1", "--files", "--dry-run"))
        guarded.run("restore", "1", "--files", "--yes")
        assert files_of(repo) == before
        guarded.run("restore", "--undo", "--yes")
        assert (repo / "README.md").read_text() == "oops\n"
        guarded.run("restore", "--undo", "--yes")
        model.script(Step("I see."))
        terminal.submit("Do it differently")
        terminal.wait_for("I see.")
    assert files_of(repo) == before
    exchanges = guarded.state()["exchanges"]
    assert not [e for e in exchanges if e.get("settles", "").startswith("Bash")], exchanges
    assert guarded.faults() == []


@pytest.fixture
def guarded_gateway(guard_openclaw: Guarding) -> Iterator[GuardedOpenClaw]:
    with guard_openclaw() as guarded:
        guarded.openclaw.start_gateway()
        yield guarded


def test_openclaw_is_killed_after_it_destroyed_files(
    guarded_gateway: GuardedOpenClaw, model: ScriptedModel
) -> None:
    guarded, repo = guarded_gateway, guarded_gateway.repo
    (repo / "by-hand.txt").write_bytes(b"a person's\n")
    call = ToolCall("write", {"path": "parser.py", "content": "def parse(): ...\n"})
    model.script(
        Step("I write it.", (call,)),
        Step("I edit it.", (shell("sed -i '1s/$/ sed was here/' README.md"),)),
        Step("I clean up.", (shell(f"{DESTROY}; sleep 60"),)),
    )

    def run(*args: str) -> str:
        return guarded.run("--session", MAIN_KEY, *args)

    kill_in_its_turn(guarded, "Write the parser", lambda: refuses_meanwhile(run))
    bring_back(run, guarded.json, repo)


def test_what_openclaw_did_until_it_was_stopped_is_put_back_at_once(
    guarded_gateway: GuardedOpenClaw, model: ScriptedModel
) -> None:
    guarded, repo = guarded_gateway, guarded_gateway.repo
    before = (repo / "README.md").read_bytes()
    # By default it lets a command go on in the background after ten seconds.
    command = {"command": "echo oops > README.md; touch started; sleep 60", "yieldMs": 100_000}
    model.script(Step("I edit it.", (ToolCall("exec", command),)))
    words = {"message": "Edit the readme", "idempotencyKey": "edit"}
    guarded.openclaw.call("chat.send", {"sessionKey": MAIN_KEY, **words})

    def run(*args: str) -> str:
        return guarded.run("--session", MAIN_KEY, *args)

    wait_until((repo / "started").exists, seconds=60)
    refuses_meanwhile(run)
    assert guarded.openclaw.call("chat.abort", {"sessionKey": MAIN_KEY})["aborted"]
    wait_until(lambda: "Not now" not in run("restore", "1", "--files", "--dry-run"))
    run("restore", "1", "--files", "--yes")
    assert (repo / "README.md").read_bytes() == before
    assert not (repo / "started").exists()
    assert guarded.faults() == []
