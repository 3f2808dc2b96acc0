"""After the agent's process ended in a turn, `status` says what ran and what it had changed."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path

import pytest

from tests.conftest import Process, kill
from tests.support.conversation import Conversation


def write(talk: Conversation, name: str, *, ends: bool = True) -> None:
    path = talk.root / name
    call = {"tool_input": {"file_path": str(path), "content": "1\n"}, "tool_use_id": f"t{name}"}
    talk.send("PreToolUse.Write", **call)
    path.write_text("1\n")
    if ends:
        talk.send("PostToolUse.Write", **call)


@pytest.fixture
def talk(tmp_path: Path, host_process: Process) -> Conversation:
    """A conversation in a turn in which a tool wrote a file, and so did a person."""
    talk = Conversation(tmp_path, host_process=host_process.pid)
    talk.prompt("Port the parser")
    talk.guard.checkpoint("Here")
    (talk.root / "by_hand.py").write_text("1\n")
    write(talk, "parser.py")
    return talk


def test_while_the_agent_works_nothing_is_said(talk: Conversation) -> None:
    assert talk.guard.status().cut_off is None


def test_after_a_kill_exactly_the_agents_files_are_named(
    talk: Conversation, host_process: Process
) -> None:
    write(talk, "lexer.py", ends=False)
    kill(host_process)
    status = talk.guard.status()
    assert status.cut_off is not None
    assert status.cut_off.calls == ("Write lexer.py",)
    assert status.cut_off.files == ("lexer.py", "parser.py")
    here = talk.guard.log(1)[0].name
    assert status.warnings == (
        "the agent's process ended in the middle of a turn while `Write lexer.py` ran; since "
        f"{here} it changed lexer.py, parser.py, and `gitguard restore {here} --files` puts "
        "these back (--dry-run shows it)",
    )
    chosen = talk.guard.files.plan(here).chosen
    assert [file.path for file in chosen] == ["lexer.py", "parser.py"]


def test_after_a_turn_that_ended_a_kill_is_nothing(
    talk: Conversation, host_process: Process
) -> None:
    talk.send("Stop", last_assistant_message="Done.")
    kill(host_process)
    assert talk.guard.status().cut_off is None


def test_once_another_conversation_goes_on_nothing_is_said(
    talk: Conversation, host_process: Process
) -> None:
    kill(host_process)
    talk.clock.pass_by(10)
    talk.beside("S2").prompt("Where were we?")
    assert talk.guard.status().cut_off is None


def test_of_a_host_whose_process_is_not_known_nothing_is_said(tmp_path: Path) -> None:
    talk = Conversation(tmp_path)
    talk.prompt("Port the parser")
    assert talk.guard.status().cut_off is None


def test_a_program_that_lives_as_long_as_one_hook_is_not_taken_for_the_host(
    talk: Conversation, host_process: Process
) -> None:
    talk.send("Stop", last_assistant_message="Done.")
    with subprocess.Popen(["sleep", "600"]) as wrapper:
        time.sleep(0.5)
        Conversation(talk.root.parent, clock=talk.clock, host_process=wrapper.pid).prompt("Go on")
        kill(wrapper)
    assert talk.guard.status().cut_off is None


def test_what_a_turn_changed_counts_from_before_it_and_not_from_within(
    talk: Conversation, host_process: Process
) -> None:
    here = talk.guard.log(1)[0].name
    talk.clock.pass_by(60)
    talk.send("Stop", last_assistant_message="Done.")
    talk.clock.pass_by(60)
    talk.prompt("Clean up")
    talk.clock.pass_by(60)
    write(talk, "lexer.py")
    talk.bash("rm -rf build old", tool_use_id="toolu_rm")
    before_rm = talk.guard.log(1)[0]
    assert before_rm.trigger == "before-destructive"
    kill(host_process)
    cut_off = talk.guard.status().cut_off
    assert cut_off is not None
    assert cut_off.since not in (here, before_rm.name)
    assert cut_off.files == ("lexer.py",)
    assert cut_off.within == (before_rm.name,)
