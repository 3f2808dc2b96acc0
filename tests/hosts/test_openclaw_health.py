"""OpenClaw's plugin is compared with what was installed: its files and its settings."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gitguard.hosts.base import InstallOptions
from gitguard.hosts.health import InstalledSite
from gitguard.hosts.openclaw.health import hook_health as health_of
from gitguard.sessions.hook_health import hook_health, read_settings
from tests.conftest import OpenGuard

ENABLED = "plugins.entries.gitguard.enabled"
AGAIN = "run `gitguard init --host openclaw` again"


def config(**plugins: Any) -> dict[str, Any]:
    """The host's settings with our plugin switched on."""
    return {"plugins": {"entries": {"gitguard": {"enabled": True}}, **plugins}}


def site(folder: Path, document: object = None, **changes: Any) -> InstalledSite:
    """An installation in a folder with these settings of the host."""
    if document is not None:
        text = document if isinstance(document, str) else json.dumps(document)
        (folder / "openclaw.json").write_text(text)
    installed = InstalledSite(
        root=str(folder),
        worktree=str(folder),
        files=("extensions/gitguard/index.js",),
        executable="",
        environment={"HOME": str(folder)},
        settings={ENABLED: "true"},
    )
    return installed.replace(**changes)


def test_a_plugin_as_installed_has_no_problem(tmp_path: Path) -> None:
    health = health_of(site(tmp_path, config()), read_settings)
    assert (health.problems, health.notes) == ((), ())


@pytest.mark.parametrize("what", ["gone", "changed"])
def test_files_of_the_plugin_that_are_not_as_installed_are_named(tmp_path: Path, what: str) -> None:
    installed = site(tmp_path, config(), **{what: ("extensions/gitguard/index.js",)})
    (problem,) = health_of(installed, read_settings).problems
    assert problem.startswith("`extensions/gitguard/index.js` ")
    assert problem.endswith(AGAIN)


@pytest.mark.parametrize(
    ("document", "named"),
    [
        (config(enabled=False), "`plugins.enabled`"),
        (config(deny=["gitguard"]), "`plugins.deny`"),
        (config(entries={"gitguard": {"enabled": False}}), f"`{ENABLED}`"),
        ({"plugins": {}}, f"`{ENABLED}` is not set any more"),
        ({**config(), "hooks": {"internal": {"enabled": False}}}, "`hooks.internal.enabled`"),
    ],
)
def test_a_setting_that_keeps_the_plugin_from_loading_is_named(
    tmp_path: Path, document: dict[str, Any], named: str
) -> None:
    (problem,) = health_of(site(tmp_path, document), read_settings).problems
    assert named in problem


@pytest.mark.parametrize("document", [None, "{ // JSON5\n}", {**config(), "$include": "x.json5"}])
def test_settings_that_are_not_all_readable_are_unknown(tmp_path: Path, document: object) -> None:
    health = health_of(site(tmp_path, document), read_settings)
    assert health.problems == ()
    assert "unknown" in health.notes[0]


def test_a_workspace_that_needs_the_plugin_is_told_when_it_is_gone(
    open_guard: OpenGuard, hermetic_seal: Path
) -> None:
    guard = open_guard(home=str(hermetic_seal))
    guard.install("openclaw", InstallOptions("/opt/gitguard"))
    folder = hermetic_seal / ".openclaw" / "extensions" / "gitguard"
    (health,) = hook_health(guard.workspace, "openclaw")
    assert health.problems == ()
    (folder / "index.js").unlink()
    (health,) = hook_health(guard.workspace, "openclaw")
    assert "`extensions/gitguard/index.js` missing" in health.problems[0]
