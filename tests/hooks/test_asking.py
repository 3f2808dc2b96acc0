"""The agent is asked for notes when there is a reason to, and the person told of a hand-back."""

from __future__ import annotations

from pathlib import Path

from gitguard.hooks.asking import FIRST_LINE
from tests.support.conversation import BLOCK, Conversation
from tests.support.staged import staged_object

TOKENS = 40
CHARACTERS_A_TOKEN = 4
ASKED = "without a note. Note decisions, dead ends and the next step"


tmp_path, talk = staged_object("talk", Conversation)


def work(talk: Conversation, calls: int) -> None:
    for number in range(calls):
        call = {"tool_use_id": f"{talk.session}-{talk.clock.now}-{number}"}
        talk.bash("make test", **call)
        talk.send("PostToolUse.Bash", tool_input={"command": "make test"}, **call)


def note(talk: Conversation, what: str) -> None:
    talk.clock.pass_by(1)
    talk.guard.note({"decisions": [{"what": what}]}, host_session=talk.session)


def test_the_first_request_of_a_conversation_says_once_how_to_note(talk: Conversation) -> None:
    assert talk.prompt("Write hello.py") == FIRST_LINE
    assert len(FIRST_LINE) <= TOKENS * CHARACTERS_A_TOKEN
    assert talk.prompt("Test it") == ""


def test_a_conversation_that_gets_the_block_is_told_by_the_block(talk: Conversation) -> None:
    talk.prompt("Write hello.py")
    talk.send("Stop")

    told = talk.beside("S2").prompt("where were we?")

    assert BLOCK in told
    assert "Record progress: `gitguard note`" in told
    assert FIRST_LINE not in told


def test_a_prompt_asks_for_notes_after_thirty_calls_without_one(talk: Conversation) -> None:
    talk.prompt("Write hello.py")
    talk.uses(10_000)
    work(talk, 29)
    assert ASKED not in talk.prompt("and now?")
    work(talk, 1)
    assert "30 tool calls without a note" in talk.prompt("and now?")
    assert ASKED not in talk.prompt("and now?"), "it is asked for once"


def test_an_agent_that_takes_no_note_is_asked_once_and_again_after_its_next_one(
    talk: Conversation,
) -> None:
    talk.prompt("Write hello.py")
    talk.uses(10_000)
    work(talk, 30)
    assert ASKED in talk.prompt("and now?")
    for _ in range(2):
        work(talk, 31)
        assert ASKED not in talk.prompt("and now?")
    note(talk, "Print, not log")
    work(talk, 31)
    assert ASKED not in talk.prompt("and now?"), "it noted since"
    work(talk, 31)
    assert ASKED in talk.prompt("and now?")


def test_an_agent_that_a_warning_asked_for_notes_is_not_asked_again(talk: Conversation) -> None:
    talk.prompt("Write hello.py")
    talk.uses(131_000)
    work(talk, 31)
    assert ASKED not in talk.prompt("and now?")


def test_an_agent_that_noted_lately_is_not_asked(talk: Conversation) -> None:
    talk.prompt("Write hello.py")
    talk.uses(10_000)
    work(talk, 20)
    note(talk, "Use one file")
    work(talk, 20)
    assert ASKED not in talk.prompt("and now?")
    work(talk, 30)
    assert ASKED in talk.prompt("and now?"), "the note is older than all these calls"


def test_a_note_of_another_conversation_does_not_count(talk: Conversation) -> None:
    talk.prompt("Write hello.py")
    work(talk, 30)
    talk.guard.note({"decisions": [{"what": "Use one file"}]}, host_session="S9")
    assert ASKED in talk.prompt("and now?")


def test_how_many_calls_is_the_users_setting(tmp_path: Path) -> None:
    (tmp_path / "config").mkdir()
    (tmp_path / "config/config.yaml").write_text("gauge:\n  ask_notes_after: 3\n")
    talk = Conversation(tmp_path)
    talk.prompt("Write hello.py")
    work(talk, 3)
    assert "3 tool calls without a note" in talk.prompt("and now?")


def test_the_person_is_told_in_one_line_what_was_handed_back(talk: Conversation) -> None:
    talk.guard.note({"goal": "Port the parser", "decisions": [{"what": "By hand"}]})
    talk.clock.pass_by(3 * 3600)

    answer = talk.send("UserPromptSubmit", prompt="where were we?")

    assert answer["systemMessage"] == "gitguard: restored task 'Port the parser', 1 item, 3 h old"
    assert "systemMessage" not in talk.send("UserPromptSubmit", prompt="and now?")


def test_the_person_is_told_after_a_compaction_as_well(talk: Conversation) -> None:
    talk.prompt("Port the parser")
    talk.send("PreCompact")
    talk.compacts()

    answer = talk.send("SessionStart.compact")

    assert answer["systemMessage"].startswith("gitguard: restored task 'Port the parser', ")
