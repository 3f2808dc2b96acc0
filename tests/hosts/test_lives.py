"""What the hosts of the common dialect do with hand-backs, halts and sub-agents."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gitguard.hooks.answering import first_refusal
from gitguard.hosts import find_host
from gitguard.model.events import HookAnswer, Reading
from gitguard.model.text import timestamp
from gitguard.state.items import CONCLUSION
from gitguard.store.session.told_events import is_told_before
from tests.support.conversation import BLOCK, PAYLOADS, Conversation

SHELL = {"copilot": "Bash", "qwen": "run_shell_command", "droid": "Execute", "kimi": "Bash"}


class Life:
    """A conversation of one host in a repository that another conversation worked in."""

    def __init__(self, host: str, folder: Path) -> None:
        self.host, self.talk = find_host(host), Conversation(folder)
        self.folder = PAYLOADS.parent / host
        self.transcript: Path | None = None
        self.talk.prompt("Port the parser to Rust")
        self.talk.send("Stop", last_assistant_message="The parser reads 12 of 14 grammars.")
        self.talk.git("commit", "--allow-empty", "--message", "work")

    def send(self, name: str, share: float = 0, **changes: Any) -> HookAnswer:
        """Send a recorded payload with changes; share is how full the context is."""
        self.talk.clock.pass_by(1)
        payload = json.loads((self.folder / f"{name}.json").read_text())
        if "timestamp" in payload:
            payload["timestamp"] = str(self.talk.clock())
        payload |= {"cwd": str(self.talk.root), "session_id": "S9", **changes}
        payload.pop("transcript_path", None)
        if self.transcript is not None:
            payload["transcript_path"] = str(self.transcript)
        event = self.host.parse_event(payload, {"HOME": "/nowhere"}, self.talk.clock())
        if share:
            tokens = round(share * 200_000)
            reading = Reading("hook", self.talk.clock(), tokens, 200_000)
            event = event.replace(reading=reading)
        places = self.talk.guard.workspace.places
        refusal = first_refusal(event, self.host.abilities, places, self.talk.clock())
        reply = refusal or self.talk.guard.handle(event, self.host.abilities)
        return self.host.render_reply(event, reply)

    def call(self, command: str, share: float = 0, **changes: Any) -> HookAnswer:
        tool = SHELL[self.host.name]
        changes = {"tool_call_id": command, "tool_input": {"command": command}, **changes}
        return self.send(f"PreToolUse.{tool}", share, **changes)

    def end(self, command: str, **changes: Any) -> HookAnswer:
        tool = SHELL[self.host.name]
        changes = {"tool_call_id": command, "tool_input": {"command": command}, **changes}
        return self.send(f"PostToolUse.{tool}", **changes)

    def writes(self, role: str, *content: dict[str, Any]) -> None:
        """Let Droid write a message into its transcript."""
        assert self.transcript is not None
        self.talk.clock.pass_by(1)
        message = {"role": role, "content": content}
        line = {"type": "message", "timestamp": timestamp(self.talk.clock()), "message": message}
        with self.transcript.open("a") as file:
            file.write(f"{json.dumps(line)}\n")

    def answers(self) -> list[str]:
        """What the session keeps as answers of this conversation."""
        exchanges = self.talk.guard.state().exchanges
        mine = [e for e in exchanges if e.origin.conversation == "S9"]
        return [exchange.text for exchange in mine if exchange.kind == CONCLUSION]


@pytest.mark.parametrize("host", SHELL)
def test_a_new_conversation_gets_the_block_with_its_first_prompt_and_once(
    host: str, tmp_path: Path
) -> None:
    life = Life(host, tmp_path)
    assert BLOCK in life.send("UserPromptSubmit").text
    assert BLOCK not in life.send("UserPromptSubmit").text


@pytest.mark.parametrize("host", ["copilot"])
def test_after_a_compaction_of_which_no_end_is_told_the_first_call_brings_the_block_and_once(
    host: str, tmp_path: Path
) -> None:
    life = Life(host, tmp_path)
    life.send("UserPromptSubmit")
    life.send("PreCompact.auto")
    life.call("make")
    assert BLOCK in life.end("make").text
    life.call("make test")
    assert BLOCK not in life.end("make test").text
    assert BLOCK not in life.send("UserPromptSubmit").text


def test_a_halt_outlives_a_compaction_that_runs_beside_the_work_until_it_is_known_to_have_ended(
    tmp_path: Path,
) -> None:
    life = Life("copilot", tmp_path)
    life.send("UserPromptSubmit")
    life.send("PreCompact.auto")
    life.call("make")
    assert "deny" in life.call("make test", 0.97).text
    life.end("make")
    assert "deny" in life.call("make once more").text
    assert "STATUS:HALT_CONTEXT_LIMIT" in life.send("UserPromptSubmit").text
    assert "deny" in life.call("make again").text


def test_after_such_a_compaction_without_a_call_the_next_prompt_brings_the_block(
    tmp_path: Path,
) -> None:
    life = Life("copilot", tmp_path)
    life.send("UserPromptSubmit")
    life.send("PreCompact.manual")
    assert BLOCK in life.send("UserPromptSubmit").text


@pytest.mark.parametrize("host", ["qwen", "codex"])
def test_where_the_end_of_a_compaction_is_told_before_the_start_behind_it_one_block_is_handed_back(
    host: str, tmp_path: Path
) -> None:
    life = Life(host, tmp_path)
    life.send("UserPromptSubmit")
    life.send("PreCompact.auto")
    life.send("PostCompact" if host == "codex" else "PostCompact.auto")
    assert BLOCK in life.send("SessionStart.compact").text
    assert BLOCK not in life.send("UserPromptSubmit").text


def test_a_block_that_a_host_forgets_as_it_resumes_a_conversation_is_handed_back_again(
    tmp_path: Path,
) -> None:
    life = Life("qwen", tmp_path)
    life.send("UserPromptSubmit")
    life.send("PreCompact.auto")
    life.send("PostCompact.auto")
    assert BLOCK in life.send("SessionStart.compact").text
    life.send("Stop")
    life.send("SessionStart.resume")
    assert BLOCK in life.send("UserPromptSubmit").text
    life.send("Stop")
    life.send("SessionStart.resume")
    assert BLOCK not in life.send("UserPromptSubmit").text, "the prompt's own stays"


def test_a_host_that_hears_at_prompts_alone_gets_the_block_after_a_compaction_there(
    tmp_path: Path,
) -> None:
    life = Life("kimi", tmp_path)
    life.send("UserPromptSubmit")
    life.send("PreCompact.auto")
    life.send("PostCompact.auto")
    life.call("make")
    assert life.end("make").text == ""
    assert BLOCK in life.send("UserPromptSubmit").text


def test_the_second_denied_call_ends_the_turn_where_results_are_carried_back(
    tmp_path: Path,
) -> None:
    life = Life("qwen", tmp_path)
    life.send("UserPromptSubmit")
    step = "UserPromptSubmit.continuation"
    assert life.send(step).text == ""
    assert "deny" in life.call("make", 0.97).text
    assert life.send(step).text == "", "the agent may answer in words"
    assert "deny" in life.call("make again", 0.97).text
    ended = json.loads(life.send(step).text)
    assert ended["decision"] == "block"
    assert "STATUS:HALT_CONTEXT_LIMIT" in ended["reason"]


@pytest.mark.parametrize("host", ["qwen", "droid"])
def test_a_denied_call_that_two_hooks_tell_of_counts_once(host: str, tmp_path: Path) -> None:
    life = Life(host, tmp_path)
    life.send("UserPromptSubmit")
    first = life.call("make", 0.97).text
    life.talk.clock.pass_by(-1)
    assert life.call("make", 0.97).text == first
    life.talk.clock.pass_by(9)
    again = life.call("make again", 0.97).text
    assert "Your turn ends here." in again
    assert "Your turn ends here." not in first


@pytest.mark.parametrize("host", ["copilot", "kimi"])
def test_where_nothing_ends_a_turn_every_call_of_a_halted_one_is_denied(
    host: str, tmp_path: Path
) -> None:
    life = Life(host, tmp_path)
    life.send("UserPromptSubmit")
    for command in ("make", "make again", "make once more"):
        denied = json.loads(life.call(command, 0.97).text)
        assert denied["hookSpecificOutput"]["permissionDecision"] == "deny"
        assert "continue" not in denied
    refused = life.send("UserPromptSubmit")
    assert (refused.code == 2) is (host == "kimi")
    assert "STATUS:HALT_CONTEXT_LIMIT" in refused.text + refused.error


@pytest.mark.parametrize("source", ["clear", "resume", "fork"])
def test_a_conversation_of_codex_that_goes_on_from_another_one_is_told_so_and_one_of_its_own(
    tmp_path: Path, source: str
) -> None:
    life = Life("codex", tmp_path)
    life.send("UserPromptSubmit", session_id="S8", turn_id="T1")
    life.send("Stop", session_id="S8", turn_id="T1")
    life.send("SessionStart.clear", source=source)
    block = life.send("UserPromptSubmit", turn_id="T2").text
    assert BLOCK in block
    assert "nother conversation" not in block
    conversations = life.talk.guard.status().host_sessions
    assert {key: conversations[key].turns for key in ("S8", "S9")} == {"S8": 1, "S9": 1}
    assert [conversations[key].continues for key in ("S8", "S9")] == [False, True]


def halted_codex(folder: Path) -> Life:
    """A turn of Codex in which a call was denied at critical pressure."""
    life = Life("codex", folder)
    life.send("UserPromptSubmit", turn_id="T1")
    assert "deny" in life.send("PreToolUse", 0.97, turn_id="T1").text
    return life


def test_a_halted_turn_of_codex_ends_where_it_would_compact_by_itself_and_go_on(
    tmp_path: Path,
) -> None:
    life = halted_codex(tmp_path)
    stopped = json.loads(life.send("PreCompact.auto", turn_id="T1").text)
    assert stopped.keys() == {"continue", "stopReason"}
    assert stopped["continue"] is False
    assert stopped["stopReason"].startswith("STATUS:HALT_CONTEXT_LIMIT\n")
    assert "/compact" in stopped["stopReason"]
    record = life.talk.guard.status().host_sessions["S9"]
    assert (record.epoch, record.compacting_since) == (0, 0)
    assert record.halt is not None


@pytest.mark.parametrize(
    ("event", "turn"), [("PreCompact.manual", "T1"), ("PreCompact.auto", "T2")]
)
def test_a_compaction_that_is_the_way_out_of_the_halt_is_not_stopped(
    tmp_path: Path, event: str, turn: str
) -> None:
    life = halted_codex(tmp_path)
    assert life.send(event, turn_id=turn).text == ""
    life.send("PostCompact", turn_id=turn)
    assert life.talk.guard.status().host_sessions["S9"].halt is None


def test_without_a_halt_codex_compacts(tmp_path: Path) -> None:
    life = Life("codex", tmp_path)
    life.send("UserPromptSubmit", turn_id="T1")
    assert life.send("PreCompact.auto", turn_id="T1").text == ""


def test_calls_of_a_sub_agent_without_a_name_are_journaled_and_never_gated(
    tmp_path: Path,
) -> None:
    life = Life("kimi", tmp_path)
    life.send("UserPromptSubmit")
    life.send("SubagentStart")
    assert life.call("make lint", 0.97).text == ""
    life.end("make lint")
    life.send("Stop")
    record = life.talk.guard.status().host_sessions["S9"]
    assert record.turns == record.ended_turns + 1, "its end is not the turn's"
    life.send("SubagentStop")
    assert "deny" in life.call("make", 0.97).text


def test_a_new_prompt_ends_the_count_of_sub_agents_whose_end_was_lost(tmp_path: Path) -> None:
    life = Life("kimi", tmp_path)
    life.send("UserPromptSubmit")
    life.send("SubagentStart")
    life.send("UserPromptSubmit")
    assert "deny" in life.call("make", 0.97).text


@pytest.mark.parametrize(
    ("first", "second", "is_the_same"),
    [
        ({}, {}, True),
        ({}, {"timestamp": "2026-11-26T12:09:09.700Z"}, False),
        ({}, {"session_id": "S2"}, False),
        ({"tool_name": "Read"}, {}, False),
    ],
)
def test_an_event_that_two_hooks_tell_of_counts_once(
    tmp_path: Path, first: dict[str, Any], second: dict[str, Any], is_the_same: bool
) -> None:
    talk = Conversation(tmp_path)
    payload = json.loads((PAYLOADS.parent / "copilot" / "PostToolUse.Bash.json").read_text())
    told = [
        find_host("copilot").parse_event({**payload, **changes}, {"HOME": "/nowhere"}, talk.clock())
        for changes in (first, second)
    ]
    assert not is_told_before(talk.guard.workspace, told[0])
    assert is_told_before(talk.guard.workspace, told[1]) is is_the_same


@pytest.mark.parametrize("host", ["claude-code", "codex", "droid", "qwen", "copilot"])
@pytest.mark.parametrize("name", ["UserPromptSubmit", "Stop"])
def test_a_turns_prompt_and_end_that_a_plugin_and_settings_tell_of_count_once(
    tmp_path: Path, host: str, name: str
) -> None:
    talk = Conversation(tmp_path)
    folder = PAYLOADS.parent / host.replace("-", "_")
    payload = json.loads((folder / f"{name}.json").read_text())
    adapter, workspace = find_host(host), talk.guard.workspace
    told = [adapter.parse_event(payload, {"HOME": "/nowhere"}, talk.clock()) for _ in range(2)]
    assert [is_told_before(workspace, event) for event in told] == [False, True]
    other = told[0].replace(prompt="Something else", answer="Something else")
    assert not is_told_before(workspace, other)


def test_an_event_is_known_though_older_ones_cannot_be_forgotten(tmp_path: Path) -> None:
    talk = Conversation(tmp_path)
    workspace = talk.guard.workspace
    folder = Path(workspace.state_folder) / "_told"
    folder.mkdir(parents=True)
    (folder / "gone").symlink_to("nowhere")  # as where another process removed it meanwhile
    payload = json.loads((PAYLOADS.parent / "copilot" / "UserPromptSubmit.json").read_text())
    event = find_host("copilot").parse_event(payload, {"HOME": "/nowhere"}, talk.clock())
    assert [is_told_before(workspace, event), is_told_before(workspace, event)] == [False, True]


def test_what_has_no_mark_is_no_repetition(tmp_path: Path) -> None:
    talk = Conversation(tmp_path)
    payload = json.loads((PAYLOADS.parent / "droid" / "PostToolUse.Execute.json").read_text())
    event = find_host("droid").parse_event(payload, {"HOME": "/nowhere"}, talk.clock())
    workspace = talk.guard.workspace
    assert [is_told_before(workspace, event), is_told_before(workspace, event)] == [False, False]


LATE_ANSWER = "The linker now finds libparser, and the build passes with two warnings."
RESULT = {"type": "tool_result", "tool_use_id": "C1", "content": "ok"}


def use(id_: str, command: str) -> dict[str, Any]:
    return {"type": "tool_use", "id": id_, "name": "Execute", "input": {"command": command}}


def words(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def droid_with_a_request(folder: Path) -> Life:
    """Return a turn of Droid's, which tells no hook of its answer."""
    life = Life("droid", folder)
    life.transcript = folder / "droid.jsonl"
    request = "Fix the build of the parser, which fails at the linker"
    life.writes("user", words(request))
    life.send("UserPromptSubmit", prompt=request)
    return life


def ends_a_call(life: Life) -> None:
    life.call("make")
    life.end("make")


@pytest.mark.parametrize("has_result", [False, True])
def test_words_before_the_result_of_the_last_call_are_no_answer(
    tmp_path: Path, has_result: bool
) -> None:
    life = droid_with_a_request(tmp_path)
    life.writes("assistant", words("The build needs a clean tree first."), use("C1", "make"))
    ends_a_call(life)
    if has_result:
        life.writes("user", RESULT)
    for _ in range(2):
        life.send("Stop")
        life.send("UserPromptSubmit", prompt="Run the tests of the parser as well")
    assert life.answers() == []


@pytest.mark.parametrize("is_first_call", [False, True])
def test_words_are_no_answer_while_the_call_behind_them_is_not_written_down(
    tmp_path: Path, is_first_call: bool
) -> None:
    life = droid_with_a_request(tmp_path)
    if not is_first_call:
        life.writes("assistant", use("C1", "git status"))
        life.writes("user", RESULT)
    life.writes("assistant", words("The build needs a clean tree first."))
    ends_a_call(life)
    life.send("Stop")
    assert life.answers() == []


@pytest.mark.parametrize("is_late", [False, True])
def test_an_answer_is_read_from_the_transcript_though_it_is_written_after_the_turn(
    tmp_path: Path, is_late: bool
) -> None:
    life = droid_with_a_request(tmp_path)
    life.writes("assistant", words("The build needs a clean tree first."), use("C1", "make"))
    ends_a_call(life)
    if is_late:
        life.send("Stop")
    life.writes("user", RESULT)
    life.writes("assistant", words(LATE_ANSWER))
    if not is_late:
        life.send("Stop")
    life.send("UserPromptSubmit", prompt="Run the tests of the parser as well")
    life.send("Stop")
    assert life.answers() == [LATE_ANSWER]
