"""What is known of a conversation's pressure, calls and runway, whoever told it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from gitguard.cli.app import app
from gitguard.delegation.spawn_answer import (
    ConversationStanding,
    ReportedPressure,
    reported_pressure,
    standing,
)
from gitguard.guard import Guard
from gitguard.model.events import Reading
from gitguard.model.redaction.redactor import Redactor
from gitguard.model.text import timestamp
from gitguard.profile.profiling import profile_of
from gitguard.store.session.conversations import read_conversation
from gitguard.transcripts.formats.recognition import recognise
from tests.conftest import Clock
from tests.support.conversation import Conversation
from tests.support.written_conversations import (
    Document,
    Part,
    Result,
    agent,
    claude_code,
    user,
    write,
)

WINDOW = 200_000


@pytest.fixture
def begun(guard: Guard) -> Guard:
    guard.ensure()
    return guard


def worked(calls: int, per_call: int, upto: int, at: float) -> list[Document]:
    """The lines of a conversation of so many calls, full up to so many tokens at its end."""
    documents = list(claude_code(list(_work(calls))))
    answers = [each for each in documents if each["type"] == "assistant"]
    for number, document in enumerate(reversed(answers)):
        document["message"]["usage"] = {"input_tokens": upto - number * per_call}
    return [document | {"timestamp": timestamp(at)} for document in documents]


def _work(calls: int) -> Iterator[Part]:
    yield user("Begin")
    for number in range(calls):
        yield agent("", f"c{number}")
        yield Result(f"c{number}", "x" * 4_000)
    yield agent("All done.")


def imported(guard: Guard, path: Path, *, calls: int = 15) -> Path:
    write(path, worked(calls, 1_000, 146_000, guard.clock() - 60))
    guard.sessions.import_transcript(recognise(str(path)))
    return path


def asked(guard: Guard, name: str, tokens: int, window: int = WINDOW) -> None:
    """A program without hooks asks the gate, and says how full its conversation is."""
    guard.gate(name, Reading("given", guard.clock(), tokens=tokens, window=window))


def stands(guard: Guard, around: str = "") -> ConversationStanding:
    return standing(guard.store(), "", around)


# What the gate was told


def test_what_the_gate_was_told_is_the_newest_reading(begun: Guard) -> None:
    asked(begun, "process-1", 130_000)
    assert reported_pressure(begun.store(), around="process-2") == ReportedPressure(
        0.65, "given", "process-1"
    )
    found = stands(begun)
    assert found.pressure is not None
    assert found.pressure.gauge_line() == "[Context: 65% | 130k/200k tokens]"


def test_the_window_that_the_gate_was_told_is_kept_with_the_tokens(begun: Guard) -> None:
    asked(begun, "process-1", 130_000, window=1_000_000)
    assert reported_pressure(begun.store()).share == 0.13


def test_the_gate_itself_never_goes_by_what_it_was_told_before(begun: Guard) -> None:
    asked(begun, "process-1", 20_000)
    again = begun.gate("process-1")
    assert (again.verdict.halts, again.verdict.pressure) == (True, None)


def test_hooks_never_go_by_what_the_gate_was_told(tmp_path: Path) -> None:
    talk = Conversation(tmp_path)
    talk.prompt("Begin")
    talk.uses(20_000)
    talk.clock.pass_by(1)
    talk.guard.gate("S1", Reading("given", talk.clock(), share=0.84))
    assert reported_pressure(talk.guard.store()).share == 0.84
    assert talk.send("PostToolUse.Bash") == {}
    talk.uses(180_000)
    talk.clock.pass_by(1)
    talk.guard.gate("S1", Reading("given", talk.clock(), share=0.1))
    assert "STATUS:HALT_CONTEXT_LIMIT" in json.dumps(talk.bash("ls"))


def test_a_newer_reading_counts_before_what_the_gate_was_told(tmp_path: Path) -> None:
    talk = Conversation(tmp_path)
    talk.prompt("Begin")
    talk.guard.gate("S1", Reading("given", talk.clock(), share=0.5))
    talk.uses(20_000)
    assert reported_pressure(talk.guard.store()) == ReportedPressure(0.1, "transcript", "S1")


def test_a_compaction_makes_void_what_the_gate_was_told_before(begun: Guard) -> None:
    asked(begun, "process-1", 160_000)
    begun.gate("process-1", Reading("given", begun.clock(), share=0.2), compacted=True)
    assert reported_pressure(begun.store()).share == 0.2
    store = begun.store()
    known = read_conversation(store.workspace, store.session, "process-1")
    assert known.given is not None
    assert known.compacted(begun.clock()).given is None


# Whose pressure counts


def test_a_conversation_that_tells_nothing_hides_none_that_does(
    begun: Guard, tmp_path: Path
) -> None:
    imported(begun, tmp_path / "chat.jsonl")
    begun.gate("process-1")
    for around in ("", "process-1"):
        told = reported_pressure(begun.store(), around=around)
        assert (told.share, told.source) == (0.73, "transcript")
    asked(begun, "process-2", 180_000)
    assert reported_pressure(begun.store(), around="process-1").share == 0.9


def test_a_conversation_whose_transcript_is_gone_hides_none(
    begun: Guard, tmp_path: Path, clock: Clock
) -> None:
    asked(begun, "process-1", 130_000)
    clock.advance(120)
    imported(begun, tmp_path / "chat.jsonl").unlink()
    assert reported_pressure(begun.store()).share == 0.65


def test_a_new_conversation_is_not_given_the_pressure_of_another(tmp_path: Path) -> None:
    talk = Conversation(tmp_path)
    talk.prompt("Begin")
    talk.uses(146_000)
    other = talk.beside("S2")
    other.transcript.write_text("")
    other.prompt("Begin")
    assert reported_pressure(talk.guard.store(), around="S2") == ReportedPressure(conversation="S2")


# Calls and runway


def test_calls_that_no_hook_saw_are_counted_in_the_transcript(begun: Guard, tmp_path: Path) -> None:
    path = imported(begun, tmp_path / "chat.jsonl", calls=15)
    profiled = profile_of(recognise(str(path)), begun.config, Redactor()).profile
    found = stands(begun)
    assert profiled.runway is not None
    assert (found.calls, found.runway) == (15, profiled.runway.calls.low)
    assert 0 < profiled.runway.calls.low < 100


def test_a_runway_by_the_transcript_goes_with_no_newer_pressure(
    begun: Guard, tmp_path: Path
) -> None:
    imported(begun, tmp_path / "chat.jsonl")
    (name,) = begun.status().host_sessions
    asked(begun, name, 168_000)
    found = stands(begun)
    assert found.pressure is not None
    assert (found.pressure.share, found.calls, found.runway) == (0.84, 15, None)


def test_calls_that_nobody_counts_are_not_known(begun: Guard) -> None:
    asked(begun, "process-1", 130_000)
    found = stands(begun)
    assert (found.calls, found.runway) == (None, None)
    document = shown(begun, "--json")
    assert json.loads(document)["calls"] is None
    lines = shown(begun).splitlines()
    assert lines[0] == "[Context: 65% | 130k/200k tokens] as given to `gitguard gate`"
    assert "Runway: unknown" in lines


def shown(guard: Guard, *options: str) -> str:
    places = guard.workspace.places
    environment = {"GITGUARD_STATE_DIR": places.state_home}
    root = guard.workspace.place.worktree
    done = CliRunner().invoke(app, ["--root", root, "policy", "show", *options], env=environment)
    assert done.exit_code == 0, done.output
    return done.output
