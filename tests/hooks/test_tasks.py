"""Which task a conversation works at: a goal that nobody noted ends with its conversation."""

from __future__ import annotations

import pytest

from tests.support.conversation import Conversation
from tests.support.staged import staged_object

tmp_path, talk = staged_object("talk", Conversation)


def finished(talk: Conversation, prompt: str, answer: str = "Done.") -> None:
    """One turn of a conversation."""
    talk.clock.pass_by(60)
    talk.prompt(prompt)
    talk.send("Stop", last_assistant_message=answer)


def test_a_new_conversations_first_request_is_its_goal_and_the_one_before_is_remembered(
    talk: Conversation,
) -> None:
    finished(talk, "Port the parser to Rust")
    talk.clock.pass_by(7_200)
    other = talk.beside("S2")
    finished(other, "Fix the login page")
    state = talk.guard.state()
    assert state.goal == "Fix the login page"
    assert [task.goal for task in state.earlier] == ["Port the parser to Rust"]
    third = talk.beside("S3").prompt("continue")
    assert "Goal (user's words): Fix the login page" in third
    assert (
        "Port the parser to Rust (last request answered)"
        in third.split("Earlier on this branch")[1]
    )


@pytest.mark.parametrize("prompt", ["hi", "continue", "where were we?", "thanks!"])
def test_a_first_prompt_that_asks_for_nothing_keeps_the_goal(
    talk: Conversation, prompt: str
) -> None:
    finished(talk, "Port the parser to Rust")
    talk.clock.pass_by(7_200)
    finished(talk.beside("S2"), prompt)
    assert talk.guard.state().goal == "Port the parser to Rust"
    assert talk.guard.state().earlier == ()


def test_small_talk_is_never_the_goal_or_the_next_action(talk: Conversation) -> None:
    finished(talk, "hi")
    finished(talk, "Port the parser to Rust")
    finished(talk, "thanks!")
    state = talk.guard.state()
    assert (state.goal, state.next_action) == ("Port the parser to Rust",) * 2


def test_a_command_with_a_request_in_its_arguments_is_the_goal(talk: Conversation) -> None:
    finished(talk, "/explore how does the parser decide on types")
    assert talk.guard.state().goal == "/explore how does the parser decide on types"


def test_a_noted_goal_stays_until_the_agent_replaces_it(talk: Conversation) -> None:
    finished(talk, "Port the parser to Rust")
    talk.guard.note({"goal": "Rust port, released"})
    talk.clock.pass_by(7_200)
    finished(talk.beside("S2"), "Fix the login page")
    assert talk.guard.state().goal == "Rust port, released"
    assert talk.guard.state().earlier == ()


def test_a_conversation_that_goes_on_keeps_its_goal(talk: Conversation) -> None:
    finished(talk, "Port the parser to Rust")
    talk.clock.pass_by(7_200)
    talk.send("PreCompact.auto")
    finished(talk, "Now the tests")
    assert talk.guard.state().goal == "Port the parser to Rust"


def test_what_was_said_and_noted_before_stays_when_another_task_begins(talk: Conversation) -> None:
    finished(talk, "Port the parser to Rust")
    finished(talk, "Never touch the PDF export")
    talk.guard.note({"learnings": ["The golden files have Windows line ends"]})
    talk.clock.pass_by(7_200)
    other = talk.beside("S2")
    finished(other, "Fix the login page")
    block = talk.beside("S3").prompt("go on")
    assert "Never touch the PDF export" in block
    assert "Windows line ends" in block


def test_what_an_earlier_task_was_is_said_once(talk: Conversation) -> None:
    finished(talk, "Port the parser to Rust")
    finished(talk.beside("S2"), "Fix the login page")

    block = talk.beside("S3").prompt("continue")

    assert block.count("Port the parser to Rust") == 1


def test_conversations_side_by_side_have_an_open_task_each(talk: Conversation) -> None:
    other = talk.beside("S2")
    finished(talk, "Port the parser to Rust")
    finished(other, "Fix the login page")
    finished(talk, "Now the tests")
    state = talk.guard.state()
    assert state.goal == "Port the parser to Rust"
    assert [(task.goal, task.outcome) for task in state.earlier] == [
        ("Fix the login page", "last request answered")
    ]
    finished(other, "continue")
    assert talk.guard.state().goal == "Fix the login page"
    tasks = [(task.goal, task.is_open) for task in talk.guard.sessions.tasks()]
    assert tasks == [("Fix the login page", True), ("Port the parser to Rust", False)]


def test_after_a_compaction_a_conversation_gets_its_own_task_back(talk: Conversation) -> None:
    talk.prompt("Port the parser to Rust")
    talk.beside("S2").prompt("Fix the login page")
    talk.send("PreCompact.auto")
    reply = talk.send("SessionStart.compact")
    block = reply["hookSpecificOutput"]["additionalContext"]
    assert "Goal (user's words): Port the parser to Rust" in block
    assert talk.guard.state().goal == "Fix the login page"  # that conversation spoke last


def test_a_goal_noted_beside_a_conversation_holds_for_it_too(talk: Conversation) -> None:
    finished(talk, "Port the parser to Rust")
    finished(talk.beside("S2"), "Fix the login page")
    talk.guard.note({"goal": "Login without a cookie"})
    finished(talk, "Now the tests")
    assert talk.guard.state().goal == "Login without a cookie"


def test_an_earlier_answer_stands_once_and_one_of_a_word_or_two_not_at_all(
    talk: Conversation,
) -> None:
    finished(talk, "Port the parser", "The lexer takes 310 ms.")
    for prompt in ("Now the writer", "Now the tables"):
        finished(talk, prompt, "Done.")
        finished(talk, f"{prompt} again", "The lexer takes 310 ms.")
    finished(talk, "Now the manual", "The manual has 12 pages.")

    block = talk.beside("S2").prompt("where were we?")

    assert "Last answer: The manual has 12 pages." in block
    assert block.count("The lexer takes 310 ms.") == 1
    assert "Done." not in block


def test_of_a_hosts_summary_only_the_summary_counts(talk: Conversation) -> None:
    finished(talk, "Port the parser")
    talk.send("PreCompact.auto")
    text = "<analysis>I think aloud.</analysis>\n<summary>\n1. Next Step:\nWrite it.\n</summary>"
    talk.send("PostCompact", compact_summary=text)
    talk.send("Stop", last_assistant_message="Done.")

    summary = talk.guard.state().host_summary

    assert summary is not None
    assert summary.text.startswith("Next Step: Write it")
    assert "aloud" not in summary.text


def test_a_routine_request_is_the_goal_only_until_something_else_is_asked(
    talk: Conversation,
) -> None:
    runs_git(talk, "yeah we can commit and merge it")
    assert talk.guard.state().goal == "yeah we can commit and merge it"
    finished(talk, "Port the parser to Rust")
    runs_git(talk, "commit and push")
    state = talk.guard.state()
    assert (state.goal, state.next_action) == ("Port the parser to Rust",) * 2


def runs_git(talk: Conversation, prompt: str) -> None:
    """One turn that does nothing but to commit and to push."""
    talk.prompt(prompt)
    for number, command in enumerate(("git add -A && git commit -qm 'Parser'", "git push")):
        tool = {"tool_name": "Bash", "tool_use_id": f"git{talk.clock():.0f}{number}"}
        output = {"stdout": "", "stderr": ""}
        talk.send("PostToolUse.Bash", **tool, tool_input={"command": command}, tool_response=output)
    talk.send("Stop", last_assistant_message="Pushed.")


def test_a_prompt_that_was_answered_is_no_next_action_and_no_headline(talk: Conversation) -> None:
    finished(talk, "Port the parser to Rust", answer="Ported.")
    finished(talk, "How large is it?", answer="It has 200 lines.")
    state = talk.guard.state()
    assert (state.is_answered, state.stated_next_action) == (True, "")
    assert "How large is it?" not in talk.git("log", "--format=%B", "gitguard/main")
    assert (
        talk.git("log", "-1", "--format=%s", "gitguard/main")
        .strip()
        .endswith("start: answered: It has 200 lines.")
    )
    assert (
        "(the last request was answered)"
        in (talk.root / ".gitguard/sessions/main/summary.md").read_text()
    )
    talk.prompt("And the tests in tests/parser?")
    assert talk.guard.state().stated_next_action == "And the tests in tests/parser?"
    talk.guard.note({"next_action": "Count the tests"})
    talk.send("Stop", last_assistant_message="There are 20.")
    assert talk.guard.state().stated_next_action == "Count the tests"


def test_a_headline_is_the_answer_of_the_conversation_that_was_asked(talk: Conversation) -> None:
    other = talk.beside("S2")
    finished(other, "Fix the login page", answer="The login page is fixed.")
    finished(talk, "Port the parser to Rust", answer="The parser is ported.")
    state = talk.guard.state()
    newest = state.exchanges[-1]
    later = newest.replace(text="Another one's", origin=newest.origin.replace(conversation="S2"))
    state = state.replace(exchanges=(*state.exchanges, later))
    assert state.headline == "answered: The parser is ported."
