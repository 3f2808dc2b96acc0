"""A repository that is a trap: nothing of it runs, and nothing outside it leads us elsewhere."""

from __future__ import annotations

import json
import os
import subprocess
import time
from pathlib import Path

import pytest

from gitguard.errors import NotARepository
from gitguard.guard import Guard
from gitguard.store.session.workspace import UserDirs
from tests.conftest import Git
from tests.support.hostile import (
    Traps,
    answer,
    every_command,
    every_hook,
    gitguard,
    inside,
    payload,
    tree_of,
)
from tests.support.keys import Machine, SshKeys
from tests.support.needed import need_root


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
        answers = [*every_hook(git.root), *every_hook(git.root, "P2")]
        sessions = json.loads(gitguard("session", "list", "--json").out)["keys"].values()
        logs = "".join(gitguard("--session", key, "log", "-n", "99").out for key in sessions)
    assert traps.fired() == set()
    assert len([text for text in answers if text]) > 20
    for trigger in ("start", "auto-85pct", "compaction", "turn-end"):
        assert f" {trigger} " in logs


def test_signing_runs_the_users_programs_and_not_the_repositorys(
    git: Git, traps: Traps, tmp_path: Path, hermetic_seal: Path
) -> None:
    keys, machine = SshKeys(tmp_path / "keys"), Machine(hermetic_seal)
    machine.use_ssh(keys.make("here"), keys.allowed)
    config = hermetic_seal / ".config" / "gitguard" / "config.yaml"
    config.parent.mkdir(parents=True, exist_ok=True)
    config.write_text("sign: true\n")
    with inside(git.root, CLAUDE_PROJECT_DIR=str(git.root)):
        for arguments in (("note", "--goal", "Signed"), ("checkpoint",), ("verify",)):
            assert gitguard(*arguments).code == 0
        answer("claude-code", payload("UserPromptSubmit", git.root))
        answer("claude-code", payload("Stop", git.root))
    assert traps.fired() == set()
    assert "gpgsig" in git("--no-pager", "cat-file", "commit", "gitguard/main")


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


# What surrounds the repository


def stray(folder: Path, traps: Traps, other: Git) -> dict[str, str]:
    """Return every variable by which a caller's environment could lead git elsewhere."""
    programs = folder / "programs"
    programs.mkdir()
    for name in ("git-update-ref", "git-cat-file", "git-for-each-ref", "git-ls-files", "git"):
        traps.script(name, folder=programs)
    return {
        "GIT_DIR": str(other.root / ".git"),
        "GIT_COMMON_DIR": str(other.root / ".git"),
        "GIT_WORK_TREE": str(other.root),
        "GIT_INDEX_FILE": str(folder / "index"),
        "GIT_OBJECT_DIRECTORY": str(other.root / ".git" / "objects"),
        "GIT_ALTERNATE_OBJECT_DIRECTORIES": str(other.root / ".git" / "objects"),
        "GIT_QUARANTINE_PATH": str(folder),
        "GIT_NAMESPACE": "stray",
        "GIT_REPLACE_REF_BASE": "refs/heads/",
        "GIT_DEFAULT_HASH": "sha256",
        "GIT_CEILING_DIRECTORIES": str(folder.parent),
        "GIT_CONFIG": str(folder / "config"),
        "GIT_CONFIG_GLOBAL": str(folder / "config"),
        "GIT_CONFIG_SYSTEM": str(folder / "config"),
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "core.hooksPath",
        "GIT_CONFIG_VALUE_0": str(programs),
        "GIT_CONFIG_PARAMETERS": f"'core.hooksPath'='{programs}'",
        "GIT_EXEC_PATH": str(programs),
        "GIT_TEMPLATE_DIR": str(programs),
        "GIT_LITERAL_PATHSPECS": "0",
        "GIT_GLOB_PATHSPECS": "1",
        "GIT_SHALLOW_FILE": str(folder / "shallow"),
        "GIT_GRAFT_FILE": str(folder / "grafts"),
        "GIT_PROTOCOL_FROM_USER": "1",
        "GIT_ALLOW_PROTOCOL": "ext:file",
        "GIT_REF_PARANOIA": "0",
        **{name: traps.script(name) for name in _PROGRAM_VARIABLES},
        **{name: str(folder / f"{name}.log") for name in _TRACE_VARIABLES},
    }


_PROGRAM_VARIABLES = (
    "GIT_SSH_COMMAND", "GIT_SSH", "GIT_EXTERNAL_DIFF", "GIT_PAGER", "GIT_ASKPASS", "GIT_EDITOR",
    "GIT_SEQUENCE_EDITOR", "GIT_PROXY_COMMAND", "SSH_ASKPASS", "PAGER", "EDITOR", "VISUAL",
)  # fmt: skip
_TRACE_VARIABLES = (
    "GIT_TRACE", "GIT_TRACE2", "GIT_TRACE2_EVENT", "GIT_TRACE2_PERF", "GIT_TRACE_SETUP",
    "GIT_TRACE_PACKET", "GIT_TRACE_REFS", "GIT_TRACE_PERFORMANCE", "GIT_TRACE_CURL",
)  # fmt: skip


def test_no_inherited_variable_leads_anywhere(git: Git, tmp_path: Path) -> None:
    traps, folder = Traps(tmp_path / "traps"), tmp_path / "stray"
    folder.mkdir()
    (folder / "config").write_text(f"[core]\n\thooksPath = {traps.marks}\n")
    other = Git(tmp_path / "other")
    other.root.mkdir()
    other.start()
    variables = stray(folder, traps, other)
    before, lying = tree_of(other.root), tree_of(folder)
    with inside(git.root, CLAUDE_PROJECT_DIR=str(git.root), **variables):
        led = subprocess.run(["git", "rev-parse", "--git-dir"], capture_output=True, check=False)
        for path in folder.glob("*.log"):
            path.unlink()
        assert str(other.root) in led.stdout.decode()  # the control
        for name in ("SessionStart.startup", "PreToolUse.Bash", "Stop"):
            answer("claude-code", payload(name, git.root))
        ended = list(every_command())
    assert sum(outcome.code == 0 for outcome in ended) > 30
    assert traps.fired() == set()
    assert (tree_of(other.root), tree_of(folder)) == (before, lying)
    kept = git("for-each-ref", "refs/heads/gitguard/main", "refs/gitguard/archive/main")
    assert kept, "what the commands committed, the last of which close the session"


@pytest.mark.parametrize("path", ["", ".", ":", "bin", "{root}/bin", "/nonexistent", "{folder}"])
def test_without_a_git_of_the_systems_own_nothing_is_run(
    git: Git, tmp_path: Path, path: str
) -> None:
    """A git of the repository's own, a folder called git, or none at all."""
    traps = Traps(tmp_path / "traps")
    (git.root / "bin").mkdir()
    traps.script("git", folder=git.root)
    traps.script("git", folder=git.root / "bin")
    (tmp_path / "folder" / "git").mkdir(parents=True)
    found = path.format(root=git.root, folder=tmp_path / "folder")
    with inside(git.root, PATH=found, CLAUDE_PROJECT_DIR=str(git.root)):
        assert "no `git` on PATH" in gitguard("ensure").err
        assert answer("claude-code", payload("UserPromptSubmit", git.root)) == ""
    assert traps.fired() == set()


@pytest.mark.parametrize("given", ["all of it", "its .git alone"])
def test_nothing_is_written_into_a_repository_of_somebody_else(git: Git, given: str) -> None:
    need_root("to give a repository away")
    root = git.root if given == "all of it" else git.root / ".git"
    for path in [root, *root.rglob("*")]:
        os.chown(path, 12345, 12345, follow_symlinks=False)
    before = tree_of(git.root)
    with inside(git.root, CLAUDE_PROJECT_DIR=str(git.root)):
        assert set(every_hook(git.root)) == {""}
        for outcome in every_command():
            assert "belongs to another user" in outcome.said or outcome.code in (0, 2, 20, 21, 23)
    assert tree_of(git.root) == before


def test_a_repository_inside_the_worktree_is_not_entered(git: Git, tmp_path: Path) -> None:
    """A clone can bring a bare repository in as plain files; git itself would use it."""
    inner = git.root / "vendor" / "x"
    git("clone", "--quiet", "--bare", ".", str(inner))
    traps = Traps(tmp_path / "traps")
    with (inner / "config").open("a") as config:
        config.write(f"[core]\n\tfsmonitor = {traps.script('fsmonitor')}\n")
    traps.script("reference-transaction", folder=inner / "hooks")
    before = tree_of(inner)
    with inside(inner):
        assert Git(inner)("rev-parse", "--is-bare-repository") == "true"  # the control
        assert gitguard("ensure").code == 0
        assert gitguard("note", "--goal", "Outside").code == 0
    assert tree_of(inner) == before
    assert traps.fired() == set()
    assert git("for-each-ref", "refs/heads/gitguard/main")


def test_settings_of_the_repository_do_not_say_where_the_worktree_is(git: Git) -> None:
    with inside(git.root):
        gitguard("ensure")
        git("config", "core.bare", "true")
        assert gitguard("handoff", "write").code == 0
        git("config", "core.bare", "false")
        git("config", "core.worktree", str(git.root.parent))
        assert gitguard("note", "--goal", "Here").code == 0
        assert gitguard("handoff", "write").code == 0
    assert not (git.root.parent / ".gitguard").exists()


def test_what_a_file_of_git_says_cannot_be_a_path(git: Git, places: UserDirs) -> None:
    (git.root / ".git" / "commondir").write_bytes(b"../a\0b\n")
    with pytest.raises(NotARepository):
        Guard(str(git.root), places, time.time)
    (git.root / ".git" / "commondir").unlink()
    folder = git.root / "sub"
    folder.mkdir()
    (folder / ".git").write_bytes(b"gitdir: a\0b\n")
    assert Guard(str(folder), places, time.time).workspace.place.worktree == str(git.root)
