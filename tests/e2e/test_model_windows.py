"""Our table of windows against those that the installed hosts publish."""

from __future__ import annotations

import json
import mmap
import os
import re
import subprocess
from pathlib import Path

from gitguard.pressure.gauge import published_window
from gitguard.pressure.models import DISPUTED, MODEL_WINDOWS

from . import claude_code, openclaw_install
from .fetching import fetch, node

Windows = dict[str, dict[str, int]]
_SCRIPT = """
const { MODELS } = await import(process.argv[1]);
console.log(JSON.stringify(Object.fromEntries(Object.entries(MODELS).map(([provider, models]) => [
    provider, Object.fromEntries(Object.values(models).map((m) => [m.id, m.contextWindow]))]))));
"""
_NEAR = 0.05


def of_pi() -> Windows:
    return in_catalog(fetch("pi-0.73.1", "@mariozechner/pi-coding-agent@0.73.1"))


def of_older_openclaw() -> Windows:
    return in_catalog(openclaw_install.install("2026.3.13").modules)


def in_catalog(modules: Path) -> Windows:
    """Return what the catalog says that pi and older versions of OpenClaw ship."""
    catalog = modules / "@mariozechner/pi-ai/dist/models.generated.js"
    command = [str(node()), "--input-type=module", "-e", _SCRIPT, str(catalog)]
    windows: Windows = json.loads(subprocess.check_output(command))
    return windows


def of_openclaw() -> Windows:
    windows: Windows = {}
    modules = openclaw_install.install("2026.9.6").modules
    for path in modules.glob("openclaw/dist/extensions/*/openclaw.plugin.json"):
        catalog = json.loads(path.read_text(encoding="utf-8")).get("modelCatalog") or {}
        for provider, listed in (catalog.get("providers") or {}).items():
            for model in listed.get("models") or []:
                tokens = model.get("contextTokens") or model.get("contextWindow") or 0
                windows.setdefault(provider, {})[model["id"]] = tokens
    return windows


def of_claude_code() -> Windows:
    record = re.compile(rb'\{id:"(claude-[a-z0-9.-]+)",family:')
    windows = {}
    with (
        claude_code.install().open("rb") as file,
        mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as text,
    ):
        for match in record.finditer(text):
            window = re.search(
                rb"context:\{window:([0-9e]+)", text[match.end() : match.end() + 3_000]
            )
            if window:
                windows[match.group(1).decode()] = int(float(window.group(1)))
    return {"anthropic": windows}


def of_codex(home: Path) -> Windows:
    package = fetch("codex-0.169.0", "@openai/codex@0.169.0-linux-x64") / "@openai/codex"
    [program] = package.glob("vendor/*/bin/codex")
    environment = {"PATH": os.defpath, "HOME": str(home), "CODEX_HOME": str(home)}
    listed = subprocess.check_output([program, "debug", "models"], env=environment)
    models = json.loads(listed)["models"]
    return {"openai": {model["slug"]: model["context_window"] for model in models}}


def check(published: Windows, least: int) -> None:
    """Hold every window of a host against the table: the same, or disputed and no smaller."""
    checked = 0
    for provider in set(published) & set(MODEL_WINDOWS):
        for model, tokens in published[provider].items():
            if tokens < 32_000:
                continue
            window, is_agreed = published_window(f"{provider}/{model}")
            assert 0 < window <= tokens, (provider, model, tokens, window)
            assert not is_agreed or window >= tokens * (1 - _NEAR), (provider, model, tokens)
            checked += 1
    assert checked >= least


def test_the_table_has_the_windows_that_pi_publishes() -> None:
    check(of_pi(), 150)


def test_the_table_has_the_windows_that_openclaw_publishes() -> None:
    check(of_openclaw(), 40)


def test_the_table_has_the_windows_that_claude_code_publishes() -> None:
    check(of_claude_code(), 20)


def test_the_table_has_the_windows_that_an_older_openclaw_publishes() -> None:
    check(of_older_openclaw(), 100)


def test_the_table_has_the_windows_that_codex_publishes(tmp_path: Path) -> None:
    check(of_codex(tmp_path), 10)


def test_every_dispute_is_one_between_the_installed_hosts(tmp_path: Path) -> None:
    hosts = (
        of_pi(),
        of_openclaw(),
        of_older_openclaw(),
        of_claude_code(),
        of_codex(tmp_path),
    )
    for disputed in DISPUTED:
        provider, _, model = disputed.partition("/")
        windows = {host[provider][model] for host in hosts if model in host.get(provider, {})}
        assert max(windows) - min(windows) > _NEAR * max(windows), disputed
