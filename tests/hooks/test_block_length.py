"""How long the resume block is: as long as what else the agent has beside it lets it be."""

from __future__ import annotations

from pathlib import Path

import pytest

from gitguard.model.tokens import tokens_of
from tests.support.conversation import Conversation

SHORT, LONG = 700, 2_000
DECISION = "Decision {} of many, which is long enough that all of them fill any block of ours"


@pytest.fixture
def talk(tmp_path: Path) -> Conversation:
    """A conversation that knows more than any block holds."""
    talk = Conversation(tmp_path)
    talk.prompt("Port the parser to the new tokenizer")
    decisions = [{"what": DECISION.format(number)} for number in range(150)]
    talk.guard.note({"decisions": decisions}, host_session="S1")
    talk.send("Stop", last_assistant_message="The decisions are taken.")
    return talk


def is_short(block: str) -> bool:
    assert block
    assert tokens_of(block) <= LONG
    return tokens_of(block) <= SHORT


def test_a_new_conversation_gets_the_long_block(talk: Conversation) -> None:
    assert not is_short(talk.beside("S2").prompt("What is next?"))


def test_beside_the_hosts_summary_the_block_is_short(talk: Conversation) -> None:
    talk.send("PreCompact")
    answer = talk.send("SessionStart.compact")
    assert is_short(answer["hookSpecificOutput"]["additionalContext"])


@pytest.mark.parametrize("source", ["clear", "resume"])
def test_a_conversation_that_the_host_continues_gets_the_short_block(
    talk: Conversation, source: str
) -> None:
    after = talk.beside("S2")
    after.send("SessionStart.startup", source=source)
    assert is_short(after.prompt("What is next?"))


def test_after_a_task_that_is_done_the_block_is_short(talk: Conversation) -> None:
    talk.guard.note({"next_action": "DONE"}, host_session="S1")
    assert is_short(talk.beside("S2").prompt("What is next?"))


def test_a_person_who_asks_gets_the_long_block(talk: Conversation) -> None:
    assert not is_short(talk.guard.resume())


def test_each_length_is_a_setting(talk: Conversation, tmp_path: Path) -> None:
    (tmp_path / "config").mkdir(exist_ok=True)
    (tmp_path / "config" / "config.yaml").write_text("resume: {new_conversation: 400}\n")
    assert tokens_of(talk.beside("S2").prompt("What is next?")) <= 400
