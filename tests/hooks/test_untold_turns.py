"""Turns of which no event told, as while gitguard hung, are taken in from the transcript."""

from __future__ import annotations

from gitguard.model.text import timestamp
from tests.support.conversation import Conversation
from tests.support.staged import staged_object

GOAL = "Write a report module with a total per customer."
MISSED = "Add the export to CSV, and never quote numbers."
ANSWER = "The export is in export.py; 12 checks pass."

tmp_path, talk = staged_object("talk", Conversation)


ROUNDED = "Round every total of the report to whole cents."


def writes(talk: Conversation, kind: str, text: str, after: float = 20) -> None:
    """The host writes a line some seconds later, and no event tells of it."""
    talk.clock.pass_by(after)
    content = [{"type": "text", "text": text}]
    message = {"role": kind, "id": f"m{talk.clock():.0f}", "content": content}
    talk._write({"type": kind, "timestamp": timestamp(talk.clock()), "message": message})


def has_a_turn(talk: Conversation) -> None:
    talk.prompt(GOAL)
    writes(talk, "user", GOAL)
    writes(talk, "assistant", "The total is there.")
    talk.send("Stop", last_assistant_message="The total is there.")


def words(talk: Conversation) -> list[str]:
    talk.send("Stop", last_assistant_message="It is.")
    return [exchange.text for exchange in talk.guard.state().exchanges]


def test_the_words_of_a_turn_that_no_event_told_of_are_there_after_the_next_prompt(
    talk: Conversation,
) -> None:
    has_a_turn(talk)
    writes(talk, "user", MISSED)
    writes(talk, "assistant", "I begin.")
    writes(talk, "assistant", ANSWER)
    talk.clock.pass_by(60)
    talk.prompt("Is the header there as well?")
    said = words(talk)
    assert said.index(MISSED) < said.index(ANSWER) < said.index("Is the header there as well?")
    read = [e for e in talk.guard.state().exchanges if e.text == MISSED]
    assert [exchange.origin.is_read for exchange in read] == [True]


def test_they_are_taken_in_once_and_what_was_heard_is_not_taken_in_again(
    talk: Conversation,
) -> None:
    has_a_turn(talk)
    writes(talk, "user", MISSED)
    writes(talk, "assistant", ANSWER)
    for prompt in ("Is the header there?", "And the footer?"):
        talk.clock.pass_by(60)
        writes(talk, "user", prompt, after=1)
        talk.prompt(prompt)
        writes(talk, "assistant", f"To “{prompt}”: it is there in line 12.")
        talk.send("Stop", last_assistant_message=f"To “{prompt}”: it is there in line 12.")
    said = words(talk)
    assert [said.count(text) for text in (GOAL, MISSED, ANSWER, "Is the header there?")] == [1] * 4


def test_a_turn_that_was_heard_to_begin_and_no_more_is_followed_by_those_that_were_not_heard(
    talk: Conversation,
) -> None:
    has_a_turn(talk)
    talk.prompt(ROUNDED)
    writes(talk, "user", ROUNDED, after=1)
    writes(talk, "assistant", "Rounded in total.py.")
    writes(talk, "user", MISSED)
    writes(talk, "assistant", ANSWER)
    talk.clock.pass_by(60)
    talk.prompt("Is the header there as well?")
    said = words(talk)
    assert said.count(ROUNDED) == 1
    assert said.index(MISSED) < said.index(ANSWER)


def test_a_prompt_whose_turn_began_while_its_hook_was_still_at_work_is_not_taken_in_twice(
    talk: Conversation,
) -> None:
    has_a_turn(talk)
    writes(talk, "user", MISSED)
    writes(talk, "assistant", "I begin.", after=2)
    talk.prompt(MISSED)
    assert words(talk).count(MISSED) == 1
