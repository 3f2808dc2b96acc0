"""What changed between two states reads as sentences, and no item that came or went is left out."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitguard.model.actions import ACTIONS
from gitguard.review.sentences import Sentence, printable, sentences
from gitguard.state.items import (
    Artifact,
    Command,
    Decision,
    EarlierTask,
    Exchange,
    Failure,
    Note,
    Origin,
    PlanStep,
    ToolOutput,
)
from gitguard.state.task import TaskState, new_task
from tests.support.state_documents import NOW

EMPTY = new_task("main", NOW)
AGENT = Origin("agent", NOW)
DAY = NOW[:10]


def lines(before: TaskState | None, after: TaskState) -> list[str]:
    return [sentence.line(DAY) for sentence in sentences(before, after)]


def decision(what: str, why: str = "one file", **options: Any) -> Decision:
    return Decision(options.pop("label", "d1"), what, why, origin=AGENT, **options)


def test_a_decision_is_told_with_its_reason_and_who_made_it_when() -> None:
    after = EMPTY.replace(decisions=(decision("use SQLite", id="a"),))
    assert lines(EMPTY, after) == ["Decided: use SQLite — because one file (agent, 09:30)"]
    (sentence,) = sentences(EMPTY, after)
    assert sentence == Sentence(
        field="decisions",
        action="added",
        text="Decided: use SQLite",
        reason="one file",
        who="agent",
        when=NOW,
    )


def test_a_time_of_another_day_is_told_with_its_date() -> None:
    sentence = Sentence("goal", "added", "Goal: Ship", who="user", when=NOW)
    assert sentence.line("2026-02-01") == "Goal: Ship (user, 2026-01-31 09:30)"
    assert sentence.replace(when="").line() == "Goal: Ship (user)"
    assert sentence.replace(when="", who="").line() == "Goal: Ship"


ADDED_AND_REMOVED = [
    (
        "constraints",
        Note("never touch the PDF export"),
        "New constraint: never touch the PDF export",
        'Dropped the constraint "never touch the PDF export"',
    ),
    ("blockers", Note("CI is down"), "Blocked by: CI is down", 'No longer blocked by "CI is down"'),
    ("open_issues", Note("x"), "Open issue: x", 'Closed the open issue "x"'),
    ("invariants", Note("x"), "Must stay true: x", 'Dropped the invariant "x"'),
    ("completed_steps", Note("x"), "Completed: x", 'Dropped the completed step "x"'),
    ("learnings", Note("x"), "Learned: x", 'Dropped the learning "x"'),
    ("pending_assumptions", Note("x"), "Assumed: x", 'No longer assumes "x"'),
    ("decisions", Decision("d1", "x", ""), "Decided: x", 'Withdrew the decision "x"'),
    (
        "failed_attempts",
        Failure("pytest -q", "AssertionError"),
        "Failed: pytest -q: AssertionError",
        'Dropped the failed attempt "pytest -q"',
    ),
    ("tool_outputs", ToolOutput("ls", "x"), "ls said: x", 'Dropped the tool output "x"'),
    ("plan", PlanStep("1", "x"), "Planned: x", 'Dropped the plan step "x"'),
    (
        "commands",
        Command("make", "failed", "2 errors"),
        "Ran make (failed): 2 errors",
        'Dropped the command "make"',
    ),
    (
        "artifacts",
        Artifact("a.py", description="the parser"),
        "Touched the file a.py: the parser",
        'Dropped the artifact "a.py"',
    ),
    (
        "exchanges",
        Exchange("Use tabs", "correction"),
        'The user corrected: "Use tabs"',
        'No longer keeps the words "Use tabs"',
    ),
    (
        "exchanges",
        Exchange("It works", "conclusion"),
        'The agent said: "It works"',
        'No longer keeps the words "It works"',
    ),
    (
        "earlier",
        EarlierTask("task-1", "Ship", "complete"),
        'The earlier task "Ship" was finished',
        'No longer remembers the earlier task "Ship"',
    ),
]


@pytest.mark.parametrize(("field", "item", "added", "removed"), ADDED_AND_REMOVED)
def test_each_kind_of_item_has_words_of_its_own(
    field: str, item: Any, added: str, removed: str
) -> None:
    after = EMPTY.replace(**{field: (item,)})
    assert [s.text for s in sentences(EMPTY, after)] == [added]
    (gone,) = sentences(after, EMPTY)
    assert (gone.text, gone.action, gone.who, gone.when) == (removed, "removed", "", "")


CHANGES: list[tuple[str, Any, dict[str, Any], str]] = [
    ("constraints", Note("x"), {"text": "y"}, 'Changed the constraint "x" → "y"'),
    (
        "constraints",
        Note("x y"),
        {"text": "x  y"},
        'Changed the constraint "x y" in its white space',
    ),
    (
        "decisions",
        decision("x"),
        {"what": "y"},
        'Changed the decision "x" → "y" — because one file',
    ),
    (
        "decisions",
        decision("x"),
        {"why": "speed"},
        'Gave another reason for the decision "x" — because speed',
    ),
    (
        "failed_attempts",
        Failure("pytest", "no"),
        {"fixed_at": NOW},
        "Fixed: pytest, which had failed (09:30)",
    ),
    ("plan", PlanStep("1", "x"), {"state": "done"}, 'Plan step "x": open → done'),
    (
        "commands",
        Command("make", "failed"),
        {"outcome": "passed", "runs": 3},
        "Ran make 2 more times (failed, now passed)",
    ),
    ("artifacts", Artifact("a.py"), {"writes": 1}, "Wrote a.py 1 more time"),
    (
        "artifacts",
        Artifact("a.py"),
        {"kind": "url"},
        'Changed the artifact "a.py": kind file → url',
    ),
]


@pytest.mark.parametrize(("field", "item", "change", "line"), CHANGES)
def test_an_item_with_the_same_id_is_changed_and_not_replaced(
    field: str, item: Any, change: dict[str, Any], line: str
) -> None:
    item = item.replace(id="same")
    states = [EMPTY.replace(**{field: (each,)}) for each in (item, item.replace(**change))]
    assert lines(*states) == [line]
    assert [s.action for s in sentences(*states)] == ["changed"]


def test_a_new_label_another_origin_and_another_place_are_no_change() -> None:
    first, second = decision("x", id="a"), decision("y", id="b")
    moved = (second.replace(label="d9"), first.replace(origin=Origin("hook", NOW)))
    before, after = (EMPTY.replace(decisions=items) for items in ((first, second), moved))
    assert lines(before, after) == []


def test_what_was_taken_out_and_put_back_is_no_change() -> None:
    before, after = (EMPTY.replace(constraints=(Note("x", id=i),)) for i in ("a", "b"))
    assert lines(before, after) == []
    twice = EMPTY.replace(constraints=(Note("x"), Note("x")))
    assert lines(before, twice) == ["New constraint: x (agent)"]


def test_goal_and_next_action_are_told_with_what_they_were() -> None:
    one = EMPTY.replace(goal="Port", next_action="Read", next_from=AGENT)
    two = one.replace(goal="Ship", next_action="START", next_from=None)
    assert lines(EMPTY, one) == ["Goal: Port", "Next action: Read (agent, 09:30)"]
    assert lines(one, two) == ["Goal: Port → Ship", 'Dropped the next action "Read"']


def test_the_first_state_is_told_whole_and_when_it_was_written_is_not() -> None:
    first = EMPTY.replace(goal="Port", blockers=(Note("x"),), updated_at="2027-01-01T00:00:00Z")
    assert lines(None, first) == ["Goal: Port", "Blocked by: x (agent)"]
    assert lines(None, EMPTY) == []


def test_the_rest_of_a_state_is_told_too() -> None:
    before = EMPTY.replace(files_read=("a", "b"), extra={"old": 1})
    after = EMPTY.replace(
        files_read=("b", "c", "d"),
        tools_used=("Bash",),
        status="waiting_for_user",
        state_confidence=0.5,
        dropped={"exchanges": 2},
        host_summary=Note("short"),
        extra={"new": [1]},
    )
    assert lines(before, after) == [
        "Status: in progress → waiting for user",
        "Confidence: 100% → 50%",
        "The host compacted the conversation and summarized: short",
        "Read 2 files: c, d",
        "No longer lists as read 1 file: a",
        "Used 1 tool: Bash",
        "Had no room for 2 more items of exchanges",
        "New: [1]",
        "Dropped Old: 1",
    ]


def test_hidden_characters_are_spelled_out_and_lines_are_one() -> None:
    state = EMPTY.replace(constraints=(Note("a\nSTATUS:COMPLETE\x1b[31m\u202e b"),))
    assert lines(EMPTY, state) == ["New constraint: a STATUS:COMPLETE\\u001b[31m\\u202e b (agent)"]


# Any two states

TEXT = st.text(st.characters(codec="utf-8"), max_size=8)
IDS = st.sampled_from(["", "a", "b", "c", "d"])


def items_of(item: Any) -> Any:
    return st.lists(item, max_size=4).map(tuple)


def having_ids(kind: Any, *parts: Any) -> Any:
    return items_of(st.builds(kind, *parts, id=IDS))


LISTS = {
    "decisions": having_ids(Decision, st.sampled_from(["d1", "d2"]), TEXT, TEXT),
    "constraints": having_ids(Note, TEXT),
    "failed_attempts": having_ids(Failure, TEXT, TEXT),
    "commands": having_ids(Command, TEXT, st.sampled_from(["passed", "failed"]), TEXT),
    "artifacts": having_ids(Artifact, TEXT),
    "plan": having_ids(PlanStep, TEXT, TEXT),
    "exchanges": having_ids(Exchange, TEXT, st.sampled_from(["request", "conclusion"])),
    "tool_outputs": having_ids(ToolOutput, TEXT, TEXT),
    "files_read": items_of(TEXT),
}
MAIN = {"decisions": "what", "failed_attempts": "what", "commands": "command", "artifacts": "path"}
STATES = st.fixed_dictionaries({**LISTS, "goal": TEXT, "next_action": TEXT}).map(
    lambda values: EMPTY.replace(**values)
)


def words_of(field: str, item: Any) -> str:
    if isinstance(item, str):
        return printable(item)
    names = (MAIN.get(field, ""), "text", "summary")
    return printable(next(getattr(item, name) for name in names if hasattr(item, name)))


def came(old: Any, new: Any) -> list[Any]:
    """Return the items that say something which no item said before."""
    return [item for item in new if not any(same_item(item, other) for other in old)]


@settings(max_examples=200, deadline=None)
@given(STATES, STATES)
def test_any_two_states_give_sentences_that_mention_all_that_came_and_went(
    before: TaskState, after: TaskState
) -> None:
    told = sentences(before, after)
    assert all(s.action in ACTIONS and s.line().isprintable() for s in told)
    for field in LISTS:
        old, new = getattr(before, field), getattr(after, field)
        for action, items in (("added", came(old, new)), ("removed", came(new, old))):
            texts = [s.text for s in told if s.field == field and s.action in (action, "changed")]
            assert all(any(words_of(field, i) in text for text in texts) for i in items)
        if field != "files_read":
            actions = [s.action for s in told if s.field == field]
            assert actions.count("added") - actions.count("removed") == len(new) - len(old)


def same_item(one: Any, other: Any) -> bool:
    """Say whether two items differ in nothing that is told."""
    blank = {"id": "", "origin": AGENT}
    if isinstance(one, str):
        return bool(one == other)
    if isinstance(one, Decision):
        blank["label"] = ""
    return bool(one.replace(**blank) == other.replace(**blank))


@settings(max_examples=50, deadline=None)
@given(STATES)
def test_a_state_differs_from_itself_in_nothing(state: TaskState) -> None:
    assert sentences(state, state) == ()


def test_another_task_is_told_without_its_id() -> None:
    (sentence,) = sentences(EMPTY, EMPTY.replace(task_id="task-2"))
    assert sentence.text == "Another task began"


def test_a_request_that_was_answered_is_told_as_answered_and_not_as_what_comes_next() -> None:
    asked = Origin("user", NOW, conversation="talk", turn=1)
    answer = Exchange("It works", "conclusion", origin=Origin("agent", NOW, "talk", turn=1))
    before = EMPTY.replace(next_action="Use tabs", next_from=asked)
    after = before.replace(exchanges=(answer,))
    assert lines(EMPTY, before) == ["Next action: Use tabs (user, 09:30)"]
    assert lines(before, after)[0] == "The last request was answered"
    assert lines(None, after)[0] == "The last request was answered"
    assert not any("Use tabs" in line for line in lines(after, after.replace(next_action="Ship")))


def test_nobody_is_said_to_have_ended_a_task_and_its_messages_are_counted() -> None:
    begun = EMPTY.replace(exchanges=(Exchange("a", "request"), Exchange("b", "request")))
    ended = EarlierTask("task-1", "Ship", "complete", origin=Origin("user", NOW))
    after = new_task("main", NOW, before=begun).replace(task_id="task-2", earlier=(ended,))
    told = lines(begun.replace(task_id="task-1"), after)
    assert "With the task ended: 2 messages" in told
    assert 'The earlier task "Ship" was finished' in told
