"""A host that nobody has: a row of the table and two files, and nothing of the engine touched."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from gitguard import hosts
from gitguard.guard import Guard
from gitguard.hosts.base import InstallOptions
from gitguard.model.document_edits import has_entries
from gitguard.model.events import HookEvent
from gitguard.settings.installer import Outcome
from gitguard.store.session.removed_hosts import is_removed
from tests.conftest import Git, OpenGuard
from tests.support.house import MODULES, PACKAGE

HOST = "made-up"
ROW = hosts.HostRow((hosts.HOOKS, hosts.INSTALLING))
FOLDER = Path(__file__).parent
MINE = InstallOptions("/opt/gitguard")
EVENTS = ("asked", "before_call", "after_call", "answered")
SETTINGS = """\
# mine
model = "small"   # the cheap one

[features]
web = true        # I need it

[[hooks.before_call]]
run = "./check.sh"
"""


@pytest.fixture(autouse=True)
def made_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Put the host's row into the table, and its folder beside the other hosts'."""
    monkeypatch.setitem(hosts.HOSTS, HOST, ROW)
    monkeypatch.setattr(hosts, "__path__", [*hosts.__path__, str(FOLDER)])


@pytest.fixture
def guard(open_guard: OpenGuard, hermetic_seal: Path) -> Guard:
    return open_guard(home=str(hermetic_seal))


@pytest.fixture
def config(hermetic_seal: Path) -> Path:
    path = hermetic_seal / ".made-up" / "config.toml"
    path.parent.mkdir()
    path.write_text(SETTINGS)
    return path


@pytest.fixture
def plugin(config: Path) -> Path:
    return config.parent / "plugins" / "gitguard.js"


def install(guard: Guard) -> Outcome:
    return guard.install(HOST, MINE)


def test_a_host_is_a_row_and_two_files() -> None:
    assert sorted(path.name for path in (FOLDER / HOST.replace("-", "_")).glob("*.*")) == [
        "hooks.py",
        "installing.py",
    ]
    assert not [name for name in MODULES if HOST in (PACKAGE / name).read_text()]


def test_a_preview_shows_what_would_change_and_changes_nothing(
    guard: Guard, config: Path, plugin: Path
) -> None:
    outcome = guard.install(HOST, MINE, dry_run=True)
    diffs = {change.path: change.diff() for change in outcome.changes}
    assert {str(config), str(plugin)} < diffs.keys()
    lines = diffs[str(config)].splitlines()
    assert '+run = "/opt/gitguard hook made-up"' in lines
    assert not [line for line in lines[2:] if line.startswith("-")]
    assert (config.read_text(), plugin.exists()) == (SETTINGS, False)


def test_hooks_and_a_plugin_are_put_beside_what_is_the_users_and_every_byte_comes_back(
    guard: Guard, config: Path, plugin: Path, git: Git
) -> None:
    outcome = install(guard)
    document = tomllib.loads(config.read_text())
    assert "web = true        # I need it" in config.read_text()
    assert document["features"] == {"web": True, "hooks": True}
    assert document["hooks"]["before_call"][0] == {"run": "./check.sh"}
    ours: dict[str, Any] = {"run": "/opt/gitguard hook made-up", "seconds": 10}
    assert [document["hooks"][event][-1] for event in EVENTS] == [ours] * len(EVENTS)
    assert ours["run"] in plugin.read_text()
    assert "restart the host" in outcome.notes
    assert git("status", "--porcelain") == ""
    assert install(guard).changes == ()
    guard.uninstall(HOST)
    assert config.read_text() == SETTINGS
    assert not plugin.parent.exists()


@pytest.mark.parametrize("memory", ["there", "lost"])
def test_only_our_edits_go_from_a_file_that_somebody_changed_since(
    guard: Guard, config: Path, memory: str
) -> None:
    install(guard)
    text = config.read_text()
    changed = text.replace('model = "small"', 'model = "large"') + "\n# and more\n[mine]\nx = 1\n"
    config.write_text(changed)
    if memory == "lost":
        (Path(guard.workspace.places.state_home) / f"_{HOST}.json").unlink()
    guard.uninstall(HOST)
    document = tomllib.loads(config.read_text())
    assert document == {
        "model": "large",
        "features": {"web": True},
        "hooks": {"before_call": [{"run": "./check.sh"}]},
        "mine": {"x": 1},
    }
    for comment in ("# mine", "# the cheap one", "# I need it", "# and more"):
        assert comment in config.read_text()


def test_two_worktrees_share_what_is_the_users(
    guard: Guard, open_guard: OpenGuard, hermetic_seal: Path, git: Git, config: Path, tmp_path: Path
) -> None:
    git("worktree", "add", "--quiet", "-b", "side", str(tmp_path / "side"))
    other = open_guard(tmp_path / "side", home=str(hermetic_seal))
    install(guard)
    install(other)
    guard.uninstall(HOST)
    assert [is_removed(each.workspace, HOST) for each in (guard, other)] == [True, False]
    ours = hosts.find_installing(HOST).is_ours
    assert has_entries(tomllib.loads(config.read_text()), ours)
    other.uninstall(HOST)
    assert config.read_text() == SETTINGS


DRIVER = """
import sys
from gitguard import hosts
hosts.HOSTS[sys.argv[1]] = hosts.HostRow(tuple(sys.argv[3].split()))
hosts.__path__.append(sys.argv[2])
from gitguard.cli.hook import run
run([sys.argv[1]])
"""


def sent(repo: Path, event: str, **values: object) -> dict[str, str]:
    """Send an event to the command that the host's hooks run; return its answer."""
    payload = {"event": event, "id": "T1", "folder": str(repo), **values}
    done = subprocess.run(
        [sys.executable, "-c", DRIVER, HOST, str(FOLDER), " ".join(ROW.capabilities)],
        input=json.dumps(payload),
        env=dict(os.environ),
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr == ""
    answer: dict[str, str] = json.loads(done.stdout or "{}")
    return answer


def test_where_it_was_removed_its_hooks_do_nothing_though_another_project_keeps_them(
    guard: Guard, open_guard: OpenGuard, hermetic_seal: Path, git: Git, config: Path, tmp_path: Path
) -> None:
    git("worktree", "add", "--quiet", "-b", "side", str(tmp_path / "side"))
    other = open_guard(tmp_path / "side", home=str(hermetic_seal))
    install(guard)
    install(other)
    event = HookEvent("prompt", "H", guard.workspace.place.worktree, host=HOST, prompt="Mend it")
    guard.uninstall(HOST)
    guard.handle(event, hosts.find_host(HOST).abilities)
    assert "H" not in guard.status().host_sessions
    install(guard)
    guard.handle(event, hosts.find_host(HOST).abilities)
    assert "H" in guard.status().host_sessions


def test_its_events_are_translated_and_answered_in_its_words(
    open_guard: OpenGuard, repo: Path
) -> None:
    from gitguard.process import places

    surroundings = places(os.environ)
    guard = open_guard(**{n: getattr(surroundings, n) for n in surroundings.field_names})
    guard.ensure()
    sent(repo, "asked", words="Mend the parser", full=0.1)
    call = {"tool": "shell", "command": "make test"}
    assert sent(repo, "before_call", call=call, full=0.2) == {}
    sent(repo, "after_call", call=call, full=0.2)
    sent(repo, "answered", full=0.2)
    assert guard.state().goal == "Mend the parser"
    assert "make test" in json.dumps([c.command for c in guard.state().commands])
    refused = sent(repo, "before_call", call=call, full=0.9)["refuse"]
    assert "STATUS:HALT_CONTEXT_LIMIT" in refused
    assert "/squeeze or /fresh" in refused
