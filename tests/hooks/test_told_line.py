"""An event tells the agent one line of gitguard's besides the block; `status` shows the others."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from gitguard.cli.sessions import _overview_text
from gitguard.hooks.told_line import (
    BRANCH,
    CONVERSATION,
    MISSING_HOOKS,
    NOTES,
    PRECEDENCE,
    PRESSURE,
    STATUS,
    ToldLine,
    outranks,
    pick_line,
)
from tests.support.conversation import BLOCK, Conversation
from tests.support.staged import staged_object
from tests.support.tool_events import after_tool

lines_of_any_kind = st.lists(
    st.builds(ToldLine, st.sampled_from(PRECEDENCE), st.sampled_from(["", "a", "b", "c", "d"]))
)


tmp_path, talk = staged_object("talk", Conversation)


def test_the_kinds_of_lines_have_this_precedence() -> None:
    assert PRECEDENCE == (STATUS, MISSING_HOOKS, CONVERSATION, BRANCH, PRESSURE, NOTES)


@given(lines_of_any_kind)
def test_one_line_is_told_and_no_text_is_lost(lines: list[ToldLine]) -> None:
    told, untold = pick_line(lines)
    texts = {line.text for line in lines} - {""}
    assert {told, *untold} - {""} == texts
    assert len(texts) == len(untold) + bool(told)


@given(lines_of_any_kind)
def test_no_line_that_is_graver_than_the_told_one_is_kept_back(lines: list[ToldLine]) -> None:
    told, _ = pick_line(lines)
    kinds = [line.kind for line in lines if line.text == told]
    assert not told or not outranks(lines, min(kinds, key=PRECEDENCE.index))


def test_a_prompt_with_several_occasions_tells_the_branch_alone(talk: Conversation) -> None:
    talk.prompt("Port the parser to Rust")
    talk.send("Stop", last_assistant_message="Done.")
    talk.uses(132_000)
    talk.git("switch", "-q", "-c", "login")
    talk.clock.pass_by(60)
    lines = own_lines(talk.prompt("Fix the login page"))
    assert len(lines) == 1
    assert "the branch `login` is checked out" in lines[0]


def test_a_warning_that_a_graver_line_kept_back_comes_with_the_next_event(
    talk: Conversation,
) -> None:
    talk.prompt("Port the parser to Rust")
    talk.send("Stop", last_assistant_message="Done.")
    talk.git("switch", "-q", "-c", "login")
    talk.uses(132_000)
    talk.prompt("Fix the login page")
    assert "66% (132k/200k)" in after_tool(talk)


def test_a_complete_task_is_told_alone_where_the_branch_changed_too(talk: Conversation) -> None:
    talk.prompt("Port the parser to Rust")
    talk.send("Stop", last_assistant_message="Done.")
    talk.guard.note({"next_action": "DONE"})
    talk.git("switch", "-q", "-c", "login")
    talk.git("switch", "-q", "main")
    context = talk.prompt("Fix the login page")
    assert context.splitlines()[0] == "STATUS:COMPLETE"
    assert not [line for line in own_lines(context) if line.startswith("[gitguard")]


def test_what_was_not_told_stands_in_status_until_the_next_turn(talk: Conversation) -> None:
    talk.prompt("Begin")
    with_lines(talk, ToldLine(PRESSURE, "the gauge"), ToldLine(BRANCH, "the branch"))
    assert "Not told: the gauge" in _overview_text(talk.guard.status()).splitlines()
    talk.send("Stop", last_assistant_message="Done.")
    talk.prompt("Go on")
    assert "Not told" not in _overview_text(talk.guard.status())


def with_lines(talk: Conversation, *lines: ToldLine) -> str:
    """Return the reply to a prompt to which these lines were offered."""
    from gitguard.hooks.answering import _with_told_line
    from gitguard.hooks.conversation import Conversation as OpenConversation
    from gitguard.model.events import NEUTRAL, PROMPT, Abilities, HookEvent

    guard = talk.guard
    event = HookEvent(PROMPT, talk.session, str(talk.root))
    conversation = OpenConversation(guard.workspace, guard.config, event, abilities=Abilities())
    for line in lines:
        conversation.offer(line.kind, line.text)
    return _with_told_line(conversation, NEUTRAL).context


def own_lines(context: str) -> list[str]:
    """Return the lines of a reply that are ours and not of the block."""
    before_the_block = context.partition(BLOCK)[0]
    return [line for line in before_the_block.splitlines() if line]
