"""Two conversations in one checkout: whose memory, task, words and files are whose."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gitguard.guard.review import Reviews
from tests.conftest import Process, kill
from tests.support.conversation import BLOCK, Conversation

LINE = (
    "[gitguard: another conversation works in this checkout at “Write a.txt carefully”. It runs "
    "`Bash: sleep 1000`. A request here begins a task of its own.]"
)
MAY_BE = "Another conversation may be at this"


def begins_a_command(talk: Conversation) -> None:
    """A turn in which the agent notes what it is at, and then runs a command."""
    talk.prompt("Write a.txt with one line")
    notes = {
        "goal": "Write a.txt carefully",
        "next_action": "Check a.txt",
        "constraints": ["ASCII"],
    }
    talk.guard.note(notes, host_session=talk.session)
    talk.bash("sleep 1000", tool_use_id="toolu_sleep")


def writes(talk: Conversation, name: str) -> None:
    path = talk.root / name
    call = {"tool_input": {"file_path": str(path), "content": name}, "tool_use_id": f"t-{name}"}
    talk.send("PreToolUse.Write", **call)
    path.write_text(name)
    talk.send("PostToolUse.Write", **call)


@pytest.fixture
def talk(tmp_path: Path, host_process: Process) -> Conversation:
    """A conversation that runs a command, in a process that lives."""
    talk = Conversation(tmp_path, host_process=host_process.pid)
    begins_a_command(talk)
    return talk


@pytest.fixture
def other(talk: Conversation) -> Conversation:
    return talk.beside("S2", os.getpid())


def test_beside_a_running_command_a_conversation_gets_one_line_and_no_block(
    talk: Conversation, other: Conversation
) -> None:
    assert other.prompt("Write b.txt with two lines") == LINE
    assert other.prompt("Go on") == ""
    ended = {"tool_input": {"command": "sleep 1000"}, "tool_use_id": "toolu_sleep"}
    assert talk.send("PostToolUse.Bash", **ended) == {}
    assert [failure.what for failure in talk.guard.state().failed_attempts] == []
    assert talk.faults() == []


def test_beside_a_noted_goal_a_conversation_begins_a_task_of_its_own(
    talk: Conversation, other: Conversation
) -> None:
    other.prompt("hi")
    other.prompt("Write b.txt with two lines")
    state = talk.guard.state()
    assert (state.goal, state.next_action) == ("Write b.txt with two lines",) * 2
    assert state.goal_from is not None
    assert state.goal_from.conversation == "S2"
    assert [task.goal for task in state.earlier] == ["Write a.txt carefully"]


def test_beside_a_conversation_at_work_a_goal_that_was_noted_outside_of_any_stays(
    talk: Conversation, other: Conversation
) -> None:
    talk.guard.note({"goal": "Ship version 2"})
    other.prompt("Write b.txt with two lines")
    assert talk.guard.state().goal == "Ship version 2"


def test_what_each_conversation_notes_goes_to_its_own_task(
    talk: Conversation, other: Conversation
) -> None:
    other.prompt("Write b.txt with two lines")
    talk.guard.note({"next_action": "Check a.txt twice"}, host_session="S1")
    state = talk.guard.state()
    assert (state.goal, state.next_action) == ("Write a.txt carefully", "Check a.txt twice")
    other.guard.note({"goal": "Write b.txt, two lines"}, host_session="S2")
    state = talk.guard.state()
    assert state.goal == "Write b.txt, two lines"
    assert [task.goal for task in state.earlier] == ["Write a.txt carefully"]
    talk.send("PostToolUse.Bash", tool_use_id="toolu_sleep")
    talk.prompt("Go on")
    assert talk.guard.state().goal == "Write a.txt carefully"


def test_a_compaction_beside_a_running_turn_hands_back_the_own_memory_alone(
    talk: Conversation, other: Conversation
) -> None:
    other.prompt("Write b.txt with two lines")
    writes(other, "b.txt")
    writes(talk, "a.txt")
    other.send("PreCompact.auto")
    other.compacts()
    reply = other.send("SessionStart.compact.auto")
    block = reply["hookSpecificOutput"]["additionalContext"]
    assert "Another conversation is at work in this checkout: Bash: sleep 1000" in block
    assert "Goal (user's words): Write b.txt with two lines" in block
    assert "b.txt" in block
    lines = block.replace("Write b.txt", "").splitlines()
    # The line from git counts what is not committed, whoever wrote it.
    without_call = "\n".join(line for line in lines if not line.startswith("Git:"))
    for text in ("a.txt", "ASCII", "Interrupted"):
        assert text not in without_call


def test_after_a_kill_the_next_conversation_gets_the_whole_block_after_one_second(
    talk: Conversation, host_process: Process
) -> None:
    kill(host_process)
    block = talk.beside("S2", os.getpid()).prompt("where were we?")
    assert block.count(BLOCK) == 1
    assert "Goal: Write a.txt carefully" in block
    assert "Interrupted: Bash: sleep 1000" in block
    assert MAY_BE not in block


@pytest.mark.parametrize("end", ["Stop", "SessionEnd", "SessionEnd.clear"])
def test_a_conversation_whose_end_was_seen_is_over_however_young(
    talk: Conversation, other: Conversation, end: str
) -> None:
    talk.send(end)
    block = other.prompt("where were we?")
    assert "Goal: Write a.txt carefully" in block
    assert "nother conversation" not in block


def test_a_turn_that_the_user_stopped_is_over(talk: Conversation, other: Conversation) -> None:
    talk.is_interrupted("toolu_sleep")
    block = other.prompt("where were we?")
    assert "Goal: Write a.txt carefully" in block
    assert "nother conversation" not in block


def test_a_turn_that_an_error_of_the_model_ended_is_over(
    talk: Conversation, other: Conversation
) -> None:
    talk.send("PostToolUse.Bash", tool_use_id="toolu_sleep")
    talk.fails()
    assert "Goal: Write a.txt carefully" in other.prompt("where were we?")


def test_of_a_process_that_nobody_knows_the_block_is_headed_and_names_the_command(
    tmp_path: Path,
) -> None:
    talk = Conversation(tmp_path)
    begins_a_command(talk)
    for session in ("S2", "S3"):
        block = talk.beside(session).prompt("where were we?")
        assert f"{MAY_BE}: Bash: sleep 1000" in block
        assert "Goal: Write a.txt carefully" in block
        assert "Interrupted" not in block
    talk.clock.pass_by(600)
    block = talk.beside("S4").prompt("where were we?")
    assert MAY_BE not in block.split("Goal")[0]
    assert "Interrupted: Bash: sleep 1000" in block


def test_a_turn_of_long_ago_in_a_living_process_is_still_at_work(
    talk: Conversation, other: Conversation
) -> None:
    talk.clock.pass_by(7_200)
    assert other.prompt("Write b.txt with two lines") == LINE


@pytest.mark.parametrize("source", ["clear", "resume"])
@pytest.mark.parametrize("is_known", [True, False])
def test_a_conversation_that_the_host_cleared_or_resumed_is_no_second_one(
    tmp_path: Path, host_process: Process, source: str, *, is_known: bool
) -> None:
    pid = host_process.pid if is_known else 0
    talk = Conversation(tmp_path, host_process=pid)
    begins_a_command(talk)
    later = talk.beside("S2", pid)
    later.send(f"SessionStart.{source}")
    block = later.prompt("where were we?")
    assert "Goal: Write a.txt carefully" in block
    assert "nother conversation" not in block


def test_a_conversation_that_goes_on_under_its_name_is_not_beside_itself(
    talk: Conversation, host_process: Process
) -> None:
    kill(host_process)
    again = talk.beside("S1", os.getpid())
    again.send("SessionStart.resume")
    assert "nother conversation" not in again.prompt("Go on")
    assert talk.guard.state().goal == "Write a.txt carefully"


def test_a_person_who_asks_sees_the_task_and_that_somebody_is_at_it(talk: Conversation) -> None:
    block = talk.guard.resume()
    assert "Another conversation is at work in this checkout: Bash: sleep 1000" in block
    assert "Goal: Write a.txt carefully" in block
    assert "Interrupted" not in block


def test_an_agent_that_asks_gets_its_own_memory(talk: Conversation, other: Conversation) -> None:
    other.prompt("Write b.txt with two lines")
    block = other.guard.resume("S2")
    assert "Goal (user's words): Write b.txt with two lines" in block
    assert "ASCII" not in block
    assert "Goal: Write a.txt carefully" in talk.guard.resume("S1")


@pytest.fixture
def reviews(talk: Conversation, other: Conversation, monkeypatch: pytest.MonkeyPatch) -> Reviews:
    """Two turns side by side, each of which writes a file that is committed by itself."""
    other.prompt("Write b.txt with two lines")
    talk.send("PostToolUse.Bash", tool_use_id="toolu_sleep")
    talk.send("Stop", last_assistant_message="Wrote it.")
    talk.prompt("Check it again, and never touch c.txt")
    decision = {"what": "Latin letters alone", "why": "old tools read it"}
    talk.guard.note({"decisions": [decision]}, host_session="S1")
    decision = {"what": "Two lines", "why": "the user wants it"}
    other.guard.note({"decisions": [decision]}, host_session="S2")
    for conversation, name in ((other, "b.txt"), (talk, "a.txt")):
        writes(conversation, name)
        conversation.send("Stop", last_assistant_message=f"Wrote {name}.")
        talk.git("add", name)
        talk.git("commit", "--quiet", "--message", f"Add {name}")
    monkeypatch.chdir(talk.root)
    return talk.guard.review


@pytest.mark.parametrize(
    ("name", "request_text", "decision"),
    [
        ("b.txt", "Write b.txt with two lines", "Two lines"),
        ("a.txt", "Check it again, and never touch c.txt", "Latin letters alone"),
    ],
)
def test_why_quotes_the_words_of_the_conversation_that_wrote_the_file(
    reviews: Reviews, name: str, request_text: str, decision: str
) -> None:
    words = {reason.item.text[0] for reason in reviews.why(name).reasons}
    assert words == {request_text, decision}


def test_at_and_report_credit_a_commit_with_the_words_of_its_own_conversation(
    reviews: Reviews,
) -> None:
    (knowledge,) = reviews.at("HEAD~1").knowledge
    learned = "\n".join(sentence.text for sentence in knowledge.sentences)
    assert "Two lines" in learned
    assert "Latin letters" not in learned
    assert knowledge.state is not None
    assert knowledge.state.goal == "Write b.txt with two lines"
    report = reviews.report("HEAD~2..HEAD~1")
    assert "Two lines" in report
    assert "Latin letters" not in report
    assert "never touch c.txt" not in report
