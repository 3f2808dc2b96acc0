"""The real OpenClaw in two versions, sealed: own HOME, fake key, nothing to reach but 127.0.0.1."""

from __future__ import annotations

import contextlib
import copy
import itertools
import json
import os
import signal
import socket
import subprocess
import time
import urllib.request
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from . import sealing
from .openclaw_install import LEGACY, Installed

FAKE_KEY = "sk-ant-fake-0000000000-gitguard-end-to-end"
_TOKEN = "fake-gateway-token"  # noqa: S105

MAIN_KEY = "agent:main:main"
DEFAULT_WINDOW = 40_000
DEFAULT_TIMEOUT = 180.0
_GATEWAY_START_SECONDS = 180.0
_GATEWAY_STOP_SECONDS = 15.0
_POLL_SECONDS = 0.05
_LOG_TAIL = 4_000


class GatewayFailure(AssertionError):
    """The Gateway did not come up or did not answer; the message carries its log."""


class Run(sealing.Run):
    """A finished `openclaw` command."""

    @property
    def result(self) -> Any:
        """What `--json` printed; a test failure when there is no JSON."""
        start = min((at for at in map(self.stdout.find, "{[") if at >= 0), default=0)
        try:
            return json.loads(self.stdout[start:])
        except ValueError as error:
            raise AssertionError(f"no JSON result: {self.stdout!r} {self.stderr!r}") from error


@dataclass
class SealedOpenClaw:
    """OpenClaw in one workspace, with nothing of the user's environment; context manager.

    `plugins` are folders to load plugins from, `extra_config` is merged over the written
    configuration (see `write_config`). Leaving ends the Gateway and whatever is left in the seal.
    """

    installed: Installed
    home: Path
    workspace: Path
    model_url: str
    window: int = DEFAULT_WINDOW
    compaction_mode: str = "safeguard"
    plugins: tuple[Path, ...] = ()
    extra_config: Mapping[str, Any] = field(default_factory=dict)
    extra_env: Mapping[str, str] = field(default_factory=dict)
    extra_path: tuple[Path, ...] = ()
    _gateway: subprocess.Popen[bytes] | None = field(default=None, init=False, repr=False)
    _port: int = field(default=0, init=False, repr=False)

    def __post_init__(self) -> None:
        (self.home / "tmp").mkdir(parents=True, exist_ok=True)
        self._share_compiled_code()
        self.state_dir.mkdir(exist_ok=True)
        self.workspace.mkdir(exist_ok=True)
        self._port = _free_port()
        if not self.config_path.exists():
            self.write_config()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_failure: object) -> None:
        self.stop_gateway()
        self.end_leftovers()

    def _share_compiled_code(self) -> None:
        # The legacy version compiles its own extensions into TMPDIR, for 25 s in a new one.
        compiled = self.installed.compiled / "jiti"
        compiled.mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(FileExistsError):
            (self.home / "tmp" / "jiti").symlink_to(compiled)

    @property
    def version(self) -> str:
        return self.installed.version

    @property
    def state_dir(self) -> Path:
        return self.home / ".openclaw"

    @property
    def config_path(self) -> Path:
        return self.state_dir / "openclaw.json"

    @property
    def gateway_log(self) -> Path:
        return self.home / "gateway.log"

    def write_config(self) -> None:
        config = _merge(self._base_config(), self.extra_config)
        self.config_path.write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")

    def config(self) -> dict[str, Any]:
        """The configuration as it is on disk now; strict JSON, as the program itself writes it."""
        found = json.loads(self.config_path.read_text(encoding="utf-8"))
        assert isinstance(found, dict)
        return found

    def _base_config(self) -> dict[str, Any]:
        config: dict[str, Any] = {
            "models": {"mode": "replace", "providers": {"fake": self._provider()}},
            "agents": {
                "defaults": {
                    "model": {"primary": "fake/fake-1"},
                    "workspace": str(self.workspace),
                    "compaction": _compaction(self.version, self.compaction_mode),
                }
            },
            # Its own place for logs is outside TMPDIR.
            "logging": {"file": str(self.home / "openclaw.log")},
            "gateway": {
                "mode": "local",
                "port": self._port,
                "bind": "loopback",
                "auth": {"mode": "token", "token": _TOKEN},
                "http": {"endpoints": {"chatCompletions": {"enabled": True}}},
            },
        }
        if self.plugins:
            config["plugins"] = {"load": {"paths": [str(path) for path in self.plugins]}}
        return config

    def _provider(self) -> dict[str, Any]:
        model = {
            "id": "fake-1",
            "name": "Fake 1",
            "reasoning": False,
            "input": ["text"],
            "cost": {"input": 1, "output": 2, "cacheRead": 0, "cacheWrite": 0},
            "contextWindow": self.window,
            "maxTokens": 4096,
        }
        return {
            "baseUrl": self.model_url,
            "apiKey": FAKE_KEY,
            "api": "anthropic-messages",
            "models": [model],
        }

    @property
    def env(self) -> dict[str, str]:
        return {
            **sealing.environment(self.home, *self.extra_path, self.installed.node.parent),
            "NO_COLOR": "1",
            "OPENCLAW_SKIP_CHANNELS": "1",
            "OPENCLAW_DISABLE_BONJOUR": "1",
            "OPENCLAW_GATEWAY_TOKEN": _TOKEN,
            "NODE_COMPILE_CACHE": str(self.installed.compiled / "node"),
            **self.extra_env,
        }

    def cli(self, *args: str, timeout: float = DEFAULT_TIMEOUT) -> Run:
        """One `openclaw` command from start to exit."""
        process = sealing.start([*self.installed.command, *args], self.workspace, self.env)
        try:
            return Run(*sealing.finish(process, timeout))
        except subprocess.TimeoutExpired as late:
            raise GatewayFailure(f"{args} took over {timeout} s\n{self._log_tail()}") from late

    def run(
        self, message: str, session_key: str = MAIN_KEY, timeout: float = DEFAULT_TIMEOUT
    ) -> Run:
        """One turn without a Gateway: `agent --local`."""
        return self.cli(*_turn(self.version, message, session_key), "--local", timeout=timeout)

    def send(
        self, message: str, session_key: str = MAIN_KEY, timeout: float = DEFAULT_TIMEOUT
    ) -> str:
        """One turn through the running Gateway's HTTP door; return the agent's answer.

        Twenty times faster than `agent`, which starts a program for each turn. A turn that a
        plugin refuses is a GatewayFailure here.
        """
        asked = {"model": "openclaw", "messages": [{"role": "user", "content": message}]}
        headers = {
            "authorization": f"Bearer {_TOKEN}",
            "content-type": "application/json",
            "x-openclaw-session-key": session_key,
            "x-openclaw-agent-id": "main",
        }
        door = f"http://127.0.0.1:{self._port}/v1/chat/completions"
        request = urllib.request.Request(door, json.dumps(asked).encode(), headers)
        direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with direct.open(request, timeout=timeout) as response:
                answered = json.load(response)
        except OSError as failure:
            raise GatewayFailure(f"{message!r}: {failure}\n{self._log_tail()}") from failure
        return str(answered["choices"][0]["message"]["content"])

    def agent(self, message: str, timeout: float = DEFAULT_TIMEOUT) -> Run:
        """One turn of the main session through the running Gateway: `agent`, as a user does."""
        return self.cli("agent", "--agent", "main", "--message", message, timeout=timeout)

    def call(self, method: str, params: Mapping[str, Any], timeout: float = DEFAULT_TIMEOUT) -> Any:
        """The result of a Gateway method: `gateway call`."""
        args = ["gateway", "call", method, "--params", json.dumps(params), "--json"]
        done = self.cli(*args, timeout=timeout)
        assert done.returncode == 0, (method, params, done.stdout, done.stderr)
        return done.result

    def start_gateway(self) -> float:
        """Start the Gateway; return the seconds until it was ready."""
        assert self._gateway is None
        started = time.monotonic()
        with self.gateway_log.open("ab") as log:
            self._gateway = subprocess.Popen(
                [*self.installed.command, "gateway", "run"],
                cwd=self.workspace,
                env=self.env,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self._wait_until_ready(started + _GATEWAY_START_SECONDS)
        return time.monotonic() - started

    def _wait_until_ready(self, deadline: float) -> None:
        gateway = self._gateway
        assert gateway is not None
        while time.monotonic() < deadline and gateway.poll() is None:
            if _listens(self._port):
                return
            time.sleep(_POLL_SECONDS)
        self.stop_gateway()
        raise GatewayFailure(f"the Gateway {self.version} did not start\n{self._log_tail()}")

    def stop_gateway(self, *, kill: bool = False) -> None:
        """End the Gateway in order, or at once as a crash would; nothing when none runs."""
        gateway, self._gateway = self._gateway, None
        if gateway is None:
            return
        if not kill:
            with contextlib.suppress(subprocess.TimeoutExpired, ProcessLookupError):
                os.kill(gateway.pid, signal.SIGTERM)
                gateway.wait(_GATEWAY_STOP_SECONDS)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(gateway.pid, signal.SIGKILL)
        gateway.wait()
        # Its children die a moment later, and until then the port seems to answer.
        deadline = time.monotonic() + _GATEWAY_STOP_SECONDS
        while _listens(self._port) and time.monotonic() < deadline:
            time.sleep(_POLL_SECONDS)

    def session_ids(self) -> dict[str, str]:
        """The host's own session id of each session key, asked of the Gateway."""
        listed = self.call("sessions.list", {})["sessions"]
        return {str(one["key"]): str(one["sessionId"]) for one in listed}

    def _log_tail(self) -> str:
        if not self.gateway_log.exists():
            return "(no Gateway log)"
        return self.gateway_log.read_text(encoding="utf-8", errors="replace")[-_LOG_TAIL:]

    def end_leftovers(self) -> None:
        sealing.end_leftovers(self.home)


def _turn(version: str, message: str, session_key: str) -> list[str]:
    turn = ["agent", "--agent", "main", "--message", message, "--json"]
    if session_key == MAIN_KEY:
        return turn
    assert version != LEGACY, "its `agent` command takes no session key"
    return [*turn, "--session-key", session_key]


def _compaction(version: str, mode: str) -> dict[str, Any]:
    shared = {"mode": mode, "keepRecentTokens": 500, "memoryFlush": {"enabled": False}}
    if version == LEGACY:
        return {**shared, "reserveTokensFloor": 8_000}
    return {**shared, "recentTurnsPreserve": 1, "qualityGuard": {"enabled": False}}


def _merge(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    merged = copy.deepcopy(dict(base))
    for key, value in over.items():
        below = merged.get(key)
        if isinstance(below, dict) and isinstance(value, Mapping):
            merged[key] = _merge(below, value)
        else:
            merged[key] = copy.deepcopy(value)
    return merged


def _ports() -> Iterator[int]:
    """Yield ports that no other process of the tests takes, and the system gives to nobody.

    The Gateway uses some that follow its own, too.
    """
    worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    ports = range(10_000 + worker % 8 * 2_500, 12_500 + worker % 8 * 2_500, 25)
    begin = os.getpid() % len(ports)
    return itertools.cycle([*ports[begin:], *ports[:begin]])


_PORTS = _ports()


def _free_port() -> int:
    return next(port for port in _PORTS if not _listens(port))


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
