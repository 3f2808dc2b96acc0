"""Incremental capture: what hooks collect between checkpoints, and what of it is kept."""

from __future__ import annotations

import json
import multiprocessing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitguard.guard import Guard
from gitguard.model.events import PlanItem
from gitguard.model.text import seconds, timestamp
from gitguard.state import capture
from gitguard.state.checkpoint import SNAPSHOT_FILE
from gitguard.state.entries import ENDED, FAILED, PROMPT, STARTED, TURN_ENDED, JournalEntry
from gitguard.state.items import ANSWER, REQUEST, SMALL_TALK, Artifact, Decision, Exchange
from gitguard.state.prompts import question_answered
from gitguard.state.snapshot import Snapshot, read_snapshot
from gitguard.state.task import TaskState, new_task, read_state
from tests.conftest import OpenGuard
from tests.support.conversation import Conversation

NOW = "2026-01-31T09:30:00Z"
LONG_ANSWER = "I would write the parser by hand, since the grammar is small. " * 10


def entry(event: str = ENDED, **changes: Any) -> JournalEntry:
    return JournalEntry(event, NOW, "host", **{"id": "t1", "tool": "Edit", **changes})


def folded(*entries: JournalEntry, state: TaskState | None = None) -> TaskState:
    return capture.fold(state or new_task("main", NOW), entries, NOW)


@pytest.fixture
def talk(tmp_path: Path) -> Conversation:
    return Conversation(tmp_path)


def exchange_saying(talk: Conversation, text: str) -> Exchange:
    """Return what the state keeps of a message, by its words."""
    return next(e for e in talk.guard.state().exchanges if e.text == text)


def snapshot(talk: Conversation) -> Snapshot:
    """Return the newest checkpoint's snapshot."""
    return read_snapshot(talk.guard.show(SNAPSHOT_FILE, talk.guard.log(1)[0].name))


# Layer A: tools and files


def test_tools_and_files_are_collected_each_once_from_tool_calls(talk: Conversation) -> None:
    talk.prompt("Begin")
    for name in ("PostToolUse.Write", "PostToolUse.Read", "PostToolUse.Bash", "PostToolUse.Read"):
        talk.send(name)
    talk.send("PostToolUseFailure")
    talk.send("Stop")
    found = snapshot(talk).resources
    assert sorted(found.tools_used) == ["Bash", "Read", "Write"]
    assert len(found.files_read) == 1
    assert len(found.files_modified) == 1
    assert len(talk.guard.state().failed_attempts) == 1


def test_what_was_collected_stays_over_many_checkpoints(talk: Conversation) -> None:
    talk.prompt("Begin")
    talk.send("PostToolUse.Read")
    talk.send("Stop")
    talk.prompt("Go on")
    talk.send("PostToolUse.Bash")
    talk.send("Stop", last_assistant_message="Done again.")
    assert set(snapshot(talk).resources.tools_used) == {"Read", "Bash"}


def test_entries_that_never_reached_a_checkpoint_are_folded_by_the_next_one(
    talk: Conversation,
) -> None:
    talk.prompt("Begin")
    talk.send("PostToolUse.Read")  # and then the machine dies
    other = talk.beside("S2")
    other.prompt("What was done?")
    other.send("Stop")
    assert snapshot(other).resources.tools_used == ("Read",)


# Layer B: topic, decisions, plan


def test_the_topic_is_what_the_user_asked_last_in_a_hundred_characters(talk: Conversation) -> None:
    talk.prompt("Write the parser")
    talk.send("Stop")
    talk.prompt("Now test it, " + "please " * 40)
    talk.send("Stop", last_assistant_message="Tested.")
    topic = snapshot(talk).working.topic
    assert topic.startswith("Now test it, please")
    assert len(topic) <= 100


def test_a_short_reply_to_a_long_answer_is_kept_with_what_it_answers_in_any_language(
    talk: Conversation,
) -> None:
    talk.prompt("How should we parse?")
    talk.send("Stop", last_assistant_message=LONG_ANSWER)
    talk.prompt("はい、そうしてください")
    talk.send("PostToolUse.Write")
    talk.send("Stop", last_assistant_message="Done.")
    reply = exchange_saying(talk, "はい、そうしてください")
    assert reply.kind == ANSWER
    assert reply.settles.startswith("I would write the parser by hand")


CHOICES = "Three ways:\n\n1. Port **the reader**\n2) Mend it\n- **Option C**: leave it\n\n"


@pytest.mark.parametrize(
    ("answer", "reply", "settled"),
    [
        (f"{CHOICES}Which one?", "1", "1) Port the reader. — Which one?"),
        (f"{CHOICES}どれにしますか？", "2番", "2) Mend it. — どれにしますか？"),
        (f"{CHOICES}Which one?", "option C", "Option C: leave it. — Which one?"),
        (CHOICES, "2", "2) Mend it."),
        (f"{CHOICES}Shall I?", "4", ""),
        (f"{CHOICES}Shall I?", "2 rows are missing", ""),
        ("It takes 2 seconds.", "2", ""),
    ],
)
def test_a_reply_that_picks_a_choice_by_its_number_is_kept_with_the_choice(
    answer: str, reply: str, settled: str
) -> None:
    assert question_answered(answer, reply) == settled


@pytest.mark.parametrize(
    ("answer", "reply", "is_reply"),
    [
        (
            "谁会读它？\n- 自己复盘 → 时序为主\n- 新人上手 → 使用指南\n- 团队 → 接口",
            "自己复盘",
            True,
        ),
        ("要写踩坑记录吗？（是 / 否）", "否", True),
        (
            "Which store?\n- SQLite, in one file\n- Postgres\n- MySQL\n- Oracle\n- none",
            "oracle",
            True,
        ),
        ("Shall I push it? (yes / no)", "No.", True),
        ("All done. Anything else?", "thanks", False),
        ("Gotovo. Mogu li još nešto?", "hvala", False),
        ("Notes are kept. Is it better?", "not", False),
        ("Shall I push it?", "👍", False),
        ("It is pushed.\n- a.py\n- b.py", "b.py", False),
    ],
)
def test_a_few_words_answer_a_question_from_which_or_from_whose_choices_they_are(
    answer: str, reply: str, *, is_reply: bool
) -> None:
    assert bool(question_answered(answer, reply)) is is_reply


def test_a_few_words_may_answer_either_of_two_questions_at_the_end() -> None:
    answer = f"{LONG_ANSWER} Do you agree with this grammar? Or should it have other names?"
    settled = "Do you agree with this grammar? Or should it have other names?"
    assert question_answered(answer, "yes") == settled


@pytest.mark.parametrize(
    ("answer", "reply"),
    [
        ("Short.", "yes"),
        (LONG_ANSWER, "Please explain to me why you would do that at all, in detail"),
    ],
)
def test_no_decision_is_seen_where_the_shape_is_another(
    talk: Conversation, answer: str, reply: str
) -> None:
    talk.prompt("How should we parse?")
    talk.send("Stop", last_assistant_message=answer)
    talk.prompt(reply)
    talk.send("Stop", last_assistant_message="Done.")
    assert not any(exchange.settles for exchange in talk.guard.state().exchanges)


LATER = "2026-01-31T10:00:00Z"


@pytest.mark.parametrize(("since", "kind"), [(LATER, REQUEST), (NOW, SMALL_TALK)])
def test_a_conversation_that_a_host_begins_anew_under_one_name_opens_with_a_request(
    since: str, kind: str
) -> None:
    before = folded(
        entry(PROMPT, summary="Write src/report.py and tests for it", since=NOW),
        entry(TURN_ENDED, summary="The report adds up now."),
    )
    said = entry(PROMPT, summary="Paint the logo of the website green", since=since)
    ended = entry(TURN_ENDED, summary="Of course.")
    after = folded(said.replace(at=LATER), ended.replace(at=LATER), state=before)
    kinds = [e.kind for e in after.exchanges if e.text == said.summary]
    assert kinds == [kind]


def test_an_answer_decides_nothing_in_another_conversation(talk: Conversation) -> None:
    talk.prompt("How should we parse?")
    talk.send("Stop", last_assistant_message=LONG_ANSWER)
    other = talk.beside("S2")
    other.prompt("yes")
    other.send("Stop")
    assert not any(exchange.settles for exchange in talk.guard.state().exchanges)


def test_the_hosts_plan_is_followed_and_what_is_open_of_it_is_an_open_item(
    talk: Conversation,
) -> None:
    talk.guard.note({"open_issues": ["is YAML 1.1 needed?"]})
    talk.prompt("Plan it")
    talk.send("PostToolUse.TaskCreate")
    task = {"id": "2", "subject": "Test the parser"}
    talk.send("PostToolUse.TaskCreate", tool_response={"task": task})
    talk.send("PostToolUse.TaskUpdate.completed")
    talk.send("Stop")
    assert snapshot(talk).open_items == ("is YAML 1.1 needed?", "Test the parser")
    plan = talk.guard.state().plan
    assert [(item.text, item.is_done) for item in plan] == [
        ("Write the parser", True),
        ("Test the parser", False),
    ]
    talk.send("PostToolUse.TaskUpdate.completed", tool_input={"taskId": "2", "status": "deleted"})
    talk.send("Stop", last_assistant_message="Planned.")
    assert snapshot(talk).open_items == ("is YAML 1.1 needed?",)


def test_a_whole_list_replaces_the_plan() -> None:
    first = entry(plan=(PlanItem("1", "one"), PlanItem("2", "two")))
    whole = entry(plan=(PlanItem("9", "nine"),), whole_plan=True)
    assert [item.text for item in folded(first, whole).plan] == ["nine"]


def test_a_list_beyond_measure_keeps_nothing_else_out(talk: Conversation) -> None:
    talk.prompt("Plan it")
    todos = [{"content": f"{n} ".ljust(190, "x"), "status": "pending"} for n in range(100_000)]
    talk.send("PostToolUse.Bash", tool_name="TodoWrite", tool_input={"todos": todos})
    talk.send("PostToolUse.Read")
    talk.send("Stop")
    assert snapshot(talk).resources.tools_used == ("TodoWrite", "Read")
    assert talk.guard.state().plan[-1].text.startswith("99999 ")


def test_an_unknown_item_that_only_changed_says_nothing() -> None:
    assert folded(entry(plan=(PlanItem("7", done=True),))).plan == ()


def test_the_first_prompt_says_what_of_a_long_transcript_was_not_read(talk: Conversation) -> None:
    line = {"type": "user", "message": {"role": "user", "content": "Why? " * 1_000}}
    talk.transcript.write_text(f"{json.dumps(line)}\n" * 2_000, encoding="utf-8")
    said = talk.prompt("Go on")
    assert "gitguard: the transcript has 9.7 MB; its first 0." in said
    assert "Decisions made in between may be missing" in said
    assert "were read" not in talk.prompt("And on"), "once is enough"


def test_what_was_said_before_we_first_heard_of_a_conversation_is_read_from_its_transcript(
    talk: Conversation,
) -> None:
    at = timestamp(talk.clock())
    for role, text in (("user", "Write a parser"), ("assistant", "It is written.")):
        talk._write({"type": role, "timestamp": at, "message": {"role": role, "content": text}})
    talk.prompt("Now test it with 9 files")
    talk.send("Stop")
    gists = [exchange.gist for exchange in snapshot(talk).thread.key_exchanges]
    before = ["(from the transcript) Write a parser", "It is written."]
    assert gists[:3] == [*before, "Now test it with 9 files"]


def test_turning_points_before_we_first_heard_of_a_conversation_are_kept(
    talk: Conversation,
) -> None:
    for number in range(6):
        said = {"user": f"Question {number}", "assistant": LONG_ANSWER if number == 1 else "A."}
        _wrote(talk, **said)
    talk.prompt("Question 6")
    talk.send("Stop")
    gists = [exchange.gist for exchange in snapshot(talk).thread.key_exchanges]
    assert gists[0] == "(from the transcript) Question 0"
    assert "(from the transcript) Question 2" in gists, "it follows a long answer"


def test_a_time_ahead_of_the_clock_hides_nothing_that_is_said_later(talk: Conversation) -> None:
    _wrote(talk, "9999-12-31T23:59:59Z", user="Write a parser", assistant="It is written.")
    talk.prompt("Now test it with 9 files")
    talk.send("Stop")
    assert snapshot(talk).working.topic == "Now test it with 9 files"
    talk.clock.pass_by(-7200)
    talk.prompt("Now document it in README.md")
    talk.send("Stop", last_assistant_message="Documented.")
    assert snapshot(talk).working.topic == "Now document it in README.md"


def test_a_conversation_that_goes_on_under_another_name_is_not_told_twice(
    talk: Conversation,
) -> None:
    talk.prompt("Write parser.py")
    talk.send("Stop", last_assistant_message="It is written.")
    other = talk.beside("S2")
    at = timestamp(talk.clock() - 1)
    _wrote(other, at, user="Write parser.py", assistant="It is written.")
    other.clock.pass_by(1)
    other.prompt("Now test it with 9 files")
    other.send("Stop")
    gists = [exchange.gist for exchange in snapshot(other).thread.key_exchanges]
    assert gists[:3] == ["Write parser.py", "It is written.", "Now test it with 9 files"]


def _wrote(talk: Conversation, at: str = "", **said: str) -> None:
    """The host writes down what was said, by role."""
    for role, text in said.items():
        talk.clock.pass_by(0 if at else 1)
        stamp = at or timestamp(talk.clock())
        talk._write({"type": role, "timestamp": stamp, "message": {"role": role, "content": text}})


# The thread


def test_the_thread_has_the_first_the_last_and_the_turning_points(talk: Conversation) -> None:
    for number in range(12):
        talk.prompt(f"Question {number}")
        talk.send("Stop", last_assistant_message=f"{LONG_ANSWER if number == 3 else 'A'}{number}")
    thread = snapshot(talk).thread
    assert thread.summary == "Question 0 ... Question 11"
    said = [exchange.gist for exchange in thread.key_exchanges]
    assert said[0] == "Question 0"
    assert "Question 4" in said, "it follows a long answer"
    assert said[-4:] == ["Question 10", "A10", "Question 11", "A11"]
    assert len(said) <= 8


# Bounds


def test_caps_bind_mechanical_entries_only_and_what_they_drop_is_counted() -> None:
    noted = tuple(Decision(f"d{n}", f"noted {n}", "") for n in range(60))
    artifacts = tuple(Artifact(f"noted{n}.py") for n in range(120))
    state = new_task("main", NOW).replace(decisions=noted, artifacts=artifacts)
    calls = tuple(
        entry(tool=f"tool{n}", read=(f"r{n}.py",), written=(f"w{n}.py",)) for n in range(150)
    )
    state = folded(*calls, state=state)
    assert state.decisions == noted
    assert len(state.artifacts) == 120 + capture.BOUNDS["artifacts"].items
    assert (len(state.tools_used), len(state.files_read)) == (50, 60)
    assert state.tools_used[-1] == "tool149"
    assert (state.dropped["tools_used"], state.dropped["files_read"]) == (100, 90)
    assert state.dropped["artifacts"] == 110
    failed = tuple(entry(FAILED, error=f"{n}") for n in range(80))
    once = folded(*failed)
    assert once.dropped["failed_attempts"] == 68
    assert folded(*failed, state=once) == once


def test_a_long_plan_keeps_its_open_items_first() -> None:
    items = tuple(PlanItem(str(n), f"item {n}", done=n < 40) for n in range(70))
    kept = folded(entry(plan=items)).plan
    assert [item.text for item in kept] == [f"item {n}" for n in range(40, 70)]
    many = tuple(PlanItem(str(n), f"item {n}") for n in range(70))
    state = folded(entry(plan=many))
    assert len(state.plan) == capture.BOUNDS["plan"].items
    assert state.dropped["plan"] == 40


EVENTS = st.sampled_from([STARTED, ENDED, FAILED, PROMPT, TURN_ENDED])
ENTRIES = st.lists(
    st.builds(
        lambda event, number, text: entry(
            event,
            at=timestamp(seconds(NOW) + number),
            tool=f"tool{number}",
            summary=text,
            read=(f"r{number}.py",),
            written=(f"w{number % 7}.py",),
            error=text,
            settles=text if number % 3 == 0 else "",
            plan=(PlanItem(str(number % 5), text),),
        ),
        EVENTS,
        st.integers(0, 300),
        st.text(st.characters(exclude_categories=["Cs"]), max_size=20),
    ),
    max_size=40,
    unique_by=lambda one: one.at,
).map(lambda entries: sorted(entries, key=lambda one: one.at))


@settings(max_examples=60)
@given(ENTRIES, st.integers(0, 40))
def test_entries_add_up_to_the_same_however_they_are_cut_into_folds(
    entries: list[JournalEntry], cut: int
) -> None:
    whole = folded(*entries)
    pieces = folded(*entries[cut:], state=folded(*entries[:cut]))
    assert pieces == whole


@settings(max_examples=60)
@given(ENTRIES)
def test_entries_that_are_folded_again_change_nothing(entries: list[JournalEntry]) -> None:
    once = folded(*entries)
    assert folded(*entries, state=once) == once
    assert read_state(once.to_document()) == once


# Work in progress


@pytest.mark.parametrize(
    ("events", "status"),
    [
        ((PROMPT,), "in_progress"),
        ((PROMPT, STARTED), "in_progress"),
        ((PROMPT, STARTED, ENDED, TURN_ENDED), "waiting_for_user"),
        ((), "idle"),
    ],
)
def test_the_status_follows_from_what_happened_last(events: tuple[str, ...], status: str) -> None:
    entries = tuple(entry(event, summary="x") for event in events)
    work = capture.work_of(entries, folded(*entries), seconds(NOW))
    assert work.status == status
    assert capture.work_of(entries, folded(*entries), seconds(NOW) + 3600).status == "idle"


def test_what_the_agent_says_of_its_status_goes_before_what_it_looks_like() -> None:
    entries = (entry(PROMPT, summary="x"),)
    waiting = folded(*entries).replace(status="waiting_for_user")
    assert capture.work_of(entries, waiting, seconds(NOW)).status == "waiting_for_user"


def test_a_turn_that_a_host_began_and_that_ends_with_the_same_words_has_ended(
    talk: Conversation,
) -> None:
    talk.prompt("Begin")
    talk.send("Stop", last_assistant_message="Done.")
    talk.send("UserPromptSubmit", prompt="<task-notification>a build ended")
    talk.send("PostToolUse.Bash")
    talk.send("Stop", last_assistant_message="Done.")
    assert snapshot(talk).working.status == "waiting_for_user"
    taken = len(talk.triggers())
    talk.send("Stop", last_assistant_message="Done.")
    assert len(talk.triggers()) == taken, "nothing changed"


def test_a_compaction_in_the_middle_of_a_turn_interrupts_it(talk: Conversation) -> None:
    talk.prompt("Begin")
    talk.send("PreToolUse.Bash")
    talk.send("PostToolUse.Bash")
    talk.send("PreCompact.auto")
    working = snapshot(talk).working
    assert working.interrupted
    assert working.last_tool_call is not None
    assert working.last_tool_call.name == "Bash"


def test_a_compaction_between_turns_interrupts_nothing(talk: Conversation) -> None:
    talk.prompt("Begin")
    talk.send("Stop")
    talk.send("PreCompact")
    working = snapshot(talk).working
    assert (working.interrupted, working.last_tool_call) == (False, None)


def test_a_call_that_began_and_did_not_end_is_an_interruption(talk: Conversation) -> None:
    talk.prompt("Begin")
    talk.send("PreToolUse.Bash", tool_input={"command": "make deploy"})
    talk.guard.checkpoint("Before the crash.")
    working = snapshot(talk).working
    assert working.interrupted
    assert working.last_tool_call is not None
    assert working.last_tool_call.params_summary == "make deploy"


def test_a_journal_that_begins_anew_in_a_turn_forgets_nothing_of_it(talk: Conversation) -> None:
    talk.prompt("Begin")
    store = talk.guard.store()
    for _ in range(500):
        store.journal.append(entry(tool="Read", summary="x" * 700, at=timestamp(talk.clock())))
    talk.send("PreToolUse.Bash", tool_input={"command": "make deploy"})
    talk.guard.checkpoint("The journal is large now.")
    talk.send("PreCompact.auto")
    working = snapshot(talk).working
    assert (working.status, working.interrupted) == ("in_progress", True)
    assert working.last_tool_call is not None
    assert working.last_tool_call.params_summary == "make deploy"


# Many processes


def _append(root: str, places: Any, clock: Any, worker: int, count: int) -> None:
    store = Guard(root, places, clock).store()
    for number in range(count):
        with store.lock():
            store.journal.append(entry(written=(f"f{worker}-{number}.py",)))


def _checkpoint(root: str, places: Any, clock: Any, stop: Any) -> None:
    while not stop.is_set():
        Guard(root, places, clock).checkpoint("In between.")
        stop.wait(0.02)


def test_of_eight_thousand_entries_appended_during_folds_none_is_lost_and_none_counts_twice(
    open_guard: OpenGuard, repo: Path
) -> None:
    guard = open_guard()
    guard.ensure()
    context = multiprocessing.get_context("fork")
    stop = context.Event()
    surroundings = (str(repo), guard.workspace.places, guard.clock)
    folding = context.Process(target=_checkpoint, args=(*surroundings, stop))
    writers = [
        context.Process(target=_append, args=(*surroundings, worker, 1000)) for worker in range(8)
    ]
    for process in (folding, *writers):
        process.start()
    for process in writers:
        process.join(300)
    stop.set()
    folding.join(60)
    assert [process.exitcode for process in (folding, *writers)] == [0] * 9
    guard.checkpoint("At the end.")
    state = guard.state()
    assert guard.status().faults == ()
    assert len(state.artifacts) + state.dropped["artifacts"] == 8000
    assert guard.log(1)[0].sequence > 5


def test_a_check_that_ran_twice_is_counted_twice_however_often_it_is_folded() -> None:
    call = entry(tool="Bash", summary="make test", is_shell=True, output="1 passed")
    calls = [call.replace(at=timestamp(seconds(NOW) + n)) for n in range(2)]
    state = folded(*calls)
    assert [command.runs for command in state.commands] == [2]
    assert folded(*calls, state=state).commands == state.commands


def open_failures(*lines: tuple[str, bool]) -> list[str]:
    """Return the failures that are open after these shell lines, each with whether it failed."""
    calls = []
    for number, (line, has_failed) in enumerate(lines):
        call = entry(FAILED if has_failed else ENDED, tool="Bash", summary=line, is_shell=True)
        error = "Exit code 1" if has_failed else ""
        calls.append(call.replace(at=timestamp(seconds(NOW) + number), error=error))
    return [failure.what.removeprefix("Bash: ") for failure in folded(*calls).failed_attempts]


@pytest.mark.parametrize(
    ("red", "green"),
    [
        ("cd . && python3 test_m.py", "python3 test_m.py"),
        ("cd /srv/app && python3 test_m.py", "PYTHONPATH=. python3 test_m.py"),
        ("cd web && npm test", "cd ./web/; npm test"),
        ("pytest tests/test_a.py", "pytest tests/test_a.py && ruff check"),
        ("./run.sh fast", "time ./run.sh fast && git commit -am x"),
        ("DEBUG=1 ./run.sh", "echo now; ./run.sh"),
        ("python3 -m unittest test_m", "python3 -m unittest"),
        ("ruff format --check .", "ruff format ."),
    ],
)
def test_a_failure_is_over_once_the_same_or_more_passed_however_it_was_started(
    red: str, green: str
) -> None:
    assert open_failures((red, True)) == [red]
    assert open_failures((red, True), (green, False)) == []
    assert open_failures((green, False), (red, True)) == [red]


def test_a_line_of_two_checks_is_over_once_both_of_them_passed() -> None:
    red = ("pytest && npm test", True)
    assert open_failures(red, ("npm test", False)) == [red[0]]
    assert open_failures(red, ("npm test", False), ("pytest -q", False)) == []


@pytest.mark.parametrize(
    ("red", "green"),
    [
        ("python3 a.py", "python3 b.py"),
        ("cd api && npm test", "cd web && npm test"),
        ("a/test.sh", "b/test.sh"),
        ("./run.sh && ./deploy.sh", "./run.sh"),
        ("./run.sh", "./run.sh || true"),
        ("./run.sh", "./run.sh; true"),
        ("./run.sh", "./run.sh | tail -3"),
        ("./a.sh | tail -3", "./b.sh | tail -3"),
        ("./run.sh < one", "./run.sh < two"),
        ("./run.sh fast", "./run.sh"),
        ("(cd api; ./run.sh)", "./run.sh"),
    ],
)
def test_a_failure_stays_open_if_what_passed_later_may_be_something_else(
    red: str, green: str
) -> None:
    assert open_failures((red, True), (green, False)) == [red]


def test_a_failure_that_came_back_is_open() -> None:
    lines = (("cd . && ./run.sh", True), ("./run.sh", False), ("./run.sh", True))
    assert "./run.sh" in open_failures(*lines)


def checks_run(talk: Conversation, command: str, output: str) -> dict[str, str]:
    """Let the agent run a command that ends well; return the outcomes in the state."""
    talk.clock.pass_by(1)
    response = {"stdout": output, "stderr": "", "interrupted": False}
    talk.send("PostToolUse.Bash", tool_input={"command": command}, tool_response=response)
    talk.guard.checkpoint("Look.")
    return {command.command: command.outcome for command in talk.guard.state().commands}


def test_a_check_far_along_in_a_long_command_is_seen(talk: Conversation) -> None:
    talk.prompt("Begin")
    line = f"cd /srv/{'deep/' * 40} && ruff check src/ && echo clean &&\n pytest -q 2>&1 | tail -3"
    assert checks_run(talk, line, "All checks passed!\nclean\n2 failed in 0.31s") == {
        "ruff check src/": "passed",
        "pytest -q": "failed",
    }


def test_the_summary_of_a_check_counts_however_much_another_command_printed_after_it(
    talk: Conversation,
) -> None:
    talk.prompt("Begin")
    output = "\n".join(
        ["1 failed, 9 passed in 0.31s", *(f"{n}: line of a file" for n in range(99))]
    )
    assert checks_run(talk, "pytest -q | tail; cat -n notes", output) == {"pytest -q": "failed"}
    (check,) = talk.guard.state().commands
    assert check.ending == "1 failed, 9 passed in 0.31s"


def test_a_failure_that_a_run_of_a_wider_scope_mended_is_handed_over_no_more() -> None:
    call = entry(FAILED, tool="Bash", summary="pytest tests/test_a.py", is_shell=True)
    failed = call.replace(error="Exit code 1 1 failed in 0.1s")
    passed = entry(tool="Bash", summary="pytest", is_shell=True, output="9 passed in 1.2s")
    passed = passed.replace(id="t2", at=timestamp(seconds(NOW) + 1))
    state = folded(failed)
    assert [c.outcome for c in state.commands] == ["failed"]
    assert [f.what for f in state.failed_attempts] == ["Bash: pytest tests/test_a.py"]
    state = folded(failed, passed, state=state)
    assert [(c.command, c.outcome) for c in state.commands] == [("pytest", "passed")]
    assert state.failed_attempts == ()
    assert folded(failed, passed, state=state) == state


def test_a_script_in_a_here_document_that_passes_once_it_was_changed_closes_its_failure() -> None:
    script = "cat > /tmp/fill.py << 'END'\n{}\nEND\npython3 /tmp/fill.py"
    call = entry(FAILED, tool="Bash", summary=script.format("print(zeile)"), is_shell=True)
    failed = call.replace(error="NameError: zeile")
    other = entry(tool="Bash", summary=script.replace("fill", "sort"), is_shell=True)
    other = other.replace(id="t2", at=timestamp(seconds(NOW) + 1))
    changed = entry(tool="Bash", summary=script.format("print('zeile')"), is_shell=True)
    changed = changed.replace(id="t3", at=timestamp(seconds(NOW) + 2))
    assert len(folded(failed, other).failed_attempts) == 1
    assert folded(failed, other, changed).failed_attempts == ()


def test_checks_of_one_line_are_items_of_their_own() -> None:
    line = "ruff check src/ && pytest"
    state = folded(entry(tool="Bash", summary=line, is_shell=True))
    assert [c.command for c in state.commands] == ["ruff check src/", "pytest"]
    assert len({c.id for c in state.commands}) == 2
