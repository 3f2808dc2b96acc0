"""Which `gitguard` comes first on PATH: told from files, and never by running it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gitguard import __version__
from gitguard.hosts.base import InstallOptions
from tests.conftest import OpenGuard

HOST = "claude-code"


def install(prefix: Path, package: str = "", version: str = __version__) -> Path:
    """Lay out an environment with a command `gitguard`, and return that command's folder."""
    command = prefix / "bin" / "gitguard"
    command.parent.mkdir(parents=True, exist_ok=True)
    command.write_text(f"#!/bin/sh\ntouch {prefix}/ran\n")
    command.chmod(0o755)
    if package:
        packages = prefix / "lib" / "python3.12" / "site-packages"
        (packages / f"{package}-{version}.dist-info").mkdir(parents=True)
    return command.parent


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    """The folder of our own command."""
    return install(tmp_path / "mine", "gitguard_workspace")


def warnings(open_guard: OpenGuard, mine: Path, *path: Path, shared: bool = False) -> list[str]:
    """Return what `init` warns of in an environment with these folders first on PATH."""
    around = {**os.environ, "PATH": ":".join([*map(str, path), "/usr/bin", "/bin"])}
    guard = open_guard(environment=around)
    outcome = guard.install(HOST, InstallOptions(str(mine / "gitguard"), shared=shared))
    return [warning for warning in outcome.warnings if "PATH" in warning]


@pytest.mark.parametrize(
    ("package", "version", "what"),
    [
        ("gitguard", "1.0.2", "which is another program (the package `gitguard` 1.0.2)"),
        ("gitguard_workspace", "0.0.9", f"which is gitguard-workspace 0.0.9, not {__version__}"),
        ("", "", "which is not known to be gitguard-workspace"),
    ],
)
def test_init_names_a_different_gitguard_earlier_on_the_path_and_does_not_run_it(
    open_guard: OpenGuard, mine: Path, tmp_path: Path, package: str, version: str, what: str
) -> None:
    theirs = install(tmp_path / "theirs", package, version)
    assert warnings(open_guard, mine, theirs, mine) == [
        f"`gitguard` on PATH is `{theirs}/gitguard`, {what}, and agents would run it; put "
        f"`{mine}` before `{theirs}` on PATH"
    ]
    assert not (tmp_path / "theirs" / "ran").exists()


def test_init_is_silent_where_its_own_command_or_one_of_its_version_comes_first(
    open_guard: OpenGuard, mine: Path, tmp_path: Path
) -> None:
    theirs = install(tmp_path / "theirs", "gitguard", "1.0.2")
    assert warnings(open_guard, mine, mine, theirs) == []
    same = install(tmp_path / "same", "gitguard_workspace")
    assert warnings(open_guard, mine, same, theirs) == []
    links = tmp_path / "links"
    links.mkdir()
    (links / "gitguard").symlink_to(mine / "gitguard")
    assert warnings(open_guard, mine, links, theirs) == []


def test_init_names_another_program_that_was_installed_over_this_one(
    open_guard: OpenGuard, mine: Path
) -> None:
    install(mine.parent, "gitguard", "1.0.2")
    (warning,) = warnings(open_guard, mine, mine)
    assert "run `pip uninstall gitguard` there, then install gitguard-workspace again" in warning


def test_personal_settings_stand_beside_shared_ones_that_would_run_another_program(
    open_guard: OpenGuard, mine: Path, tmp_path: Path, repo: Path
) -> None:
    theirs = install(tmp_path / "theirs", "gitguard", "1.0.2")
    assert warnings(open_guard, mine, theirs, mine, shared=True)
    assert warnings(open_guard, mine, theirs, mine)
    assert str(mine / "gitguard") in (repo / ".claude" / "settings.local.json").read_text()
