"""What was noted for a task outlives its DONE, under a heading of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from gitguard.review.sentences import sentences
from gitguard.state.items import Decision, Note
from gitguard.state.task import new_task
from tests.support.conversation import Conversation

GOAL = "Write b.txt. Keep it ASCII"
BEFORE = "From the task before:"


@pytest.fixture
def talk(tmp_path: Path) -> Conversation:
    """A conversation whose task is done, with a decision and a constraint."""
    talk = Conversation(tmp_path)
    talk.prompt(GOAL)
    noted = {
        "decisions": [{"what": "ASCII only", "why": "the printer is old"}],
        "constraints": ["never overwrite a.txt"],
    }
    talk.guard.note(noted, host_session=talk.session)
    finish(talk)
    return talk


def finish(talk: Conversation) -> None:
    talk.clock.pass_by(60)
    talk.guard.note({"next_action": "DONE"}, host_session=talk.session)
    talk.send("Stop", last_assistant_message="Wrote it.")
    talk.clock.pass_by(60)


def compacted(talk: Conversation) -> str:
    talk.send("PreCompact.auto")
    answer = talk.send("SessionStart.compact")
    return str(answer["hookSpecificOutput"]["additionalContext"])


def test_in_the_same_conversation_goal_constraints_and_decisions_outlive_done(
    talk: Conversation,
) -> None:
    talk.prompt("That is wrong, there must be two lines")
    block = compacted(talk)
    assert "Goal (user's words): That is wrong, there must be two lines" in block
    assert block.partition(BEFORE)[2].splitlines()[1:4] == [
        f"- {GOAL} (finished)",
        "- constraint: never overwrite a.txt",
        "- decision: ASCII only — because the printer is old",
    ]


def test_a_later_conversation_gets_what_limits_it_and_not_the_decisions(
    talk: Conversation,
) -> None:
    talk.prompt("Write c.txt as well")
    talk.prompt("You must not touch d.txt")
    talk.guard.note({"decisions": [{"what": "Two lines", "why": ""}]}, host_session=talk.session)
    finish(talk)
    other = talk.beside("S2")
    other.prompt("Write e.txt")
    before = compacted(other).partition(BEFORE)[2]
    assert "- constraint: never overwrite a.txt" in before
    assert "- the user said: You must not touch d.txt" in before
    assert "decision" not in before


def test_of_many_tasks_the_newest_three_are_told_in_a_fifth_of_the_block(
    talk: Conversation,
) -> None:
    for number in range(6):
        talk.prompt(f"Write file {number}")
        limits = [f"limit {number}-{n}: {'x' * 200}" for n in range(20)]
        talk.guard.note({"constraints": limits}, host_session=talk.session)
        finish(talk)
    talk.prompt("Write the last file")
    block = compacted(talk)
    before = block.partition("From the task before")[2].partition("\nEarlier on")[0]
    assert len(before.partition("\nFull state")[0]) <= 4 * 700 // 5 + 80
    assert "Write file 5" in before
    kept = {note.text.split("-")[0] for note in talk.guard.state().earlier_notes}
    assert kept == {"limit 3", "limit 4", "limit 5"}


def test_a_request_in_a_new_conversation_keeps_the_noted_next_action_beside_it(
    tmp_path: Path,
) -> None:
    talk = Conversation(tmp_path)
    talk.prompt("Make the parser strict")
    talk.guard.note({"next_action": "Write tests/test_strict.py"}, host_session=talk.session)
    talk.send("Stop", last_assistant_message="The parser is strict.")
    talk.clock.pass_by(4_000)
    other = talk.beside("S2")
    other.prompt("continue with strict: add a test")
    block = compacted(other)
    assert "continue with strict: add a test" in block
    assert "Next action (older than the request): Write tests/test_strict.py" in block


def test_a_task_that_ended_removed_nothing() -> None:
    done = new_task("main", "2026-11-01T00:00:00Z").replace(
        goal="Ship", status="complete", constraints=(Note("x", id="1"),),
        decisions=(Decision("D1", "y", "w", id="2"), Decision("D2", "z", "w", id="3")),
    )  # fmt: skip
    texts = [s.text for s in sentences(done, new_task("main", "2026-11-02T00:00:00Z", before=done))]
    assert "With the task ended: 2 decisions, 1 constraint" in texts
    assert not any(text.startswith(("Withdrew", "Dropped the constraint")) for text in texts)
