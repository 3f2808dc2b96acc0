"""What gitguard compacted, the real hosts go on from."""

from __future__ import annotations

import json
import os
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from gitguard.model.config import DEFAULTS
from gitguard.model.redaction import Redactor
from gitguard.transcripts.recognition import recognise
from gitguard.usecases.compacting import Tools, compact

from .claude_code import DEFAULT_MODEL, SealedClaude
from .conftest import openclaw_version
from .guarded import BLOCK, Guarded, gitguard_json
from .openclaw import SealedOpenClaw
from .openclaw_install import LEGACY
from .scripted_model import Kind, Request, ScriptedModel, Step, ToolCall, bash, exec_, summary
from .sealed_hosts import SealedPi

TURNS = 6


def compacted(transcript: Path, host: SealedClaude | SealedPi, *options: str) -> dict[str, Any]:
    """Compact as the host's user would; return what the command says to programs."""
    command = ("transcript", "compact", str(transcript), *options)
    return gitguard_json(*command, cwd=host.project, env=host.env)


def two_calls(number: int, call: Callable[[str], ToolCall]) -> tuple[Step, Step]:
    """A turn of two calls at once, and an answer."""
    calls = (call(f"echo first-{number}"), call(f"echo second-{number}"))
    return Step(f"working on {number}", calls), Step(f"answer number {number}")


def claude_conversation(claude: SealedClaude, model: ScriptedModel) -> tuple[str, Path]:
    session = None
    for number in range(TURNS):
        model.script(*two_calls(number, bash))
        session = claude.run(f"request number {number}", resume=session).session_id
    assert session is not None
    [transcript] = (claude.home / ".claude/projects").glob(f"*/{session}.jsonl")
    return session, transcript


def last_request(model: ScriptedModel) -> Request:
    return model.requests(Kind.MAIN)[-1]


def assert_goes_on(request: Request, *, kept: range, gone: range) -> None:
    """The model is given the summary once and the kept turns whole, and nothing of the others."""
    said = json.dumps(request.body["messages"])
    assert request.count("# Where this conversation stands") == 1
    for number in kept:
        assert said.count(f"answer number {number}") == 1
        for text in (f"request number {number}", f"echo first-{number}", f"echo second-{number}"):
            assert text in said
    for number in gone:
        assert f"echo first-{number}" not in said
        assert f"working on {number}" not in said
    calls, results = pairs(request)
    assert calls == results
    assert len(calls) == 2 * len(kept)


def pairs(request: Request) -> tuple[list[str], list[str]]:
    """The ids of calls and of results, in order."""
    blocks = [b for m in request.body["messages"] for b in _blocks(m["content"])]
    calls = [b["id"] for b in blocks if b["type"] == "tool_use"]
    results = [b["tool_use_id"] for b in blocks if b["type"] == "tool_result"]
    return sorted(calls), sorted(results)


def _blocks(content: object) -> Iterator[dict[str, Any]]:
    if isinstance(content, list):
        yield from content


# Claude Code


def test_claude_code_goes_on_from_the_summary_and_the_kept_turns(
    claude: SealedClaude, model: ScriptedModel
) -> None:
    session, transcript = claude_conversation(claude, model)
    before = transcript.read_bytes()
    done = compacted(transcript, claude)
    assert transcript.read_bytes().startswith(before), "compaction only ever adds"
    assert done["messages_after"] < done["messages_before"]

    model.script(Step("I go on"))
    assert claude.run("what now?", resume=session).text == "I go on"
    assert_goes_on(last_request(model), kept=range(3, 6), gone=range(3))


def test_claude_code_goes_on_after_a_second_compaction_of_kept_turns(
    claude: SealedClaude, model: ScriptedModel
) -> None:
    session, transcript = claude_conversation(claude, model)
    compacted(transcript, claude, "--keep-turns", "4")
    compacted(transcript, claude, "--keep-turns", "2")
    model.script(Step("I go on"))
    claude.run("what now?", resume=session)
    assert_goes_on(last_request(model), kept=range(4, 6), gone=range(4))
    told = ("transcript", "usage", str(transcript))
    usage = gitguard_json(*told, cwd=claude.project, env=claude.env)
    assert usage["compactions"] == 2


def test_claude_code_goes_on_in_a_file_that_it_only_reads_in_parts(
    claude: SealedClaude, model: ScriptedModel
) -> None:
    session, transcript = claude_conversation(claude, model)
    make_large(transcript)
    assert transcript.stat().st_size > 6 << 20, "above 5 MB it looks for the last compaction first"
    done = compacted(transcript, claude)
    assert done["messages_before"] > 400
    model.script(Step("I go on"))
    assert claude.run("what now?", resume=session).text == "I go on"
    assert_goes_on(last_request(model), kept=range(3, 6), gone=range(3))
    assert "an old matter" not in json.dumps(last_request(model).body["messages"][1:])


class Crash(Exception):  # noqa: N818
    """The process ends here."""


def cut_off(transcript: Path, at: str) -> None:
    """Compact, and crash at a step of the writing."""

    def crash(step: str) -> None:
        if step == at:
            raise Crash

    tools = Tools(clock=time.time, random=os.urandom, redactor=Redactor(), at_step=crash)
    before = transcript.stat().st_size
    with pytest.raises(Crash):
        compact(recognise(str(transcript)), DEFAULTS, tools)
    assert transcript.stat().st_size > before


def assert_goes_on_as_before(request: Request) -> None:
    said = json.dumps(request.body["messages"])
    assert "# Where this conversation stands" not in said
    for number in range(TURNS):
        assert f"answer number {number}" in said


@pytest.mark.parametrize("at", ["transcript-ended", "transcript-joined"])
def test_claude_code_goes_on_as_before_where_a_compaction_was_cut_off(
    at: str, claude: SealedClaude, model: ScriptedModel
) -> None:
    session, transcript = claude_conversation(claude, model)
    cut_off(transcript, at)
    model.script(Step("I go on"))
    assert claude.run("what now?", resume=session).text == "I go on"
    assert_goes_on_as_before(last_request(model))


def make_large(transcript: Path) -> None:
    """Put 200 turns of 32 KB each before what was said."""
    lines = transcript.read_text().splitlines()
    said = [json.loads(line) for line in lines]
    first = next(one for one in said if one.get("uuid"))
    users = next(one for one in said if one["type"] == "user")
    agents = next(one for one in said if one["type"] == "assistant")
    parent = None
    old: list[str] = []
    for number in range(400):
        like = agents if number % 2 else users
        text = f"an old matter, {number}: " + "word " * 3_300
        content = [{"type": "text", "text": text}] if number % 2 else text
        line = {**like, "uuid": str(uuid.uuid4()), "parentUuid": parent}
        line["message"] = {**like["message"], "content": content}
        if number % 2:
            line["message"]["id"] = f"msg_old_{number}"
        old.append(json.dumps(line))
        parent = line["uuid"]
    first["parentUuid"] = parent
    at = next(place for place, one in enumerate(said) if one is first)
    lines[at] = json.dumps(first)
    transcript.write_text("\n".join([*lines[:at], *old, *lines[at:]]) + "\n")


def test_compactions_of_the_host_and_ours_follow_one_another(
    claude: SealedClaude, model: ScriptedModel
) -> None:
    session, transcript = claude_conversation(claude, model)
    model.script_compaction(summary("HOST-SUMMARY one"))
    claude.run("/compact", resume=session)
    for number in range(6, 10):
        model.script(*two_calls(number, bash))
        claude.run(f"request number {number}", resume=session)
    done = compacted(transcript, claude)
    assert "HOST-SUMMARY one" in done["summary"]
    model.script(Step("I go on"))
    claude.run("what now?", resume=session)
    assert_goes_on(last_request(model), kept=range(7, 10), gone=range(7))

    model.script_compaction(summary("HOST-SUMMARY two"))
    claude.run("/compact", resume=session)
    model.script(Step("I still go on"))
    assert claude.run("and now?", resume=session).text == "I still go on"
    assert "HOST-SUMMARY two" in last_request(model).text
    assert "# Where this conversation stands" not in last_request(model).text


def test_a_guarded_session_is_checkpointed_and_handed_back(
    guarded: Guarded, model: ScriptedModel
) -> None:
    guarded.run("note", "--goal", "Ship it", "--decision", "Use git", "--why", "it is small")
    session, transcript = claude_conversation(guarded.claude, model)
    done = guarded.json("transcript", "compact", str(transcript))
    assert done["notes"] == []
    assert guarded.triggers()[-2:] == ["compaction", "compaction"]
    assert "Ship it" in done["summary"]
    assert "Use git — because it is small" in done["summary"]

    model.script(Step("I go on"))
    guarded.claude.run("what now?", resume=session)
    assert_goes_on(last_request(model), kept=range(3, 6), gone=range(3))
    assert guarded.faults() == []
    assert last_request(model).text.count(BLOCK) == 1


def test_claude_code_summarizes_for_a_user_and_no_state_changes(
    guarded: Guarded, model: ScriptedModel
) -> None:
    session, transcript = claude_conversation(guarded.claude, model)
    home = guarded.claude.home
    # A user may have hooks of gitguard's in all their projects, wherever the summarizer runs.
    hooks = json.loads((guarded.repo / ".claude/settings.local.json").read_text())
    (home / ".claude/settings.json").write_text(json.dumps(hooks))
    own = home / ".config/gitguard/config.yaml"
    own.parent.mkdir(parents=True)
    claude = [str(guarded.claude.binary), "-p", "--no-session-persistence"]
    own.write_text(f"summarizer: {json.dumps([*claude, '--model', DEFAULT_MODEL])}\n")

    states: list[dict[str, bytes]] = []
    model.script(Step("They counted from one on.", before=lambda: states.append(state(guarded))))
    done = guarded.json("transcript", "compact", str(transcript))
    assert (done["summarized_by"], done["complaints"]) == ("command", [])
    assert done["summary"].count("They counted from one on.") == 1
    asked = last_request(model)
    assert "User: request number 0" in asked.text
    assert "<gitguard-resume " not in asked.text
    [asking] = states
    changed = {path for path, data in state(guarded).items() if asking.get(path) != data}
    assert not [path for path in changed if path.endswith("journal.jsonl")]
    record = json.loads(
        next(data for path, data in asking.items() if path.endswith("session.json"))
    )
    assert list(record["host_sessions"]) == [session]
    assert guarded.triggers()[-2:] == ["compaction", "compaction"]
    assert guarded.faults() == []


def state(guarded: Guarded) -> dict[str, bytes]:
    """The working files of gitguard's."""
    found = (guarded.repo / ".gitguard").rglob("*")
    return {str(path): path.read_bytes() for path in found if path.is_file()}


def long_turn(call: Callable[[str], ToolCall]) -> list[Step]:
    """One turn of many calls whose results are long."""
    calls = [Step(f"step {n}", (call(f"seq 1 1500; echo end-{n}"),)) for n in range(12)]
    return [*calls, Step("the long turn is over")]


def assert_the_turn_was_split(done: Mapping[str, Any], request: Request) -> None:
    assert done["splits_turn"]
    assert "It began with: User: one long turn" in request.text
    assert "end-11" in request.text
    assert "end-0" not in request.text
    calls, results = pairs(request)
    assert calls == results
    assert 0 < len(calls) < 12


def test_claude_code_goes_on_in_a_turn_that_was_split(
    claude: SealedClaude, model: ScriptedModel
) -> None:
    model.script(*long_turn(bash))
    session = claude.run("one long turn").session_id
    [transcript] = (claude.home / ".claude/projects").glob(f"*/{session}.jsonl")
    done = compacted(transcript, claude, "--window", "32000")
    model.script(Step("I go on"))
    assert claude.run("what now?", resume=session).text == "I go on"
    assert_the_turn_was_split(done, last_request(model))


# pi


def pi_bash(command: str) -> ToolCall:
    return ToolCall("bash", {"command": command})


def test_pi_goes_on_from_the_summary_and_the_kept_turns(pi: SealedPi, model: ScriptedModel) -> None:
    transcript = pi_conversation(pi, model)
    before = transcript.read_bytes()
    compacted(transcript, pi)
    assert transcript.read_bytes().startswith(before), "compaction only ever adds"

    model.script(Step("I go on"))
    assert pi.run("what now?", session=transcript).stdout == "I go on\n"
    assert_goes_on(last_request(model), kept=range(3, 6), gone=range(3))


def test_pi_goes_on_after_a_second_compaction_of_kept_turns(
    pi: SealedPi, model: ScriptedModel
) -> None:
    transcript = pi_conversation(pi, model)
    compacted(transcript, pi, "--keep-turns", "4")
    compacted(transcript, pi, "--keep-turns", "2")
    model.script(Step("I go on"))
    pi.run("what now?", session=transcript)
    assert_goes_on(last_request(model), kept=range(4, 6), gone=range(4))


def test_pi_goes_on_in_a_turn_that_was_split(pi: SealedPi, model: ScriptedModel) -> None:
    model.script(*long_turn(pi_bash))
    assert pi.run("one long turn").returncode == 0
    [transcript] = pi.sessions()
    done = compacted(transcript, pi, "--window", "32000")
    model.script(Step("I go on"))
    assert pi.run("what now?", session=transcript).stdout == "I go on\n"
    assert_the_turn_was_split(done, last_request(model))


def test_pi_goes_on_as_before_where_a_compaction_was_cut_off(
    pi: SealedPi, model: ScriptedModel
) -> None:
    transcript = pi_conversation(pi, model)
    cut_off(transcript, "transcript-ended")
    for text in ("I go on", "I still go on"):
        model.script(Step(text))
        assert pi.run("what now?", session=transcript).stdout == f"{text}\n"
        assert_goes_on_as_before(last_request(model))
    assert last_request(model).count("what now?") == 2


def pi_conversation(pi: SealedPi, model: ScriptedModel) -> Path:
    session = None
    for number in range(TURNS):
        model.script(*two_calls(number, pi_bash))
        assert pi.run(f"request number {number}", session=session).returncode == 0
        [session] = pi.sessions()
    assert session is not None
    return session


# OpenClaw, of the version that keeps sessions in files


@pytest.fixture
def openclaw(model: ScriptedModel, tmp_path: Path) -> Iterator[SealedOpenClaw]:
    installed = openclaw_version(LEGACY)
    workspace = tmp_path / "workspace"
    with SealedOpenClaw(installed, tmp_path / "home", workspace, model.url) as found:
        found.start_gateway()
        yield found


def test_openclaw_goes_on_from_the_summary_and_the_kept_turns(
    openclaw: SealedOpenClaw, model: ScriptedModel
) -> None:
    for number in range(TURNS):
        model.script(*two_calls(number, exec_))
        openclaw.send(f"request number {number}")
    [transcript] = (openclaw.state_dir / "agents/main/sessions").glob("*.jsonl")
    before = transcript.read_bytes()
    command = ("transcript", "compact", str(transcript))
    gitguard_json(*command, cwd=openclaw.workspace, env=openclaw.env)
    assert transcript.read_bytes().startswith(before), "compaction only ever adds"

    model.script(Step("I go on"))
    assert openclaw.send("what now?") == "I go on"
    assert_goes_on(last_request(model), kept=range(3, 6), gone=range(3))
