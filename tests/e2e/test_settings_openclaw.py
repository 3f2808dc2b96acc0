"""Advice on OpenClaw's settings, applied by the real one's own command and taken back."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from .conftest import openclaw_version
from .guarded import COMMAND
from .guarded_openclaw import GuardedOpenClaw
from .openclaw import SealedOpenClaw
from .openclaw_install import CURRENT, LEGACY
from .scripted_model import Kind, ScriptedModel, Step, exec_
from .sealing import leftovers

BIG_WINDOW = 200_000
_RELOAD_SECONDS = 3.0
"""How long a running Gateway may take to notice a changed file; it took one."""
ADVISE = ("config", "advise", "openclaw", "--pattern")
OFFERED = {
    LEGACY: {
        "compaction.reserveTokensFloor": 60_000,
        "contextPruning.mode": "cache-ttl",
        "contextPruning.ttl": "1m",
        "contextPruning.keepLastAssistants": 1,
        "contextPruning.minPrunableToolChars": 10_000,
    },
    CURRENT: {
        "contextPruning.mode": "cache-ttl",
        "contextPruning.ttl": "1m",
        "compaction.keepRecentTokens": 10_000,
    },
}
"""What is to change for tool-heavy work; of the newer one the seal has set the rest so already."""


@pytest.fixture
def guarded(
    version: str, model: ScriptedModel, repo: Path, bin_dir: Path, tmp_path: Path
) -> Iterator[GuardedOpenClaw]:
    """A session, and the host's own command on PATH; nothing is installed in the host."""
    installed = openclaw_version(version)
    wrapper = bin_dir / "openclaw"
    wrapper.write_text("#!/bin/sh\nexec " + " ".join(installed.command) + ' "$@"\n')
    wrapper.chmod(0o755)
    (bin_dir / "gitguard").symlink_to(COMMAND)
    sealed = SealedOpenClaw(
        installed, tmp_path / "home", repo, model.url, window=BIG_WINDOW, extra_path=(bin_dir,)
    )
    # As a person writes it: with comments, unquoted names and a trailing comma.
    text = sealed.config_path.read_text()
    text = "// mine\n" + text.replace('"models": {', "models: { // all of them", 1)
    sealed.config_path.write_text(text.rstrip().removesuffix("}").rstrip() + ",\n}\n")
    with sealed:
        guarded = GuardedOpenClaw(sealed)
        guarded.run("ensure")
        yield guarded


def gitguard(guarded: GuardedOpenClaw, *args: str) -> str:
    """Run our command, which asks the host's a dozen times; each takes seconds to start."""
    done = subprocess.run(
        [COMMAND, *args],
        cwd=guarded.repo,
        env=guarded.openclaw.env,
        capture_output=True,
        text=True,
        check=False,
        timeout=900,
    )
    assert done.returncode == 0, (args, done.returncode, done.stdout, done.stderr)
    return done.stdout


def defaults(guarded: GuardedOpenClaw, key: str) -> object:
    """Ask the host itself what is set."""
    done = guarded.openclaw.cli("config", "get", f"agents.defaults.{key}", "--json")
    return json.loads(done.stdout) if done.returncode == 0 else None


def test_advice_is_applied_and_validated_by_the_host_and_rolled_back_to_the_same_bytes(
    guarded: GuardedOpenClaw, version: str
) -> None:
    config = guarded.openclaw.config_path
    before, mode = config.read_bytes(), config.stat().st_mode

    advice = json.loads(gitguard(guarded, *ADVISE, "tool-heavy", "--json"))
    assert (advice["version"], advice["window"]) == (version, BIG_WINDOW)
    assert advice["file"] == str(config)
    wanted = {one["key"]: json.loads(one["after"]) for one in advice["changes"]}
    expected = OFFERED[version]
    assert wanted == {f"agents.defaults.{key}": value for key, value in expected.items()}
    assert config.read_bytes() == before

    done = json.loads(gitguard(guarded, *ADVISE, "tool-heavy", "--apply", "--yes", "--json"))
    assert (done["applied"], done["left_out"]) == (True, [])
    assert {key: defaults(guarded, key) for key in expected} == expected
    assert guarded.openclaw.cli("config", "validate").returncode == 0
    assert Path(done["backup"]).read_bytes() == before
    assert Path(done["rollback_document"]).parent == guarded.openclaw.home / "tmp"

    gitguard(guarded, "config", "rollback", "openclaw", "--yes")
    assert config.read_bytes() == before
    assert config.stat().st_mode == mode
    assert guarded.openclaw.cli("config", "validate").returncode == 0
    history = gitguard(guarded, "profile", "--history")
    assert "advice applied" in history
    assert "advice rolled back" in history


@pytest.mark.parametrize("version", [CURRENT])
def test_the_host_works_with_what_was_applied_and_after_it_was_taken_back(
    guarded: GuardedOpenClaw, model: ScriptedModel
) -> None:
    gitguard(guarded, *ADVISE, "conversational", "--protect", "browser", "--apply", "--yes")
    assert defaults(guarded, "contextPruning.tools.deny") == ["browser"]
    guarded.openclaw.start_gateway()
    model.script(Step("With it."))
    assert guarded.openclaw.send("Hello") == "With it."
    guarded.openclaw.stop_gateway()

    gitguard(guarded, "config", "rollback", "--yes")
    guarded.openclaw.start_gateway()
    model.script(Step("Without it."))
    assert guarded.openclaw.send("Hello again") == "Without it."


def compacts_at_160_000(openclaw: SealedOpenClaw, model: ScriptedModel, session_key: str) -> bool:
    """Fill a new conversation, and say whether the host summarised it."""
    before = len(model.requests(Kind.COMPACTION))
    for calling, answering in ((20_000, 40_000), (60_000, 90_000), (120_000, 160_000)):
        model.script(
            Step(text="Counting.", calls=(exec_("seq 1 2000"),), input_tokens=calling),
            Step(text="These are the numbers. " * 60, input_tokens=answering),
        )
        openclaw.send("Please count up to 2000.", session_key)
    model.script(Step("Well.", input_tokens=9_000))
    openclaw.send("And now?", session_key)
    return len(model.requests(Kind.COMPACTION)) > before


def answers_kept(openclaw: SealedOpenClaw, model: ScriptedModel, session_key: str) -> int:
    """Compact a new conversation of six turns, and count how many of the answers stay."""
    for number in range(6):
        text = f"Answer {number}. " + "These are the numbers indeed. " * 300
        model.script(Step(text=text, input_tokens=5_000 + 3_000 * number))
        openclaw.send(f"Question {number}? " + "Tell me more of it. " * 300, session_key)
    openclaw.call("sessions.compact", {"key": session_key})
    model.script(Step("Well.", input_tokens=6_000))
    openclaw.send("And now?", session_key)
    text = model.requests(Kind.MAIN)[-1].text
    return sum(f"Answer {number}." in text for number in range(6))


def test_a_running_gateway_takes_what_was_applied_and_gives_it_up_again(
    guarded: GuardedOpenClaw, model: ScriptedModel, version: str
) -> None:
    openclaw = guarded.openclaw
    openclaw.start_gateway()
    seen: list[int] = []
    for turn, command in enumerate((None, "advise", "rollback")):
        if command == "advise":
            gitguard(guarded, *ADVISE, "tool-heavy", "--apply", "--yes")
        elif command == "rollback":
            gitguard(guarded, "config", "rollback", "--yes")
        time.sleep(_RELOAD_SECONDS)
        probe = compacts_at_160_000 if version == LEGACY else answers_kept
        seen.append(int(probe(openclaw, model, f"agent:main:turn{turn}")))
    assert seen[1] > seen[0]
    assert seen[2] == seen[0]


def test_agents_of_which_the_same_numbers_mean_something_else_are_named(
    guarded: GuardedOpenClaw, version: str
) -> None:
    ops = {"model": "fake/fake-2"}
    if version == LEGACY:
        assert _set(guarded, "agents.list", [{"id": "main"}, {"id": "ops", **ops}]) == 0
    else:
        assert _set(guarded, "agents.entries.ops", ops) == 0
    (known,) = guarded.openclaw.config()["models"]["providers"]["fake"]["models"]
    models = [known, {**known, "id": "fake-2", "contextWindow": 40_000}]
    assert _set(guarded, "models.providers.fake.models", models) == 0
    notes = json.loads(gitguard(guarded, *ADVISE, "mixed", "--json"))["notes"]
    named = "a model of its own" if version == LEGACY else "a window of 40,000 tokens"
    assert any(f"the agent `ops` has {named}" in note for note in notes), notes
    for group in ("compaction", "contextPruning"):
        key = f"agents.list[1].{group}" if version == LEGACY else f"agents.entries.ops.{group}"
        assert _set(guarded, key, {}) == 1  # no version lets an agent have them


def _set(guarded: GuardedOpenClaw, key: str, value: object) -> int:
    text = json.dumps(value)
    return guarded.openclaw.cli("config", "set", key, text, "--strict-json").returncode


def test_a_file_that_the_host_refuses_is_refused_in_its_words(guarded: GuardedOpenClaw) -> None:
    config = guarded.openclaw.config_path
    config.write_text(config.read_text()[:-6])
    before = config.read_bytes()
    done = subprocess.run(
        [COMMAND, *ADVISE, "mixed", "--apply", "--yes"],
        cwd=guarded.repo,
        env=guarded.openclaw.env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 24, done.stderr
    assert "JSON5 parse failed" in done.stderr
    assert config.read_bytes() == before


@pytest.mark.parametrize("version", [CURRENT])
def test_a_kill_between_two_settings_is_taken_back_by_the_next_run(
    guarded: GuardedOpenClaw,
) -> None:
    config = guarded.openclaw.config_path
    before = config.read_bytes()
    process = subprocess.Popen(
        [COMMAND, *ADVISE, "tool-heavy", "--apply", "--yes"],
        cwd=guarded.repo,
        env=guarded.openclaw.env,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    deadline = time.monotonic() + 120
    while config.read_bytes() == before:
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.02)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    _wait_for_the_hosts_command(guarded)

    said = gitguard(guarded, *ADVISE, "tool-heavy")
    assert "was interrupted" in said
    assert "gitguard config rollback openclaw" in said
    gitguard(guarded, "config", "rollback", "--yes")
    assert config.read_bytes() == before


def _wait_for_the_hosts_command(guarded: GuardedOpenClaw) -> None:
    """What it was asked last may still be at work; a kill does not reach it."""
    deadline = time.monotonic() + 60
    while leftovers(guarded.openclaw.home) and time.monotonic() < deadline:
        time.sleep(0.1)
