"""gitguard as a user of a sealed host has it: the installed command, run in the same HOME."""

from __future__ import annotations

import json
import subprocess
import sys
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .claude_code import SealedClaude
from .live_hosts import LiveHost
from .repository import git
from .scripted_model import Kind, ScriptedModel

COMMAND = Path(sys.executable).with_name("gitguard")
BLOCK, BLOCK_END = "<gitguard-resume ", "</gitguard-resume>"
"""How a resume block begins and ends; a request is searched for it."""


def gitguard(*args: str, cwd: Path, env: Mapping[str, str], check: bool = True) -> str:
    """Run `gitguard` as the user of a sealed host would; return what it prints."""
    done = subprocess.run(
        [str(COMMAND), *args],
        cwd=cwd,
        env=dict(env),
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    if check:
        assert done.returncode == 0, (args, done.returncode, done.stdout, done.stderr)
    return done.stdout


def gitguard_json(
    *args: str, cwd: Path, env: Mapping[str, str], check: bool = True
) -> dict[str, Any]:
    """The same with `--json`; return what it says to programs."""
    found = json.loads(gitguard(*args, "--json", cwd=cwd, env=env, check=check))
    assert isinstance(found, dict)
    return found


class GuardedRepository(ABC):
    """A repository that `gitguard init` was run in, and its sealed user."""

    @property
    @abstractmethod
    def repo(self) -> Path: ...

    @property
    @abstractmethod
    def env(self) -> Mapping[str, str]: ...

    def run(self, *args: str, env: Mapping[str, str] | None = None, check: bool = True) -> str:
        """Run `gitguard` as the user would in their terminal; return what it prints."""
        return gitguard(*args, cwd=self.repo, env={**self.env, **(env or {})}, check=check)

    def json(self, *args: str, check: bool = True) -> dict[str, Any]:
        return gitguard_json(*args, cwd=self.repo, env=self.env, check=check)

    def state(self) -> dict[str, Any]:
        """The state of the newest checkpoint, read by plain git."""
        found = json.loads(git(self.repo, "show", f"{self.branch}:state.json"))
        assert isinstance(found, dict)
        return found

    @property
    def branch(self) -> str:
        return "refs/heads/gitguard/main"

    def head(self) -> str:
        return git(self.repo, "rev-parse", "--verify", self.branch).strip()

    def triggers(self) -> list[str]:
        """The triggers of all checkpoints, oldest first."""
        found = self.json("log", "--most", "100")["checkpoints"]
        return [str(checkpoint["trigger"]) for checkpoint in reversed(found)]

    def faults(self) -> list[str]:
        status = self.json("status", check=False)
        return [str(fault["error"]) for fault in status["faults"]]


@dataclass(frozen=True)
class Guarded(GuardedRepository):
    """With Claude Code, driven as it alone can be."""

    claude: SealedClaude

    @property
    def repo(self) -> Path:
        return self.claude.project

    @property
    def env(self) -> Mapping[str, str]:
        return self.claude.env


@dataclass(frozen=True)
class GuardedHost(GuardedRepository):
    """With any host that is served while it works, driven as all of them can be."""

    host: LiveHost

    @property
    def repo(self) -> Path:
        return self.host.project

    @property
    def env(self) -> Mapping[str, str]:
        return self.host.env

    def install(self) -> None:
        """Run `gitguard init` for the host, and approve its hooks as the user would."""
        self.run("init", "--host", self.host.name)
        self.host.approve_hooks()


def fingerprint(repo: Path) -> dict[str, str]:
    """Everything of a user's repository that gitguard must leave alone."""
    refs = git(repo, "for-each-ref", "--format=%(refname) %(objectname)")
    files = sorted(path for path in repo.rglob("*") if path.is_file())
    ours = (".git/", ".gitguard/", ".claude/")
    return {
        "HEAD": (repo / ".git/HEAD").read_text(),
        "index": (repo / ".git/index").read_bytes().hex(),
        "refs": "\n".join(line for line in refs.splitlines() if "/gitguard/" not in line),
        "status": git(repo, "status", "--porcelain"),
        "worktree": "\n".join(
            f"{name} {path.read_bytes().hex()}"
            for path in files
            if not (name := path.relative_to(repo).as_posix()).startswith(ours)
        ),
    }


def newest_text(model: ScriptedModel) -> str:
    """All that the newest request says."""
    return model.requests(Kind.MAIN)[-1].text


def block_in(model: ScriptedModel) -> str:
    """The block of the newest request."""
    _, begins, behind = newest_text(model).rpartition(BLOCK)
    return begins + behind.partition(BLOCK_END)[0] if begins else ""
