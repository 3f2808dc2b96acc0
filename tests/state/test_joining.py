"""A join of lanes loses nothing, whatever was changed where, in whichever order they are joined."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from gitguard.errors import InvalidDocument, InvalidInput
from gitguard.model.codec import decode_json, dump_json
from gitguard.model.transcript import AGENT, USER
from gitguard.state.capture import within_bounds
from gitguard.state.changes import fill_from_prompt, update_state
from gitguard.state.items import HOOK, Artifact, Conflict, Exchange, Note, Origin
from gitguard.state.joining import (
    LaneState,
    PartVersion,
    advance,
    begin_lane,
    join_lanes,
    open_conflicts,
    renamed,
    settle,
)
from gitguard.state.task import TaskState, following, goal_of, new_task, read_state
from gitguard.state.thread import extend, said_by_agent, said_by_user
from tests.support.lanes import Fleet, begun, noted

NOW = "2026-01-31T09:30:00Z"
A_YEAR_LATER = "2027-01-31T09:30:00Z"


def pair(**changes: Any) -> tuple[LaneState, LaneState]:
    """Return two lanes that both know the same."""
    start = noted(begun("a"), **changes)
    return start, join_lanes([start], "b")


def values_of(conflict: Conflict, field: str) -> list[Any]:
    return [decode_json(variant.value)[field] for variant in conflict.variants]


# What a join makes of concurrent changes


def test_what_each_writer_added_is_in_the_join() -> None:
    a, b = pair(learnings=["Known to both"])
    both = join_lanes([noted(a, learnings=["From a"]), noted(b, learnings=["From b"])])
    assert {note.text for note in both.state.learnings} == {"Known to both", "From a", "From b"}
    assert not both.conflicts


def test_a_changed_item_wins_over_an_untouched_one() -> None:
    a, b = pair(learnings=["Tests take 3 minutes"])
    (note,) = a.state.learnings
    changed = note.replace(text="Tests take 4 minutes")
    a = advance(a, a.state.replace(learnings=(changed,)))
    assert join_lanes([a, b]).state.learnings == join_lanes([b, a]).state.learnings == (changed,)


def test_a_changed_field_wins_over_an_untouched_one() -> None:
    a, b = pair(goal="Port the parser", next_action="Write tests")
    b = noted(b, next_action="Fix the tests")
    assert join_lanes([a, b]).state.next_action == "Fix the tests"
    assert join_lanes([a, b]).state.next_from == b.state.next_from


def test_an_item_changed_on_both_sides_is_a_conflict() -> None:
    a, b = pair(learnings=["Tests take 3 minutes"])
    (note,) = a.state.learnings
    a = advance(a, a.state.replace(learnings=(note.replace(text="4 minutes"),)))
    b = advance(b, b.state.replace(learnings=(note.replace(text="5 minutes"),)))
    both = join_lanes([a, b])
    (conflict,) = both.conflicts
    assert (conflict.field, conflict.item) == ("learnings", note.id)
    assert [variant.writers for variant in conflict.variants] == [("b",), ("a",)]
    assert [n["text"] for n in values_of(conflict, "learnings")] == ["5 minutes", "4 minutes"]
    assert [note.text for note in both.state.learnings] == ["5 minutes"]


@pytest.mark.parametrize(
    ("field", "ours", "theirs"),
    [
        ("goal", "Port the parser", "Port the lexer"),
        ("next_action", "Write tests", "DONE"),
        ("current_phase", "design", "review"),
        ("state_confidence", 0.5, 0.75),
    ],
)
def test_a_field_changed_on_both_sides_is_a_conflict(field: str, ours: Any, theirs: Any) -> None:
    a, b = pair()
    both = join_lanes([noted(a, **{field: ours}), noted(b, **{field: theirs})])
    (conflict,) = both.conflicts
    assert values_of(conflict, field) == [theirs, ours]
    assert getattr(both.state, field) == theirs


def test_a_field_and_what_tells_more_about_it_come_from_one_writer() -> None:
    a, b = pair()
    a, b = noted(a, next_action="Write tests"), noted(b, next_action="DONE")
    both = join_lanes([a, b]).state
    assert (both.status, both.next_from) == (b.state.status, b.state.next_from)


def test_the_same_change_on_both_sides_is_no_conflict() -> None:
    a, b = pair()
    a, b = noted(a, current_phase="design"), noted(b, current_phase="design")
    assert not join_lanes([a, b]).conflicts


def test_what_hooks_gathered_is_no_conflict() -> None:
    a, b = pair()
    by_hook = Origin(HOOK, NOW)
    first = Artifact("a.py", writes=1, id="1" * 16, origin=by_hook)
    second = Artifact("a.py", writes=2, id="2" * 16, origin=by_hook)
    a = advance(a, a.state.replace(artifacts=(first,)))
    b = advance(b, b.state.replace(artifacts=(second,)))
    both = join_lanes([a, b])
    assert both.state.artifacts == (second,), "one entry per path"
    assert not both.conflicts


def test_what_a_task_begins_with_contradicts_nothing() -> None:
    """A second machine has a session of the same name before it ever hears of the first one's."""
    a = noted(begun("a"), goal="Port the parser", next_action="Write tests", learnings=["First"])
    a = noted(a, current_phase="design", state_confidence=0.5)
    both = join_lanes([a, begun("b")])
    assert both.state == a.state
    assert not both.conflicts


@pytest.mark.parametrize("other", ["0", "b"])
def test_what_the_user_asked_for_wins_over_what_a_task_begins_with(other: str) -> None:
    """However often the other machine saved since, and whatever its name is."""
    prompt = Origin(USER, NOW, "S1", 1)
    values = {"goal": "Port it", "next_action": "Port it"}
    asked = fill_from_prompt(new_task("main", NOW), values, prompt)
    a, b = join_lanes([LaneState("a", {}, asked)], "a"), begun(other)
    for number in range(3):
        b = noted(b, files=[f"{number}.py"])
    both = join_lanes([a, b])
    assert (both.state.goal, both.state.next_action) == ("Port it", "Port it")
    assert both.state.goal_from == prompt
    assert not both.state.earlier


def test_two_last_actions_are_no_conflict() -> None:
    a, b = pair()
    a, b = (noted(lane, last_action={"summary": f"By {lane.writer}"}) for lane in (a, b))
    both = join_lanes([a, b])
    assert both.state.last_action == b.state.last_action
    assert not both.conflicts


def test_what_was_noted_wins_over_what_a_hook_gathered_meanwhile() -> None:
    a, b = pair()
    a = noted(noted(a, goal="Port the lexer"), goal="Port the parser")
    prompt = Origin(USER, A_YEAR_LATER, "S1", 1)
    b = advance(b, b.state.replace(goal="Asked for", goal_from=prompt))
    for _ in range(5):
        b = noted(b, current_phase=f"phase {_}")
    both = join_lanes([a, b])
    assert both.state.goal == "Port the parser"
    assert [c.field for c in both.conflicts] == []


def test_clocks_decide_nothing() -> None:
    """Whoever has seen more has the last word, though its clock is a year behind."""
    a, b = pair(when=A_YEAR_LATER, goal="Port the lexer", learnings=["First"])
    b = noted(b, goal="Port the parser", learnings=["Second"], when="2025-01-31T09:30:00Z")
    both = join_lanes([a, b])
    assert both.state.goal == "Port the parser"
    assert [note.text for note in both.state.learnings] == ["First", "Second"]
    assert not both.conflicts


# Removals


def test_what_one_writer_removed_is_gone() -> None:
    a, b = pair(open_issues=["Flaky test", "Slow test"])
    a = noted(a, open_issues=["Slow test"])
    for both in (join_lanes([a, b]), join_lanes([b, a]), join_lanes([join_lanes([a, b]), b])):
        assert [note.text for note in both.state.open_issues] == ["Slow test"]


def test_what_was_changed_while_another_writer_removed_it_stays() -> None:
    a, b = pair(open_issues=["Flaky test"])
    (issue,) = b.state.open_issues
    a = noted(a, open_issues=[])
    changed = issue.replace(text="Flaky test on macOS")
    b = advance(b, b.state.replace(open_issues=(changed,)))
    assert join_lanes([a, b]).state.open_issues == (changed,)


def test_a_removal_holds_against_a_lane_that_comes_back_late() -> None:
    a, b = pair(open_issues=["Flaky test"])
    late = b
    a = noted(a, open_issues=[])
    for _ in range(5):
        a, b = join_lanes([a, b], "a"), join_lanes([b, a], "b")
        b = noted(b, learnings=[f"Lesson {_}"])
    assert join_lanes([a, b, late]).state.open_issues == ()


def test_what_was_removed_and_noted_again_stays() -> None:
    a, b = pair(files=["a.py", "b.py"])
    a = advance(a, a.state.replace(files_read=("b.py",)))
    a = advance(a, a.state.replace(files_read=("b.py", "a.py")))
    assert join_lanes([a, b]).state.files_read == ("b.py", "a.py")


# Words


def test_words_stay_in_the_order_of_their_conversation() -> None:
    a, b = pair()
    for turn in range(1, 4):
        a = said(a, "S1", turn, NOW)
        b = said(b, "S2", turn, A_YEAR_LATER)
    words = join_lanes([a, b]).state.exchanges
    assert len(words) == 6
    for conversation in ("S1", "S2"):
        turns = [e.origin.turn for e in words if e.origin.conversation == conversation]
        assert turns == [1, 2, 3]


def said(lane: LaneState, conversation: str, turn: int, when: str) -> LaneState:
    origin = Origin(USER, when, conversation, turn)
    words = Exchange(f"Turn {turn}", "request", id=f"{conversation}-{turn}", origin=origin)
    return advance(lane, lane.state.replace(exchanges=(*lane.state.exchanges, words)))


def test_each_conversation_goes_on_with_the_task_it_began() -> None:
    a, b = pair()
    a = asked(a, "S1", "Port the parser", NOW)
    b = asked(b, "S2", "Fix the login page", A_YEAR_LATER)
    both = join_lanes([a, b], "a")
    assert both.conflicts == (), "what a user asked for in two conversations contradicts nothing"
    assert goal_of(both.state, "S1") == "Port the parser"
    assert goal_of(both.state, "S2") == "Fix the login page"
    later = noted(both, learnings=["Both go on"])
    assert goal_of(join_lanes([later, b]).state, "S1") == "Port the parser"


@pytest.mark.parametrize(
    ("ours", "theirs", "outcome"),
    [("DONE", "Write tests", "finished"), ("Write tests", "DONE", "left in progress")],
)
def test_a_task_beside_another_one_is_remembered_as_it_stands(
    ours: str, theirs: str, outcome: str
) -> None:
    a, b = pair()
    a = noted(asked(a, "S1", "Port the parser", NOW), next_action=ours)
    b = noted(asked(b, "S2", "Fix the login page", A_YEAR_LATER), next_action=theirs)
    (beside,) = join_lanes([a, b]).state.earlier
    assert (beside.goal, beside.outcome) == ("Port the parser", outcome)


def asked(lane: LaneState, conversation: str, goal: str, when: str) -> LaneState:
    """Return a lane whose user began a task in a conversation."""
    origin = Origin(USER, when, conversation, 1)
    return advance(lane, fill_from_prompt(following(lane.state, when), {"goal": goal}, origin))


def test_joined_states_stay_small_and_alike() -> None:
    """What has no room is dropped by whoever joins, and all of them drop the same."""
    start = begun("0")
    lanes = [full(join_lanes([start], str(number))) for number in range(8)]
    joined = [in_room(join_lanes(lanes, lane.writer)) for lane in lanes]
    assert len({dump_json(lane.state.to_document()) for lane in joined}) == 1
    assert len(dump_json(joined[0].state.to_document())) < 64 * 1024
    again = in_room(join_lanes(joined, "0"))
    assert again.state == joined[0].state


def full(lane: LaneState) -> LaneState:
    """Return a lane whose writer had a long conversation, with many files."""
    state = lane.state
    for turn in range(1, 30):
        origin = Origin(USER, NOW, f"S{lane.writer}", turn)
        words = f"Prompt {turn} of {lane.writer}: port the parser and its {turn} tests. " * 20
        answer = f"Answer {turn} to {lane.writer}: the parser is ported. " * 30
        said = [said_by_user(words, origin), said_by_agent(answer, origin)]
        path = f"src/{lane.writer}/{turn}.py"
        written = Artifact(path, id=path, origin=Origin(HOOK, NOW))
        state = state.replace(
            exchanges=extend(state.exchanges, said), artifacts=(*state.artifacts, written)
        )
    return advance(lane, state)


def in_room(lane: LaneState) -> LaneState:
    return advance(lane, within_bounds(lane.state))


# Tasks that are over


def ended(lane: LaneState, when: str = NOW, **changes: Any) -> LaneState:
    """Return a lane whose writer began a task with nothing of the one before."""
    begun = new_task("main", when, before=lane.state)
    state, _ = update_state(begun, changes, Origin(AGENT, when, lane.writer))
    return advance(lane, state)


_OF_THE_OLD_TASK: dict[str, Any] = {
    "completed_steps": ["Port the lexer"],
    "open_issues": ["The lexer is slow"],
    "decisions": [{"what": "No regex", "why": "it is slow"}],
    "current_phase": "review",
    "next_action": "Speed it up",
    "files": ["lexer.py"],
}


def test_what_was_noted_for_a_task_that_another_writer_ended_is_filed_with_it() -> None:
    a, b = pair(goal="Port the lexer", constraints=["No new dependency"])
    old_task = a.state.task_id
    b = noted(b, **_OF_THE_OLD_TASK)
    a = ended(a, A_YEAR_LATER, goal="Write the manual", open_issues=["No pictures"])
    state = join_lanes([a, b]).state
    assert [note.text for note in state.open_issues] == ["No pictures"]
    assert (state.completed_steps, state.decisions, state.files_read) == ((), (), ())
    assert (state.goal, state.current_phase, state.next_action) == (
        "Write the manual",
        "start",
        "START",
    )
    assert [(note.task_id, note.kind, note.text) for note in state.earlier_notes] == [
        (old_task, "constraint", "No new dependency"),
        (old_task, "completed step", "Port the lexer"),
        (old_task, "open issue", "The lexer is slow"),
        (old_task, "decision", "No regex — because it is slow"),
    ]
    assert [task.task_id for task in state.earlier] == [old_task]


def test_what_was_filed_stays_filed() -> None:
    a, b = pair(goal="Port the lexer")
    b = noted(b, **_OF_THE_OLD_TASK)
    a = ended(a, A_YEAR_LATER, goal="Write the manual")
    both = join_lanes([a, b], "a")
    later = noted(both, learnings=["Pictures help"])
    for joined in (later, join_lanes([later, b]), join_lanes([noted(b, goal="Again"), later])):
        assert joined.state.completed_steps == ()
        assert "Port the lexer" in {note.text for note in joined.state.earlier_notes}


def test_what_an_ended_task_left_is_filed_as_its_last_writer_changed_it() -> None:
    a, b = pair(goal="Port the lexer", constraints=["No regex"])
    (limit,) = b.state.constraints
    changed = limit.replace(text="No regex but in tests")
    b = advance(b, b.state.replace(constraints=(changed,)))
    a = ended(a, A_YEAR_LATER, goal="Write the manual")
    both = join_lanes([a, b], "a")
    for lane in (both, noted(both, learnings=["Later"])):
        assert [note.text for note in lane.state.earlier_notes] == ["No regex but in tests"]


def test_what_was_noted_for_a_new_task_stands_in_its_lists() -> None:
    a, b = pair(goal="Port the lexer")
    a = ended(a, A_YEAR_LATER, goal="Write the manual")
    b = noted(join_lanes([a, b], "b"), open_issues=["No pictures"])
    assert [n.text for n in join_lanes([a, b]).state.open_issues] == ["No pictures"]


def test_two_tasks_that_began_at_once_are_both_open() -> None:
    a, b = pair(goal="Port the lexer", open_issues=["Slow"])
    late = noted(join_lanes([a], "c"), learnings=["Late"])
    a = ended(a, NOW, goal="Write the manual", open_issues=["No pictures"])
    b = ended(b, A_YEAR_LATER, goal="Draw", open_issues=["No colours"])
    state = join_lanes([a, b, late]).state
    assert {note.text for note in state.open_issues} == {"No pictures", "No colours"}
    assert [note.text for note in state.earlier_notes] == ["Late"]


def test_a_session_that_began_on_its_own_elsewhere_is_not_over() -> None:
    a, _ = pair(goal="Port the lexer")
    a = ended(a, A_YEAR_LATER, goal="Write the manual")
    b = advance(begun("b"), new_task("main", "2026-05-05T05:05:05Z"))
    b = noted(b, open_issues=["No pictures"], learnings=["They help"])
    state = join_lanes([a, b]).state
    assert [note.text for note in state.open_issues] == ["No pictures"]
    assert noted(join_lanes([a, b], "a"), goal="Both").state.open_issues == state.open_issues


def test_what_a_new_task_keeps_is_its_own() -> None:
    a, b = pair(goal="Port the lexer", learnings=["Tests take 3 minutes"])
    kept = new_task("main", A_YEAR_LATER, before=a.state).replace(learnings=a.state.learnings)
    a = advance(a, kept)
    for joined in (a, join_lanes([a, b]), join_lanes([a, noted(b, open_issues=["Late"])])):
        assert joined.state.learnings == kept.learnings


def test_a_state_from_before_tasks_were_told_apart_is_joined_as_it_is() -> None:
    a, b = pair(goal="Port the lexer")
    a, b = (advance(lane, lane.state.replace(since_task="")) for lane in (a, b))
    b = noted(b, open_issues=["Slow"]).replace(tasks=())
    a = ended(a.replace(tasks=()), A_YEAR_LATER, goal="Write the manual")
    assert [note.text for note in join_lanes([a, b]).state.open_issues] == ["Slow"]


def test_a_task_that_is_restored_has_its_items_again() -> None:
    a, b = pair(goal="Port the lexer", open_issues=["Slow"])
    before, late = a.state, noted(b, learnings=["Late"])
    a = advance(ended(a, A_YEAR_LATER, goal="Write the manual"), before)
    state = join_lanes([a, late]).state
    assert ([n.text for n in state.open_issues], [n.text for n in state.learnings]) == (
        ["Slow"],
        ["Late"],
    )


# Conflicts and how they end


def in_conflict() -> LaneState:
    a, b = pair(learnings=["Old"])
    a = noted(a, goal="Port the parser", current_phase="design")
    return join_lanes([a, noted(b, goal="Port the lexer", current_phase="review")], "a")


@pytest.mark.parametrize("which", [0, 1])
def test_a_settled_conflict_is_settled_for_everybody(which: int) -> None:
    before = in_conflict()
    conflict = next(c for c in before.conflicts if c.field == "goal")
    chosen = conflict.variants[which]
    after = advance(before, settle(before.state, conflict, chosen))
    assert [c.field for c in after.conflicts] == ["current_phase"]
    for both in (join_lanes([before, after]), join_lanes([after, join_lanes([before], "b")])):
        assert both.state.goal == decode_json(chosen.value)["goal"]
        assert both.conflicts == after.conflicts


def test_an_item_in_conflict_is_settled_in_its_place() -> None:
    a, b = pair(learnings=["First", "Second"])
    first, second = a.state.learnings
    a = advance(a, a.state.replace(learnings=(first.replace(text="A"), second)))
    b = advance(b, b.state.replace(learnings=(first.replace(text="B"), second)))
    both = join_lanes([a, b], "a")
    (conflict,) = both.conflicts
    settled = advance(both, settle(both.state, conflict, conflict.variants[1]))
    assert [note.text for note in settled.state.learnings] == ["A", "Second"]
    assert join_lanes([settled, b]).state == settled.state


def test_whoever_notes_anew_what_is_in_conflict_settles_it() -> None:
    before = in_conflict()
    changed = noted_state(before.state, goal="Port both")
    assert [c.field for c in open_conflicts(changed)] == ["current_phase"]
    after = advance(before, changed)
    assert [c.field for c in after.conflicts] == ["current_phase"]
    assert join_lanes([before, after]).state == after.state


def noted_state(state: TaskState, **changes: Any) -> TaskState:
    return update_state(state, changes, Origin(AGENT, NOW))[0]


def test_settled_differently_by_two_writers_is_a_conflict_again() -> None:
    a = in_conflict()
    b = join_lanes([a], "b")
    conflict = next(c for c in a.conflicts if c.field == "goal")
    a = advance(a, settle(a.state, conflict, conflict.variants[0]))
    b = advance(b, settle(b.state, conflict, conflict.variants[1]))
    assert [c.field for c in join_lanes([a, b]).conflicts] == ["current_phase", "goal"]


def test_a_conflict_survives_its_file() -> None:
    before = in_conflict()
    assert read_state(before.state.to_document()) == before.state


# What a lane is


def test_a_lane_reads_back_from_its_files() -> None:
    lane = in_conflict()
    document = decode_json(dump_json(lane.to_document()).decode())
    assert LaneState.from_document(document, read_state(lane.state.to_document())) == lane


def test_a_state_without_versions_is_its_writers() -> None:
    state = noted(begun("a"), goal="Port the parser", learnings=["First", "Second"]).state
    lane = join_lanes([LaneState("b", {}, state)])
    assert lane.state == state
    assert lane.seen == {"b": 1}


def test_a_join_that_adds_nothing_leaves_the_state_as_it_is() -> None:
    a, b = pair(goal="Port the parser")
    a = noted(a, learnings=["First"])
    assert join_lanes([a, b], "a") == a
    assert join_lanes([a, a], "a") == a


def test_a_list_stands_as_its_writer_left_it() -> None:
    a, _ = pair(learnings=["1", "2", "3", "4"])
    for order in itertools.permutations(a.state.learnings):
        moved = advance(a, a.state.replace(learnings=order))
        assert moved.state.learnings == join_lanes([a, moved]).state.learnings == order


def test_what_a_writer_took_over_from_another_one_stays_the_others_change() -> None:
    a = noted(begun("a"), goal="Port the parser", learnings=["Old", "Kept"])
    b = noted(begin_lane("b", a.state, [a]), next_action="Write tests")
    a = advance(a, a.state.replace(learnings=a.state.learnings[1:]))
    both = join_lanes([noted(a, goal="Port the lexer"), b])
    assert (both.state.goal, both.state.next_action) == ("Port the lexer", "Write tests")
    assert [note.text for note in both.state.learnings] == ["Kept"]
    assert both.conflicts == ()


def test_what_a_writer_has_beside_what_it_took_over_is_kept() -> None:
    a = noted(begun("a"), learnings=["Of a"])
    state = noted(a, learnings=["Of b"]).state
    b = begin_lane("b", state, [a])
    assert b.state == state
    both = join_lanes([advance(a, a.state.replace(learnings=())), b])
    assert [note.text for note in both.state.learnings] == ["Of b"]


def test_a_writer_with_a_new_id_knows_what_it_knew_of_others() -> None:
    a, b = pair(open_issues=["Close me", "Keep me"])
    b = advance(b, b.state.replace(open_issues=b.state.open_issues[1:]))
    b = noted(renamed(b, "new"), learnings=["After the backup"])
    both = join_lanes([a, b])
    assert [note.text for note in both.state.open_issues] == ["Keep me"]
    assert [note.text for note in both.state.learnings] == ["After the backup"]


@pytest.mark.parametrize("name", ["0", "z"])
def test_a_writer_with_a_new_id_shows_and_holds_each_conflict(name: str) -> None:
    before = in_conflict()
    after = renamed(before, name)
    assert after.state.replace(conflicts=()) == before.state.replace(conflicts=())
    assert [c.field for c in after.conflicts] == [c.field for c in before.conflicts]
    for old, new in zip(before.conflicts, after.conflicts, strict=True):
        assert [v.value for v in old.variants] == [v.value for v in new.variants]
    assert advance(after, before.state).conflicts == after.conflicts


def test_what_a_copy_changed_under_the_same_id_and_counter_is_kept() -> None:
    a, b = pair(goal="Begin")
    original, copy = noted(b, learnings=["Of the original"]), noted(b, learnings=["Of the copy"])
    both = join_lanes([original, renamed(copy, "new"), a])
    assert {note.text for note in both.state.learnings} == {"Of the original", "Of the copy"}


def test_an_unchanged_state_makes_no_version() -> None:
    a, _ = pair(goal="Port the parser")
    assert advance(a, a.state) is a


def test_unknown_fields_of_a_newer_gitguard_are_joined_item_by_item() -> None:
    def extended(lane: LaneState, **extra: Any) -> LaneState:
        return advance(lane, lane.state.replace(extra={**lane.state.extra, **extra}))

    a, _ = pair()
    risk = {"id": "1", "text": "The disk is full"}
    a = extended(a, risks=[risk], environment="Staging", limits=[])
    b = join_lanes([a], "b")
    a = extended(a, risks=[risk, {"id": "2", "text": "The quota ends"}])
    b = extended(b, risks=[{"id": "3", "text": "No network"}], environment="Production")
    extra = join_lanes([a, b]).state.extra
    assert [item["id"] for item in extra["risks"]] == ["2", "3"]
    assert (extra["environment"], extra["limits"]) == ("Production", [])


def test_items_with_one_id_are_all_kept() -> None:
    """Somebody may have written them into the file."""
    a, _ = pair()
    notes = (Note("One", id="1"), Note("Two", id="1"), Note("Three"), Note("Four"))
    a = advance(a, a.state.replace(learnings=notes))
    assert join_lanes([a]).state.learnings == notes


@pytest.mark.parametrize(
    "version",
    [
        PartVersion("goal", "key", {"b": 1}),
        PartVersion("learnings", "", {"b": 1}),
        PartVersion("goal_from", "", {"b": 1}),
        PartVersion("conflicts", "1", {"b": 1}),
    ],
)
def test_versions_of_what_no_state_has_are_refused(version: PartVersion) -> None:
    a, b = pair(goal="Port the parser")
    with pytest.raises(InvalidInput, match="a state has no"):
        join_lanes([a, b.replace(versions=(*b.versions, version))])


def test_lanes_that_contradict_each_other_are_refused() -> None:
    state = new_task("main", NOW)
    a = LaneState("a", {"a": 1, "b": 9}, state)
    b = LaneState("b", {"a": 9, "b": 1}, state)
    with pytest.raises(InvalidDocument, match="contradict each other"):
        join_lanes([a, b])


def test_lanes_of_one_writer_that_was_copied_are_joined_alike_everywhere() -> None:
    """A restored backup goes on as the same writer until it notices."""
    a, b = pair(goal="Port the parser")
    first, second = noted(a, goal="Port the lexer"), noted(a, goal="Port both")
    assert join_lanes([first, second]) == join_lanes([second, first])
    assert join_lanes([second, b, first]) == join_lanes([join_lanes([first, b]), second])


# Laws


@settings(max_examples=80, suppress_health_check=[HealthCheck.too_slow])
@given(st.integers(0, 2**32), st.integers(2, 5), st.integers(0, 60), st.booleans())
def test_the_order_and_the_number_of_joins_do_not_matter(
    seed: int, writers: int, steps: int, begins_anew: bool
) -> None:
    fleet = Fleet(writers, seed, begins_anew=begins_anew)
    fleet.run(steps)
    whole = join_lanes(fleet.lanes)
    for lane in fleet.lanes:
        assert join_lanes([lane], lane.writer) == lane
        assert join_lanes([lane, lane], lane.writer) == lane
        assert join_lanes([whole, lane]) == whole
    for first, second in itertools.permutations(fleet.lanes, 2):
        assert join_lanes([first, second]) == join_lanes([second, first])
    for first, second, third in itertools.islice(itertools.permutations(fleet.lanes, 3), 12):
        left = join_lanes([join_lanes([first, second]), third])
        assert (
            left
            == join_lanes([first, join_lanes([second, third])])
            == join_lanes([third, second, first])
        )


@example(3900, 4, 13, True)  # two goals of a task that a third writer ended
@example(1616210201, 4, 48, True)  # two texts of an item of such a task
@example(2736469505, 2, 17, True)  # two texts of it that were filed
@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(st.integers(0, 2**32), st.integers(2, 5), st.integers(0, 60), st.booleans())
def test_nothing_that_a_writer_noted_is_lost(
    seed: int, writers: int, steps: int, begins_anew: bool
) -> None:
    fleet = Fleet(writers, seed, begins_anew=begins_anew)
    fleet.run(steps)
    assert fleet.lost(join_lanes(fleet.lanes)) == []


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("begins_anew", [False, True])
def test_eight_writers_agree_after_two_rounds(seed: int, begins_anew: bool) -> None:
    """Notes, edits, removals and moves, with partitions, late and reordered exchanges."""
    assert records_of_eight_writers(seed, steps=200, begins_anew=begins_anew) > 50


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(100, 190))
def test_eight_writers_lose_none_of_many_records(seed: int) -> None:
    """All seeds together have about 100,000 records."""
    assert records_of_eight_writers(seed, steps=2_000, begins_anew=seed % 3 == 0) > 1_000


def records_of_eight_writers(seed: int, steps: int, *, begins_anew: bool) -> int:
    """Say how much was noted; all of it is with all of them after two rounds of exchanges."""
    fleet = Fleet(8, seed, begins_anew=begins_anew)
    fleet.run(steps)
    fleet.exchange_all()
    fleet.exchange_all()
    assert len({dump_json(lane.state.to_document()) for lane in fleet.lanes}) == 1
    assert fleet.lost(fleet.lanes[0]) == []
    return fleet.recorded
