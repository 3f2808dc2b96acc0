"""The files that the bundle takes for a host's context are those that the real host loads."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from gitguard.hooks.workspace_files import collect
from gitguard.hosts.context_files import context_files
from gitguard.model.config.transcripts import BootstrapConfig

from .claude_code import SealedClaude
from .conftest import installed, openclaw_version
from .openclaw import MAIN_KEY, SealedOpenClaw
from .openclaw_install import CURRENT, LEGACY
from .scripted_model import Kind, ScriptedModel, Step
from .sealed_hosts import SealedPi, codex, gemini, opencode

THERE = [("AGENTS", "CLAUDE", "GEMINI"), ("AGENTS",), ("CLAUDE",)]
some = pytest.mark.parametrize("there", THERE, ids="+".join)
OTHERS = {
    "codex": (codex, ("exec", "hello")),
    "gemini": (gemini, ("-m", "gemini-2.5-pro", "-p", "hello")),
    "opencode": (opencode, ("run", "hello")),
}
_MARK = re.compile(r"MARK-(\w+)-(\d+)")


def lay_out(root: Path, there: tuple[str, ...], lines: int = 1) -> None:
    for name in there:
        marks = (f"MARK-{name}-{number:04} {'z' * 84}\n" for number in range(lines))
        (root / f"{name}.md").write_text("".join(marks))


def loaded(requests: str) -> dict[str, int]:
    """Return the files that a request has, and how many of their lines."""
    found = set(_MARK.findall(requests))
    return {f"{name}.md": sum(one == name for one, _ in found) for name, _ in found}


def bundled(host: str, root: Path) -> dict[str, int]:
    found = collect(str(root.resolve()), context_files(host), BootstrapConfig(), str)
    return loaded("".join(file.text for file in found.files))


@some
def test_claude_code(claude: SealedClaude, model: ScriptedModel, there: tuple[str, ...]) -> None:
    lay_out(claude.project, there)
    model.script(Step("ok"))
    claude.run("hello")
    asked = json.dumps([dict(request.body) for request in model.requests(Kind.MAIN)])
    assert loaded(asked) == bundled("claude-code", claude.project) != {}


def test_claude_code_with_a_line_that_names_the_other_file(
    claude: SealedClaude, model: ScriptedModel
) -> None:
    lay_out(claude.project, ("AGENTS", "CLAUDE"))
    with (claude.project / "CLAUDE.md").open("a") as opened:
        opened.write("@AGENTS.md\n")
    model.script(Step("ok"))
    claude.run("hello")
    asked = json.dumps([dict(request.body) for request in model.requests(Kind.MAIN)])
    assert loaded(asked) == bundled("claude-code", claude.project)
    assert set(loaded(asked)) == {"AGENTS.md", "CLAUDE.md"}


@some
def test_pi(pi: SealedPi, model: ScriptedModel, there: tuple[str, ...]) -> None:
    lay_out(pi.project, there)
    model.script(Step("ok"))
    assert pi.run("hello").returncode == 0
    asked = json.dumps([dict(request.body) for request in model.requests(Kind.MAIN)])
    assert loaded(asked) == bundled("pi", pi.project) != {}


def asked_by(host: str, repo: Path, home: Path) -> str:
    make, arguments = OTHERS[host]
    with ScriptedModel([Step("ok", input_tokens=900)]) as model:
        sealed = installed(make, home, repo, model.url)
        assert sealed.run(*arguments).returncode == 0
        return json.dumps([dict(request.body) for request in model.requests()])


@some
@pytest.mark.parametrize("host", OTHERS)
def test_other_hosts(repo: Path, tmp_path: Path, host: str, there: tuple[str, ...]) -> None:
    lay_out(repo, there)
    assert loaded(asked_by(host, repo, tmp_path / "home")) == bundled(host, repo)


def test_codex_loads_no_more_than_its_limit(repo: Path, tmp_path: Path) -> None:
    lay_out(repo, ("AGENTS",), lines=400)
    asked = loaded(asked_by("codex", repo, tmp_path / "home"))["AGENTS.md"]
    assert abs(asked - bundled("codex", repo)["AGENTS.md"]) <= 2


OPENCLAWS = {"AGENTS", "SOUL", "TOOLS", "IDENTITY", "USER", "HEARTBEAT", "BOOTSTRAP", "MEMORY"}


@pytest.mark.parametrize(
    ("version", "unread"), [(CURRENT, {"TOOLS", "HEARTBEAT", "BOOTSTRAP"}), (LEGACY, set())]
)
def test_openclaw(model: ScriptedModel, tmp_path: Path, version: str, unread: set[str]) -> None:
    """The newer version leaves out some that the bundle has of a workspace of the older one."""
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    lay_out(workspace, tuple(sorted(OPENCLAWS - {"AGENTS"})))
    lay_out(workspace, ("AGENTS",), lines=400)
    ours = bundled("openclaw", workspace)
    with SealedOpenClaw(
        openclaw_version(version), tmp_path / "home", workspace, model.url
    ) as openclaw:
        openclaw.start_gateway()
        model.script(Step("ok"))
        openclaw.send("hello", MAIN_KEY)
    asked = loaded(json.dumps([dict(request.body) for request in model.requests()]))
    assert set(ours) == {f"{name}.md" for name in OPENCLAWS}
    assert set(asked) == set(ours) - {f"{name}.md" for name in unread}
    if version == CURRENT:
        assert abs(asked["AGENTS.md"] - ours["AGENTS.md"]) <= 2
