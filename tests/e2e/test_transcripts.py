"""What gitguard compacted, the real hosts go on from."""

from __future__ import annotations

import json
import os
import time
import uuid
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from gitguard.compaction.compacting import Tools, compact
from gitguard.model.config.config import DEFAULTS
from gitguard.model.redaction.redactor import Redactor
from gitguard.transcripts.formats.recognition import recognise

from .claude_code import DEFAULT_MODEL
from .guarded import BLOCK, Guarded
from .scripted_model import (
    Request,
    ScriptedModel,
    Step,
    ToolCall,
    blocks_of_message,
    summary,
)
from .talks import ClaudeTalk, Talk

TURNS = 6
only_claude_code = pytest.mark.parametrize("talk", ["claude-code"], indirect=True)


def after_turns(talk: Talk, numbers: range = range(TURNS)) -> Talk:
    """The same conversation after some more turns."""
    for number in numbers:
        talk.say(f"request number {number}", *two_calls(number, talk.shell))
    return talk


def two_calls(number: int, call: Callable[[str], ToolCall]) -> tuple[Step, Step]:
    """A turn of two calls at once, and an answer."""
    calls = (call(f"echo first-{number}"), call(f"echo second-{number}"))
    return Step(f"working on {number}", calls), Step(f"answer number {number}")


def assert_goes_on(request: Request, *, kept: range, gone: range) -> None:
    """The model is given the summary once and the kept turns whole, and nothing of the others."""
    assert request.count("# Where this conversation stands") == 1
    # Summary and resume block may quote answers and commands besides; the agent gave them once.
    answers = texts_of_agent(request)
    for number in kept:
        assert answers.count(f"answer number {number}") == 1
        assert f"request number {number}" in request.text
    for number in gone:
        assert f"answer number {number}" not in answers
        assert f"working on {number}" not in answers
    calls, results = pairs(request)
    assert calls == results
    called = [json.dumps(call["input"]) for call in calls_of(request)]
    assert len(called) == 2 * len(kept)
    for number in kept:
        for command in (f"echo first-{number}", f"echo second-{number}"):
            assert sum(command in arguments for arguments in called) == 1


def texts_of_agent(request: Request) -> list[str]:
    texts: list[str] = []
    for message in request.body["messages"]:
        if message["role"] != "assistant":
            continue
        if isinstance(message["content"], str):
            texts.append(message["content"])
        texts += [b["text"] for b in blocks_of_message(message) if b["type"] == "text"]
    return texts


def calls_of(request: Request) -> list[dict[str, Any]]:
    blocks = [b for m in request.body["messages"] for b in blocks_of_message(m)]
    return [b for b in blocks if b["type"] == "tool_use"]


def pairs(request: Request) -> tuple[list[str], list[str]]:
    """The ids of calls and of results, in order."""
    blocks = [b for m in request.body["messages"] for b in blocks_of_message(m)]
    results = [b["tool_use_id"] for b in blocks if b["type"] == "tool_result"]
    return sorted(call["id"] for call in calls_of(request)), sorted(results)


@pytest.mark.essential
@pytest.mark.parametrize("talk", ["claude-code", "pi", "openclaw"], indirect=True)
def test_a_host_goes_on_from_the_summary_and_the_kept_turns(talk: Talk) -> None:
    before = after_turns(talk).transcript.read_bytes()
    done = talk.gitguard("compact")
    assert talk.transcript.read_bytes().startswith(before), "compaction only ever adds"
    assert done["messages_after"] < done["messages_before"]

    assert talk.say("what now?", Step("I go on")) == "I go on"
    assert_goes_on(talk.newest_request, kept=range(3, 6), gone=range(3))


def test_a_host_goes_on_after_a_second_compaction_of_kept_turns(talk: Talk) -> None:
    after_turns(talk)
    talk.gitguard("compact", "--keep-turns", "4")
    talk.gitguard("compact", "--keep-turns", "2")
    talk.say("what now?", Step("I go on"))
    assert_goes_on(talk.newest_request, kept=range(4, 6), gone=range(4))
    assert talk.gitguard("usage")["compactions"] == 2


@only_claude_code
def test_claude_code_goes_on_in_a_file_that_it_only_reads_in_parts(talk: Talk) -> None:
    transcript = after_turns(talk).transcript
    make_large(transcript)
    assert transcript.stat().st_size > 6 << 20, "above 5 MB it looks for the last compaction first"
    assert talk.gitguard("compact")["messages_before"] > 400
    assert talk.say("what now?", Step("I go on")) == "I go on"
    assert_goes_on(talk.newest_request, kept=range(3, 6), gone=range(3))
    assert "an old matter" not in json.dumps(talk.newest_request.body["messages"][1:])


def chain_lines_between(transcript: Path, kinds: tuple[str, ...]) -> None:
    """Let a line of each kind stand in the chain behind every message, as older versions did."""
    written: list[str] = []
    instead: dict[str, str] = {}
    for line in transcript.read_text().splitlines():
        document = json.loads(line)
        if document.get("parentUuid") in instead:
            document["parentUuid"] = instead[document["parentUuid"]]
        written.append(json.dumps(document))
        if document["type"] not in ("user", "assistant"):
            continue
        last = document["uuid"]
        common = {name: document[name] for name in ("sessionId", "cwd", "version", "timestamp")}
        for kind in kinds:
            own = str(uuid.uuid4())
            data = {"data": {"type": "hook_progress"}, "toolUseID": "x", "parentToolUseID": "x"}
            link = {"uuid": own, "parentUuid": last, "isSidechain": False}
            written.append(json.dumps({"type": kind, **common, **data, **link}))
            last = own
        instead[document["uuid"]] = last
    transcript.write_text("".join(f"{line}\n" for line in written))


@only_claude_code
@pytest.mark.parametrize("kinds", [("progress",), ("progress", "future-note")], ids="+".join)
def test_kept_turns_reach_the_model_beside_lines_that_the_host_does_not_load(
    talk: Talk, kinds: tuple[str, ...]
) -> None:
    chain_lines_between(after_turns(talk, range(3)).transcript, kinds)
    talk.gitguard("compact", "--keep-turns", "1")
    assert talk.say("what now?", Step("I go on")) == "I go on"
    assert_goes_on(talk.newest_request, kept=range(2, 3), gone=range(2))


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


@pytest.mark.parametrize(
    ("talk", "at"),
    [
        ("claude-code", "transcript-ended"),
        ("claude-code", "transcript-joined"),
        ("pi", "transcript-ended"),
    ],
    indirect=["talk"],
)
def test_a_host_goes_on_as_before_where_a_compaction_was_cut_off(talk: Talk, at: str) -> None:
    cut_off(after_turns(talk).transcript, at)
    for text in ("I go on", "I still go on"):
        assert talk.say("what now?", Step(text)) == text
        assert_goes_on_as_before(talk.newest_request)
    assert talk.newest_request.count("what now?") == 2


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


@only_claude_code
def test_compactions_of_the_host_and_ours_follow_one_another(
    talk: Talk, model: ScriptedModel
) -> None:
    after_turns(talk)
    model.script_compaction(summary("HOST-SUMMARY one"))
    talk.say("/compact")
    after_turns(talk, range(6, 10))
    assert "HOST-SUMMARY one" in talk.gitguard("compact")["summary"]
    talk.say("what now?", Step("I go on"))
    assert_goes_on(talk.newest_request, kept=range(7, 10), gone=range(7))

    model.script_compaction(summary("HOST-SUMMARY two"))
    talk.say("/compact")
    assert talk.say("and now?", Step("I still go on")) == "I still go on"
    assert "HOST-SUMMARY two" in talk.newest_request.text
    assert "# Where this conversation stands" not in talk.newest_request.text


def test_a_guarded_session_is_checkpointed_and_handed_back(
    guarded: Guarded, model: ScriptedModel
) -> None:
    guarded.run("note", "--goal", "Ship it", "--decision", "Use git", "--why", "it is small")
    talk = after_turns(ClaudeTalk(guarded.claude, model))
    done = talk.gitguard("compact")
    assert done["notes"] == []
    assert guarded.triggers()[-2:] == ["compaction", "compaction"]
    assert "Ship it" in done["summary"]
    assert "Use git — because it is small" in done["summary"]

    talk.say("what now?", Step("I go on"))
    assert_goes_on(talk.newest_request, kept=range(3, 6), gone=range(3))
    assert guarded.faults() == []
    assert talk.newest_request.text.count(BLOCK) == 1


def test_claude_code_summarizes_for_a_user_and_no_state_changes(
    guarded: Guarded, model: ScriptedModel
) -> None:
    talk = ClaudeTalk(guarded.claude, model)
    after_turns(talk)
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
    done = talk.gitguard("compact")
    assert (done["summarized_by"], done["complaints"]) == ("command", [])
    assert done["summary"].count("They counted from one on.") == 1
    asked = talk.newest_request
    assert "User: request number 0" in asked.text
    assert "<gitguard-resume " not in asked.text
    [asking] = states
    changed = {path for path, data in state(guarded).items() if asking.get(path) != data}
    assert not [path for path in changed if path.endswith("journal.jsonl")]
    record = json.loads(
        next(data for path, data in asking.items() if path.endswith("session.json"))
    )
    assert list(record["host_sessions"]) == [talk.session]
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
    # The summary may name a command that it ran; the call and its result are gone.
    assert "end-0" not in json.dumps(calls_of(request))
    calls, results = pairs(request)
    assert calls == results
    assert 0 < len(calls) < 12


def test_a_host_goes_on_in_a_turn_that_was_split(talk: Talk) -> None:
    talk.say("one long turn", *long_turn(talk.shell))
    done = talk.gitguard("compact", "--window", "32000")
    assert talk.say("what now?", Step("I go on")) == "I go on"
    assert_the_turn_was_split(done, talk.newest_request)
