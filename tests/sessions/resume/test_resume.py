"""The resume block: what has to be in it, what goes first, and what it never exceeds."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitguard.model.text import seconds, timestamp
from gitguard.model.tokens import tokens_of
from gitguard.sessions.resume.building import LEAST_TOKENS, Header, build_resume
from gitguard.sessions.resume.filling import BlockItem, BlockSection, Filled, fill, length
from gitguard.state.items import (
    FAILED,
    HOOK,
    PASSED,
    RAN,
    UNFINISHED,
    Artifact,
    Command,
    Decision,
    Exchange,
    Failure,
    HostSummary,
    Note,
    Origin,
    PlanStep,
    ToolOutput,
    texts,
)
from gitguard.state.prompts import gist
from gitguard.state.snapshot import Work
from gitguard.state.task import LastAction, TaskState, new_task
from gitguard.state.thread import extend, refused_by_user, said_by_agent, said_by_user
from tests.support.state_documents import BY_HOOK, notes

NOW = "2026-01-31T09:30:00Z"
ORIGIN = Header("main", "cp_012")
FACT = 60
REQUIRED = (
    "Goal", "Phase", "Next action", "Blockers", "Constraints", "Invariants", "Decisions",
    "Failed attempts", "Open items", "Plan, next step first", "Files",
)  # fmt: skip


def fact(number: int) -> str:
    return f"fact {number:04d} of what this task has to keep in mind for later".ljust(FACT, ".")


def planted(count: int) -> tuple[TaskState, list[str]]:
    """Return a state with facts in all its required parts, and the facts, oldest first."""
    facts = [fact(number) for number in range(count)]
    goal, phase, action, *rest = facts
    parts: dict[str, list[str]] = {}
    places = (
        "decision", "why", "constraint", "invariant", "failure", "error", "blocker", "issue", "file"
    )  # fmt: skip
    for place, text in zip(itertools.cycle(places), rest, strict=False):
        parts.setdefault(place, []).append(text)

    def pairs(first: str, second: str) -> Iterator[tuple[str, str]]:
        return itertools.zip_longest(parts.get(first, ()), parts.get(second, ()), fillvalue="")

    state = new_task("main", NOW).replace(
        goal=goal,
        current_phase=phase,
        next_action=action,
        decisions=tuple(Decision("d1", a, b) for a, b in pairs("decision", "why")),
        failed_attempts=tuple(Failure(a, b) for a, b in pairs("failure", "error")),
        constraints=notes(*parts.get("constraint", ())),
        invariants=notes(*parts.get("invariant", ())),
        blockers=notes(*parts.get("blocker", ())),
        open_issues=notes(*parts.get("issue", ())),
        artifacts=tuple(Artifact(path) for path in parts.get("file", ())),
    )
    return state, facts


def among_derived(state: TaskState) -> tuple[TaskState, Work]:
    """Return the state after long work in which hooks recorded whatever they can, all newer."""
    said = "the user answered: " + "yes " * 10
    state = state.replace(
        decisions=(
            *state.decisions,
            *(Decision(f"d{i}", said, "why " * 30, origin=BY_HOOK) for i in range(50)),
        ),
        failed_attempts=(
            *state.failed_attempts,
            *(Failure(f"Bash: {i} " + "x " * 190, "err " * 90, origin=BY_HOOK) for i in range(50)),
        ),
        artifacts=(
            *state.artifacts,
            *(Artifact(f"src/folder/file{i}.py", origin=BY_HOOK) for i in range(100)),
        ),
        last_action=LastAction("last " * 40, "success", NOW, by="hook"),
        plan=tuple(PlanStep(f"{i}", f"plan {i} " + "step " * 12) for i in range(50)),
    )
    work = Work(
        topic="topic " * 16,
        interrupted=True,
        last_tool="Bash",
        last_tool_params="sleep " * 60,
        files_read=tuple(f"read/{i}.py" for i in range(100)),
        tools_used=tuple(f"Tool{i}" for i in range(100)),
        open_items=(*texts(state.open_issues), *(f"plan {i} " + "step " * 12 for i in range(50))),
        thread_summary="first words … last words " * 8,
    )
    return state, work


def block_of(state: TaskState, work: Work | None = None, *, max_tokens: int = 700) -> str:
    return build_resume(state, work or Work(), ORIGIN, max_tokens=max_tokens)


def found(facts: list[str], block: str) -> list[str]:
    return [text for text in facts if text in block]


# What has to be in it


@pytest.mark.parametrize(("count", "max_tokens"), [(10, 700), (30, 700), (60, 1500)])
def test_every_planted_fact_is_in_the_block(count: int, max_tokens: int) -> None:
    state, facts = planted(count)
    block = block_of(state, max_tokens=max_tokens)
    assert found(facts, block) == facts
    assert tokens_of(block) <= max_tokens
    assert "Not shown" not in block
    assert "…" not in block


@pytest.mark.parametrize(("count", "max_tokens"), [(10, 700), (30, 700), (60, 1500)])
def test_nothing_that_hooks_recorded_displaces_a_planted_fact(count: int, max_tokens: int) -> None:
    state, facts = planted(count)
    notes = ("compacted 5 times; a new conversation would now keep more than compacting again",)
    changes = "HEAD 1234567 → 89abcde (12 commits); branch main → topic; deleted: src/parser.py"
    origin = ORIGIN.replace(notes=notes, changes=changes)
    state, work = among_derived(state)
    block = build_resume(state, work, origin, max_tokens=max_tokens)
    assert found(facts, block) == facts
    assert notes[0] in block
    assert "Changed since the checkpoint" in block
    assert tokens_of(block) <= max_tokens


@pytest.mark.parametrize("count", [100, 200])
@pytest.mark.parametrize(("max_tokens", "least"), [(700, 30), (1500, 80)])
def test_of_too_many_facts_each_section_keeps_its_newest(
    count: int, max_tokens: int, least: int
) -> None:
    state, facts = planted(count)
    block = block_of(state, max_tokens=max_tokens)
    assert len(found(facts, block)) >= least
    assert facts[:3] == found(facts[:3], block)
    for noted in (state.constraints, state.invariants, state.blockers, state.open_issues):
        kept = found(list(texts(noted)), block)
        assert len(kept) >= 2
        assert kept == list(texts(noted)[-len(kept) :])
    newest = state.decisions[-1]
    assert newest.what in block
    assert not newest.why or newest.why in block


def test_sections_take_turns_by_their_shares() -> None:
    items = tuple(BlockItem(fact(number)) for number in range(50))
    filled = fill((BlockSection("Three", items, 3), BlockSection("One", items, 1)), 2000)
    three, one = (len(part.texts) for part in filled)
    assert abs(three - 3 * one) <= 3
    assert three + one >= 30


def test_what_a_section_leaves_goes_to_the_others() -> None:
    state, _ = planted(3)
    facts = [fact(number) for number in range(34)]
    assert found(facts, block_of(state.replace(constraints=notes(*facts)))) == facts


@pytest.mark.parametrize("max_tokens", [0, 1, LEAST_TOKENS, 400])
def test_the_smallest_block_has_every_required_section_cut_and_counted(max_tokens: int) -> None:
    state, work = among_derived(planted(200)[0])
    state = state.replace(
        goal="goal " * 300, next_action="next " * 300, open_issues=notes("x" * 999)
    )
    origin = Header("s" * 300, "cp_100000", ("note " * 99,) * 9, "HEAD moved " * 30)
    block = build_resume(state, work, origin, max_tokens=max_tokens)
    assert tokens_of(block) <= max(max_tokens, LEAST_TOKENS)
    lines = block.splitlines()
    for title in (*REQUIRED[:-1], "Notes", "Changed since the checkpoint", "Interrupted"):
        assert sum(line.startswith((f"{title}:", f"{title} (")) for line in lines) == 1
    assert "Goal: goal" in block
    assert "Decisions (1 of 22" in block
    assert "gitguard show summary" in block
    not_shown = next(line for line in lines if line.startswith("Not shown"))
    assert "Files read 100" in not_shown


def test_numbers_stand_only_where_something_is_missing() -> None:
    block = block_of(planted(30)[0])
    assert "Decisions:" in block
    assert "Constraints:" in block
    assert "(" not in block


def test_a_state_that_says_nothing_says_that_it_does() -> None:
    block = block_of(new_task("main", NOW))
    assert "Goal: (missing)" in block
    assert "Next action" not in block
    assert "Phase" not in block
    assert "Decisions" not in block


# What goes first


def test_what_the_agent_noted_goes_before_what_hooks_recorded_and_keeps_its_place() -> None:
    noted = [Failure(f"noted {i}", "e" * 100) for i in range(8)]
    derived = [Failure(f"derived {i}", "e" * 100, origin=BY_HOOK) for i in range(30)]
    mixed = tuple(f for pair in zip(noted, derived, strict=False) for f in pair) + tuple(
        derived[8:]
    )
    block = block_of(planted(12)[0].replace(failed_attempts=mixed))
    shown = [line for line in block.splitlines() if line.startswith(("- noted", "- derived"))]
    assert [line.split(":")[0] for line in shown[:8]] == [f"- noted {i}" for i in range(7, -1, -1)]
    assert sum("derived" in line for line in shown) < 22


def test_lists_are_newest_first_and_the_plan_begins_with_the_next_step() -> None:
    steps = (PlanStep("1", "step 1"), PlanStep("2", "step 2"), PlanStep("0", "step 0", "done"))
    state = planted(3)[0].replace(
        constraints=notes("older", "newer"), open_issues=notes("issue"), plan=steps
    )
    block = block_of(state)
    assert block.index("- newer") < block.index("- older")
    assert block.index("- step 1") < block.index("- step 2")
    assert block.count("- issue") == 1
    assert "step 0" not in block


def test_long_texts_get_the_room_that_nothing_else_needs() -> None:
    state = planted(3)[0].replace(goal="The whole goal " + "in many words " * 60 + "to its end.")
    assert "to its end." in block_of(state)


def test_what_a_path_leaves_that_does_not_fit_goes_to_texts_that_are_cut() -> None:
    answer = BlockSection("Answer", (BlockItem("word " * 300, is_derived=True),), 5, paragraph=100)
    path = BlockSection("Files", (BlockItem("x" * 900, is_derived=True),), 11, is_whole=True)
    checks = (BlockItem("a" * 60, is_derived=True), BlockItem("b" * 60, is_derived=True))
    filled = fill((answer, path, BlockSection("Checks", checks, 1)), 600)
    assert 540 <= length(filled) <= 600


def test_texts_are_cut_at_the_end_of_a_word() -> None:
    words = " ".join(f"word{i:04d}" for i in range(2000))
    block = block_of(planted(3)[0].replace(goal=words))
    line = next(line for line in block.splitlines() if line.startswith("Goal"))
    assert line.startswith("Goal: word0000 ")
    assert line.removesuffix("…").split()[-1] in words.split()
    assert len(block) > 4 * 700 - 40


def test_a_text_that_is_cut_keeps_its_age() -> None:
    origin = Origin("user", timestamp(seconds(NOW) - 7200), "S1")
    request = said_by_user("Port the parser " + "of the reports " * 90, origin)
    state = new_task("main", NOW).replace(exchanges=(request,), constraints=notes("x" * 3000))
    header = ORIGIN.replace(now=NOW)
    block = build_resume(state, Work(), header, max_tokens=LEAST_TOKENS)
    line = next(line for line in block.splitlines() if line.startswith("Last request"))
    assert line.endswith("… (2 h old)")


def test_of_a_long_answer_the_beginning_and_the_end_are_shown() -> None:
    answer = "The reader works. " + "It reads rows. " * 90 + "The writer has 3 tests."
    exchanges = (*said("Port it"), said_by_agent(answer, Origin("agent", NOW)))
    state = new_task("main", NOW).replace(exchanges=exchanges, constraints=notes("x" * 3000))
    block = block_of(state, max_tokens=LEAST_TOKENS)
    line = next(x for x in block.splitlines() if x.startswith("Last answer"))
    assert "The reader works." in line
    assert line.endswith("The writer has 3 tests.")


def test_an_answer_that_the_user_has_gone_on_from_is_labelled_so() -> None:
    first, second = said("Port it", "Now explain the reader")
    answer = said_by_agent("The reader works and fails at once.", Origin("agent", NOW))
    state = new_task("main", NOW)
    block = block_of(state.replace(exchanges=(first, answer, second)))
    assert (
        "Earlier turns, oldest first:\n- Port it\n- → The reader works and fails at once.\n"
        in block
    )
    block = block_of(state.replace(exchanges=(first, second, answer)))
    assert "Last answer: The reader works" in block


def test_a_goal_that_is_not_the_running_request_is_called_the_first_one() -> None:
    exchanges = said("Port the parser", "Document it")
    state = new_task("main", NOW).replace(
        exchanges=exchanges, goal="Port the parser", goal_from=exchanges[0].origin
    )
    assert "First request: Port the parser" in block_of(state)


def test_a_prompt_that_another_one_repeats_in_full_is_said_once() -> None:
    crash = "Fatal error: index out of range."
    block = block_of(
        new_task("main", NOW).replace(
            exchanges=said("Fix it", crash, f"I tried to delete a row. {crash}", "Go ahead with it")
        )
    )
    assert block.count("index out of range") == 1


def test_a_prompt_that_came_again_and_again_is_said_once() -> None:
    prompts = ("Port it", "c'est fait", "c'est fait", "读取器完成", "读取器完成", "Document it")
    block = block_of(new_task("main", NOW).replace(exchanges=said(*prompts)))
    assert block.count("c'est fait") == block.count("读取器完成") == 1


def test_where_room_is_short_a_pasted_prompt_gives_way_to_words_of_the_users_own() -> None:
    pasted = "```\nTraceback of line 12\nKeyError: rows\n```"
    own = [f"Keep rows_{n} of table_{n} beside view_{n}" for n in range(90)]
    block = block_of(new_task("main", NOW).replace(exchanges=said(*own, pasted, "Test it")))
    assert "Traceback" not in block
    assert "table_89" in block


def test_of_many_earlier_turns_the_block_shows_some_each_with_its_answer_and_counts_all() -> None:
    prompts = [f"Port module_{n} to the new parser" for n in range(40)]
    exchanges = []
    for prompt in said(*prompts):
        exchanges += [
            prompt,
            said_by_agent(f"Ported {prompt.text[5:14]}, 12 tests pass.", prompt.origin),
        ]
    block = block_of(new_task("main", NOW).replace(exchanges=tuple(exchanges)), max_tokens=500)
    assert re.search(r"Earlier turns, oldest first \([123]\d of 39\):\n", block)
    assert f"- {prompts[-2]}\n- → Ported {prompts[-2][5:14]}, 12 tests pass.\n" in block


def test_an_earlier_answer_comes_back_without_the_question_that_the_user_went_on_from() -> None:
    answers = ("The reader takes 12 ms now. Shall I port the writer?", "The writer takes 9 ms now.")
    first, second = said("Port the reader", "Port the writer")
    exchanges = (
        first,
        said_by_agent(answers[0], Origin("agent", NOW)),
        second,
        said_by_agent(answers[1], Origin("agent", NOW)),
    )
    block = block_of(new_task("main", NOW).replace(exchanges=exchanges))
    assert "The reader takes 12 ms now." in block
    assert "Shall I port" not in block


def test_an_earlier_answer_tells_nothing_of_commits_that_are_listed() -> None:
    first, second, third = said("Port the reader of rows.py", "Commit it", "Port the writer")
    exchanges = (
        first,
        said_by_agent("The reader takes 12 ms now. It is 1234567 on main.", Origin("agent", NOW)),
        second,
        said_by_agent("Pushed: 7654321 is on main now.", Origin("agent", NOW)),
        third,
    )
    commits = tuple(
        Artifact(commit, "commit", "Port it", id=commit, origin=BY_HOOK)
        for commit in ("1234567", "7654321")
    )
    block = block_of(new_task("main", NOW).replace(exchanges=exchanges, artifacts=commits))
    assert "- → The reader takes 12 ms now.\n" in block
    assert "on main" not in block


def test_where_room_is_short_a_prompt_that_only_asks_comes_with_its_answer_or_not_at_all() -> None:
    asked = [f"Why does the reader of table_{n} take so long?" for n in range(30)]
    exchanges: list[Exchange] = []
    for n, prompt in enumerate(said(*asked, "Port the writer")):
        answer = f"The rows of part_{n} are locked twice {'and again ' * 9}by view_{n}."
        exchanges += [prompt, said_by_agent(answer, prompt.origin)]
    block = block_of(new_task("main", NOW).replace(exchanges=tuple(exchanges)))
    lines = block.partition("oldest first")[2].partition("\nLast request")[0].splitlines()[1:]
    alone = [a for a, b in itertools.pairwise([*lines, ""]) if "Why" in a and "→" not in b]
    assert len(lines) > 6
    assert len(alone) <= 1


def test_an_answer_to_talk_that_is_not_kept_is_no_answer_to_the_request_before_it() -> None:
    prompt = said_by_user("Port the reader of rows.py", Origin("user", NOW, "S1", 3))
    answers = (
        said_by_agent("The reader takes 12 ms now.", Origin("agent", NOW, "S1", 4)),
        said_by_agent("The server starts in 2 minutes.", Origin("agent", NOW, "S1", 5)),
    )
    newest = said_by_user("Port the writer", Origin("user", NOW, "S1", 5))
    block = block_of(new_task("main", NOW).replace(exchanges=(prompt, *answers, newest)))
    assert "- → The reader takes 12 ms now.\n- Agent: The server starts in 2 minutes.\n" in block


def test_a_few_words_behind_a_statement_give_way_to_all_that_says_something() -> None:
    closing = "The button counts as soon as all 12 rows are read."
    words = [f"Keep rows_{n} of table_{n} beside view_{n}" for n in range(90)]
    replied = said_by_user("all fine now", Origin("user", NOW), settles=closing)
    exchanges = (*said(*words[:80]), replied, *said(*words[80:]))
    block = block_of(new_task("main", NOW).replace(exchanges=exchanges))
    assert "table_79" in block
    assert "all fine now" not in block


def test_what_the_agent_said_again_since_is_shown_once_and_a_limit_of_the_users_stays() -> None:
    requests = (
        "Never drop the rows of the ledger table",
        "Drop the rows of the archive table",
        "Port the writer",
    )
    first, second, third = said(*requests)
    exchanges = (
        first,
        said_by_agent("The site deploys in 2 minutes. row_1 was locked.", Origin("agent", NOW)),
        second,
        said_by_agent("The site deploys in 3 minutes. row_7 was dropped.", Origin("agent", NOW)),
        third,
    )
    block = block_of(new_task("main", NOW).replace(exchanges=exchanges))
    assert "- → row_1 was locked.\n" in block
    assert "deploys in 3 minutes" in block
    assert all(request in block for request in requests)


def test_an_older_prompt_that_says_nothing_alone_is_not_shown_where_no_answer_is() -> None:
    exchanges = said(
        "Port the reader of rows.py", "is it fast?", *(f"Port part_{n} of it" for n in range(6))
    )
    block = block_of(new_task("main", NOW).replace(exchanges=exchanges), max_tokens=2_000)
    assert "Port the reader of rows.py" in block
    assert "is it fast?" not in block


def turn_with_middle(*ends: str) -> TaskState:
    """Return a state with an earlier turn in whose middle the agent said something."""
    first, second, third = said("Port the reader", "Port the writer", "Port the tests")
    by_agent = Origin("agent", NOW)
    middle = said_by_agent("Row 12 of parser.py is wrong.", by_agent, ends_turn=False)
    answers = (said_by_agent(end, by_agent) for end in ends)
    newer = (second, said_by_agent("The writer takes 9 ms now.", by_agent), third)
    return new_task("main", NOW).replace(exchanges=(first, middle, *answers, *newer))


def test_what_the_agent_said_in_the_middle_of_a_turn_is_over_when_a_full_answer_ended_it() -> None:
    block = block_of(turn_with_middle("The reader takes 12 ms. " + "It reads each row once. " * 15))
    assert "The reader takes 12 ms." in block
    assert "Row 12" not in block


@pytest.mark.parametrize("ends", [(), ("The reader takes 12 ms.",)])
def test_what_the_agent_said_in_the_middle_of_an_earlier_turn_stays_where_its_end_says_little(
    ends: tuple[str, ...],
) -> None:
    block = block_of(turn_with_middle(*ends))
    assert "- Port the reader\n- → Row 12 of parser.py is wrong.\n" in block
    assert all(end in block for end in ends)


def test_in_a_short_block_newer_prompts_stand_with_their_answers_before_older_ones_do() -> None:
    prompts = [
        f"Port part {n} of the parser to {'the new grammar, ' * 4}of page {n}" for n in range(20)
    ]
    exchanges: list[Exchange] = []
    for n, prompt in enumerate(said(*prompts)):
        answer = (
            f"Part {n} is ported: {n + 7} rules of grammar_{n}.py changed. "
            + f"Rule {n} passes. " * 20
        )
        exchanges += [prompt, said_by_agent(answer, prompt.origin.replace(by="agent"))]
    block = block_of(new_task("main", NOW).replace(exchanges=tuple(exchanges)))
    lines = block.partition("Earlier turns")[2].partition("\nLast ")[0].splitlines()[1:]
    lone = [
        line
        for line, following in zip(lines, [*lines[1:], ""], strict=True)
        if "- Port part" in line and "- → " not in following
    ]
    assert len(lone) * 4 <= len(lines)


def test_a_first_request_is_one_of_the_turns_once_much_else_was_asked_for() -> None:
    goal = "Port the parser, row by row"
    state = new_task("main", NOW)
    few = said(goal, *(f"Document page {n}" for n in range(3)))
    many = said(goal, *(f"Document page {n} in docs/page_{n}.md" for n in range(9)))
    begun = state.replace(goal=goal, goal_from=few[0].origin)
    assert f"First request: {goal}\n" in block_of(begun.replace(exchanges=few))
    block = block_of(begun.replace(exchanges=many))
    assert "First request" not in block
    assert f"Earlier turns, oldest first:\n- {goal}\n" in block


def test_what_a_sub_agent_reported_stands_beside_the_words_that_announced_it() -> None:
    report = "The build step overrides the version in release.yml."
    (prompt,) = said("Map the wiring")
    announced = said_by_agent("Let me map it first.", prompt.origin).replace(kind=UNFINISHED)
    output = ToolOutput("sub-agent a1", report, id="o1", origin=prompt.origin.replace(by=HOOK))
    state = new_task("main", NOW).replace(exchanges=(prompt, announced), tool_outputs=(output,))
    assert f"Reported since:\n- sub-agent a1: {report}\n" in block_of(state)
    told = said_by_agent("The wiring is simple: the build step sets it.", prompt.origin)
    later = told.replace(origin=told.origin.replace(when="2026-07-01T09:00:00Z"))
    assert "Reported since" not in block_of(state.replace(exchanges=(prompt, later)))


def test_a_check_that_ran_before_a_file_was_written_says_so() -> None:
    runs = (checked("pytest tests/a.py", minute=1), checked("ruff check .", minute=5))
    file = Artifact("a.py", "file", origin=checked("", minute=3).origin)
    block = block_of(new_task("main", NOW).replace(commands=runs, artifacts=(file,)))
    assert "- pytest tests/a.py: passed (before the last edits)\n" in block
    assert "- ruff check .: passed\n" in block


def test_a_check_is_not_said_to_be_older_than_edits_of_which_that_is_not_known() -> None:
    file = Artifact("a.py", "file", origin=checked("", minute=3).origin)
    noted = file.replace(origin=file.origin.replace(by="agent"))
    theirs = file.replace(origin=file.origin.replace(elsewhere=True))
    check = checked("pytest", minute=1)
    undated = check.replace(origin=check.origin.replace(when=""))
    for run, artifact in ((check, noted), (check, theirs), (undated, file)):
        state = new_task("main", NOW).replace(commands=(run,), artifacts=(artifact,))
        assert "before the last edits" not in block_of(state)


def test_a_long_command_does_not_push_out_why_it_failed() -> None:
    what = f"Bash: make {'/a/long/folder' * 20}"
    failure = Failure(what, "Exit code 3", id="f", origin=BY_HOOK)
    state = new_task("main", NOW).replace(exchanges=said("Make it"), failed_attempts=(failure,))
    assert re.search(r"- Bash: make .*…: Exit code 3\n", block_of(state))


def test_what_prepares_a_command_does_not_take_its_room() -> None:
    what = 'Bash: cd "/a b/c" && export PATH=/usr/bin:$PATH && cd src && make all && cd ..'
    failure = Failure(what, "Exit code 3", id="f", origin=BY_HOOK)
    state = new_task("main", NOW).replace(failed_attempts=(failure,))
    assert "- Bash: make all && cd ..: Exit code 3\n" in block_of(state)
    nested = failure.replace(what="Bash: export A=$(cd x && make) && make all")
    assert f"- {nested.what}: Exit code 3\n" in block_of(state.replace(failed_attempts=(nested,)))


@pytest.mark.parametrize("budget", range(90, 400, 15))
def test_a_report_is_not_shown_by_its_name_alone(budget: int) -> None:
    report = " ".join(f"Row {n} of rows.py is read by two readers." for n in range(20))
    output = ToolOutput("sub-agent a1", report, id="t", origin=BY_HOOK)
    prompts = said(*(f"Port the module part_{n}.py to the parser" for n in range(20)))
    state = new_task("main", NOW).replace(exchanges=prompts, tool_outputs=(output,))
    block = block_of(state, max_tokens=budget)
    assert ("- sub-agent a1: " in block) == ("is read by two readers." in block)


def test_what_the_user_says_is_an_answer_only_where_it_is_known_for_one() -> None:
    asked = "Shall the reader or the writer be ported first?"
    prompts = said(
        "Port it", "the reader goes first then", "and save it all to the memory", "go on"
    )
    exchanges = [e.replace(settles=asked if n in (1, 2) else "") for n, e in enumerate(prompts)]
    block = block_of(new_task("main", NOW).replace(exchanges=tuple(exchanges)))
    assert f"- the reader goes first then — to: {asked}\n" in block
    assert f"- and save it all to the memory — after: {asked}\n" in block


def test_checks_since_the_last_edits_come_before_older_ones() -> None:
    older = [checked(f"pytest tests/test_{n}.py", minute=1) for n in range(12)]
    newer = checked("pytest tests/new.py", PASSED, "12 passed", minute=5)
    file = Artifact("a.py", "file", origin=checked("", minute=3).origin)
    state = new_task("main", NOW).replace(commands=(*older, newer), artifacts=(file,))
    assert "Checks:\n- pytest tests/new.py: passed — 12 passed\n" in block_of(state)


def test_failed_calls_on_the_way_to_a_commit_are_over_when_it_was_made() -> None:
    failures = (
        failed('cd "/a b" && git add x.py "!/y.md" && git status --short | grep …', minute=1),
        failed("git push origin main", minute=1),
        failed("git commit -m three", minute=3),
    )
    commit = Artifact(
        "1234567", "commit", id="c", origin=Origin("hook", timestamp(seconds(NOW) + 120))
    )
    state = new_task("main", NOW).replace(failed_attempts=failures, artifacts=(commit,))
    block = block_of(state)
    assert "git add" not in block
    assert "git push origin main" in block
    assert "git commit -m three" in block


def failed(line: str, *, minute: int) -> Failure:
    """Return a failed call of a shell, so many minutes after the beginning."""
    origin = Origin("hook", timestamp(seconds(NOW) + 60 * minute))
    return Failure(f"Bash: {line}", "Exit code 128", id=line, origin=origin)


def test_of_calls_that_failed_alike_the_newest_alone_is_told() -> None:
    alike = [
        failed(f"step {n}", minute=n).replace(
            error=f"shell-{n}: No such file or directory, {n} times"
        )
        for n in (1, 2, 3)
    ]
    bare = [failed(f"other {n}", minute=n) for n in (4, 5)]
    other = failed("import", minute=0).replace(error="No module named 'py7zr' in the path")
    another = failed("imports", minute=0).replace(error="No module named 'lz4' in the path")
    state = new_task("main", NOW).replace(failed_attempts=(other, another, *alike, *bare))
    failures = block_of(state).partition("Open failures:\n")[2].splitlines()[:5]
    assert [line.partition(":")[2].partition(":")[0] for line in failures] == [
        " other 5",
        " other 4",
        " step 3",
        " imports",
        " import",
    ]


def test_an_address_is_whole_or_not_shown() -> None:
    addresses = [f"https://forge.example/{'team/' * 20}pull/{n}" for n in range(9)]
    urls = tuple(
        Artifact(address, "url", id=address, origin=Origin("hook", NOW)) for address in addresses
    )
    state = new_task("main", NOW).replace(artifacts=urls)
    for budget in range(90, 400, 10):
        lines = block_of(state, max_tokens=budget).splitlines()
        shown = [line[2:] for line in lines if line.startswith("- https")]
        assert set(shown) <= set(addresses)


def test_of_a_check_its_verdict_stays_and_why_it_failed() -> None:
    ending = f"1074 passed, 79 errors; {'and so on ' * 30}ERROR in rows.py"
    cut = f"…{'row passed. ' * 30}RUN PASSED"
    checks = tuple(
        Command(f"check {n}", outcome, ending=of, id=f"{n}", origin=Origin("hook", NOW))
        for n, (outcome, of) in enumerate((("failed", ending), ("ran", cut)))
    )
    block = block_of(new_task("main", NOW).replace(commands=checks), max_tokens=120)
    assert "- check 0: failed — 1074 passed, 79 errors;" in block
    assert "ERROR in rows.py\n" in block
    assert "- check 1: ran — …" in block
    assert "RUN PASSED\n" in block


def test_questions_of_the_user_give_way_to_what_was_noted_and_limits_do_not() -> None:
    questions = tuple(f"Why are the rows of page {n} {'so ' * 30}slow?" for n in range(6))
    exchanges = said("Port it", "Never drop a row of the ledger", *questions, "Test it")
    learned = tuple(f"number {n} ".ljust(150, "x") for n in range(2))
    noted = tuple(f"limit {n} ".ljust(150, "x") for n in range(10))
    state = planted(3)[0].replace(
        exchanges=exchanges, learnings=notes(*learned), constraints=notes(*noted)
    )
    block = block_of(state)
    assert found([*learned, *noted], block) == [*learned, *noted]
    assert "- Never drop a row of the ledger\n" in block


def test_a_check_that_is_cut_still_says_why_it_failed() -> None:
    output = f"Exit code 1 collected 12 items {'.' * 90} E AssertionError: 7 rows are missing"
    checks = tuple(Command(f"pytest tests/test_{n}.py", FAILED, output) for n in range(12))
    state = planted(3)[0].replace(commands=checks, exchanges=said("Port it " * 99, "Test it " * 99))
    lines = [line for line in block_of(state).splitlines() if "failed —" in line]
    assert len(lines) == len(checks)
    assert all("…" in line and line.endswith(" 7 rows are missing") for line in lines)


def checked(command: str, outcome: str = PASSED, ending: str = "", *, minute: int = 0) -> Command:
    """Return a check that ran so many minutes after the beginning."""
    origin = Origin("hook", timestamp(seconds(NOW) + 60 * minute))
    return Command(command, outcome, ending, id=command, origin=origin)


def test_a_check_of_which_neither_outcome_nor_output_is_known_is_not_shown() -> None:
    checks = (checked("npx tsc --noEmit", RAN), checked("make test", RAN, "12 rows read"))
    block = block_of(new_task("main", NOW).replace(commands=checks))
    assert "tsc" not in block
    assert "- make test: ran — 12 rows read" in block


def test_what_a_wider_run_passed_as_well_is_not_told_again() -> None:
    checks = (
        checked("pytest tests/a", ending="3 passed"),
        checked("pytest tests", ending="9 passed", minute=1),
        checked("pytest docs", ending="2 passed"),
        checked("pytest tests/b", FAILED, "1 failed", minute=2),
    )
    block = block_of(new_task("main", NOW).replace(commands=checks))
    assert "tests/a" not in block
    assert all(f"pytest {path}:" in block for path in ("tests", "docs", "tests/b"))


def test_of_runs_that_say_no_more_than_that_they_passed_the_newest_of_each_program_is_shown() -> (
    None
):
    checks = (
        checked("docker build -t app:2 .", minute=2),
        checked("docker build -t app:1 .", minute=1),
        checked("npm run lint"),
        checked("npm run build"),
    )
    block = block_of(new_task("main", NOW).replace(commands=checks))
    assert "app:1" not in block
    assert all(text in block for text in ("app:2", "npm run lint", "npm run build"))


def test_a_plan_says_its_next_step_once() -> None:
    state = new_task("main", NOW).replace(
        plan=(PlanStep("1", "Port the CLI"), PlanStep("2", "Port docs"))
    )
    block = block_of(state)
    assert block.count("Port the CLI") == 1
    assert "- Port docs" in block


def test_a_step_that_was_planned_before_the_last_request_says_so() -> None:
    steps = (PlanStep("1", "Port the CLI", origin=Origin("hook", NOW, "S1")),)
    asked, later = said("Port it", "Now check the docs")
    for exchanges, source in (((asked,), ""), ((asked, later), ", older than the request")):
        block = block_of(new_task("main", NOW).replace(plan=steps, exchanges=exchanges))
        assert f"Next action (host's plan{source}): Port the CLI" in block


def test_a_prompt_without_an_answer_is_whole_beside_notes_and_what_hooks_saw() -> None:
    waiting = "Yes, the first way. Never touch the index of the old parser at its construct."
    state, work = among_derived(planted(48)[0])
    state = state.replace(
        exchanges=(
            *said("Port the parser"),
            said_by_agent("Which way of the two shall I take?", Origin("agent", NOW, "S1")),
            *said(waiting, "Fine, go on with the writer"),
        )
    )
    block = build_resume(state, work, Header("main", "cp_001"), max_tokens=700)
    assert f"No answer recorded to:\n- {waiting}" in block


def test_a_failed_call_after_which_two_turns_ended_gives_way_to_everything_else() -> None:
    def at(minute: int, by: str = "agent") -> Origin:
        return Origin(by, timestamp(seconds(NOW) + 60 * minute), "S1")

    failure = Failure("Bash: ./deploy", "no network", origin=at(1, "hook"))
    answers = [said_by_agent(f"Row {n} is fixed.", at(n)) for n in (2, 4)]
    state = new_task("main", NOW).replace(
        exchanges=(*said("Port it"), answers[0]), failed_attempts=(failure,)
    )
    assert "Open failures:\n- Bash: ./deploy: no network" in block_of(state)
    request = said_by_user("Document it", at(3, "user"))
    state = state.replace(exchanges=(*state.exchanges, request, answers[1]))
    assert "Open failures" not in block_of(state)
    assert "Failed earlier:\n- Bash: ./deploy" in block_of(state)


def test_a_file_that_is_gone_is_named_last_and_as_gone() -> None:
    state = planted(3)[0].replace(artifacts=(Artifact("kept.py"), Artifact("old.py")))
    block = build_resume(state, Work(), ORIGIN.replace(gone=frozenset({"old.py"})), max_tokens=700)
    assert "- kept.py\n- old.py (gone)" in block


def test_a_file_in_a_folder_for_temporary_ones_is_named_behind_those_of_the_work() -> None:
    state = planted(3)[0].replace(artifacts=(Artifact("parser.py"), Artifact("/tmp/x/try.py")))
    assert "- parser.py\n- /tmp/x/try.py" in block_of(state)


def test_a_short_last_answer_comes_with_what_was_said_before_it_in_its_turn() -> None:
    middle = said_by_agent("Row 12 of parser.py is wrong.", Origin("agent", NOW), ends_turn=False)
    exchanges = (*said("Port it", "Find it"), middle, said_by_agent("Gefunden.", Origin("agent")))
    block = block_of(new_task("main", NOW).replace(exchanges=exchanges))
    assert "Said before it: Row 12 of parser.py is wrong.\nLast answer: Gefunden.\n" in block
    assert block.count("Row 12") == 1


def test_the_newest_request_is_shown_also_if_all_of_it_is_pasted() -> None:
    pasted = "[pasted: make check … 3 Zeilen fehlen]"
    exchanges = said("Port it", "Prüf die Zeilen", pasted)
    block = block_of(new_task("main", NOW).replace(exchanges=exchanges))
    assert f"Last request: {pasted}\n" in block


def test_of_what_was_pasted_into_an_earlier_prompt_little_is_shown() -> None:
    pasted = f"[pasted: make check … {'3 rows are missing ' * 9}]"
    exchanges = said("Port it", f"看看这个 {pasted}", "Test it")
    block = block_of(new_task("main", NOW).replace(exchanges=exchanges))
    line = next(line for line in block.splitlines() if "看看这个" in line)
    assert line.endswith("…")
    assert len(line) < 80


def test_files_that_were_read_are_not_named_twice() -> None:
    state = planted(3)[0].replace(artifacts=(Artifact("a.py"),))
    block = block_of(state, Work(files_read=("a.py", "b.py"), tools_used=("Read",)))
    assert block.count("a.py") == 1
    assert "- b.py" in block
    assert "Read" not in block.replace("Files read", ""), "names of tools tell nothing"


def said(*texts: str) -> tuple[Exchange, ...]:
    """Return prompts of a conversation, a minute apart."""
    origins = (Origin("user", timestamp(seconds(NOW) + 60 * n), "S1") for n in range(len(texts)))
    return tuple(said_by_user(text, origin) for text, origin in zip(texts, origins, strict=True))


def test_what_the_user_said_is_in_the_block_oldest_first() -> None:
    prompts = ("Port the parser", "Is it slow?", "Add a report page", "Never lose a row", "Test it")
    block = block_of(new_task("main", NOW).replace(exchanges=said(*prompts)))
    places = [block.index(prompts[n]) for n in (0, 1, 2, 3, 4)]
    assert places == sorted(places)
    assert "Last request: Test it" in block


def test_the_goal_that_is_a_prompt_is_not_said_twice() -> None:
    exchanges = said("Port the parser", "Document it")
    state = new_task("main", NOW).replace(
        exchanges=exchanges, goal="Port the parser", goal_from=exchanges[0].origin
    )
    assert block_of(state).count("Port the parser") == 1


@pytest.mark.parametrize(
    ("answer", "question"),
    [
        ("The reader works. Shall I port the writer?", "Shall I port the writer?"),
        ("Čitač radi. Da prebacim i pisač?", "Da prebacim i pisač?"),
        ("Der Leser läuft. Soll ich den Schreiber portieren?", "Soll ich den Schreiber portieren?"),
        ("读取器可以用了。要不要我现在移植写入器？", "要不要我现在移植写入器？"),
        ("読み込みは動きます。書き込みも移植しますか？", "書き込みも移植しますか？"),
        ("القارئ يعمل. هل أنقل الكاتب؟", "هل أنقل الكاتب؟"),
    ],
)
def test_the_question_that_waits_for_the_user_is_next_and_said_once(
    answer: str, question: str
) -> None:
    exchanges = (*said("Port it"), said_by_agent(answer, Origin("agent", NOW)))
    block = block_of(new_task("main", NOW).replace(exchanges=exchanges))
    assert f"Next action (waits for the user's answer): {question}" in block
    assert block.count(question) == 1


@pytest.mark.parametrize(
    "answer",
    [
        "Actions are descriptions of what to do, not the doing itself.",
        "All 12 tests pass.\n\n## Next steps:",
        "Next I fixed the reader in `src/reader.py`.",
        "Dalje: čitač radi, 12 testova prolazi.",
        "下一步的说明在 docs/plan.md 里。",
        "It now answers the question *why is it slow?* All tests pass.",
        "Is it slow? It was. The index was missing. Now it takes 3 ms. All tests pass.",
    ],
)
def test_no_sentence_of_an_answer_but_its_closing_question_is_a_next_action(answer: str) -> None:
    exchanges = (*said("Port it"), said_by_agent(answer, Origin("agent", NOW)))
    assert "Next action" not in block_of(new_task("main", NOW).replace(exchanges=exchanges))


def test_a_question_that_the_user_has_gone_on_from_does_not_wait() -> None:
    first, second = said("Port it", "Now explain the reader")
    answer = said_by_agent("The reader works. Shall I port the writer?", Origin("agent", NOW))
    block = block_of(new_task("main", NOW).replace(exchanges=(first, answer, second)))
    assert "Next action" not in block


def test_the_plan_says_what_comes_next_before_any_answer_does() -> None:
    answer = said_by_agent("The reader works. Shall I go on?", Origin("agent", NOW))
    state = new_task("main", NOW).replace(
        exchanges=(*said("Port it"), answer),
        plan=(PlanStep("1", "Port the CLI"), PlanStep("2", "Port the docs", "active")),
    )
    assert "Next action (host's plan): Port the docs" in block_of(state)


@pytest.mark.parametrize(
    ("answer", "step"),
    [
        ("All of it is there:\n- ✅ Port the docs", "Port the docs"),
        ("Gotovo:\n- ✓ Prebaci dokumentaciju", "Prebaci dokumentaciju"),
        ("Fertig:\n- ✅ Doku portieren", "Doku portieren"),
        ("完成：\n- ✅ 移植文档", "移植文档"),
        ("完了：\n- ✅ 文書を移植", "文書を移植"),
    ],
)
def test_a_step_that_the_last_answer_marks_as_done_is_not_next(answer: str, step: str) -> None:
    state = new_task("main", NOW).replace(
        exchanges=(*said("Port it"), said_by_agent(answer, Origin("agent", NOW))),
        plan=(PlanStep("1", step, "active"), PlanStep("2", "Publish version 2")),
    )
    block = block_of(state)
    assert "Next action (host's plan): Publish version 2" in block
    assert "Plan, next step first" not in block


def test_a_step_that_the_last_answer_names_without_a_mark_is_shown_as_named() -> None:
    answer = said_by_agent("The docs were ported as well; see below.", Origin("agent", NOW))
    state = new_task("main", NOW).replace(
        exchanges=(*said("Port it"), answer), plan=(PlanStep("1", "Ported docs", "active"),)
    )
    title = "Next action (left in host's plan, named in the last answer): Ported docs"
    assert title in block_of(state)


def test_a_long_goal_that_is_the_newest_request_is_said_once() -> None:
    prompt = "Port the parser of the old reports to the new library. " + "It reads rows. " * 40
    prompt += "Never drop a row. " + "It writes rows. " * 40
    exchanges = said(prompt)
    goal = gist(prompt, 400)
    state = new_task("main", NOW).replace(
        exchanges=exchanges, goal=goal, goal_from=exchanges[0].origin
    )
    block = block_of(state, max_tokens=2000)
    assert block.count("Port the parser of the old reports") == 1
    assert "last request" not in block


def test_a_request_that_only_begins_like_the_goal_is_shown() -> None:
    exchanges = said("Port the parser", "Port the parser and its tests", "Document it")
    state = new_task("main", NOW).replace(
        exchanges=exchanges, goal="Port the parser", goal_from=exchanges[0].origin
    )
    assert "Port the parser and its tests" in block_of(state)


def test_what_the_agent_noted_word_for_word_is_said_once() -> None:
    answer = said_by_agent("The reader leaks. It took 310 ms.", Origin("agent", NOW))
    exchanges = (*said("Port it", "Never drop a row.", "Go on with it"), answer)
    state = new_task("main", NOW).replace(
        exchanges=exchanges,
        constraints=notes("Never drop a row"),
        learnings=notes("The reader leaks."),
    )
    block = block_of(state)
    assert block.count("Never drop a row") == 1
    assert block.count("The reader leaks") == 1
    assert "It took 310 ms." in block


def test_a_note_hides_no_answer_or_refusal_and_one_of_another_machine_hides_nothing() -> None:
    refusal = refused_by_user("Bash: git push --force", "", Origin("user", NOW, "S1"))
    elsewhere = Origin("agent", NOW, elsewhere=True)
    state = new_task("main", NOW).replace(
        exchanges=(*said("Port it"), refusal, *said("x", "Never drop a row.", "Document it")[1:]),
        learnings=notes("Refused."),
        constraints=(Note("Never drop a row.", id="c1", origin=elsewhere),),
    )
    block = block_of(state)
    assert "- refused — Bash: git push --force" in block
    assert "- Never drop a row.\n" in block


def test_an_older_answer_never_stands_as_the_last_one() -> None:
    answers = [
        said_by_agent(text, Origin("agent", NOW)) for text in ("It took 310 ms.", "It leaks.")
    ]
    first, second = said("Port it", "Go on with it")
    state = new_task("main", NOW).replace(
        exchanges=(first, answers[0], second, answers[1]), learnings=notes("It leaks.")
    )
    assert "Last answer" not in block_of(state)
    assert "- → It took 310 ms." in block_of(state)


def test_a_newer_word_that_the_agent_noted_still_replaces_what_was_said_before() -> None:
    newer = "No, the export page has 50 rows."
    exchanges = said("Port it", "The export page has 20 rows.", newer, "Go on with it")
    state = new_task("main", NOW).replace(exchanges=exchanges, constraints=notes(newer))
    assert "20 rows" not in block_of(state)


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("Never touch the parser module.", "And never touch the lexer module either."),
        ("Keep the export below 300 ms.", "Keep the import below 500 ms."),
        ("Nikad ne diraj modul parsera.", "Nikad ne diraj ni modul leksera."),
        ("Der Export bleibt unter 300 ms.", "Der Import bleibt unter 500 ms."),
        ("导出时间不要超过300毫秒。", "导入时间不要超过500毫秒，另外写一份文档说明。"),
        ("データベースは使わない。", "データベースにはSQLiteを使う。"),
        ("No database.", "Take SQLite as the database."),
        ("Leave src/reader.py as it is.", "Write tests for src/reader.py, 12 of them."),
    ],
)
def test_words_that_may_both_hold_are_both_shown_the_newer_one_last(older: str, newer: str) -> None:
    block = block_of(new_task("main", NOW).replace(exchanges=said("Port it", older, newer, "Go")))
    assert block.index(older) < block.index(newer)


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("The report page shows 20 rows.", "The report page now shows 50 rows."),
        ("Die Seite zeigt 20 Zeilen.", "Die Seite zeigt jetzt 50 Zeilen."),
        ("Strana izveštaja ima 20 redova.", "Sada strana izveštaja ima 50 redova."),
        ("报表每页显示20行。", "现在报表每页显示50行。"),
        ("レポートは20行表示する。", "レポートは50行表示する。"),
    ],
)
def test_of_two_answers_that_give_a_value_only_the_newer_value_is_shown(
    older: str, newer: str
) -> None:
    first, second = said("Port it", "More rows please")
    answers = [
        said_by_agent(f"{text} The CSV stays.", Origin("agent", NOW)) for text in (older, newer)
    ]
    state = new_task("main", NOW).replace(exchanges=(first, answers[0], second, answers[1]))
    block = block_of(state)
    assert newer in block
    assert older not in block


@pytest.mark.parametrize(
    "habit",
    ["Alles ist an seinem Platz.", "Sve je na svom mestu.", "一切就绪。", "すべて揃いました。"],
)
def test_a_sentence_that_answers_repeat_is_said_once(habit: str) -> None:
    prompts = said("Port it", "And the docs", "And the page")
    texts = ("The reader took 3 ms.", "The docs have 12 pages.", "The page has a footer4.")
    exchanges: tuple[Exchange, ...] = ()
    for prompt, text in zip(prompts, texts, strict=True):
        exchanges += (prompt, said_by_agent(f"{habit} {text}", Origin("agent", NOW)))
    block = block_of(new_task("main", NOW).replace(exchanges=exchanges))
    assert block.count(habit) == 1
    assert all(text in block for text in texts)


WORDS = st.sampled_from(
    [
        "Port {}",
        "Is {} slow?",
        "Keep {} below 3{} ms",
        "数据库用{}。",
        "Nikad ne diraj {}",
        "ok",
        "17",
    ]
)


@given(st.lists(WORDS, min_size=1, max_size=30), st.integers(300, 2000))
def test_the_newest_prompt_is_never_lost(words: list[str], tokens: int) -> None:
    prompts = [text.format(f"part{n}", n) for n, text in enumerate(words)]
    prompts.append("Write the manual for part99")
    state = new_task("main", NOW).replace(exchanges=extend((), said(*prompts)))
    assert "Last request: Write the manual for part99" in block_of(state, max_tokens=tokens)


def test_a_noted_next_action_that_the_user_has_overtaken_says_so() -> None:
    noted = Origin(when=NOW)
    state = new_task("main", NOW).replace(next_action="Test it", next_from=noted)
    assert "Next action: Test it" in block_of(state)
    state = state.replace(exchanges=said("Port it", "No, drop the tests"))
    assert "Next action (older than the request): Test it" in block_of(state)


def test_what_is_older_than_the_conversation_says_how_old_it_is() -> None:
    exchanges = said("Port the parser")
    newest = timestamp(seconds(NOW) + 2 * 3600)
    state = new_task("main", NOW).replace(exchanges=exchanges, updated_at=newest)
    later = timestamp(seconds(NOW) + 3 * 3600 + 60)
    other, same = (ORIGIN.replace(now=later, conversation=name) for name in ("S2", "S1"))
    block = build_resume(state, Work(), other, max_tokens=700)
    assert "Port the parser (3 h old)" in block
    assert "Saved 1 h ago" in block
    block = build_resume(state, Work(), same, max_tokens=700)
    assert "old)" not in block


# Properties of the filling


ITEMS = st.builds(
    BlockItem, st.text("ab ", min_size=1, max_size=500).map(lambda t: f"x{t}"), st.booleans()
)
SECTIONS = st.lists(
    st.tuples(st.lists(ITEMS, max_size=12), st.integers(1, 20), st.booleans(), st.booleans()),
    max_size=12,
).map(
    lambda drawn: tuple(
        BlockSection(
            f"Section {i}", tuple(items if is_list else items[:1]), share, required, is_list
        )
        for i, (items, share, required, is_list) in enumerate(drawn)
    )
)


def room_of_the_least(sections: tuple[BlockSection, ...]) -> int:
    """Return a room that is enough for the title and a few words of every required section."""
    return 20 + sum(len(s.title) + 70 for s in sections)


def shown(filled: tuple[Filled, ...], sections: tuple[BlockSection, ...]) -> dict[str, int]:
    required = {section.title for section in sections if section.is_required}
    return {f.title: len(f.texts) for f in filled if f.title in required}


@settings(max_examples=150)
@given(SECTIONS, st.integers(0, 4000))
def test_the_room_is_kept_and_no_required_section_is_lost(
    sections: tuple[BlockSection, ...], more: int
) -> None:
    room = room_of_the_least(sections) + more
    filled = fill(sections, room)
    assert length(filled) <= room
    assert [f.title for f in filled] == [s.title for s in sections if s.items]
    assert all(shown(filled, sections).values())
    assert fill(sections, room) == filled


@settings(max_examples=150)
@given(SECTIONS, st.integers(0, 3000), st.integers(0, 500))
def test_more_room_never_shows_fewer_required_items(
    sections: tuple[BlockSection, ...], room: int, more: int
) -> None:
    less, greater = (shown(fill(sections, r), sections) for r in (room, room + more))
    assert all(less[title] <= greater[title] for title in less)


@settings(max_examples=100)
@given(SECTIONS, st.integers(0, 4000))
def test_what_is_cut_and_left_out_is_counted(sections: tuple[BlockSection, ...], room: int) -> None:
    by_title = {section.title: section for section in sections}
    for part in fill(sections, room):
        whole = [item.text for item in by_title[part.title].items]
        assert part.total == len(whole)
        assert all(text in whole or text.endswith("…") for text in part.texts)
        if len(part.texts) < part.total and part.texts:
            assert f"{len(part.texts)} of {part.total}" in part.heading


@settings(max_examples=100)
@given(SECTIONS)
def test_with_room_for_everything_everything_is_shown(sections: tuple[BlockSection, ...]) -> None:
    for part in fill(sections, 1 << 20):
        whole = next(section.items for section in sections if section.title == part.title)
        assert part.texts == tuple(item.text for item in whole)
        assert part.heading == f"{part.title}:"


@settings(max_examples=50)
@given(st.integers(0, 1600), st.integers(3, 120), st.booleans())
def test_the_whole_block_keeps_its_budget(tokens: int, count: int, is_long: bool) -> None:
    state: Any = planted(count)[0]
    work = Work()
    if is_long:
        state, work = among_derived(state)
    block = build_resume(state, work, ORIGIN, max_tokens=tokens)
    assert tokens_of(block) <= max(tokens, LEAST_TOKENS)
    assert block == build_resume(state, work, ORIGIN, max_tokens=tokens)


# Its form


def test_a_line_stands_once_and_as_what_the_agent_noted_before_what_was_derived() -> None:
    steps = (PlanStep("1", "Port the writer"), PlanStep("2", "Measure it"))
    state = new_task("main", NOW).replace(
        next_action="Read on", plan=steps, open_issues=notes("port the writer.", "Rows get lost")
    )
    lines = block_of(state).splitlines()
    assert "- port the writer." in lines
    assert "- Port the writer" not in lines
    assert "- Measure it" in lines


def test_a_ruler_or_a_number_that_nobody_noted_is_no_line() -> None:
    exchanges = (*said("Port it", "17", "-----"), said_by_user("Go on", Origin("user", NOW)))
    state = new_task("main", NOW).replace(exchanges=exchanges, learnings=notes("310"))
    lines = block_of(state).splitlines()
    assert not {"- 17", "- -----"} & {*lines}
    assert "- 310" in lines


@pytest.mark.parametrize(
    ("about", "shown"),
    [
        ("Which parser?", "The second — to: Which parser?"),
        ("どちらにしますか？", "The second — to: どちらにしますか？"),
        ("Both parsers work.", "The second — after: Both parsers work."),
    ],
)
def test_words_are_to_a_question_and_after_anything_else(about: str, shown: str) -> None:
    words = said_by_user("The second", Origin("user", NOW), settles=about)
    state = new_task("main", NOW).replace(goal="Port it", exchanges=(words,))
    assert f"Last request: {shown}\n" in block_of(state)


def test_what_holds_of_all_items_of_a_list_stands_in_its_title() -> None:
    old = Origin("agent", timestamp(seconds(NOW) - 7200), "S1")
    both = (
        Note("Never drop a row", id="c1", origin=old),
        Note("No dependency", id="c2", origin=old),
    )
    state = new_task("main", NOW).replace(constraints=both, updated_at=NOW)
    block = build_resume(state, Work(), ORIGIN.replace(now=NOW), max_tokens=700)
    assert "Constraints, 2 h old:\n- No dependency\n- Never drop a row\n" in block


def test_notes_of_natural_length_are_all_there_before_anything_that_hooks_saw() -> None:
    def note(number: int) -> str:
        return f"note {number:02d} ".ljust(40 + number * 37 % 121, "x")

    notes_of = {
        name: notes(note(place), note(place + 1))
        for place, name in enumerate(
            ("completed_steps", "pending_assumptions", "learnings", "constraints", "open_issues"),
            start=1,
        )
    }
    state = planted(3)[0].replace(
        **notes_of,
        decisions=(Decision("d1", note(11), note(12)),),
        failed_attempts=(Failure(note(13), note(14)),),
    )
    noted = [n.text for items in notes_of.values() for n in items] + [
        note(n) for n in range(11, 15)
    ]
    exchanges = (*said("Port it"), said_by_agent("It reads rows. " * 90, Origin("agent", NOW)))
    paths = tuple(Artifact(f"src/folder{i}/file.py", origin=BY_HOOK) for i in range(50))
    block = block_of(state.replace(exchanges=exchanges, artifacts=paths))
    assert found(noted, block) == noted
    assert tokens_of(block) <= 700


@settings(max_examples=40)
@given(st.text(st.sampled_from("ab .?é日本語не😀—\n-|"), max_size=900), st.integers(300, 900))
def test_no_script_brings_a_block_over_its_budget(text: str, tokens: int) -> None:
    exchanges = (*said("Port it", text), said_by_agent(text * 3, Origin("agent", NOW)))
    state = planted(9)[0].replace(
        exchanges=exchanges, learnings=notes(text[:300]), constraints=notes(text[:99])
    )
    header = ORIGIN.replace(notes=(text,), changes=text, by_files=((text, text),))
    block = build_resume(state, Work(files_read=(text,)), header, max_tokens=tokens)
    assert tokens_of(block) <= tokens


@pytest.mark.parametrize(("request_at", "is_shown"), [(60, True), (180, False)])
def test_what_a_summary_calls_current_is_over_once_the_user_asks_for_something_else(
    request_at: int, *, is_shown: bool
) -> None:
    written = Origin("hook", timestamp(seconds(NOW) + 120), "S1")
    summary = "Decisions: The reader locks once.\nCurrent Work: The reader was read twice."
    asked = Origin("user", timestamp(seconds(NOW) + request_at), "S1")
    state = new_task("main", NOW).replace(
        exchanges=(said_by_user("Port the writer of rows.py", asked),),
        host_summary=HostSummary(summary, id="s", origin=written),
    )
    block = block_of(state)
    assert "The reader locks once." in block
    assert ("The reader was read twice." in block) is is_shown
