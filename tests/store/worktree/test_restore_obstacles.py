"""While git is in the middle of something or somebody writes, no file is put back unasked."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from gitguard.errors import Busy
from gitguard.sessions.file_restore import FilePlan
from gitguard.store.session.workspace import Session
from tests.conftest import Process, kill
from tests.support.conversation import Conversation


@pytest.fixture
def talk(tmp_path: Path, host_process: Process) -> Conversation:
    """A conversation that is over, after which a file changed."""
    talk = Conversation(tmp_path, host_process=host_process.pid)
    talk.prompt("Port the parser")
    (talk.root / "parser.py").write_text("1\n")
    talk.send("Stop", last_assistant_message="Done.")
    talk.guard.checkpoint("Here")
    (talk.root / "parser.py").write_text("2\n")
    return talk


def plan_of(talk: Conversation) -> FilePlan:
    here = next(c for c in talk.guard.log(10) if c.why == "Here")
    return talk.guard.files.plan(here.name, theirs_too=True)


def refusal_of(talk: Conversation, plan: FilePlan) -> str:
    """Return why a plan is not carried out; nothing changed, and the plan said it already."""
    with pytest.raises(Busy) as caught:
        talk.guard.files.restore(plan)
    assert plan.obstacle is not None
    assert plan.obstacle.reason in caught.value.message
    assert (talk.root / "parser.py").read_text() == "2\n"
    return caught.value.message


@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("MERGE_HEAD", "a merge is in progress"),
        ("rebase-merge", "a rebase is in progress"),
        ("rebase-apply", "a rebase is in progress"),
        ("CHERRY_PICK_HEAD", "a cherry-pick is in progress"),
        ("REVERT_HEAD", "a revert is in progress"),
        ("BISECT_LOG", "a bisect is in progress"),
        ("index.lock", "git is at work"),
    ],
)
def test_while_git_is_in_the_middle_of_something_nothing_is_put_back(
    talk: Conversation, name: str, what: str
) -> None:
    (talk.root / ".git" / name).write_text("")
    plan = plan_of(talk)
    assert what in refusal_of(talk, plan)
    talk.guard.files.restore(plan, force=True)
    assert (talk.root / "parser.py").read_text() == "1\n"


def test_while_conflicts_of_a_stash_are_not_resolved_nothing_is_put_back(
    talk: Conversation,
) -> None:
    git = talk.git
    git("add", "parser.py")
    git("commit", "--quiet", "--message", "Parser")
    (talk.root / "parser.py").write_text("stashed\n")
    git("stash")
    (talk.root / "parser.py").write_text("committed\n")
    git("commit", "--quiet", "--all", "--message", "Other parser")
    with pytest.raises(subprocess.CalledProcessError):
        git("stash", "pop")
    plan = plan_of(talk)
    assert plan.obstacle is not None
    assert plan.obstacle.reason == "git has left conflicts in parser.py"
    git("checkout", "--ours", "parser.py")
    git("add", "parser.py")
    assert plan_of(talk).obstacle is None


def test_while_git_is_in_the_middle_of_something_nothing_is_undone(talk: Conversation) -> None:
    talk.guard.files.restore(plan_of(talk))
    (talk.root / ".git" / "MERGE_HEAD").write_text("")
    undo = talk.guard.files.plan_undo()
    assert undo.obstacle is not None
    with pytest.raises(Busy, match="a merge is in progress"):
        talk.guard.files.restore(undo)


def test_while_an_agent_is_in_a_turn_nothing_is_put_back(
    talk: Conversation, host_process: Process
) -> None:
    talk.prompt("Go on")
    message = refusal_of(talk, plan_of(talk))
    assert (
        f"an agent's turn has not ended in this worktree: `sleep` (process {host_process.pid})"
        in message
    )
    talk.send("Stop", last_assistant_message="Done.")
    talk.guard.files.restore(plan_of(talk))


def test_after_the_user_interrupted_the_turn_files_are_put_back_until_the_next_one_begins(
    talk: Conversation,
) -> None:
    talk.prompt("Go on")
    talk.bash("make", tool_use_id="toolu_stopped")
    talk.is_interrupted("toolu_stopped")
    assert plan_of(talk).obstacle is None
    talk.prompt("Now differently")
    assert plan_of(talk).obstacle is not None


def test_the_first_turn_of_a_conversation_that_goes_on_in_another_process_counts(
    talk: Conversation, tmp_path: Path
) -> None:
    with subprocess.Popen(["sleep", "600"]) as later:
        time.sleep(0.4)  # a younger process may have been started for the hook alone
        again = Conversation(tmp_path, clock=talk.clock, host_process=later.pid)
        again.send("SessionStart.resume")
        again.prompt("Go on")
        plan = plan_of(again)
        kill(later)
    assert plan.obstacle is not None
    assert f"process {later.pid}" in plan.obstacle.reason
    assert plan_of(again).obstacle is None
    assert again.guard.status().cut_off is not None


def test_an_agent_of_another_session_counts_too(talk: Conversation, host_process: Process) -> None:
    talk.prompt("Go on")
    talk.guard.sessions.use(Session.of("another"))
    talk.guard.ensure()
    talk.guard.checkpoint("Here")
    (talk.root / "parser.py").write_text("3\n")
    plan = plan_of(talk)
    assert plan.obstacle is not None
    assert str(host_process.pid) in plan.obstacle.reason


def test_after_an_agent_was_killed_in_its_turn_files_are_put_back(
    talk: Conversation, host_process: Process
) -> None:
    talk.prompt("Go on")
    kill(host_process)
    plan = plan_of(talk)
    assert plan.obstacle is None
    talk.guard.files.restore(plan)
    assert (talk.root / "parser.py").read_text() == "1\n"


def test_a_shell_between_host_and_hook_is_not_taken_for_the_host(tmp_path: Path) -> None:
    ask = (
        "import os; from gitguard.store.disk.processes import program_above;"
        "print(program_above(os.getppid()), flush=True)"
    )
    script = f"bash -c '{sys.executable} -c \"$ASK\"; true'; true"
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            f"import os, subprocess; print(os.getpid(), flush=True);"
            f"subprocess.run(['sh', '-c', {script!r}])",
        ],
        env={"ASK": ask, "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(__file__).parents[3],
    )
    host, above = done.stdout.split()
    assert above == host


@pytest.mark.parametrize("mode", ["ab", "r+b", "rb"])
def test_a_file_that_somebody_has_open_for_writing_is_left_alone(
    talk: Conversation, mode: str
) -> None:
    path = talk.root / "parser.py"
    holding = (
        f"handle = open({str(path)!r}, {mode!r}); print(flush=True); import time; time.sleep(600)"
    )
    with subprocess.Popen([sys.executable, "-c", holding], stdout=subprocess.PIPE) as writer:
        assert writer.stdout is not None
        writer.stdout.readline()
        plan = plan_of(talk)
        try:
            if mode == "rb":
                assert plan.obstacle is None
            else:
                assert f"parser.py by process {writer.pid}" in refusal_of(talk, plan)
        finally:
            writer.kill()
    talk.guard.files.restore(plan_of(talk))
    assert path.read_text() == "1\n"
