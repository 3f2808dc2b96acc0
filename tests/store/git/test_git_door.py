"""The door to git: nothing of the repository's own is run, and nothing outside leads it astray."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
from pathlib import Path

import pytest

from gitguard.errors import GitFailed
from gitguard.guard import Guard
from gitguard.store.disk.child import Child, start
from gitguard.store.session.workspace import UserDirs
from tests.conftest import Git, OpenGuard
from tests.support.needed import need_root
from tests.support.waiting import is_alive, wait_until

_TRAP = "#!/bin/sh\necho {name} >> {marker}\nexit 0\n"


@pytest.fixture
def trapped(git: Git, tmp_path: Path) -> Path:
    """A repository whose every hook, filter and helper leaves a mark; returns the mark's path."""
    marker, script = tmp_path / "ran", tmp_path / "trap"
    script.write_text(_TRAP.format(name="program", marker=marker))
    script.chmod(0o755)
    hooks = git.root / ".git" / "hooks"
    hooks.mkdir(exist_ok=True)
    for name in ("reference-transaction", "post-commit", "pre-commit", "post-index-change"):
        (hooks / name).write_text(_TRAP.format(name=name, marker=marker))
        (hooks / name).chmod(0o755)
    for setting in (
        "core.fsmonitor", "core.pager", "core.editor", "core.sshCommand", "core.askPass",
        "core.alternateRefsCommand", "diff.external", "gpg.program", "credential.helper",
        "filter.x.clean", "filter.x.smudge", "filter.x.process", "diff.x.textconv",
    ):  # fmt: skip
        git("config", setting, str(script))
    git("config", "commit.gpgSign", "true")
    (git.root / ".git" / "info" / "attributes").write_text("* filter=x diff=x\n")
    marker.unlink(missing_ok=True)
    return marker


def test_nothing_of_a_booby_trapped_repository_runs(guard: Guard, trapped: Path) -> None:
    guard.ensure()
    guard.note({"goal": "Safe", "current_phase": "two"})
    guard.checkpoint("A reason.")
    guard.restore("1")
    guard.repair_local()
    guard.resume()
    guard.status()
    guard.log()
    guard.diff()
    guard.gate("host")
    assert not trapped.exists()


def test_an_inherited_git_dir_leads_nowhere(
    git: Git, tmp_path: Path, places: UserDirs, guard: Guard
) -> None:
    other = Git(tmp_path / "other")
    other.root.mkdir()
    other.start()
    stray = {
        "GIT_DIR": str(other.root / ".git"),
        "GIT_WORK_TREE": str(other.root),
        "GIT_INDEX_FILE": str(tmp_path / "index"),
        "GIT_OBJECT_DIRECTORY": str(other.root / ".git" / "objects"),
        "GIT_NAMESPACE": "stray",
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "core.hooksPath",
        "GIT_CONFIG_VALUE_0": str(tmp_path),
    }
    environment = {**places.environment, **stray}
    astray = Guard(str(git.root), places.replace(environment=environment), guard.clock)
    astray.ensure()
    astray.note({"goal": "Here"})
    assert '"goal": "Here"' in git("show", "gitguard/main:state.json")
    assert other("for-each-ref", "refs/heads/gitguard") == ""


def test_a_git_that_lies_in_the_worktree_or_in_a_relative_folder_is_never_run(
    git: Git, tmp_path: Path, places: UserDirs, guard: Guard
) -> None:
    marker = tmp_path / "ran"
    script = git.root / "git"
    script.write_text(_TRAP.format(name="git", marker=marker))
    script.chmod(0o755)
    real = places.environment["PATH"]
    folder = tmp_path / "folder" / "git"
    folder.mkdir(parents=True)
    path = os.pathsep.join([".", "", str(git.root), str(folder.parent), real])
    environment = {**places.environment, "PATH": path}
    careful = Guard(str(git.root), places.replace(environment=environment), guard.clock)
    old = Path.cwd()
    os.chdir(git.root)
    try:
        careful.ensure()
        assert careful.checkpoint("A reason.").commit
    finally:
        os.chdir(old)
    assert not marker.exists()


def test_without_git_there_is_one_sentence(git: Git, places: UserDirs, guard: Guard) -> None:
    environment = {**places.environment, "PATH": "/nonexistent"}
    without = Guard(str(git.root), places.replace(environment=environment), guard.clock)
    with pytest.raises(GitFailed, match="no `git` on PATH"):
        without.ensure()


def test_a_repository_of_somebody_else_is_used_only_where_the_user_allowed_it(
    git: Git, guard: Guard, hermetic_seal: Path, tmp_path: Path
) -> None:
    need_root("to give a repository away")
    for path in [git.root, *git.root.rglob("*")]:
        os.chown(path, 12345, 12345, follow_symlinks=False)
    with pytest.raises(GitFailed) as caught:
        guard.ensure()
    assert "safe.directory" in caught.value.hint
    assert not (git.root / ".gitguard").exists()
    subprocess.run(
        ["git", "config", "--global", "--add", "safe.directory", str(git.root)], check=True
    )
    assert guard.ensure().how == "begun"
    assert guard.checkpoint("A reason.").commit
    assert guard.log()[0].sequence == 2


def test_a_corrupt_ref_is_an_error_and_never_a_missing_one(
    git: Git, guard: Guard, open_guard: OpenGuard
) -> None:
    guard.ensure()
    ref = git.root / ".git" / "refs" / "heads" / "gitguard" / "main"
    before = ref.read_text()
    for broken in ("", "\0" * 41, "x" * 40 + "\n", before[:20]):
        ref.write_text(broken)
        with pytest.raises(GitFailed):
            open_guard().ensure()
        assert ref.read_text() == broken
    ref.write_text(before)
    assert open_guard().ensure().how == "continued"


def test_the_folder_a_process_stands_in_may_be_gone(guard: Guard, tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    old = Path.cwd()
    os.chdir(gone)
    gone.rmdir()
    try:
        guard.ensure()
        assert guard.log()
    finally:
        os.chdir(old)


def test_a_child_that_does_not_end_in_time_is_left_to_whoever_waits() -> None:
    with Child(["sleep", "60"]) as child:
        with pytest.raises(subprocess.TimeoutExpired):
            child.wait(0.01)
        child.kill()
        assert child.wait(30) == -signal.SIGKILL


def test_a_child_is_ended_with_what_it_started_though_that_ignores_the_first_signal() -> None:
    with start("trap '' TERM; sleep 60 & echo $!; wait; sleep 60") as child:
        assert child.stdout is not None
        grandchild = int(child.stdout.readline())
        child.end(grace=0.1)
    assert child.returncode == -signal.SIGKILL
    wait_until(lambda: not is_alive(grandchild))


def test_the_end_of_a_child_is_noticed_where_the_kernel_has_no_handle_of_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def no_handle(_process: int) -> int:
        raise OSError(errno.ENOSYS, "Function not implemented")

    monkeypatch.setattr(os, "pidfd_open", no_handle, raising=False)
    with Child(["true"]) as child:
        assert child.wait(30) == 0
