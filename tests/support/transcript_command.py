"""`gitguard transcript`, typed: what it prints, and the recorded conversations it is typed for."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

from tests.support import forked

PAYLOADS = Path(__file__).parents[1] / "payloads"
CLAUDE_CODE = PAYLOADS / "claude_code/transcript.jsonl"
PI = PAYLOADS / "pi/session.jsonl"
OPENCLAW = PAYLOADS / "openclaw/2026.9.6/openclaw-agent.sqlite"
RECORDED = [
    CLAUDE_CODE,
    PI,
    OPENCLAW,
    PAYLOADS / "codex/rollout.jsonl",
    PAYLOADS / "gemini/chat.jsonl",
    PAYLOADS / "opencode/opencode.db",
]
"""One of each host."""


def finished(*words: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run `gitguard transcript` with these words."""
    return forked.run(["gitguard", "transcript", *map(str, words)], cwd, os.environ)


def run(*words: str | Path, cwd: Path, code: int = 0) -> str:
    """Return what is printed: to standard output, or the error where another code is expected."""
    done = finished(*words, cwd=cwd)
    assert "Traceback" not in done.stderr
    assert done.returncode == code, done.stderr
    return done.stdout if code == 0 else done.stderr


def document(*words: str | Path, cwd: Path) -> Any:
    """Return what is said to programs."""
    return json.loads(run(*words, "--json", cwd=cwd))
