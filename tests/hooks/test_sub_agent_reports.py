"""What sub-agents found reaches their parent's state, as theirs alone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.conversation import PAYLOADS, Conversation
from tests.support.secret_samples import some

FOUND = "The parser drops trailing commas in src/parser.py; the lexer is sound."
BACKGROUND = "UserPromptSubmit.task_notification"


@pytest.fixture
def talk(tmp_path: Path) -> Conversation:
    talk = Conversation(tmp_path)
    talk.prompt("Find out why the parser drops commas, and say what to change")
    return talk


def notification(result: str, call: str = "toolu_0002") -> str:
    prompt = json.loads((PAYLOADS / f"{BACKGROUND}.json").read_text())["prompt"]
    prompt = prompt.replace("<result>report</result>", f"<result>{result}</result>")
    return str(prompt.replace("toolu_0002", call))


def starts(talk: Conversation, call: str = "toolu_0002") -> None:
    """The agent starts a sub-agent in the background."""
    talk.send("PreToolUse.Agent", tool_use_id=call)
    talk.send("PostToolUse.Agent.background", tool_use_id=call)


def findings(talk: Conversation) -> list[tuple[str, str, str]]:
    """Who said what, and by whom it came into the state."""
    talk.guard.checkpoint("Fold.")
    outputs = talk.guard.state().tool_outputs
    return [(output.tool, output.summary, output.origin.by) for output in outputs]


def test_a_finding_is_kept_once_as_the_sub_agents_own(talk: Conversation) -> None:
    talk.send("PreToolUse.Agent", tool_use_id="toolu_0002")
    response = json.loads((PAYLOADS / "PostToolUse.Agent.json").read_text())["tool_response"]
    response["content"][-1]["text"] = FOUND
    talk.send("PostToolUse.Agent", tool_use_id="toolu_0002", tool_response=response)
    expected = [(f"sub-agent {response['agentId']}", FOUND, "hook")]
    assert findings(talk) == expected
    assert findings(talk) == expected
    state = talk.guard.state()
    assert state.decisions == ()
    assert FOUND not in [exchange.text for exchange in state.exchanges]
    block = talk.beside("S2").prompt("Where were we?")
    assert f"sub-agent {response['agentId']}: {FOUND}" in block


def test_a_finding_of_a_sub_agent_in_the_background_comes_with_the_hosts_notification(
    talk: Conversation,
) -> None:
    starts(talk)
    talk.send("Stop", last_assistant_message="It runs.")
    assert findings(talk) == []
    talk.prompt(notification(FOUND))
    assert findings(talk) == [("sub-agent ac4a6f4755d15d995", FOUND, "hook")]
    assert talk.guard.state().goal.startswith("Find out why")


def test_a_finding_of_which_no_call_is_known_is_nobodys(talk: Conversation) -> None:
    talk.prompt(notification(FOUND, "toolu_forged"))
    assert findings(talk) == []


def test_a_long_finding_is_cut_and_secrets_are_taken_out(talk: Conversation) -> None:
    secret = f"ghp_{some(36)}"
    starts(talk)
    talk.prompt(notification(f"The token is {secret}. " + "It goes on and on. " * 200))
    ((_, text, _),) = findings(talk)
    assert secret not in text
    assert 400 < len(text) <= 1_200


def test_a_long_finding_is_shorter_once_a_later_turn_had_another(talk: Conversation) -> None:
    starts(talk)
    talk.prompt(notification("Row 12 of the ledger is wrong, and nobody knows why. " * 40))
    talk.send("Stop", last_assistant_message="Row 12 is wrong.")
    starts(talk, "toolu_0003")
    talk.prompt(notification(FOUND, "toolu_0003"))
    first, second = findings(talk)
    assert len(first[1]) <= 400
    assert second[1] == FOUND


def test_many_findings_leave_room_for_the_newest(talk: Conversation) -> None:
    for number in range(12):
        starts(talk, f"toolu_{number}")
        talk.prompt(notification(f"Finding {number} of the search.", f"toolu_{number}"))
    texts = [text for _, text, _ in findings(talk)]
    assert texts == [f"Finding {number} of the search." for number in range(6, 12)]
