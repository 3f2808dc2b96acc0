"""The real Claude Code, sealed: own HOME, fake key, and no address it could reach but 127.0.0.1."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from . import sealing
from .fetching import fetch

VERSION = "2.1.330"
_PACKAGE = "@anthropic-ai/claude-code-linux-x64"
FAKE_KEY = "sk-ant-fake-0000000000-gitguard-end-to-end"
_KEY_SUFFIX_LENGTH = 20

DEFAULT_MODEL = "claude-haiku-4-5"
DEFAULT_TIMEOUT = 60.0
_TERMINAL_SIZE = (200, 50)
_POLL_SECONDS = 0.05
_EXIT_SECONDS = 5.0


class WaitTimeout(AssertionError):
    """Something the test waits for did not happen; the message carries the screen."""


def install() -> Path:
    """Return the native binary, fetching it into the user's cache on the first call."""
    binary = fetch(f"claude-code-{VERSION}", f"{_PACKAGE}@{VERSION}") / _PACKAGE / "claude"
    binary.chmod(0o755)
    return binary


class Run(sealing.Run):
    """A finished `claude -p`."""

    @property
    def result(self) -> dict[str, Any]:
        """The JSON object `--output-format json` prints; a test failure when there is none."""
        try:
            parsed = json.loads(self.stdout)
        except ValueError as error:
            raise AssertionError(f"no JSON result: {self.stdout!r} {self.stderr!r}") from error
        assert isinstance(parsed, dict), self.stdout
        return parsed

    @property
    def session_id(self) -> str:
        return str(self.result["session_id"])

    @property
    def terminal_reason(self) -> str:
        """Why the turn ended; empty when the prompt never became a turn."""
        return str(self.result.get("terminal_reason") or "")

    @property
    def text(self) -> str:
        return str(self.result.get("result"))


@dataclass(frozen=True)
class SealedClaude:
    """Claude Code in one project, with nothing of the user's environment."""

    binary: Path
    home: Path
    project: Path
    model_url: str
    extra_env: Mapping[str, str] = field(default_factory=dict)
    extra_path: tuple[Path, ...] = ()

    def __post_init__(self) -> None:
        (self.home / "tmp").mkdir(parents=True, exist_ok=True)
        seed = self.home / ".claude.json"
        if not seed.exists():
            seed.write_text(json.dumps(_first_run_answers(self.project)), encoding="utf-8")

    @property
    def env(self) -> dict[str, str]:
        return {
            **sealing.environment(self.home, *self.extra_path),
            "TERM": "xterm-256color",
            "ANTHROPIC_BASE_URL": self.model_url,
            "ANTHROPIC_API_KEY": FAKE_KEY,
            "DISABLE_TELEMETRY": "1",
            "DISABLE_AUTOUPDATER": "1",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            # The full-screen program fetches a plug-in list in spite of the line above.
            "CLAUDE_CODE_DISABLE_OFFICIAL_MARKETPLACE_AUTOINSTALL": "1",
            # Without it, bypassing permissions is refused to root.
            "IS_SANDBOX": "1",
            **self.extra_env,
        }

    def command(
        self,
        prompt: str,
        *,
        resume: str | None = None,
        model: str = DEFAULT_MODEL,
        args: Sequence[str] = (),
    ) -> list[str]:
        command = [str(self.binary), "-p", prompt, "--output-format", "json", "--model", model]
        command += ["--permission-mode", "bypassPermissions"]
        if resume is not None:
            command += ["--resume", resume]
        return [*command, *args]

    def run(
        self,
        prompt: str,
        *,
        resume: str | None = None,
        model: str = DEFAULT_MODEL,
        args: Sequence[str] = (),
        timeout: float = DEFAULT_TIMEOUT,
    ) -> Run:
        """One print-mode turn, from start to exit."""
        process = self.start(prompt, resume=resume, model=model, args=args)
        return Run(*sealing.finish(process, timeout))

    def start(
        self,
        prompt: str,
        *,
        resume: str | None = None,
        model: str = DEFAULT_MODEL,
        args: Sequence[str] = (),
    ) -> subprocess.Popen[str]:
        """A print-mode turn in a process group of its own, for tests that interrupt it."""
        command = self.command(prompt, resume=resume, model=model, args=args)
        return sealing.start(command, self.project, self.env)

    def leftovers(self) -> list[int]:
        """Processes still running inside the seal."""
        return sealing.leftovers(self.home)

    def end_leftovers(self) -> None:
        sealing.end_leftovers(self.home)

    def interactive(
        self,
        *,
        resume: str | None = None,
        model: str = DEFAULT_MODEL,
        permission_mode: str = "bypassPermissions",
        args: Sequence[str] = (),
    ) -> Terminal:
        """The full-screen program; use as a context manager."""
        command = [str(self.binary), "--model", model, "--permission-mode", permission_mode]
        if resume is not None:
            command += ["--resume", resume]
        return Terminal([*command, *args], self.project, self.env)


def _first_run_answers(project: Path) -> dict[str, Any]:
    trusted = {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True}
    return {
        "hasCompletedOnboarding": True,
        "theme": "dark",
        "bypassPermissionsModeAccepted": True,
        "customApiKeyResponses": {"approved": [FAKE_KEY[-_KEY_SUFFIX_LENGTH:]], "rejected": []},
        "projects": {str(project.resolve()): trusted},
    }


class Terminal:
    """An interactive Claude Code in a private tmux server."""

    def __init__(self, command: Sequence[str], cwd: Path, env: Mapping[str, str]) -> None:
        self._command = list(command)
        self._cwd = cwd
        # A short path of its own: tmux leaves its socket behind, and socket paths must be short.
        self._sockets = Path(tempfile.mkdtemp(prefix="gitguard-tmux-"))
        self._env = {**env, "TMUX_TMPDIR": str(self._sockets)}
        self._socket = f"gitguard-e2e-{uuid.uuid4().hex[:12]}"
        self._pid = 0

    def __enter__(self) -> Self:
        width, height = _TERMINAL_SIZE
        size = ["-x", str(width), "-y", str(height)]
        self._tmux("-f", "/dev/null", "new-session", "-d", *size, *self._command)
        self._pid = int(self._tmux("display-message", "-p", "#{pane_pid}"))
        return self

    def __exit__(self, *_failure: object) -> None:
        subprocess.run(
            ["tmux", "-L", self._socket, "kill-server"],
            env=self._env,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            check=False,
        )
        self._wait_for_exit()
        shutil.rmtree(self._sockets, ignore_errors=True)

    def _wait_for_exit(self) -> None:
        # Its last hooks still write into the test's folders.
        deadline = time.monotonic() + _EXIT_SECONDS
        while Path(f"/proc/{self._pid}").exists() and time.monotonic() < deadline:
            time.sleep(_POLL_SECONDS)

    def _tmux(self, *args: str) -> str:
        done = subprocess.run(
            ["tmux", "-L", self._socket, *args],
            cwd=self._cwd,
            env=self._env,
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout

    def type(self, text: str) -> None:
        self._tmux("send-keys", "-l", text)

    def send_keys(self, *keys: str) -> None:
        """Named keys as tmux knows them: Enter, Escape, C-c."""
        self._tmux("send-keys", *keys)

    def submit(self, text: str) -> None:
        self.type(text)
        # An Enter in the same burst is taken for a pasted line break.
        time.sleep(0.3)
        self.send_keys("Enter")

    def capture(self) -> str:
        try:
            # The input line starts with a no-break space.
            return self._tmux("capture-pane", "-p").replace("\xa0", " ")
        except subprocess.CalledProcessError:
            return "(the program has ended)"

    def wait_for(self, text: str, timeout: float = 20.0) -> str:
        """Return the screen once it shows `text`."""
        deadline = time.monotonic() + timeout
        while time.monotonic() < deadline:
            screen = self.capture()
            if text in screen:
                return screen
            time.sleep(_POLL_SECONDS)
        raise WaitTimeout(f"{text!r} never appeared:\n{self.capture()}")


if __name__ == "__main__":
    sys.stdout.write(f"{install()}\n")
