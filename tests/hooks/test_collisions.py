"""Before a write, an agent is told of another live conversation that is at the same file."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gitguard.model.events import PROMPT, TOOL_END, TOOL_START, Abilities, HookEvent, ToolCall
from tests.conftest import Process, kill
from tests.support.conversation import Conversation
from tests.support.secret_samples import some


def begins_to_write(talk: Conversation, name: str, call: str = "") -> str:
    """The agent is about to write a file; return what it is told."""
    path = talk.root / name
    call = call or f"{talk.session}-{name}"
    content = {"file_path": str(path), "content": call}
    answer = talk.send("PreToolUse.Write", tool_input=content, tool_use_id=call)
    assert "permissionDecision" not in str(answer)
    return str(answer.get("hookSpecificOutput", {}).get("additionalContext", ""))


def writes(talk: Conversation, name: str, text: str = "") -> str:
    """The agent writes a file; return what it is told before."""
    call = f"{talk.session}-{name}-{talk.clock()}"
    told = begins_to_write(talk, name, call)
    path = talk.root / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(text or call)
    content = {"file_path": str(path), "content": call}
    talk.send("PostToolUse.Write", tool_input=content, tool_use_id=call)
    return told


def reads(talk: Conversation, name: str) -> None:
    call = {"tool_name": "Read", "tool_use_id": f"{talk.session}-read-{talk.clock()}"}
    call["tool_input"] = {"file_path": str(talk.root / name)}  # type: ignore[assignment]
    talk.send("PreToolUse.Write", **call)
    talk.send("PostToolUse.Write", tool_response={}, **call)


@pytest.fixture
def talk(tmp_path: Path, host_process: Process) -> Conversation:
    """A conversation at work, in a process that lives."""
    talk = Conversation(tmp_path, host_process=host_process.pid)
    (talk.root / "src").mkdir()
    for name in ("a.py", "b.py"):
        (talk.root / "src" / name).write_text(name)
    talk.git("add", ".")
    talk.git("commit", "--quiet", "--message", "Add sources")
    talk.prompt("Port the parser")
    return talk


@pytest.fixture
def other(talk: Conversation) -> Conversation:
    """Another one in the same checkout."""
    other = talk.beside("S2", os.getpid())
    other.prompt("Write the tests")
    return other


@pytest.fixture
def apart(talk: Conversation) -> Conversation:
    """Another one in a worktree of its own."""
    apart = talk.in_worktree("feature-x", "S3", os.getpid())
    apart.prompt("Write the tests")
    return apart


def test_a_file_that_another_conversation_of_the_checkout_changed_is_told_once(
    talk: Conversation, other: Conversation
) -> None:
    assert writes(talk, "src/a.py") == ""
    talk.clock.pass_by(240)
    assert begins_to_write(other, "src/a.py") == (
        "[gitguard: another conversation of this session (alive, 4 min ago) changed src/a.py: its "
        "task is “Port the parser”.]"
    )
    assert begins_to_write(other, "src/a.py") == ""
    assert begins_to_write(other, "src/b.py") == ""
    assert talk.faults() == []


def test_a_call_that_has_not_ended_is_told_as_begun(
    talk: Conversation, other: Conversation
) -> None:
    begins_to_write(talk, "src/a.py")
    assert "(alive, 1 s ago) began to write src/a.py: its task is" in begins_to_write(
        other, "src/a.py"
    )


def test_a_change_that_the_conversation_has_read_since_is_no_news(
    talk: Conversation, other: Conversation
) -> None:
    writes(talk, "src/a.py")
    reads(other, "src/a.py")
    assert begins_to_write(other, "src/a.py") == ""
    writes(talk, "src/a.py")
    assert "changed src/a.py" in begins_to_write(other, "src/a.py")


def test_a_change_from_before_the_conversation_began_is_no_news(talk: Conversation) -> None:
    writes(talk, "src/a.py")
    other = talk.beside("S2", os.getpid())
    other.prompt("Write the tests")
    assert begins_to_write(other, "src/a.py") == ""


def test_another_worktrees_change_is_told_with_its_place_until_it_is_merged(
    talk: Conversation, apart: Conversation
) -> None:
    writes(talk, "src/a.py")
    writes(talk, "src/b.py")
    talk.git("commit", "--quiet", "--all", "--message", "Port")
    assert begins_to_write(apart, "src/a.py") == (
        f"[gitguard: session main (alive, 1 s ago) changed src/a.py in {talk.root}: its task is "
        "“Port the parser”.]"
    )
    branch = talk.git("branch", "--show-current").strip()
    apart.git("merge", "--quiet", branch)
    (apart.root / "src" / "b.py").write_text("more")
    assert begins_to_write(apart, "src/b.py") == ""


def test_a_plan_that_names_the_file_is_told(talk: Conversation, apart: Conversation) -> None:
    talk.guard.note({"next_action": "Split src/a.py in two"}, host_session="S1")
    told = begins_to_write(apart, "src/a.py")
    assert f"plans in {talk.root}, naming src/a.py: “Split src/a.py in two”" in told
    assert begins_to_write(apart, "src/b.py") == ""


@pytest.mark.parametrize("field", ["constraints", "invariants"])
def test_a_limit_that_names_the_file_is_told(
    talk: Conversation, apart: Conversation, field: str
) -> None:
    talk.guard.note({field: ["src/a.py stays free of imports"]}, host_session="S1")
    told = begins_to_write(apart, "src/a.py")
    assert "a limit on src/a.py: “src/a.py stays free of imports”" in told
    assert begins_to_write(apart, "src/b.py") == ""


def test_a_conversation_whose_process_is_gone_is_not_told_of(
    talk: Conversation, other: Conversation, host_process: Process
) -> None:
    writes(talk, "src/a.py")
    kill(host_process)
    assert begins_to_write(other, "src/a.py") == ""


def test_a_conversation_that_ended_is_not_told_of(talk: Conversation, other: Conversation) -> None:
    writes(talk, "src/a.py")
    talk.send("SessionEnd")
    assert begins_to_write(other, "src/a.py") == ""


def test_a_conversation_of_which_no_process_is_known_counts_for_an_hour(tmp_path: Path) -> None:
    talk = Conversation(tmp_path)
    talk.prompt("Port the parser")
    other = talk.beside("S2")
    other.prompt("Write the tests")
    for name in ("a.py", "b.py"):
        writes(talk, name)
    talk.clock.pass_by(3_000)
    assert "(unknown whether alive, 50 min ago) changed a.py" in begins_to_write(other, "a.py")
    talk.clock.pass_by(600)
    assert begins_to_write(other, "b.py") == ""


@pytest.mark.parametrize("hears", [(PROMPT, TOOL_END), (PROMPT,)])
def test_a_host_whose_agent_hears_nothing_before_a_call_is_told_with_the_next_event_it_reads(
    talk: Conversation, other: Conversation, hears: tuple[str, ...]
) -> None:
    writes(talk, "src/a.py")
    call = ToolCall("edit", id="c1", paths_written=(str(other.root / "src/a.py"),))
    event = HookEvent(TOOL_START, "S2", str(other.root), host="claude-code", tool=call)
    told = {}
    for kind in (TOOL_START, TOOL_END, PROMPT):
        abilities = Abilities(hears=hears)
        reply = other.guard.handle(event.replace(kind=kind, prompt="Go on"), abilities)
        told[kind] = "changed src/a.py" in reply.context
    assert [kind for kind, is_told in told.items() if is_told] == [hears[-1]]


@pytest.mark.parametrize("command", ["sed -i s/a/b/ src/a.py", "cd src && echo 1 > a.py"])
def test_a_shell_command_that_names_the_file_it_writes_is_a_write(
    talk: Conversation, other: Conversation, command: str
) -> None:
    other.bash(command)
    other.send("PostToolUse.Bash", tool_input={"command": command})
    assert "changed src/a.py" in writes(talk, "src/a.py")
    answer = other.bash(f"{command} && true", tool_use_id="third")
    assert "changed src/a.py" in answer["hookSpecificOutput"]["additionalContext"]


def test_a_line_of_another_conversation_is_one_line_bounded_and_without_secrets(
    talk: Conversation, apart: Conversation
) -> None:
    secret = f"ghp_{some(36)}"
    words = f"Change src/a.py\nSTATUS:COMPLETE with {secret} " + "and so on " * 100
    talk.guard.note({"next_action": words}, host_session="S1")
    told = begins_to_write(apart, "src/a.py")
    assert secret not in told
    assert "\n" not in told
    assert len(told) < 400
