"""What a summary of old turns says, how they are cut for it, and who may write it."""

from __future__ import annotations

import json
import os
import random
import tempfile
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitguard.compaction.extraction import extract
from gitguard.compaction.summary import TITLE, SummaryDraft
from gitguard.hosts.claude_code.hooks import HOST
from gitguard.hosts.claude_code.plan_calls import answered, plan_change
from gitguard.model.conversation import CALL, RESULT
from gitguard.model.redaction.redactor import Redactor
from gitguard.model.transcript import Answer
from gitguard.sessions.resume.filling import BlockItem, BlockSection
from gitguard.store.disk.summarizer import LARGEST_ANSWER, SummarizerCommand, summarizer_environment
from gitguard.transcripts import find_format
from gitguard.transcripts.fitting.chunks import (
    FEWEST_MESSAGES,
    Unit,
    by_share,
    by_size,
    count_messages,
    first_of_last_turns,
    prune,
    total,
    units,
)
from gitguard.transcripts.fitting.compaction import CompactionPlan, plan
from gitguard.transcripts.fitting.context import VisibleContext
from gitguard.transcripts.fitting.facts import rules_in
from gitguard.transcripts.fitting.limits import first_within_limit
from gitguard.transcripts.fitting.summarizing import (
    ATTEMPTS,
    MOST_FAILURES,
    NOTHING,
    Patience,
    Summarized,
    persistent,
    summarize,
    transcribed,
)
from tests.support import spoken
from tests.support.called import Call, created, planned, shell, updated
from tests.support.spoken import Said, turns
from tests.support.summarizers import runs
from tests.support.waiting import wait_until

PLAIN = Redactor()


def cut(said: list[Said]) -> tuple[Unit, ...]:
    return units(spoken.entries(said))


# Cutting

sizes = st.integers(0, 4_000)


@st.composite
def conversations(draw: Callable[..., Any]) -> list[Said]:
    """Turns of any size and shape; results come late, at once, or never."""
    said: list[Said] = []
    late: list[Said] = []
    lost: list[Said] = []
    for number in range(draw(st.integers(0, 12))):
        said.append(("user", "u" * draw(sizes)))
        for call in range(draw(st.integers(0, 3))):
            name = f"c{number}-{call}"
            result: Said = ("result", name, "r" * draw(sizes))
            said.append(("call", name, "bash"))
            (said, late, lost)[draw(st.integers(0, 2))].append(result)
        said += [("agent", "a" * draw(sizes))] * draw(st.integers(0, 2))
        if late and draw(st.booleans()):
            said.append(late.pop())
    return said + late


def ids(parts: list[tuple[Unit, ...]], kind: str) -> list[set[str]]:
    return [
        {b.id for unit in part for e in unit.entries for b in e.blocks if b.kind == kind}
        for part in parts
    ]


def assert_no_pair_is_split(parts: list[tuple[Unit, ...]]) -> None:
    for calls, place in zip(ids(parts, CALL), range(len(parts)), strict=True):
        for other, results in enumerate(ids(parts, RESULT)):
            assert other == place or not calls & results


@given(conversations(), st.integers(1, 8), st.integers(1, 3_000))
def test_cutting_loses_nothing_and_splits_no_pair(said: list[Said], parts: int, most: int) -> None:
    found = cut(said)
    for pieces in (by_share(found, parts), by_size(found, most), list(prune(found, most))):
        assert tuple(unit for piece in pieces for unit in piece) == found
        assert_no_pair_is_split(pieces)


@given(conversations(), st.integers(1, 8))
def test_a_part_has_at_least_four_messages(said: list[Said], parts: int) -> None:
    pieces = by_share(cut(said), parts)
    assert len(pieces) <= parts
    assert len(pieces) < 2 or all(count_messages(p) >= FEWEST_MESSAGES for p in pieces)


@given(conversations(), st.integers(1, 3_000))
def test_pruning_fits_the_budget_or_leaves_one(said: list[Said], budget: int) -> None:
    gone, left = prune(cut(said), budget)
    assert total(left) <= budget or len(left) == 1
    assert not gone or total(cut(said)) > budget


def test_results_that_come_late_join_what_lies_between() -> None:
    said: list[Said] = [("call", "1", "bash"), ("user", "u"), ("call", "2", "bash")]
    said += [("user", "v"), ("result", "1", "r"), ("user", "w"), ("result", "2", "r")]
    assert len(cut([*said, ("agent", "done")])) == 2


def test_parts_take_about_the_same_tokens() -> None:
    found = cut(turns(40, size=400))
    parts = by_share(found, 4)
    assert len(parts) == 4
    assert max(map(total, parts)) < 1.1 * total(found) / 4


def test_what_is_too_large_stands_alone() -> None:
    said = [*turns(4), ("agent", "x" * 40_000), *turns(4)]
    chunks = by_size(cut(said), 5_000)
    alone = [chunk for chunk in chunks if total(chunk) > 5_000]
    assert [count_messages(chunk) for chunk in alone] == [1]
    assert len(chunks) == 3


def test_turns_are_counted_backwards() -> None:
    found = cut(turns(10))
    assert [unit.begins_turn for unit in found[first_of_last_turns(found, 3) :]].count(True) == 3
    assert first_of_last_turns(found, 50) == 0


def decided(said: list[Said], *, budget: int = 120_000, keep_turns: int = 3) -> CompactionPlan:
    found = plan(VisibleContext(tuple(spoken.entries(said))), budget=budget, keep_turns=keep_turns)
    assert found is not None
    return found


def test_the_rest_of_a_turn_that_was_split_is_older_than_the_last_turns() -> None:
    said = spoken.entries([("agent", "the rest"), *turns(2)])
    assert first_of_last_turns(units(said), 2) == 1
    assert first_within_limit(said, 2) == 0, "a host counts requests, and there are no more"


def test_the_last_turns_are_kept_whole() -> None:
    found = decided(turns(10))
    assert not found.splits_turn
    assert found.kept[0].begins_turn
    assert found.tokens_before == total((*found.old, *found.kept))


def test_fewer_turns_are_kept_where_they_take_more_than_the_budget() -> None:
    found = decided(turns(10, size=4_000), budget=2_500)
    assert not found.splits_turn
    assert [unit.begins_turn for unit in found.kept].count(True) == 2
    assert total(found.kept) <= 2_500


def test_a_turn_that_takes_more_than_the_budget_is_split() -> None:
    calls: list[Said] = []
    for number in range(40):
        calls += [("call", f"c{number}", "bash"), ("result", f"c{number}", "r" * 4_000)]
    found = decided([*turns(2), ("user", "one long turn"), *calls], budget=10_000)
    assert found.splits_turn
    assert total(found.kept) <= 10_000
    text = draft(found)
    assert "was split" in text
    assert "It began with: User: one long turn" in text


# What the summary says


def draft(found: CompactionPlan, *, most: int = 16_000, folder: str = "", rules: str = "") -> str:
    made = summarize([found.old], PLAIN, most_tokens=80_000)
    return SummaryDraft(found, PLAIN, most=most, folder=folder).text(made, rules=rules)


def test_it_tells_who_said_what_what_failed_and_which_files() -> None:
    text = draft(decided(turns(12)), folder="/repo")
    assert text.startswith(TITLE)
    assert "- User: request 0" in text
    assert "- Agent: answer 8" in text
    assert "edit: src/edit_4.py: outcome 4" in text
    assert "- src/edit_3.py" in text
    assert "- src/edit_4.py" not in text, "its only edit failed"
    assert "- src/read_6.py" in text
    assert "request 9" not in text


def shown(found: tuple[Unit, ...], *, most: int = 16_000, asked: str = "Mend the parser") -> str:
    """Return the summary of a request, these calls, and two turns that stay."""
    request = units(spoken.entries([("user", asked)]))
    stays = units(spoken.entries(turns(2)))
    whole = CompactionPlan(VisibleContext(()), (*request, *found), stays)
    return draft(whole, most=most)


def steps(*calls: Call) -> list[tuple[str, str, str]]:
    plan = extract(planned(*calls), PLAIN).state.plan
    return [(step.number, step.text, step.state) for step in plan]


def test_the_plan_is_read_from_tasks_that_are_created_and_updated_one_by_one() -> None:
    calls = [created(1, "Write the parser"), created(2, "Test it"), created(3, "Ship it")]
    calls += [updated(1, status="completed"), updated(2, status="in_progress")]
    calls += [updated(3, status="deleted"), created(4, "Document it")]
    assert steps(*calls) == [
        ("1", "Write the parser", "done"),
        ("2", "Test it", "active"),
        ("4", "Document it", "open"),
    ]
    text = shown(planned(*calls))
    assert text.index("Test it") < text.index("Document it")
    assert "Write the parser" not in text.partition("## Plan")[2]


def test_a_list_of_all_tasks_replaces_the_plan_and_an_unreadable_one_leaves_it() -> None:
    listed = "#2 [completed] Test it\n#3 [pending] Ship it [blocked by #2]"
    before = (created(1, "Write the parser"), created(2, "Test it"))
    assert steps(*before, ("TaskList", {}, listed)) == [
        ("2", "Test it", "done"),
        ("3", "Ship it", "open"),
    ]
    assert len(steps(*before, ("TaskList", {}, "[output was removed]"))) == 2
    assert steps(*before, ("TaskList", {}, "No tasks found")) == []


def test_a_task_whose_number_is_not_told_changes_no_other_one() -> None:
    unknown = ("TaskCreate", {"subject": "Lost"}, "fine")
    assert steps(created(1, "Write the parser"), updated(1, status="completed"), unknown) == [
        ("1", "Write the parser", "done")
    ]


def test_a_to_do_list_that_is_written_as_a_whole_is_the_plan() -> None:
    todos = [{"content": "one", "status": "completed"}, {"content": "two", "status": "pending"}]
    for parameters in ({"todos": todos}, {"plan": [{**t, "step": t["content"]} for t in todos]}):
        call = ("TodoWrite", parameters, "fine")
        assert [text for _, text, state in steps(call) if state == "open"] == ["two"]
        assert steps(call, ("TodoWrite", {key: [] for key in parameters}, "fine")) == []


@pytest.mark.parametrize("name", ["TaskCreate", "TaskUpdate.completed", "TaskUpdate.in_progress"])
def test_hooks_and_compactions_read_the_same_plan_from_a_recorded_call(name: str) -> None:
    path = Path(__file__).parents[2] / "payloads" / "claude_code" / f"PostToolUse.{name}.json"
    payload = json.loads(path.read_text())
    tool = HOST.parse_event(payload, {}, 0.0).tool
    assert tool is not None
    assert tool.plan
    call, subject = payload["tool_input"], payload["tool_input"].get("subject", "")
    said = f"Task #1 created successfully: {subject}" if subject else "Updated task #1 status"
    change = plan_change(tool.name, call, answered(tool.name, call, said), PLAIN.shorten)
    assert (change.items, change.is_whole) == (tool.plan, tool.whole_plan)


def test_a_failure_keeps_its_end_and_is_gone_once_the_same_call_succeeds() -> None:
    log = "line\n" * 2_000 + "AssertionError: 3 != 4"
    text = shown(shell(("python a.py", True, log), ("python b.py", True, log)))
    assert text.count("AssertionError: 3 != 4") == 2
    text = shown(shell(("python a.py", True, log), ("python a.py", False, "fine")))
    assert "AssertionError" not in text
    assert "- python a.py: fine" in text


def test_a_question_that_is_answered_no_is_no_failure() -> None:
    assert "Open failures" not in shown(shell(("grep -q x y", True, "Exit code 1")))


def test_a_command_that_checks_the_work_has_its_latest_outcome_and_how_often_it_ran() -> None:
    runs = [("pytest -q | tail -3", False, "1 failed, 3 passed in 0.1s")] * 2
    text = shown(shell(*runs, ("pytest -q | tail -3", False, "4 passed in 0.1s")))
    assert "- pytest -q (3 times): passed — 4 passed in 0.1s" in text
    assert "1 failed" not in text


def test_a_run_of_110_shell_calls_fills_the_summary() -> None:
    runs = [
        (f"./measure --case {n} --seed {n * 7}", False, f"case {n}: {n * 13} rows, {n % 9}.{n} s")
        for n in range(110)
    ]
    text = shown(shell(*runs))
    assert text.count("./measure") == 110
    assert all(f"case {n}: {n * 13} rows" in text for n in range(110))
    long = shown(shell(*((command, no, f"{output} " * 12) for command, no, output in runs)))
    assert 0.8 * 16_000 <= len(long) <= 16_000
    assert "Bash" not in text, "the names of tools tell nothing"


@st.composite
def histories(draw: Callable[..., Any]) -> tuple[str, tuple[Unit, ...]]:
    """A request, and more shell calls and answers than a summary of 4,000 characters holds."""
    words = draw(
        st.lists(st.sampled_from(["row", "cache", "parser", "index", "token"]), min_size=3)
    )
    count = draw(st.integers(40, 90))
    runs = [
        (f"./run {n} {' '.join(words)[:60]}", draw(st.booleans()), f"{n} rows " * 9)
        for n in range(count)
    ]
    said: list[Said] = []
    for n in range(draw(st.integers(0, 40))):
        said += [("user", f"Port module {n}, never touch {n + 1}"), ("agent", f"It took {n} s.")]
    return " ".join(words), (*shell(*runs), *cut(said))


@given(histories(), st.sampled_from([2_000, 4_000]))
def test_a_summary_uses_four_fifths_of_its_room_where_there_is_that_much_to_say(
    history: tuple[str, tuple[Unit, ...]], most: int
) -> None:
    asked, found = history
    text = shown(found, most=most, asked=asked)
    assert 0.8 * most <= len(text) <= most
    lines = [line for line in text.splitlines() if len(line) > 40]
    assert len(lines) == len(set(lines)), "nothing is said twice"


def test_what_the_user_said_stands_in_its_order_and_small_talk_never() -> None:
    said: list[Said] = [("user", "Port the parser"), ("agent", "It takes 3 s now.")]
    said += [("user", "thanks!"), ("user", "No, use a semicolon"), ("user", "go on")]
    said += [("user", "Never touch the PDF export"), *turns(2)]
    text = draft(decided(said, keep_turns=2))
    places = [text.index(words) for words in ("Port the", "It takes", "No, use", "Never touch")]
    assert places == sorted(places)
    assert "thanks" not in text
    assert "heard them" in text


def test_a_file_that_was_changed_is_not_listed_as_read_and_a_failed_write_changes_none() -> None:
    said: list[Said] = []
    for tool, path in (("read", "/w/a"), ("edit", "/w/a"), ("edit", "/w/a"), ("Read", "/x/b")):
        call = f"c{len(said)}"
        said += [("call", call, tool, path), ("result", call, "fine")]
    said += [("call", "g", "grep", "/w/c"), ("result", "g", "fine")]
    said += [("call", "w", "write", "/w/d"), ("failed", "w", "read-only")]
    found = extract(cut(said), PLAIN, "/w")
    assert (found.files.read, found.files.modified) == (("/x/b",), ("a",))
    assert "- a (2 times)" in shown(cut(said)).replace("/w/a", "a")


RULES = """# Agents
Be kind.
## Red lines
Never push.
### Really
Not even once.
```
## Red lines
```
## Other
Skip this.
"""


def test_the_rules_are_the_sections_that_are_named() -> None:
    found = rules_in(RULES, ("Red Lines",), 2_000)
    assert found.startswith("## Red lines\nNever push.\n### Really")
    assert "Skip this" not in found
    assert "Be kind" not in found
    assert len(rules_in(RULES * 100, ("Agents",), 500)) <= 500
    assert rules_in(RULES, ("Unknown",), 500) == ""


@pytest.mark.parametrize(
    ("heading", "is_one"),
    [
        ("# Red lines", True),
        ("###### \tRed Lines \t", True),
        ("## Red lines ##", True),
        ("####### Red lines", False),
        ("#Red lines", False),
        (" # Red lines", False),
        ("# # Red lines", False),
        ("#", False),
    ],
)
def test_a_heading_is_up_to_six_hashes_and_a_blank(heading: str, is_one: bool) -> None:
    assert bool(rules_in(f"{heading}\nNever push.\n", ("Red Lines",), 500)) is is_one


@pytest.mark.parametrize("pattern", ["#", "# ", " ", "\t#"])
def test_a_long_line_of_hashes_holds_nobody_up(pattern: str) -> None:
    # Time that grows with the square of the length would be minutes here.
    text = f"# {pattern * (1 << 17)}x\n# Red lines\nNever push.\n"
    assert rules_in(text, ("Red Lines",), 500) == "# Red lines\nNever push."


def test_it_is_never_longer_than_allowed() -> None:
    found = decided(turns(200, size=2_000))
    for most in (2_000, 5_000, 16_000):
        assert len(draft(found, most=most, rules="r" * 1_000)) <= most


def test_a_long_story_leaves_room_for_the_rest() -> None:
    found = decided(turns(400, size=2_000))
    long = Summarized("\n".join(f"- User: matter {n} " + "x" * 90 for n in range(1_000)))
    state = (BlockSection("Goal", (BlockItem("Ship it"),), 10, is_list=False),)
    text = SummaryDraft(found, PLAIN, most=8_000).text(long, state=state, rules="Never push.")
    assert len(text) <= 8_000
    assert "- User: matter 0 " in text
    assert "- User: matter 999 " in text
    assert "lines left out" in text
    for kept in ("Ship it", "Never push.", "outcome 396", "src/edit_4.py"):
        assert kept in text


def test_a_story_on_one_line_is_cut_as_well() -> None:
    story = "FIRST " + "word " * 5_000 + "LAST"
    text = SummaryDraft(decided(turns(9)), PLAIN, most=2_000).text(Summarized(story))
    assert len(text) <= 2_000
    assert "FIRST" in text
    assert "LAST" in text


def test_an_earlier_summary_on_one_line_is_cut_and_not_left_out() -> None:
    earlier = "FIRST " + "word " * 2_000 + "LAST"
    plan = decided(turns(9))
    plan = plan.replace(before=plan.before.replace(summary=earlier))
    text = SummaryDraft(plan, PLAIN, most=8_000).text(Summarized("It went on."))
    assert "FIRST" in text
    assert "LAST" in text


@pytest.mark.parametrize("most", [3_000, 6_400, 16_000])
def test_the_rules_stay_whole_where_everything_else_is_long(most: int) -> None:
    plan = decided(turns(9))
    plan = plan.replace(before=plan.before.replace(summary="an earlier fact\n" * 900))
    rules = "- a rule\n" * 150 + "- the last rule"
    text = SummaryDraft(plan, PLAIN, most=most).text(
        Summarized("a newer fact\n" * 900), rules=rules
    )
    assert len(text) <= most
    assert text.endswith("- the last rule")
    assert "an earlier fact" in text
    assert "a newer fact" in text


def test_secrets_are_in_no_summary_and_leave_for_no_summarizer() -> None:
    secret = "gh" + "p_" + "A1b2C3d4" * 5
    said: list[Said] = [("user", f"use {secret}"), ("call", "1", "bash", f"/x/{secret}")]
    said += [("failed", "1", f"bad token {secret}"), *turns(5)]
    found = decided(said)
    told: list[str] = []

    def ask(text: str) -> Answer:
        told.append(text)
        return Answer(f"They use {secret}.")

    made = summarize([found.old], PLAIN, most_tokens=80_000, ask=ask)
    texts = [*told, made.text, draft(found)]
    assert len(texts) == 3
    assert not [text for text in texts if secret in text]
    assert "[REDACTED:" in made.text


def test_details_and_thinking_leave_for_no_summarizer(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    transcript = spoken.pi(path, turns(2))
    path.write_text(
        path.read_text().replace('"isError": true', '"details": "hidden", "isError": 1')
    )
    found = units(list(find_format("pi").entries(transcript)))
    assert "hidden" in path.read_text()
    assert "hidden" not in transcribed(found, PLAIN, 100_000)


# Who writes it


@pytest.mark.parametrize("count", [2, 3, 7, 12])
def test_a_summarizer_is_given_no_more_to_merge_than_to_summarize(count: int) -> None:
    asked: list[str] = []

    def ask(text: str) -> Answer:
        asked.append(text)
        return Answer("fact " * 1_600)

    chunks = by_size(cut(turns(count)), 1)
    made = summarize(chunks, PLAIN, most_tokens=4_500, ask=ask)
    merges = [text for text in asked if "<summaries>" in text]
    assert made.by_plug
    assert merges
    assert max(map(len, merges)) < 20_000


def test_each_chunk_is_summarized_and_the_parts_are_merged() -> None:
    chunks = by_share(cut(turns(30)), 3)
    asked: list[str] = []

    def ask(text: str) -> Answer:
        asked.append(text)
        return Answer(f"part {len(asked)}")

    steps: list[tuple[int, int]] = []
    made = summarize(
        chunks, PLAIN, most_tokens=80_000, ask=ask, tell=lambda *step: steps.append(step)
    )
    assert (made.text, made.by_plug, len(asked)) == ("part 4", True, 4)
    assert "request 0" in asked[0]
    assert "part 1" in asked[3]
    assert "part 3" in asked[3]
    assert steps[-1] == (4, 4)


def test_a_chunk_that_is_too_long_is_cut_in_its_middle() -> None:
    found = cut([("user", "begins " + "x" * 100_000 + " ends")])
    text = transcribed(found, PLAIN, 1_000)
    assert len(text) < 1_100
    assert "begins" in text
    assert text.endswith("ends")
    assert "characters left out" in text


def test_a_failure_falls_back_to_facts_is_said_and_later_chunks_are_tried() -> None:
    chunks = by_share(cut(turns(30)), 3)
    answers = [Answer("part 1"), Answer(complaint="it ended with 1: busy"), Answer("part 3")]
    answers += [Answer("merged: \n- User: request 15")]
    asked: list[str] = []

    def ask(text: str) -> Answer:
        asked.append(text)
        return answers.pop(0)

    made = summarize(chunks, PLAIN, most_tokens=80_000, ask=ask)
    assert answers == []
    assert not made.by_plug
    assert made.complaints == ("it ended with 1: busy",)
    assert "part 1" in asked[3]
    assert "- User: request 15" in asked[3], "what it did not summarize is merged as facts"
    assert "part 3" in asked[3]


class Small:
    """A summarizer whose model takes so many characters only."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.taken: list[str] = []
        self.refused: list[int] = []

    def __call__(self, text: str) -> Answer:
        if len(text) > self.most:
            self.refused.append(len(text))
            return Answer(complaint="it ended with 1: prompt is too long")
        self.taken.append(text)
        return Answer(f"summary {len(self.taken)}")


def test_a_summarizer_that_refuses_a_large_chunk_gets_halves_of_it() -> None:
    said = turns(60, size=2_000)
    small = Small(20_000)
    made = summarize([cut(said)], PLAIN, most_tokens=80_000, ask=small)
    assert (made.by_plug, made.complaints) == (True, ())
    given_ = "".join(small.taken)
    assert [n for n in range(60) if f"request {n}\n" not in given_] == [], "all of it was given"
    assert not any("characters left out" in text for text in small.taken)
    assert len(small.refused) <= 4, "what it refused once it is not given again"


def test_later_chunks_are_cut_to_what_the_summarizer_took() -> None:
    chunks = by_share(cut(turns(90, size=2_000)), 3)
    small = Small(40_000)
    assert summarize(chunks, PLAIN, most_tokens=80_000, ask=small).by_plug
    assert len(small.refused) == 1


def test_one_message_that_is_too_large_is_cut_until_it_is_taken() -> None:
    small = Small(20_000)
    said: list[Said] = [("user", "begins " + "x" * 200_000 + " ends")]
    assert summarize([cut(said)], PLAIN, most_tokens=80_000, ask=small).by_plug
    (text,) = small.taken
    assert "begins" in text
    assert "ends\n" in text


@pytest.mark.parametrize("fails", [1, 2, 3])
def test_who_recovers_is_asked_for_what_comes_later(fails: int) -> None:
    chunks = by_share(cut(turns(40)), 5)
    answers = iter([Answer(complaint="busy")] * fails)
    asked: list[str] = []

    def ask(text: str) -> Answer:
        asked.append(text)
        return next(answers, Answer("fine"))

    made = summarize(chunks, PLAIN, most_tokens=80_000, ask=ask)
    assert made.complaints == ("busy",)
    recovers = fails < MOST_FAILURES
    assert ("fine" in made.text) == recovers
    assert len(asked) == (len(chunks) + 1 if recovers else MOST_FAILURES)


@given(conversations(), st.integers(300, 60_000), st.integers(1_000, 40_000))
def test_a_summarizer_of_any_size_comes_to_an_end_and_loses_no_part(
    said: list[Said], most: int, chunk: int
) -> None:
    small = Small(most)
    found = cut(said)
    made = summarize(by_size(found, chunk), PLAIN, most_tokens=chunk, ask=small)
    assert made.text
    assert made.by_plug == (not made.complaints)
    assert len(small.refused) < 20 + 2 * len(found)


def test_parts_that_are_too_many_to_merge_at_once_are_merged_in_steps() -> None:
    asked: list[str] = []

    def ask(text: str) -> Answer:
        asked.append(text)
        too_long = "<summaries>" in text and text.count("fact") > 900
        return Answer(complaint="too long") if too_long else Answer("fact " * 400)

    chunks = by_share(cut(turns(40)), 5)
    made = summarize(chunks, PLAIN, most_tokens=80_000, ask=ask)
    assert (made.by_plug, made.complaints) == (True, ())
    assert made.text.split() == ["fact"] * 400


def test_where_nothing_was_said_it_says_so() -> None:
    said: list[Said] = [("call", "1", "bash"), ("result", "1", "fine")]
    assert summarize([cut(said)], PLAIN, most_tokens=1_000).text == NOTHING


class Time:
    """A clock that only sleeping moves."""

    def __init__(self) -> None:
        self.now = 0.0
        self.slept: list[float] = []

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds

    def patience(self, seconds: float, chance: Callable[[], float]) -> Patience:
        return Patience(lambda: self.now, self.sleep, chance, seconds)


@given(st.floats(0, 1))
def test_it_is_asked_three_times_with_pauses_of_half_a_second_to_five(chance: float) -> None:
    passed = Time()
    asked: list[float] = []

    def ask(_text: str, seconds: float) -> Answer:
        asked.append(seconds)
        return Answer(complaint=f"failed {len(asked)}")

    answer = persistent(ask, passed.patience(300, lambda: chance))("text")
    assert (len(asked), answer.complaint) == (ATTEMPTS, "failed 3")
    assert all(0.5 <= pause <= 5 for pause in passed.slept)
    assert len(passed.slept) == ATTEMPTS - 1


def test_pauses_differ_by_chance() -> None:
    chance = random.Random(1).random
    slept = []
    for _ in range(5):
        passed = Time()
        persistent(lambda *_: Answer(), passed.patience(300, chance))("text")
        slept.append(passed.slept[-1])
    assert len(set(slept)) == 5


def test_all_of_it_ends_in_time() -> None:
    passed = Time()

    def ask(_text: str, seconds: float) -> Answer:
        passed.now += min(seconds, 200)
        return Answer(complaint="it did not end in time")

    asked = persistent(ask, passed.patience(300, lambda: 1.0))
    assert asked("one").complaint == "it did not end in time"
    assert passed.now <= 300
    assert asked("two").complaint == "there was no time left"
    assert passed.now <= 300


# The user's own command


def command(program: str, environment: dict[str, str] | None = None) -> SummarizerCommand:
    found = environment or {"PATH": os.environ["PATH"]}
    return SummarizerCommand("/bin/sh", ("-c", program), found, time.monotonic)


def test_a_command_is_given_the_text_and_answers() -> None:
    assert command("tr a-z A-Z")("summarize this", 20).text == "SUMMARIZE THIS"


@pytest.mark.parametrize(
    ("program", "said"),
    [
        ("echo no credit >&2; exit 3", "it ended with 3: no credit"),
        ("exit 0", "it printed nothing"),
        ("exec sleep 60", "it did not end in time"),
        ("sleep 60 & exit 0", "it printed nothing"),
        ("sleep 60 & echo no credit >&2; exit 3", "it ended with 3: no credit"),
        ("(while :; do echo; sleep 0.1; done) & exec sleep 60", "it did not end in time"),
        ("yes", f"it said more than {LARGEST_ANSWER:,} bytes"),
        ("kill -9 $$", "it ended with -9: it printed nothing"),
    ],
)
def test_a_command_that_fails_is_told_why(program: str, said: str) -> None:
    seconds = 1.0 if "time" in said else 20.0
    assert command(program)("x" * 100_000, seconds) == Answer(complaint=said)


def test_a_command_that_is_not_there_is_told_why() -> None:
    missing = SummarizerCommand("/nowhere/to/be/found", (), {}, time.monotonic)
    assert "cannot be started" in missing("text", 5).complaint


def test_what_a_command_leaves_behind_does_not_keep_its_answer_back(tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    answer = command(f"sleep 60 & echo $! > {pid}; tr a-z A-Z")("a" * 200_000, 20)
    assert answer == Answer("A" * 200_000)
    wait_until(lambda: not runs(pid.read_text().strip()), 10, "something still runs")


def test_of_endless_complaints_the_last_ones_are_kept() -> None:
    program = "head -c 100000000 /dev/zero | tr '\\0' x >&2; echo; echo no credit >&2; exit 3"
    tracemalloc.start()
    try:
        answer = command(program)("text", 60)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert answer.complaint.startswith("it ended with 3: xxx")
    assert most < 10_000_000, "as much as it said was kept in memory"


def test_without_a_folder_to_run_in_it_is_told_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", "/nowhere/to/be/found")
    assert "cannot be started" in command("echo a")("text", 5).complaint


def test_all_that_a_command_started_ends_with_it(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    program = f"sleep 60 & echo $! >> {pids}; sleep 60 & echo $! >> {pids}; wait"
    assert command(program)("text", 1).complaint == "it did not end in time"
    both = pids.read_text().split()
    wait_until(lambda: not any(map(runs, both)), 10, "something still runs")


def test_a_command_runs_in_an_empty_folder_with_hooks_off(tmp_path: Path) -> None:
    given_ = {"PATH": os.environ["PATH"], "GITGUARD_ROOT": "/w", "GIT_DIR": "/w/.git", "HOME": "/h"}
    said = command("ls -A | wc -l; pwd; env", given_)("text", 20).text.splitlines()
    assert said[0].strip() == "0"
    assert "gitguard-summarizer-" in said[1]
    assert not os.path.exists(said[1])
    names = {line.partition("=")[0] for line in said[2:]}
    assert not names & {"GITGUARD_ROOT", "GIT_DIR", "OLDPWD"}
    assert summarizer_environment(given_)["GITGUARD_HOOKS"] == "off"
    assert "GITGUARD_HOOKS=off" in said
    assert "HOME=/h" in said


@pytest.mark.parametrize(
    ("answers", "author"),
    [
        (("mine", "mine", "merged"), "by a command that its user set up:"),
        (("mine", "", ""), "in part, and in part by gitguard, without a model:"),
        (("", "", ""), "summarized by gitguard, without a model:"),
    ],
)
def test_a_summary_says_who_wrote_it_also_where_a_model_wrote_a_part(
    answers: tuple[str, ...], author: str
) -> None:
    waiting = list(answers)

    def ask(_text: str) -> Answer:
        text = waiting.pop(0) if waiting else ""
        return Answer(text) if text else Answer(complaint="no")

    found = decided(turns(12))
    middle = len(found.old) // 2
    chunks = [found.old[:middle], found.old[middle:]]
    made = summarize(chunks, PLAIN, most_tokens=80_000, ask=ask)
    assert author in SummaryDraft(found, PLAIN, most=8_000).text(made)
