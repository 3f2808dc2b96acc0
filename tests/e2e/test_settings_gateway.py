"""Settings of OpenClaw changed and given back while its Gateway runs, and as it starts again."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from .conftest import openclaw_version
from .guarded import COMMAND
from .openclaw import SealedOpenClaw
from .openclaw_install import CURRENT
from .scripted_model import ScriptedModel, Step

ADVISE = ("config", "advise", "openclaw", "--pattern", "tool-heavy", "--apply", "--yes")


@pytest.fixture
def openclaw(
    version: str, model: ScriptedModel, repo: Path, bin_dir: Path, tmp_path: Path
) -> Iterator[SealedOpenClaw]:
    """A host whose file a person wrote: the host's own marks are not in it."""
    installed = openclaw_version(version)
    wrapper = bin_dir / "openclaw"
    wrapper.write_text("#!/bin/sh\nexec " + " ".join(installed.command) + ' "$@"\n')
    wrapper.chmod(0o755)
    home = tmp_path / "home"
    with SealedOpenClaw(
        installed, home, repo, model.url, window=200_000, extra_path=(bin_dir,)
    ) as sealed:
        sealed.config_path.write_text("// mine\n" + sealed.config_path.read_text())
        yield sealed


def gitguard(openclaw: SealedOpenClaw, *args: str) -> None:
    done = subprocess.run(
        [COMMAND, *args],
        cwd=openclaw.workspace,
        env=openclaw.env,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, (args, done.returncode, done.stdout, done.stderr)


def pruning(openclaw: SealedOpenClaw) -> object:
    """What the host says is set, which reads its file to work with it."""
    openclaw.cli("models", "list", "--json")
    done = openclaw.cli("config", "get", "agents.defaults.contextPruning.mode", "--json")
    return json.loads(done.stdout) if done.returncode == 0 else None


@pytest.mark.parametrize("version", [CURRENT])
def test_a_running_gateway_takes_a_change_and_its_end_and_writes_nothing_of_its_own(
    openclaw: SealedOpenClaw, model: ScriptedModel
) -> None:
    before = openclaw.config_path.read_bytes()
    openclaw.start_gateway()
    gitguard(openclaw, *ADVISE)
    made = openclaw.config_path.read_bytes()
    model.script(Step("With it."), Step("Without it."))
    assert openclaw.send("Hello") == "With it."
    assert openclaw.config_path.read_bytes() == made
    gitguard(openclaw, "config", "rollback", "openclaw", "--yes")
    assert openclaw.send("Hello again") == "Without it."
    log = openclaw.gateway_log.read_text()
    assert log.count("applied (") > 1
    assert "agents.defaults.contextPruning" in log
    openclaw.stop_gateway()
    assert pruning(openclaw) is None
    assert openclaw.config_path.read_bytes() == before


def test_a_change_that_was_taken_back_does_not_come_back_when_the_host_starts(
    openclaw: SealedOpenClaw, model: ScriptedModel
) -> None:
    before = openclaw.config_path.read_bytes()
    gitguard(openclaw, *ADVISE)
    gitguard(openclaw, "config", "rollback", "openclaw", "--yes")
    set_aside = list(openclaw.state_dir.glob("*.gitguard-*.host"))
    assert len(set_aside) == (openclaw.version == CURRENT)
    openclaw.start_gateway()
    model.script(Step("As before."))
    assert openclaw.send("Hello") == "As before."
    openclaw.stop_gateway()
    assert pruning(openclaw) is None
    assert openclaw.config_path.read_bytes() == before
