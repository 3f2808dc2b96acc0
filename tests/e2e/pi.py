"""The real pi, sealed: own HOME, fake key, and no address it could reach but 127.0.0.1."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

from .fetching import fetch, node
from .sealing import kill_group

VERSION = "0.73.1"
_PACKAGE = "@mariozechner/pi-coding-agent"
# Nothing listens on the discard port: whatever does not go to the loopback dies there at once.
_DEAD_END_PROXY = "http://127.0.0.1:9"
DEFAULT_WINDOW = 40_000
_RESERVED, _KEPT = 8_000, 500
DEFAULT_TIMEOUT = 60.0


def install() -> Path:
    """Return the program's script, fetching it into the user's cache on the first call."""
    return fetch(f"pi-{VERSION}", f"{_PACKAGE}@{VERSION}") / _PACKAGE / "dist/cli.js"


@dataclass(frozen=True)
class Run:
    """A finished `pi -p`."""

    returncode: int
    stdout: str
    stderr: str


@dataclass(frozen=True)
class SealedPi:
    """pi in one project, with nothing of the user's environment.

    It compacts by itself when more than `window` less 8,000 tokens are used.
    """

    script: Path
    home: Path
    project: Path
    model_url: str
    window: int = DEFAULT_WINDOW

    def __post_init__(self) -> None:
        (self.home / "tmp").mkdir(parents=True, exist_ok=True)
        folder = self.home / ".pi" / "agent"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "models.json").write_text(json.dumps(self._models()), encoding="utf-8")
        settings = {
            "defaultProvider": "fake",
            "defaultModel": "fake-1",
            "compaction": {"enabled": True, "reserveTokens": _RESERVED, "keepRecentTokens": _KEPT},
        }
        (folder / "settings.json").write_text(json.dumps(settings), encoding="utf-8")

    def _models(self) -> dict[str, object]:
        cost = dict.fromkeys(("input", "output", "cacheRead", "cacheWrite"), 1)
        model = {"id": "fake-1", "name": "Fake 1", "reasoning": False, "input": ["text"]}
        limits = {"contextWindow": self.window, "maxTokens": 4096, "cost": cost}
        provider = {
            "baseUrl": self.model_url,
            "api": "anthropic-messages",
            "apiKey": "fake-key",
            "models": [{**model, **limits}],
        }
        return {"providers": {"fake": provider}}

    @property
    def env(self) -> dict[str, str]:
        return {
            "HOME": str(self.home),
            "PATH": os.pathsep.join((str(node().parent), "/usr/bin", "/bin")),
            "LANG": "C.UTF-8",
            "PI_OFFLINE": "1",
            "PI_TELEMETRY": "0",
            "HTTPS_PROXY": _DEAD_END_PROXY,
            "HTTP_PROXY": _DEAD_END_PROXY,
            "NO_PROXY": "127.0.0.1",
            "TMPDIR": str(self.home / "tmp"),
        }

    def run(
        self, *prompts: str, session: Path | None = None, timeout: float = DEFAULT_TIMEOUT
    ) -> Run:
        """Answer the prompts one after the other; go on with a session's file where one is given.

        A file elsewhere than `sessions` has them is used where it lies.
        """
        command = [str(node()), str(self.script), *(["--session", str(session)] if session else [])]
        process = subprocess.Popen(
            [*command, "-p", *prompts],
            cwd=self.project,
            env=self.env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        try:
            stdout, stderr = process.communicate(timeout=timeout)
        finally:
            kill_group(process)
        return Run(process.returncode, stdout, stderr)

    def sessions(self) -> list[Path]:
        """The files of this HOME's sessions, oldest first."""
        return sorted((self.home / ".pi/agent/sessions").glob("*/*.jsonl"))
