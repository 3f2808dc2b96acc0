"""`init` and `uninstall` without a host: those that are here, as far as the user confirms them."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from gitguard import hosts
from gitguard.errors import NotConfirmed
from gitguard.hosts.base import InstallOptions
from gitguard.settings.present_hosts import PresentHost, choose

EXECUTABLE = str(Path(sys.executable).with_name("gitguard"))
OPTIONS = InstallOptions()
FILES = {"codex": ".codex/hooks.json", "qwen": ".qwen/settings.json"}


def gitguard(repo: Path, *arguments: str, path: str = "") -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PATH": path + os.pathsep + os.environ["PATH"]}
    return subprocess.run(
        [EXECUTABLE, *arguments],
        cwd=repo,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
    )


def ask(repo: Path, answers: str, *arguments: str) -> str:
    """Run it on a terminal on which somebody types answers; return what it prints."""
    ours, theirs = pty.openpty()
    with os.fdopen(ours, "wb", buffering=0) as terminal:
        terminal.write(answers.encode())
        done = subprocess.run(
            [EXECUTABLE, *arguments],
            cwd=repo,
            stdin=theirs,
            capture_output=True,
            text=True,
            check=False,
        )
        os.close(theirs)
    return done.stdout + done.stderr


def have(home: Path, *names: str) -> None:
    """Give the user a folder of each host."""
    for name in names:
        (home / hosts.HOSTS[name].marks.folder).mkdir(parents=True)


def set_up(repo: Path) -> list[str]:
    """The hosts that `status` names as installed."""
    status = json.loads(gitguard(repo, "status", "--json").stdout)
    return [host["host"] for host in status["hosts"] if host["is_installed"]]


# The choice


def here(name: str, **known: object) -> PresentHost:
    folder = "" if known else f"/home/me/.{name}"
    return PresentHost(name, folder=folder).replace(**known)


@pytest.mark.parametrize(
    ("present", "chosen", "asked"),
    [
        ((), ("claude-code",), ()),
        ((here("codex"),), ("codex",), ()),
        ((here("codex"), here("qwen")), (), ("codex", "qwen")),
        ((here("codex", is_set_up=True), here("qwen")), ("codex",), ("qwen",)),
        ((here("codex", is_around=True), here("qwen")), ("codex",), ("qwen",)),
    ],
    ids=["none", "one", "several", "set up before", "around the command"],
)
def test_only_a_choice_among_several_needs_the_user(
    present: tuple[PresentHost, ...], chosen: tuple[str, ...], asked: tuple[str, ...]
) -> None:
    choice = choose(present, OPTIONS)
    assert (choice.chosen, choice.asked) == (chosen, asked)


def test_an_option_that_one_host_knows_is_about_that_one() -> None:
    present = (here("claude-code").replace(offers=("--shared",)), here("codex"))
    assert choose(present, InstallOptions(shared=True)).chosen == ("claude-code",)
    assert choose(present, InstallOptions(with_trigger=False)).asked == ("claude-code", "codex")


# `gitguard init`


def test_where_no_host_is_found_the_default_is_set_up_and_its_absence_said(repo: Path) -> None:
    done = gitguard(repo, "init")
    assert "claude-code was not found: no `claude` is on PATH" in done.stdout
    assert set_up(repo) == ["claude-code"]


def test_a_named_host_that_is_not_there_is_set_up_and_its_absence_said(repo: Path) -> None:
    done = gitguard(repo, "init", "--host", "qwen", "--json")
    assert json.loads(done.stdout)["hosts"] == ["qwen"]
    assert any(note.startswith("qwen was not found") for note in json.loads(done.stdout)["notes"])
    assert set_up(repo) == ["qwen"]


def test_the_only_host_is_set_up_without_a_question(repo: Path, tmp_path: Path) -> None:
    program = tmp_path / "bin" / "codex"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    done = gitguard(repo, "init", path=str(program.parent))
    assert done.returncode == 0
    assert "was not found" not in done.stdout
    assert "Codex runs no hook before you approve it" in done.stdout
    assert set_up(repo) == ["codex"]


def test_of_several_hosts_none_is_set_up_unasked_and_all_are_listed(
    repo: Path, hermetic_seal: Path
) -> None:
    have(hermetic_seal, "qwen", "codex")
    (repo / ".codex").mkdir()
    done = gitguard(repo, "init")
    assert done.returncode == NotConfirmed.exit_code
    assert f"Found qwen: `{hermetic_seal}/.qwen`\n" in done.stdout
    assert f"Found codex: `{hermetic_seal}/.codex`, `.codex` in this project\n" in done.stdout
    assert "--yes" in done.stderr
    refused = gitguard(repo, "init", "--json")
    assert refused.returncode == NotConfirmed.exit_code
    document = json.loads(refused.stdout)
    assert [host["name"] for host in document["present_hosts"]] == ["qwen", "codex"]
    assert document["error"]["kind"] == "NotConfirmed"
    assert not any((hermetic_seal / file).exists() for file in FILES.values())


def test_with_yes_all_are_set_up_side_by_side_and_removed_together(
    repo: Path, hermetic_seal: Path
) -> None:
    have(hermetic_seal, "qwen", "codex")
    settings = hermetic_seal / FILES["qwen"]
    settings.write_text('{"theme": "dark"}')
    done = gitguard(repo, "init", "--yes", "--json")
    assert json.loads(done.stdout)["hosts"] == ["qwen", "codex"]
    assert set_up(repo) == ["qwen", "codex"]
    assert "need no change" in gitguard(repo, "init").stdout
    shown = gitguard(repo, "uninstall", "--dry-run")
    assert all(f"{hermetic_seal}/{file}" in shown.stdout for file in FILES.values())
    assert set_up(repo) == ["qwen", "codex"]
    taken = gitguard(repo, "uninstall")
    assert taken.returncode == 0
    assert "still installed" not in taken.stdout
    assert settings.read_text() == '{"theme": "dark"}'
    assert not (hermetic_seal / FILES["codex"]).exists()
    assert set_up(repo) == []


def test_uninstalling_one_of_two_names_the_other(repo: Path, hermetic_seal: Path) -> None:
    have(hermetic_seal, "qwen", "codex")
    gitguard(repo, "init", "--yes")
    assert "still installed for `codex`" in gitguard(repo, "uninstall", "--host", "qwen").stdout
    assert set_up(repo) == ["codex"]


def test_on_a_terminal_those_that_the_user_confirms_are_set_up(
    repo: Path, hermetic_seal: Path
) -> None:
    have(hermetic_seal, "qwen", "codex")
    assert "nothing was changed" in ask(repo, "n\nn\n", "init")
    assert set_up(repo) == []
    assert "Set up gitguard for codex? [y/N]" in ask(repo, "n\ny\n", "init")
    assert set_up(repo) == ["codex"]


def test_a_preview_shows_all_of_them_and_asks_nothing(repo: Path, hermetic_seal: Path) -> None:
    have(hermetic_seal, "qwen", "codex")
    shown = gitguard(repo, "init", "--dry-run")
    assert shown.returncode == 0
    assert all(f"{hermetic_seal}/{file}" in shown.stdout for file in FILES.values())
    assert "Not set up before you confirm, or with --yes: qwen and codex." in shown.stderr
    assert not any((hermetic_seal / file).exists() for file in FILES.values())


def test_a_preview_shows_only_what_would_change_without_a_question(
    repo: Path, hermetic_seal: Path
) -> None:
    gitguard(repo, "init", "--host", "codex")
    have(hermetic_seal, "qwen")
    shown = gitguard(repo, "init", "--dry-run")
    assert FILES["qwen"] not in shown.stdout
    assert "Not set up before you confirm, or with --yes: qwen." in shown.stderr
    assert FILES["qwen"] in gitguard(repo, "init", "--dry-run", "--yes").stdout


def test_a_second_run_renews_what_is_set_up_and_lists_the_others(
    repo: Path, hermetic_seal: Path
) -> None:
    gitguard(repo, "init", "--host", "codex")
    have(hermetic_seal, "qwen")
    done = gitguard(repo, "init")
    assert done.returncode == 0
    assert "Found qwen" in done.stderr
    assert "use --yes" in done.stderr
    assert set_up(repo) == ["codex"]


def test_nothing_is_changed_where_the_settings_of_one_host_cannot_be_read(
    repo: Path, hermetic_seal: Path
) -> None:
    have(hermetic_seal, "qwen", "codex")
    (hermetic_seal / FILES["codex"]).write_text("{")
    done = gitguard(repo, "init", "--yes")
    assert done.returncode != 0
    assert not (hermetic_seal / FILES["qwen"]).exists()
    assert set_up(repo) == []


def test_a_program_of_the_repository_is_no_host(repo: Path) -> None:
    program = repo / "bin" / "qwen"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    assert "claude-code was not found" in gitguard(repo, "init", path=str(program.parent)).stdout
    assert set_up(repo) == ["claude-code"]
