"""What is published of a state holds no word of what was said."""

from __future__ import annotations

import json

from hypothesis import given, settings
from hypothesis import strategies as st

from gitguard.model.transcript import USER
from gitguard.review.piece import CodeChange, Link
from gitguard.review.publishing import (
    files_of,
    message_of,
    projected,
    shown_in,
    steps_of,
)
from gitguard.state import entries
from gitguard.state.capture import fold
from gitguard.state.checkpoint import Checkpoint, Code
from gitguard.state.entries import JournalEntry
from gitguard.state.items import Decision, EarlierTask, Note, Origin
from gitguard.state.task import TaskState, new_task
from gitguard.store.session.state_file import decode_state

AT = "2026-11-25T09:00:00Z"
BY_USER = Origin(USER, AT, "S1", 1)
WORD = st.text("abcdefghijklmnopqrstuvwxyz", min_size=4, max_size=9).map(lambda word: f"zq{word}")
SAID = st.lists(WORD, min_size=1, max_size=30).map(" ".join)
"""What is said consists of words that nothing else has."""
SPOKEN = st.builds(
    lambda event, text, answer: JournalEntry(
        event,
        AT,
        "S1",
        summary=text,
        settles=text if event == entries.PROMPT else "",
        answers=(f"{text} → {answer}",) if event == entries.ENDED else (),
        said=answer if event == entries.REFUSED else "",
    ),
    st.sampled_from(
        (
            entries.PROMPT,
            entries.PROMPT_READ,
            entries.TURN_ENDED,
            entries.SAID,
            entries.SUMMARY,
            entries.ENDED,
            entries.REFUSED,
        )
    ),
    SAID,
    SAID,
)


def spoken_state(journal: list[JournalEntry], goal: str) -> TaskState:
    """Return a state with what was said, a goal from a prompt, and a decision of the agent."""
    state = fold(new_task("main", AT), tuple(journal), AT).replace(
        goal=goal,
        goal_from=BY_USER,
        next_action=f"answer {goal}",
        next_from=BY_USER,
        decisions=(Decision("d1", "By hand", "Simple", id="1"),),
        constraints=(Note(goal, id="2", origin=BY_USER),),
        earlier=(EarlierTask("t0", goal, "complete", id="3", origin=BY_USER),),
    )
    assert "zq" in json.dumps(state.to_document())
    return state


def checkpoint(number: int, **changes: object) -> Checkpoint:
    values = {
        "id": f"{number:040x}",
        "parent": f"{number - 1:040x}",
        "subject": "checkpoint: zqsubject",
        "why": "zqreason",
        "at": 1_790_000_000 + number,
        "session_key": "main",
        "sequence": number,
        "trigger": "manual",
        "pressure": None,
        "code": Code("", ""),
    }
    return Checkpoint(**{**values, **changes})  # type: ignore[arg-type]


def link(commit: str, before: int, after: int, certainty: str = "same content") -> Link:
    change = CodeChange(commit * 40, (), f"Write {commit}", 1_790_000_000)
    between = tuple(checkpoint(number) for number in range(before + 1, after + 1))
    return Link(
        commit=change,
        session="main",
        certainty=certainty,
        reason="",
        before=checkpoint(before),
        after=checkpoint(after),
        between=between,
    )


@settings(max_examples=60)
@given(st.lists(SPOKEN, min_size=1, max_size=12), SAID)
def test_no_word_that_was_said_is_published(journal: list[JournalEntry], goal: str) -> None:
    state = projected(spoken_state(journal, goal)).state
    steps = steps_of([link("a", 0, 1), link("b", 1, 3)], checkpoint(4))
    messages = [message_of(step, "main", with_words=False).encode() for step in steps]
    for data in (*files_of(state).values(), *messages):
        assert b"zq" not in data
    assert b"By hand" in files_of(state)["summary.md"]


@settings(max_examples=20)
@given(st.lists(SPOKEN, min_size=1, max_size=5), SAID)
def test_a_projected_state_reads_as_any_other_and_is_projected_once(
    journal: list[JournalEntry], goal: str
) -> None:
    state = projected(spoken_state(journal, goal)).state
    assert decode_state(files_of(state)["state.json"], "the state") == state
    assert projected(state).state == state


def test_what_is_left_out_is_named() -> None:
    state = spoken_state([JournalEntry(entries.PROMPT, AT, "S1", summary="zqhello")], "zqgoal")
    assert projected(state).left_out == (
        "1 message",
        "the goal, which is from a prompt",
        "the next action, which is from a prompt",
        "2 items in the user's words",
    )
    whole = projected(state, with_words=True)
    assert (whole.state, whole.left_out) == (state, ())


def test_a_goal_that_the_agent_noted_is_published() -> None:
    state = new_task("main", AT).replace(goal="Port", goal_from=Origin(), next_action="Test it")
    assert projected(state).state == state


def test_the_comparison_counts_what_it_adds() -> None:
    before = new_task("main", AT).replace(decisions=(Decision("d1", "a", "b", id="1"),))
    more = (*before.decisions, Decision("d2", "c", "d", id="2"))
    after = before.replace(decisions=more, learnings=(Note("e", id="3"),))
    assert shown_in(before, after) == {"decision": 1, "learning": 1}
    assert shown_in(None, after) == {"decision": 2, "learning": 1}


def test_each_code_commit_has_a_commit_after_the_base() -> None:
    links = [link("a", 2, 4), link("a", 1, 4, "likely"), link("b", 4, 5)]
    steps = steps_of(links, checkpoint(7))
    shown = [(step.subject, step.checkpoint.sequence) for step in steps]
    assert shown == [
        ("Before aaaaaaa: Write a", 1),
        ("After aaaaaaa: Write a", 4),
        ("After bbbbbbb: Write b", 7),
    ]


def test_commits_in_another_order_show_no_older_state_after_a_newer_one() -> None:
    steps = steps_of([link("b", 3, 5), link("a", 1, 3)], checkpoint(5))
    assert [step.checkpoint.sequence for step in steps] == [1, 5, 5]


def test_what_was_decided_for_a_task_that_ended_is_published_and_counted() -> None:
    start = new_task("main", AT)
    decided = start.replace(
        goal="Write b.txt", decisions=(Decision("D1", "ASCII only", "Old printer", id="d1"),)
    )
    later = new_task("main", "2026-11-02T00:00:00Z", before=decided)
    later = later.replace(decisions=(Decision("D1", "Two lines", "The spec", id="d2"),))
    summary = files_of(projected(later).state)["summary.md"].decode()
    assert "ASCII only" in summary
    assert "Two lines" in summary
    assert shown_in(start, later) == {"decision": 2}
    assert shown_in(decided, later) == {"decision": 1}
