"""What `gitguard profile` says is used, the hosts say by other ways."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from .claude_code import SealedClaude
from .conftest import openclaw_version
from .guarded import COMMAND
from .openclaw import MAIN_KEY, SealedOpenClaw
from .openclaw_install import VERSIONS
from .recorder import Answer, Recorder
from .scripted_model import ScriptedModel, Step, ToolCall, bash, exec_, read_file

TOLERANCE = 0.01


def profile(path: Path, *options: str, cwd: Path, env: Mapping[str, str]) -> dict[str, Any]:
    """Run `gitguard profile` as a user of the sealed host; return what it says to programs."""
    command = [str(COMMAND), "profile", str(path), *options, "--json"]
    done = subprocess.run(
        command, cwd=cwd, env=dict(env), capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, (done.stdout, done.stderr)
    found = json.loads(done.stdout)
    assert isinstance(found, dict)
    return found


def used(found: Mapping[str, Any]) -> int:
    """The measured tokens, which are one number."""
    assert found["used_source"] == "measured"
    assert found["used"]["low"] == found["used"]["high"]
    return int(found["used"]["low"])


def wait_until(happened: Callable[[], bool], timeout: float = 15.0) -> None:
    deadline = time.monotonic() + timeout
    while not happened():
        assert time.monotonic() < deadline, "it never happened"
        time.sleep(0.02)


def part(found: Mapping[str, Any], name: str) -> dict[str, Any]:
    return next(each for each in found["components"] if each["name"] == name)


def conversation_of(claude: SealedClaude, session: str) -> Path:
    [transcript] = (claude.home / ".claude/projects").glob(f"*/{session}.jsonl")
    return transcript


def a_long_result(repo: Path) -> ToolCall:
    (repo / "long.txt").write_text("".join(f"line {number}\n" for number in range(1_500)))
    return bash("cat long.txt")


def test_claude_codes_status_line_and_the_profile_agree(
    claude: SealedClaude, model: ScriptedModel, recorder: Recorder, repo: Path
) -> None:
    recorder.answer("statusLine", Answer("STATUS SHOWN"))
    model.script(
        Step("reading", (a_long_result(repo),), input_tokens=21_000),
        Step("ANSWERED", input_tokens=60_000, output_tokens=3_000),
    )
    with claude.interactive() as terminal:
        terminal.wait_for("STATUS SHOWN")
        terminal.submit("hello")
        terminal.wait_for("ANSWERED")
        wait_until(lambda: _usage(recorder).get("input_tokens") == 60_000)
    told = recorder.calls("statusLine")[-1].payload
    found = profile(Path(told["transcript_path"]), cwd=repo, env=claude.env)
    window = told["context_window"]
    # Its percentage is of what the model was sent last.
    sent = used(found) - found["answered"]
    assert used(found) == pytest.approx(sum(_usage(recorder).values()), rel=TOLERANCE)
    assert round(sent / found["usage"]["window"] * 100) == window["used_percentage"]
    assert found["usage"]["window"] == window["context_window_size"]


def _usage(recorder: Recorder) -> dict[str, int]:
    shown = [call.payload["context_window"] for call in recorder.calls("statusLine")]
    return dict((shown[-1]["current_usage"] or {}) if shown else {})


def test_a_hooks_context_tokens_and_the_profile_agree(
    claude: SealedClaude, model: ScriptedModel, recorder: Recorder, repo: Path
) -> None:
    model.script(
        Step("reading", (a_long_result(repo),), input_tokens=21_000),
        Step("done", input_tokens=40_000, output_tokens=3_000),
        Step("again", input_tokens=41_000),
    )
    session = claude.run("read it").session_id
    before = profile(conversation_of(claude, session), cwd=repo, env=claude.env)
    claude.run("again", resume=session)
    [resumed] = recorder.calls("SessionStart.resume")
    assert used(before) == pytest.approx(resumed.payload["context_tokens"], rel=TOLERANCE)
    assert used(before) == 43_000


def test_claude_codes_first_request_and_its_results_are_told_apart(
    claude: SealedClaude, model: ScriptedModel, repo: Path
) -> None:
    model.script(
        Step("reading", (a_long_result(repo),), input_tokens=21_000),
        Step("done", input_tokens=25_000),
    )
    session = claude.run("read it").session_id
    found = profile(conversation_of(claude, session), cwd=repo, env=claude.env)
    baseline, results = part(found, "baseline"), part(found, "tool results")
    assert baseline["source"] == "measured less counted"
    assert 20_900 < baseline["tokens"]["low"] <= baseline["tokens"]["high"] <= 21_050
    # What the model was sent is what is counted.
    assert results["count"] == 1
    size = len((repo / "long.txt").read_text().rstrip())
    assert results["tokens"]["low"] <= size / 4 <= results["tokens"]["high"]
    assert found["largest"][0]["given"].startswith("cat long.txt")
    assert found["runway"] is None, "one call makes no average"


@pytest.fixture(params=VERSIONS)
def openclaw(
    request: pytest.FixtureRequest, model: ScriptedModel, repo: Path, tmp_path: Path
) -> Iterator[SealedOpenClaw]:
    installed = openclaw_version(request.param)
    with SealedOpenClaw(installed, tmp_path / "home", repo, model.url, window=200_000) as sealed:
        sealed.start_gateway()
        yield sealed


def test_openclaws_own_list_of_sessions_and_the_profile_agree(
    openclaw: SealedOpenClaw, model: ScriptedModel, repo: Path
) -> None:
    (repo / "long.txt").write_text("".join(f"line {number}\n" for number in range(1_500)))
    model.script(
        Step("reading", (read_file("long.txt"),), input_tokens=21_000),
        Step("running", (exec_("seq 1 500"),), input_tokens=40_000),
        Step("done", input_tokens=61_000, output_tokens=3_000),
    )
    openclaw.send("Read it.")
    listed = openclaw.cli("sessions", "--json").result
    [told] = [each for each in listed["sessions"] if each["key"] == MAIN_KEY]
    agent = openclaw.state_dir / "agents" / "main"
    session = ("--conversation", str(told["sessionId"]))
    found = profile(agent, *session, cwd=repo, env=openclaw.env)
    # Its total is what the model was sent last, without what it answered.
    sent = used(found) - found["answered"]
    assert sent == pytest.approx(told["totalTokens"], rel=TOLERANCE)
    assert found["usage"]["window"] == told["contextTokens"] == 200_000
    assert part(found, "tool results")["count"] == 2
    assert {tool["tool"] for tool in found["tools"]} == {"read", "exec"}
    assert part(found, "baseline")["source"] == "measured less counted"


def test_after_a_compaction_a_hook_and_the_profile_still_agree(
    claude: SealedClaude, model: ScriptedModel, recorder: Recorder, repo: Path
) -> None:
    model.script(
        Step("reading", (a_long_result(repo),), input_tokens=21_000),
        Step("done", input_tokens=40_000),
        Step("again", input_tokens=9_000),
        Step("and again", input_tokens=9_100),
    )
    session = claude.run("read it").session_id
    claude.run("/compact", resume=session)
    compacted = profile(conversation_of(claude, session), cwd=repo, env=claude.env)
    claude.run("again", resume=session)
    before = profile(conversation_of(claude, session), cwd=repo, env=claude.env)
    claude.run("and again", resume=session)
    told = [call.payload["context_tokens"] for call in recorder.calls("SessionStart.resume")]
    assert part(compacted, "summaries")["source"] == "counted"
    assert used(before) == pytest.approx(told[-1], rel=TOLERANCE)
    assert used(compacted) == pytest.approx(told[1], rel=TOLERANCE)
