"""What a reviewer is told of the code that goes with a checkpoint, in any repository."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from gitguard.guard import Guard
from gitguard.store.git.code_history import CodeCommit, CodeHistory
from gitguard.store.git.place import locate
from gitguard.store.git.repository import Repository
from tests.conftest import Git
from tests.support.hostile import Traps, gitguard, inside


def history_of(git: Git) -> CodeHistory:
    return CodeHistory(Repository(locate(str(git.root)), os.environ, lambda: 0.0))


def commit(git: Git, message: str, **files: str | None) -> str:
    """Commit files by name (two underlines are a slash), or their removal; return the id."""
    for name, content in files.items():
        path = git.root / name.replace("__", "/")
        if content is None:
            path.unlink()
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    git("add", "--all", "--", *(name.replace("__", "/") for name in files))
    git("commit", "--quiet", "--allow-empty", "--message", message)
    return git("rev-parse", "HEAD")


def test_a_commit_is_described_by_subject_author_date_and_reach(git: Git) -> None:
    commit_id = commit(git, "Fix the parser\n\nAt length.", a__b="1")
    described = history_of(git).commit(commit_id)
    authored_at = git("log", "-1", "--format=%aI")
    assert described == CodeCommit(
        commit_id,
        is_there=True,
        subject="Fix the parser",
        authored_at=authored_at.replace("Z", "+00:00"),
        is_reachable=True,
    )
    assert history_of(git).head() == commit_id


def test_files_are_counted_as_git_counts_them(git: Git) -> None:
    first = commit(git, "1", src__a__one="1", src__a__two="2", src__b="3", file="4", same__x="5")
    (git.root / "file").unlink()
    second = commit(
        git, "2", src__a__one="changed", src__a__two=None, src__c__d__e="new", file__below="6"
    )
    (git.root / "src" / "b").chmod(0o755)
    third = commit(git, "3", src__b="3")
    history = history_of(git)
    for older, newer in ((first, second), (second, first), (second, third), (first, third)):
        listed = git("diff-tree", "-r", "--no-renames", "--name-only", older, newer).splitlines()
        assert history.commit(newer, older).files_changed == len(listed) > 0
    assert history.commit(third, third).files_changed == 0
    assert history.commit(first, "").files_changed == len(git("ls-tree", "-r", first).splitlines())


def test_a_commit_that_is_gone_or_was_never_one_is_not_there(git: Git) -> None:
    blob = git("rev-parse", "HEAD:README.md")
    history = history_of(git)
    for name in ("0" * 40, "--help", "HEAD", "x" * 40):
        assert history.commit(name) == CodeCommit(name)
    assert history.commit(blob).subject == ""


def test_a_malformed_commit_is_there_and_says_nothing(
    git: Git, capfd: pytest.CaptureFixture[str]
) -> None:
    tree = git("rev-parse", "HEAD^{tree}")
    head = f"tree {tree}\nauthor A <a@b> 99999999999999999999 +9999\ncommitter A <a@b> 1 +0000\n"
    for body in ("tree x\n\n", head + "encoding no-such\n\nsubject\n", head + "\nsubject\n", ""):
        commit_id = git("hash-object", "-t", "commit", "-w", "--literally", "--stdin", stdin=body)
        assert history_of(git).commit(commit_id, "").is_there
    assert capfd.readouterr() == ("", "")


def test_a_subject_is_one_printable_line(git: Git) -> None:
    text = "Fix \x1b[31mred\x1b[0m\u202e " + "long " * 40
    subject = history_of(git).commit(commit(git, text)).subject
    assert subject.startswith("Fix ")
    assert subject.isprintable()
    assert len(subject) <= 72


def test_in_a_repository_with_sha256_ids_only_the_id_is_told(tmp_path: Path) -> None:
    git = Git(tmp_path)
    git.start("--object-format=sha256")
    head = git("rev-parse", "HEAD")
    assert history_of(git).commit(head, "") == CodeCommit(head, is_there=True, is_reachable=True)


def test_an_object_that_git_shows_as_another_is_not_described(git: Git) -> None:
    first, second = commit(git, "One", a="1"), commit(git, "Two", a="2")
    git("replace", second, first)
    assert history_of(git).commit(second).subject == ""


# What the commands print


def test_show_names_the_code_on_standard_error_and_prints_the_file_alone(git: Git) -> None:
    with inside(git.root):
        gitguard("ensure")
        before = gitguard("checkpoint", "-m", "One")
        commit_id = commit(git, "Fix the parser", a="1", b="2", c__d="3")
        gitguard("checkpoint", "-m", "Two")
        run = subprocess_gitguard(git, "show", "state", "3")
        document = json.loads(gitguard("show", "3", "--json").out)
    assert before.code == 0
    assert (
        run.stderr
        == f'Code: {commit_id[:7]} "Fix the parser" (3 files changed since checkpoint 2)\n'
    )
    assert json.loads(run.stdout)["schema_version"]
    assert document["code"]["id"] == commit_id
    assert document["code"]["files_changed"] == 3
    assert document["code"]["compared_with"] == "cp_002"


def test_diff_names_the_code_of_its_newer_side(git: Git) -> None:
    with inside(git.root):
        gitguard("ensure")
        commit_id = commit(git, "Fix the parser", a="1")
        gitguard("checkpoint", "-m", "Two")
        assert gitguard("diff", "1..2").out.startswith(
            f'Code: {commit_id[:7]} "Fix the parser" (1 file changed since checkpoint 1)\n'
        )
        amended = commit(git, "Next", a="2")
        assert (
            f'Code: {amended[:7]} "Next" (1 file changed since checkpoint 2)'
            in gitguard("diff").out
        )
        assert json.loads(gitguard("diff", "1", "2", "--json").out)["code"]["id"] == commit_id


def test_code_that_was_rewritten_or_collected_is_named_as_that(git: Git) -> None:
    with inside(git.root):
        gitguard("ensure")
        commit_id = commit(git, "Later amended", a="1")
        gitguard("checkpoint", "-m", "Two")
        git("reset", "--quiet", "--hard", "HEAD~1")
        assert "(1 file changed since checkpoint 1, not in the history of HEAD)" in (
            gitguard("diff", "1", "2").out
        )
        git("reflog", "expire", "--expire=all", "--all")
        git("gc", "--quiet", "--prune=now")
        lost = f"Code: {commit_id[:7]} is no longer in this repository\n"
        assert gitguard("diff", "1", "2").out.startswith(lost)
        assert "unknown changes since checkpoint 2" in gitguard("diff", "2").out


def test_a_secret_in_a_subject_is_not_shown(git: Git) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    with inside(git.root):
        gitguard("ensure")
        commit(git, f"Use {secret}", a="1")
        assert secret not in gitguard("diff").out


# Nothing of the repository runs


def subprocess_gitguard(
    git: Git, *arguments: str, path: str = ""
) -> subprocess.CompletedProcess[str]:
    """Run gitguard in a process of its own, where GitPython is imported for the first time."""
    environment = dict(os.environ, PATH=f"{path}{os.environ['PATH']}")
    return subprocess.run(
        [sys.executable, "-m", "gitguard", *arguments],
        cwd=git.root,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def test_reading_code_runs_nothing_that_the_repository_names(git: Git, tmp_path: Path) -> None:
    traps = Traps(tmp_path / "traps")
    with inside(git.root):
        gitguard("ensure")
    commit(git, "Fix the parser", a="1")
    with inside(git.root):
        gitguard("checkpoint", "-m", "Two")
    traps.set_in(git)
    traps.script("git", folder=git.root)
    for arguments in (("show", "2"), ("diff", "1", "2"), ("diff",), ("log",)):
        run = subprocess_gitguard(git, *arguments, path=f".{os.pathsep}")
        assert run.returncode == 0, run.stderr
        if arguments[0] != "log":
            assert "Fix the parser" in run.stdout + run.stderr
    assert traps.fired() == set()
    subprocess.run(
        [sys.executable, "-c", "import git"],
        cwd=git.root,
        env=dict(os.environ, PATH=f".{os.pathsep}{os.environ['PATH']}"),
        capture_output=True,
        check=False,
        timeout=60,
    )
    assert traps.fired() == {"git"}, "the control: GitPython alone starts the repository's own git"


def test_gitpythons_variables_are_as_they_were(git: Git, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_PYTHON_REFRESH", "raise")
    before = dict(os.environ)
    assert history_of(git).commit(git("rev-parse", "HEAD")).subject == "First commit"
    assert dict(os.environ) == before


def test_the_library_answers_the_same(git: Git) -> None:
    with inside(git.root):
        gitguard("ensure")
    commit(git, "Fix the parser", a="1")
    code = Guard.open(str(git.root)).code_of()
    assert (code.subject, code.files_changed, code.compared_with) == ("Fix the parser", 1, "cp_001")
