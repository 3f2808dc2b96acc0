"""What the benches measure in: a workspace with a session, and the state of a long task."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from gitguard import Guard
from gitguard.state.changes import update_state
from gitguard.state.items import Origin
from gitguard.state.task import TaskState, new_task
from gitguard.store.session.store import SessionStore
from gitguard.store.session.workspace import UserDirs
from tests.support.measuring import Row, compare

PAYLOADS = Path(__file__).parents[1] / "payloads" / "claude_code"
COMMAND = str(Path(sys.executable).with_name("gitguard"))


class Scratch:
    """A workspace with a session and a sealed environment, in a folder that goes away."""

    def __init__(self, folder: Path, name: str) -> None:
        self.root = folder / name
        self.environment = {
            "HOME": str(folder / "home"),
            "PATH": os.environ["PATH"],
            "GITGUARD_STATE_DIR": str(folder / f"{name}-state"),
            "GIT_CONFIG_NOSYSTEM": "1",
            "CLAUDE_PROJECT_DIR": str(self.root),
        }
        self.root.mkdir(parents=True)
        self.git("init", "--quiet", "--initial-branch=main")
        self.git("config", "user.name", "bench")
        self.git("config", "user.email", "bench@example.invalid")
        self.git("commit", "--quiet", "--allow-empty", "--message", "first")
        places = UserDirs(
            state_home=self.environment["GITGUARD_STATE_DIR"],
            config_home=str(folder / "config"),
            environment=self.environment,
        )
        self.guard = Guard(str(self.root), places, time.time)
        self.guard.ensure()

    def git(self, *arguments: str, stdin: bytes = b"") -> bytes:
        return self.run("git", *arguments, stdin=stdin)

    def run(self, *command: str, stdin: bytes = b"") -> bytes:
        return subprocess.run(
            command,
            cwd=self.root,
            env=self.environment,
            input=stdin,
            stdout=subprocess.PIPE,
            check=True,
        ).stdout

    def payload(self, name: str, transcript: Path) -> bytes:
        document = json.loads((PAYLOADS / f"{name}.json").read_text(encoding="utf-8"))
        document |= {"cwd": str(self.root), "transcript_path": str(transcript)}
        return json.dumps(document).encode()

    def bare_python(self) -> bytes:
        return self.run(sys.executable, "-c", "pass")

    def beside_python(self, what: str, ours: Callable[[], object], target: float, runs: int) -> Row:
        """Compare a whole process with a bare start of Python."""
        return compare(what, ours, "python -c pass", self.bare_python, target, runs)

    def store(self) -> SessionStore:
        return self.guard.store()


def full_state(facts: int = 12) -> TaskState:
    """A state as a long task has it."""
    now = "2026-01-31T09:30:00Z"
    lines = [f"fact number {i} that the work relies on, in about sixty chars" for i in range(facts)]
    changes = {
        "goal": "Rewrite the parser without changing what it accepts",
        "current_phase": "implementation",
        "next_action": "Run the slow tests on src/parser.py and fix what they find",
        "completed_steps": lines,
        "open_issues": lines,
        "constraints": lines,
        "invariants": lines,
        "decisions": [{"what": line, "why": "it is simpler"} for line in lines],
        "failed_attempts": [{"what": line, "error": "Exit code 1"} for line in lines],
        "artifacts": [{"path": f"src/module_{i}.py"} for i in range(facts)],
    }
    return update_state(new_task("main", now), changes, Origin(when=now))[0]
