"""A repository that is a trap: nothing of it runs, and nothing outside it leads us elsewhere."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from .conftest import Git
from .hostile import Traps, every_command, every_hook, gitguard, inside


@pytest.fixture
def traps(git: Git, tmp_path: Path) -> Traps:
    """A repository in which every program that git may be told to run is a trap."""
    traps = Traps(tmp_path / "traps")
    with inside(git.root):
        assert gitguard("ensure").code == 0
    traps.set_in(git)
    return traps


LIES = {
    "plain": "",
    "elsewhere": "[core]\n\tworktree = {elsewhere}\n",
    "bare": "[core]\n\tbare = true\n",
}


@pytest.mark.parametrize("lie", LIES)
def test_no_command_runs_anything_of_a_booby_trapped_repository(
    git: Git, traps: Traps, tmp_path: Path, lie: str
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    with (git.root / ".git" / "config").open("a") as config:
        config.write(LIES[lie].format(elsewhere=elsewhere))
    with inside(git.root):
        ended = list(every_command())
    assert traps.fired() == set()
    assert sum(outcome.code == 0 for outcome in ended) > 30, [o for o in ended if o.code]
    assert list(elsewhere.iterdir()) == []


def test_no_hook_runs_anything_of_a_booby_trapped_repository(git: Git, traps: Traps) -> None:
    with inside(git.root, CLAUDE_PROJECT_DIR=str(git.root)):
        answers = [*every_hook(git.root), *every_hook(git.root)]
        sessions = json.loads(gitguard("session", "list", "--json").out)["keys"].values()
        logs = "".join(gitguard("--session", key, "log", "-n", "99").out for key in sessions)
    assert traps.fired() == set()
    assert len([text for text in answers if text]) > 20
    for trigger in ("start", "auto-80pct", "compaction", "turn-end"):
        assert f" {trigger} " in logs


def test_the_traps_would_fire(git: Git, traps: Traps) -> None:
    """The control: what a person types starts the same programs."""
    environment = {name: value for name, value in os.environ.items() if name != "GIT_EDITOR"}
    commit = "git commit -q --no-gpg-sign --no-verify -am"
    for command in (
        "git status", "echo more >> README.md; git diff", "git add .", "git commit",
        "git commit -m x", "git stash", "git log -p -1", "git ls-remote origin",
        "git ls-remote git://localhost/x", "git ls-remote ssh://host/x", "git tag -s -m x v1",
        "git rebase -i --root", "printf 'protocol=https\nhost=x\n\n' | git credential fill",
        f"git rebase --abort; {commit} 0; git checkout -q -b topic; echo 1 > README.md; {commit} 1;"
        f"git checkout -q main; echo 2 > README.md; {commit} 2; git merge --no-edit topic",
    ):  # fmt: skip
        subprocess.run(
            ["sh", "-c", command],
            cwd=git.root,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            timeout=20,
        )
    assert traps.fired() >= {
        "core.fsmonitor", "core.editor", "core.sshCommand", "core.gitProxy", "sequence.editor",
        "diff.trap.command", "diff.trap.textconv", "filter.trap.clean", "gpg.program",
        "credential.helper", "merge.trap.driver", "ext", "reference-transaction", "pre-commit",
        "post-index-change", "post-checkout",
    }, traps.fired()  # fmt: skip
