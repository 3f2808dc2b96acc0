"""The real hosts that need nothing running, sealed: own HOME, fake keys, only 127.0.0.1."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from .fetching import fetch, node
from .sealing import Run, environment, finish, start

DEFAULT_TIMEOUT = 90.0


@dataclass(frozen=True)
class Sealed:
    """A program in one project, with nothing of the user's environment."""

    command: Sequence[str]
    home: Path
    project: Path
    extra_env: Mapping[str, str] = field(default_factory=dict)
    extra_path: tuple[Path, ...] = ()

    def __post_init__(self) -> None:
        (self.home / "tmp").mkdir(parents=True, exist_ok=True)

    @property
    def env(self) -> dict[str, str]:
        found = environment(self.home, *self.extra_path, node().parent)
        return {**found, "TERM": "xterm", **self.extra_env}

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        """Start the program in a process group of its own, for tests that interrupt it."""
        return start([*self.command, *arguments], self.project, self.env)

    def run(self, *arguments: str, timeout: float = DEFAULT_TIMEOUT) -> Run:
        """Run the program to its end."""
        return finish(self.start(*arguments), timeout)


def opencode(home: Path, project: Path, model_url: str) -> Sealed:
    """opencode 1.18.34; it compacts when 40,000 tokens, less those of an answer, are used."""
    package = "opencode-linux-x64"
    binary = fetch("opencode-1.18.34", f"{package}@1.18.34") / package / "bin/opencode"
    model = {"name": "Fake 1", "limit": {"context": 40_000, "output": 4_096}, "tool_call": True}
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "name": "Fake",
        "options": {"baseURL": f"{model_url}/v1", "apiKey": "fake-key"},
        "models": {"fake-1": model},
    }
    config = {
        # It adds this to a file that has none.
        "$schema": "https://opencode.ai/config.json",
        "model": "fake/fake-1",
        "small_model": "fake/fake-1",
        "autoupdate": False,
        "share": "disabled",
        "provider": {"fake": provider},
        "permission": {"edit": "allow", "bash": "allow", "external_directory": "allow"},
        "compaction": {"auto": True, "prune": True, "reserved": 4_000},
    }
    (project / "opencode.json").write_text(json.dumps(config), encoding="utf-8")
    environment = {
        "OPENCODE_DISABLE_AUTOUPDATE": "1",
        "OPENCODE_DISABLE_MODELS_FETCH": "1",
    }
    # Where it has a plugin, it first fetches the package that plugins are written with, or waits a
    # minute for the lock of a run that could not. So it is told that the package is there.
    fetched = {"packages": {"": {"dependencies": {"@opencode-ai/plugin": "1.18.34"}}}}
    _write_json(home / ".config/opencode/package-lock.json", fetched)
    (home / ".config/opencode/node_modules").mkdir(exist_ok=True)
    return Sealed([str(binary)], home, project, environment)


def codex(home: Path, project: Path, model_url: str) -> Sealed:
    """Codex 0.171.0 with a window of 100,000, which it takes for 95,000; compacts at 80,000."""
    package = "@openai/codex"
    folder = fetch("codex-0.171.0", f"{package}@0.171.0-linux-x64") / package
    config = f"""
model = "gpt-5.5"
model_provider = "fake"
model_context_window = 100000
model_auto_compact_token_limit = 80000
approval_policy = "never"
sandbox_mode = "danger-full-access"

[model_providers.fake]
name = "fake"
base_url = "{model_url}/v1"
env_key = "FAKE_KEY"
wire_api = "responses"
request_max_retries = 0
stream_max_retries = 0
"""
    (home / ".codex").mkdir(parents=True, exist_ok=True)
    (home / ".codex/config.toml").write_text(config, encoding="utf-8")
    binary = folder / "vendor/x86_64-unknown-linux-musl/bin/codex"
    return Sealed([str(binary)], home, project, {"FAKE_KEY": "fake"})


def gemini(home: Path, project: Path, model_url: str) -> Sealed:
    """Gemini CLI 0.61.0; it compresses from 2,097 tokens on."""
    package = "@google/gemini-cli"
    folder = fetch("gemini-0.61.0", f"{package}@0.61.0") / package
    settings = {
        "security": {"auth": {"selectedType": "gemini-api-key"}},
        "general": {"disableAutoUpdate": True, "disableUpdateNag": True},
        "privacy": {"usageStatisticsEnabled": False},
        "telemetry": {"enabled": False},
        "model": {"compressionThreshold": 0.002},
    }
    _write_json(home / ".gemini/settings.json", settings)
    program = json.loads((folder / "package.json").read_text())["bin"]["gemini"]
    environment = {
        "GEMINI_API_KEY": "fake",
        "GOOGLE_GEMINI_BASE_URL": model_url,
        "GEMINI_CLI_NO_RELAUNCH": "true",
        "GEMINI_CLI_TRUST_WORKSPACE": "true",
    }
    return Sealed([str(node()), str(folder / program)], home, project, environment)


def copilot(home: Path, project: Path, model_url: str) -> Sealed:
    """Copilot CLI 1.0.102 in a folder that it trusts; it compacts from 16,000 tokens on."""
    package = "@github/copilot-linux-x64"
    modules = fetch("copilot-1.0.102", f"{package}@1.0.102")
    binary = modules / package / "copilot"
    binary.chmod(0o755)
    trusted = {"trustedFolders": [str(project.resolve())]}
    _write_json(home / ".copilot/config.json", trusted)
    environment = {
        "COPILOT_PROVIDER_BASE_URL": f"{model_url}/v1",
        "COPILOT_PROVIDER_API_KEY": "fake",
        "COPILOT_PROVIDER_MAX_PROMPT_TOKENS": "20000",
        "COPILOT_MODEL": "fake-1",
        "COPILOT_OFFLINE": "true",
        "COPILOT_AUTO_UPDATE": "false",
        # It unpacks 234 MB of itself: once for all tests, not once into each HOME.
        "COPILOT_PKG_CACHE_HOME": str(modules.with_name("unpacked")),
        "TERM": "dumb",
    }
    return Sealed([str(binary)], home, project, environment)


def qwen(home: Path, project: Path, model_url: str) -> Sealed:
    """Qwen Code 0.24.4 with a window of 200,000; it compacts from 172,000 tokens on."""
    package = "@qwen-code/qwen-code"
    modules = fetch("qwen-0.24.4", f"{package}@0.24.4")
    program = modules / package / "cli-entry.js"
    environment = {
        "OPENAI_BASE_URL": f"{model_url}/v1",
        "OPENAI_API_KEY": "fake",
        "OPENAI_MODEL": "fake-1",
        # What Node compiles of it is kept, which halves the time of a turn.
        "NODE_COMPILE_CACHE": str(modules.with_name("compiled")),
        "TERM": "dumb",
    }
    return Sealed([str(node()), str(program)], home, project, environment)


def droid(home: Path, project: Path, model_url: str) -> Sealed:
    """Droid 0.225.2; it compacts from 20,000 tokens on."""
    package = "@factory/cli-linux-x64"
    binary = fetch("droid-0.225.2", f"{package}@0.225.2") / package / "bin/droid"
    binary.chmod(0o755)
    model = {
        "model": "fake-1",
        "displayName": "Fake",
        "baseUrl": f"{model_url}/v1",
        "apiKey": "fake",
        "provider": "generic-chat-completion-api",
        "maxOutputTokens": 4_096,
    }
    settings = {
        "customModels": [model],
        "airgap": True,
        "enableDroidShield": False,
        "cloudSessionSync": False,
        "compactionTokenLimit": 20_000,
    }
    _write_json(home / ".factory/settings.json", settings)
    environment = {
        "FACTORY_API_KEY": "fk-fake",
        # Without these it asks the vendor's service before it resumes a session.
        "FACTORY_API_BASE_URL": model_url,
        "FACTORY_TELEMETRY_INGEST_BASE_URL": model_url,
        "TERM": "dumb",
    }
    return Sealed([str(binary)], home, project, environment)


def kimi(home: Path, project: Path, model_url: str) -> Sealed:
    """Kimi Code 2.1.0 with a window of 200,000; it compacts from 150,000 tokens on."""
    package = "@moonshot-ai/kimi-code"
    program = fetch("kimi-2.1.0", f"{package}@2.1.0") / package / "dist/main.mjs"
    config = f"""
default_model = "fake"

[providers.fakep]
type = "openai"
base_url = "{model_url}/v1"
api_key = "fake"

[models.fake]
provider = "fakep"
model = "fake-1"
max_context_size = 200000
"""
    (home / ".kimi-code").mkdir(parents=True, exist_ok=True)
    (home / ".kimi-code/config.toml").write_text(config, encoding="utf-8")
    return Sealed([str(node()), str(program)], home, project, {"TERM": "dumb"})


def _write_json(path: Path, document: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document), encoding="utf-8")


class SealedPi(Sealed):
    """pi in one project, whose conversations are files."""

    def run(
        self, *prompts: str, session: Path | None = None, timeout: float = DEFAULT_TIMEOUT
    ) -> Run:
        """Answer the prompts one after the other; go on with a session's file where one is given.

        A file elsewhere than `sessions` has them is used where it lies.
        """
        known = ("--session", str(session)) if session else ()
        return super().run(*known, "-p", *prompts, timeout=timeout)

    def sessions(self) -> list[Path]:
        """The files of this HOME's sessions, oldest first."""
        return sorted((self.home / ".pi/agent/sessions").glob("*/*.jsonl"))


def pi(home: Path, project: Path, model_url: str) -> SealedPi:
    """pi 1.5.0; it compacts by itself when more than 32,000 tokens are used."""
    package = "@earendil-works/pi-coding-agent"
    program = fetch("pi-1.5.0", f"{package}@1.5.0") / package / "dist/bundle/cli.js"
    model = {
        "id": "fake-1",
        "name": "Fake 1",
        "reasoning": False,
        "input": ["text"],
        "contextWindow": 40_000,
        "maxTokens": 4_096,
        "cost": dict.fromkeys(("input", "output", "cacheRead", "cacheWrite"), 1),
    }
    provider = {
        "baseUrl": model_url,
        "api": "anthropic-messages",
        "apiKey": "fake-key",
        "models": [model],
    }
    settings = {
        "defaultProvider": "fake",
        "defaultModel": "fake-1",
        "compaction": {"enabled": True, "reserveTokens": 8_000, "keepRecentTokens": 500},
    }
    _write_json(home / ".pi/agent/models.json", {"providers": {"fake": provider}})
    _write_json(home / ".pi/agent/settings.json", settings)
    offline = {"PI_OFFLINE": "1", "PI_TELEMETRY": "0"}
    return SealedPi([str(node()), str(program)], home, project, offline)
