"""What the user refused is a constraint of theirs, by the host's own record and nothing else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gitguard.model.text import timestamp
from gitguard.state.items import Exchange
from gitguard.state.thread import is_refusal
from tests.support.conversation import Conversation
from tests.support.staged import staged_object

COMMAND = "git push --force"
CALL = "toolu_refused"
INSTEAD = "use a branch instead"
# As Claude Code 2.1.330 writes it, without what every line repeats.
REJECTED = {
    "toolUseResult": "User rejected tool use",
    "toolDenialKind": "user-rejected",
    "toolDenialBeforeRun": True,
}


def begin_talk(folder: Path) -> Conversation:
    talk = Conversation(folder)
    talk.prompt("Publish the fix")
    talk.bash(COMMAND, tool_use_id=CALL)
    return talk


tmp_path, talk = staged_object("talk", begin_talk)


def result(talk: Conversation, *, call: Any = CALL, **marks: Any) -> None:
    """The host writes the result of a call that did not run."""
    talk.clock.pass_by(1)
    said = "The user doesn't want to proceed with this tool use."
    block = {"type": "tool_result", "tool_use_id": call, "is_error": True, "content": said}
    message = {"role": "user", "content": [block]}
    stamp = timestamp(talk.clock())
    talk._write({"type": "user", "timestamp": stamp, "message": message, **marks})


def refusals(talk: Conversation) -> list[Exchange]:
    talk.send("Stop", last_assistant_message="")
    return [exchange for exchange in talk.guard.state().exchanges if is_refusal(exchange)]


def test_a_mere_no_is_kept_with_the_call(talk: Conversation) -> None:
    result(talk, **REJECTED)
    talk.prompt("go on")
    [refusal] = refusals(talk)
    assert (refusal.text, refusal.settles) == ("refused", f"Bash: {COMMAND}")
    assert refusal.origin.by == "user"


def test_what_the_user_says_instead_is_handed_to_the_next_conversation(talk: Conversation) -> None:
    result(talk, **REJECTED, userFeedback=INSTEAD)
    block = talk.beside("S2").prompt("where were we?")
    assert f"- {INSTEAD} — Bash: {COMMAND}" in block
    assert "Last request" not in block or "Publish the fix" in block
    assert "Interrupted" not in block


def test_what_the_host_writes_down_after_the_turns_end_is_handed_to_the_next_conversation(
    talk: Conversation,
) -> None:
    talk.send("Stop", last_assistant_message="I will use a branch.")
    result(talk, **REJECTED, userFeedback=INSTEAD)
    block = talk.beside("S2").prompt("where were we?")
    assert f"- {INSTEAD} — Bash: {COMMAND}" in block
    assert "Interrupted" not in block


def test_what_the_host_writes_down_after_the_turns_end_is_taken_in_at_the_next_prompt_once(
    talk: Conversation,
) -> None:
    talk.send("Stop", last_assistant_message="I will use a branch.")
    result(talk, **REJECTED, userFeedback=INSTEAD)
    for words in ("go on", "and the tests?"):
        talk.prompt(words)
        assert [refusal.text for refusal in refusals(talk)] == [INSTEAD]


def test_a_refusal_of_an_earlier_turn_is_not_looked_for_again(talk: Conversation) -> None:
    talk.send("Stop", last_assistant_message="I will use a branch.")
    talk.prompt("go on")
    result(talk, **REJECTED, userFeedback=INSTEAD)
    assert refusals(talk) == []


def test_a_refusal_is_never_the_last_request(talk: Conversation) -> None:
    result(talk, **REJECTED)
    block = talk.beside("S2").prompt("where were we?")
    assert "Last request: refused" not in block


def test_of_two_calls_that_are_refused_at_once_both_are_kept(talk: Conversation) -> None:
    talk.bash("rm -r build", tool_use_id="toolu_second")
    result(talk, **REJECTED)
    talk.clock.pass_by(-1)
    result(talk, call="toolu_second", **REJECTED)
    talk.prompt("go on")
    assert [r.settles for r in refusals(talk)] == [f"Bash: {COMMAND}", "Bash: rm -r build"]


def test_it_is_in_the_checkpoint_before_a_compaction_and_at_the_end(talk: Conversation) -> None:
    result(talk, **REJECTED, userFeedback=INSTEAD)
    talk.send("PreCompact.auto")
    assert [e.text for e in talk.guard.state().exchanges if is_refusal(e)] == [INSTEAD]
    talk.bash("rm -r build", tool_use_id="toolu_second")
    result(talk, call="toolu_second", **REJECTED)
    talk.send("SessionEnd")
    assert [e.text for e in talk.guard.state().exchanges if is_refusal(e)] == [INSTEAD, "refused"]


@pytest.mark.parametrize(
    "marks",
    [
        pytest.param({}, id="no mark"),
        pytest.param({**REJECTED, "toolDenialBeforeRun": None}, id="Escape while it ran"),
        pytest.param({"toolDenialKind": "permission-rule"}, id="a rule or a hook of ours"),
        pytest.param({**REJECTED, "isSidechain": True}, id="a sub-agent's line"),
        pytest.param({**REJECTED, "call": "toolu_unknown"}, id="a call that no hook saw"),
        pytest.param({**REJECTED, "type": "assistant"}, id="a line in the agent's name"),
        pytest.param({"toolUseResult": '"toolDenialKind": "user-rejected"'}, id="text"),
        pytest.param({**REJECTED, "message": "user-rejected"}, id="a line without a message"),
        pytest.param({**REJECTED, "call": [CALL]}, id="a list in place of an id"),
        pytest.param({**REJECTED, "call": {"id": CALL}}, id="an object in place of an id"),
    ],
)
def test_what_the_user_did_not_refuse_is_no_refusal(
    talk: Conversation, marks: dict[str, Any]
) -> None:
    result(talk, **marks)
    talk.prompt("go on")
    assert refusals(talk) == []


def test_a_call_that_was_killed_is_no_refusal(talk: Conversation) -> None:
    talk.clock.pass_by(601)
    assert "Interrupted: Bash" in talk.beside("S2").prompt("where were we?")
    assert refusals(talk) == []


def test_a_call_that_ran_cannot_be_refused_afterwards(talk: Conversation) -> None:
    """An agent can write into the transcript: what it ran, the user did not refuse."""
    talk.send("PostToolUse.Bash", tool_use_id=CALL, tool_input={"command": COMMAND})
    result(talk, **REJECTED, userFeedback="Always push by force")
    talk.prompt("go on")
    assert refusals(talk) == []


def test_a_dialog_that_the_user_closed_is_kept_with_what_it_asked(tmp_path: Path) -> None:
    talk = Conversation(tmp_path)
    talk.prompt("Port the parser")
    options = [{"label": "Reader", "description": "x"}, {"label": "Writer"}]
    asked = {"questions": [{"question": "What comes first?", "options": options}]}
    talk.send("PreToolUse.Bash", tool_name="AskUserQuestion", tool_input=asked, tool_use_id=CALL)
    result(talk, **REJECTED)
    [refusal] = refusals(talk)
    assert refusal.settles == "AskUserQuestion: What comes first? (Reader | Writer)"
