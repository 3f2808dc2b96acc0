"""`gitguard session tasks` looks back at what a session was for."""

from __future__ import annotations

import json

from click.testing import CliRunner, Result

from gitguard.cli.app import app
from tests.support.conversation import Conversation
from tests.support.staged import staged_object

tmp_path, talk = staged_object("talk", Conversation)


def run(talk: Conversation, *arguments: str) -> Result:
    environment = {"GITGUARD_STATE_DIR": talk.guard.workspace.places.state_home}
    return CliRunner().invoke(app, ["--root", str(talk.root), *arguments], env=environment)


def test_the_tasks_of_a_session_are_listed_with_outcome_and_age(talk: Conversation) -> None:
    talk.guard.note({"goal": "Port the parser"})
    talk.guard.note({"next_action": "DONE"})
    talk.clock.pass_by(7_200)
    talk.guard.note({"goal": "Fix the login page"}, new_task=True)
    talk.clock.pass_by(3_600)
    talk.guard.note({"goal": "Write the docs"}, new_task=True)
    tasks = talk.guard.sessions.tasks()
    assert [(task.goal, task.outcome, task.is_open) for task in tasks] == [
        ("Write the docs", "in progress", True),
        ("Fix the login page", "left in progress", False),
        ("Port the parser", "finished", False),
    ]
    shown = run(talk, "session", "tasks").output.splitlines()
    assert shown[0].startswith("* Write the docs  (in progress, changed ")
    assert shown[2].startswith("  Port the parser  (finished, ")
    document = json.loads(run(talk, "session", "tasks", "--json").output)
    assert [task["goal"] for task in document["tasks"]][-1] == "Port the parser"


def test_tasks_that_the_state_forgot_are_read_from_the_history(talk: Conversation) -> None:
    for number in range(9):
        talk.clock.pass_by(60)
        talk.guard.note({"goal": f"Task {number}"}, new_task=True)
    assert [task.goal for task in talk.guard.sessions.tasks()] == [
        f"Task {number}" for number in reversed(range(9))
    ]


def test_a_task_that_moved_is_told_with_its_branch(talk: Conversation) -> None:
    talk.prompt("Port the parser to Rust")
    talk.git("switch", "-q", "-c", "port")
    talk.send("PostToolUse.Bash", tool_input={"command": "git switch -c port"})
    talk.send("Stop", last_assistant_message="Done.")
    talk.prompt("Now the tests")
    tasks = talk.guard.sessions.tasks("main")
    assert [(task.goal, task.outcome) for task in tasks] == [
        ("", "in progress"),
        ("Port the parser to Rust", "moved to the branch port"),
    ]
    assert [task.goal for task in talk.guard.sessions.tasks("port")] == ["Port the parser to Rust"]


def test_a_different_goal_says_what_stays_and_how_to_begin_another_task(
    talk: Conversation,
) -> None:
    run(talk, "note", "--goal", "Port the parser", "--decision", "By hand", "--issue", "Unicode")
    shown = run(talk, "note", "--goal", "Fix the login page").output
    assert (
        "This goal replaces `Port the parser`; what was noted for it stays: 1 decision, 1 open "
        "issue. If it is another task, begin it with `gitguard note --new-task --goal TEXT`."
    ) in shown
    assert "This goal replaces" not in run(talk, "note", "--goal", "Fix the login  page").output


def test_a_goal_in_place_of_the_users_words_needs_no_advice(talk: Conversation) -> None:
    talk.prompt("Port the parser to Rust")
    assert "This goal replaces" not in run(talk, "note", "--goal", "Rust port, released").output
