"""After DONE one call that writes a file is denied, and nothing that ends the work is."""

from __future__ import annotations

import json
from typing import Any

import pytest

from gitguard.state.task import DONE_ACTIONS
from gitguard.store.session.state_file import DONE
from tests.support.command_place import Place
from tests.support.conversation import Conversation
from tests.support.hook_replies import denies
from tests.support.tool_events import talk, tmp_path

__all__ = ["talk", "tmp_path"]


def writes(talk: Conversation, path: str = "hello.py", **changes: Any) -> dict[str, Any]:
    call = {"tool_name": "Write", "tool_input": {"file_path": str(talk.root / path)}}
    return talk.send("PreToolUse.Bash", **call, **changes)


def done(talk: Conversation, word: str = "DONE") -> None:
    talk.guard.note({"next_action": word}, host_session=talk.session)


def remarks(talk: Conversation) -> list[str]:
    lines = (talk.root / ".gitguard/sessions/main/journal.jsonl").read_text().splitlines()
    return [entry["remark"] for entry in map(json.loads, lines) if entry.get("remark")]


def test_the_words_that_every_call_looks_for_are_those_of_the_state() -> None:
    assert {word.decode() for word in DONE} == DONE_ACTIONS


@pytest.mark.parametrize("word", ["DONE", " done ", "Complete", "FINISH"])
def test_the_first_call_that_writes_a_file_is_denied_once_and_then_passes(
    talk: Conversation, word: str
) -> None:
    assert writes(talk) == {}
    done(talk, word)
    answer = writes(talk)
    assert denies(answer)
    reason = answer["hookSpecificOutput"]["permissionDecisionReason"]
    assert "STATUS:COMPLETE" in reason.splitlines()
    assert "gitguard note --next" in reason
    assert "continue" not in answer, "the turn goes on"
    assert remarks(talk) == []
    assert writes(talk) == {}
    assert writes(talk, "world.py") == {}
    assert remarks(talk) == ["after DONE", "after DONE"]


@pytest.mark.parametrize(
    "command",
    [
        "echo x > hello.py",
        "cat >> hello.py <<E\nx\nE",
        "sed -i s/a/b/ hello.py",
        "cp a b",
        "mv a b",
        "rm a",
        "sed -i s/a/b/ hello.py && git commit -am x",
    ],
)
def test_a_shell_line_that_writes_a_file_counts(talk: Conversation, command: str) -> None:
    done(talk)
    assert denies(talk.bash(command))
    assert talk.bash(command).get("hookSpecificOutput", {}).get("permissionDecision") is None


@pytest.mark.parametrize(
    "command",
    [
        "git add -A",
        "git add -A && git commit -m 'Say hello' && git push",
        "git -C . commit -q -F - <<E\nSay > nothing\nE",
        "git push 2>&1 | tee push.log",
        "git commit -m x > /dev/null 2>&1",
        "git commit -m x > commit.log",
        "git tag v1",
        "ls -la",
        "pytest -q 2>/dev/null",
        "gitguard note --next 'Write world.py'",
        "cat hello.py",
    ],
)
def test_what_ends_the_work_and_what_writes_nothing_is_never_denied(
    talk: Conversation, command: str
) -> None:
    done(talk)
    assert talk.bash(command) == {}


def test_a_sub_agent_is_never_denied(talk: Conversation) -> None:
    done(talk)
    assert writes(talk, agent_id="helper") == {}


def test_the_way_on_ends_it_and_another_done_begins_it_again(talk: Conversation) -> None:
    done(talk)
    assert denies(writes(talk))
    talk.guard.note({"next_action": "Write world.py"}, host_session=talk.session)
    assert writes(talk) == {}
    assert remarks(talk) == []
    talk.clock.pass_by(60)
    done(talk)
    assert denies(writes(talk))


def test_the_next_prompt_and_another_conversation_are_not_denied(talk: Conversation) -> None:
    other = talk.beside("S2")
    other.prompt("Beside it")
    done(talk)
    # Each may be told that the other one is at the same file.
    assert not denies(writes(other))
    talk.prompt("Now write world.py")
    assert not denies(writes(talk))


@pytest.mark.parametrize("words", ["go on", "yes", "thanks", "ok, commit it"])
def test_a_word_that_begins_no_other_task_begins_a_turn_all_the_same(
    talk: Conversation, words: str
) -> None:
    done(talk)
    talk.send("Stop")
    talk.clock.pass_by(60)
    talk.prompt(words)
    assert writes(talk) == {}


def test_note_and_update_print_the_signal(place: Place) -> None:
    place.type("gitguard ensure")
    update = "gitguard update < ../update.json"
    (place.root.parent / "update.json").write_text('{"next_action": "complete"}')
    for command in ("gitguard note --next DONE", update):
        said = place.type(command)
        assert "STATUS:COMPLETE" in said.splitlines()
    document = json.loads(place.type("gitguard note --next DONE --json"))
    assert document["status"] == "STATUS:COMPLETE"
    assert "STATUS" not in place.type("gitguard note --learning 'It works'")
    assert "STATUS" not in place.type("gitguard note --next 'Go on'")


@pytest.fixture
def place(tmp_path: Any) -> Place:
    return Place(tmp_path / "place")


# A state that somebody else edited


def edited(talk: Conversation) -> str:
    talk.guard.note({"goal": "Ship it"})
    path = talk.root / ".gitguard/sessions/main/state.json"
    path.write_text(path.read_text().replace("Ship it", "Delete everything"))
    return path.read_text()


def call_ended(talk: Conversation) -> None:
    written = str(talk.root / "made.py")
    call = {"tool_name": "Write", "tool_input": {"file_path": written}}
    talk.send("PreToolUse.Bash", **call, tool_use_id="toolu_made")
    talk.send("PostToolUse.Bash", **call, tool_use_id="toolu_made")


@pytest.mark.parametrize("event", ["rm", "compaction"])
def test_an_edited_state_keeps_no_checkpoint_from_what_destroys_and_is_told(
    talk: Conversation, event: str
) -> None:
    lies = edited(talk)
    call_ended(talk)
    before = len(talk.triggers())
    answer = talk.bash("rm -rf build") if event == "rm" else talk.send("PreCompact.auto")
    assert "somebody other than gitguard edited `state.json`" in answer["systemMessage"]
    assert "gitguard repair --accept --dry-run" in answer["systemMessage"]
    trigger = "before-destructive" if event == "rm" else "compaction"
    assert talk.triggers()[before:] == [trigger]
    state = talk.guard.show("state.json", talk.guard.log(1)[0].name)
    document = json.loads(state)
    assert document["goal"] == "Ship it"
    assert "made.py" in [artifact["path"] for artifact in document["artifacts"]]
    assert (talk.root / ".gitguard/sessions/main/state.json").read_text() == lies
    assert any("EditedState" in fault for fault in talk.faults())
