"""Snapshots of files: every kind of change is in them, nothing else, and nothing of git moves."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gitguard.guard import Guard
from tests.conftest import Git
from tests.support.kept_files import files_of, snapshot_of
from tests.support.secret_samples import some


@pytest.fixture
def worked(guard: Guard, git: Git) -> Guard:
    (git.root / ".gitignore").write_text(".gitguard/\nignored/\n*.log\n")
    for name in ("edited", "deleted", "renamed", "mode", "linked"):
        (git.root / name).write_text(f"{name}\n")
    (git.root / "forced.log").write_text("tracked although ignored\n")
    git("add", "--force", "--all", "--", ".gitignore", "edited", "deleted", "renamed", "mode")
    git("add", "--force", "--", "linked", "forced.log")
    git("commit", "--quiet", "--message", "Files")
    guard.ensure()
    return guard


def change_everything(git: Git) -> None:
    root = git.root
    (root / "edited").write_text("edited more\n")
    (root / "deleted").unlink()
    (root / "renamed").rename(root / "new name")
    (root / "mode").chmod(0o755)
    (root / "linked").unlink()
    (root / "linked").symlink_to("edited")
    (root / "folder").mkdir()
    (root / "folder" / "untracked").write_text("new\n")
    (root / "forced.log").write_text("changed although ignored\n")
    (root / "ignored").mkdir()
    (root / "ignored" / "file").write_text("never kept\n")
    (root / "other.log").write_text("never kept\n")


def test_a_snapshot_has_the_files_as_they_lie_and_none_that_are_ignored(
    worked: Guard, git: Git
) -> None:
    change_everything(git)
    index = (git.root / ".git" / "index").read_bytes()
    head = git("rev-parse", "HEAD")
    worked.checkpoint("Everything changed")
    files = files_of(worked)
    assert files.pop("README.md", None)
    assert files == {
        ".gitignore": (0o100644, b".gitguard/\nignored/\n*.log\n"),
        "edited": (0o100644, b"edited more\n"),
        "new name": (0o100644, b"renamed\n"),
        "mode": (0o100755, b"mode\n"),
        "linked": (0o120000, b"edited"),
        "folder/untracked": (0o100644, b"new\n"),
        "forced.log": (0o100644, b"changed although ignored\n"),
    }
    assert (git.root / ".git" / "index").read_bytes() == index
    assert git("rev-parse", "HEAD") == head
    assert git("stash", "list") == ""


def test_what_was_seen_before_and_changed_again_is_seen(worked: Guard, git: Git) -> None:
    change_everything(git)
    worked.checkpoint("Once")
    first = worked.log(1)[0].files
    worked.checkpoint("Nothing changed")
    assert worked.log(1)[0].files == first
    facts = (git.root / "edited").stat()
    (git.root / "edited").write_text("edited LESS\n")
    os.utime(git.root / "edited", ns=(facts.st_atime_ns, facts.st_mtime_ns))
    (git.root / "folder" / "untracked").unlink()
    worked.checkpoint("Again")
    files = files_of(worked)
    assert files["edited"][1] == b"edited LESS\n"
    assert "folder/untracked" not in files
    assert files["new name"][1] == b"renamed\n"


def test_secrets_large_files_and_repositories_are_left_out_and_named(
    worked: Guard, git: Git
) -> None:
    secret = "ghp_" + some(36)
    (git.root / ".env").write_text("A=1\n")
    (git.root / "edited").write_text(f"token = '{secret}'\n")
    (git.root / "large").write_bytes(b"x" * (21 << 20))
    os.mkfifo(git.root / "pipe")
    inner = Git(git.root / "inner")
    inner.root.mkdir()
    inner.start()
    worked.checkpoint("Left out")
    snapshot = snapshot_of(worked)
    reasons = {file.path: file.reason for file in snapshot.manifest.skipped}
    assert reasons[".env"] == "its name says that it holds secrets"
    assert reasons["edited"] == "a secret was found in it"
    assert reasons["large"].startswith("larger than 20 MB")
    assert reasons["inner"] == "a repository of its own"
    assert set(files_of(worked)).isdisjoint(reasons)
    objects = git("cat-file", "--batch-all-objects", "--batch-check").splitlines()
    for line in objects:
        object_id, kind, _ = line.split()
        if kind == "blob":
            assert secret not in git("cat-file", "blob", object_id)


def test_a_snapshot_stays_when_git_collects_what_nothing_names(worked: Guard, git: Git) -> None:
    change_everything(git)
    worked.checkpoint("Everything changed")
    before = files_of(worked)
    git("gc", "--quiet", "--prune=now")
    assert files_of(worked) == before


def test_before_a_destructive_call_changed_files_are_enough_for_a_checkpoint(
    worked: Guard, git: Git
) -> None:
    store = worked.sessions.store()
    from gitguard.model.triggers import BEFORE_DESTRUCTIVE
    from gitguard.state.circumstances import Circumstances

    worked.checkpoint("Now")
    with store.lock():
        assert not store.checkpoint(BEFORE_DESTRUCTIVE, "w", Circumstances()).commit
        (git.root / "edited").write_text("by the user\n")
        assert store.checkpoint(BEFORE_DESTRUCTIVE, "w", Circumstances()).commit
    assert files_of(worked)["edited"][1] == b"by the user\n"


@pytest.mark.parametrize("name", [b"not utf-8 \xff", "größe 🦀".encode(), b"100%", b"a\nb", b" "])
def test_any_name_is_kept(worked: Guard, git: Git, name: bytes) -> None:
    path = os.path.join(os.fsencode(git.root), name)
    with open(path, "wb") as file:
        file.write(b"odd\n")
    worked.checkpoint("Odd")
    assert files_of(worked)[os.fsdecode(name)] == (0o100644, b"odd\n")


def test_files_that_git_converts_are_kept_byte_by_byte(worked: Guard, git: Git) -> None:
    git("config", "core.autocrlf", "true")
    (git.root / "edited").write_bytes(b"one\r\ntwo\n")
    worked.checkpoint("Mixed line ends")
    assert files_of(worked)["edited"][1] == b"one\r\ntwo\n"
    assert snapshot_of(worked).manifest.raw == ("edited",)


def test_a_repository_without_commits_has_snapshots(tmp_path: Path, open_guard: object) -> None:
    fresh = Git(tmp_path / "fresh")
    fresh.root.mkdir()
    fresh("init", "--quiet")
    guard = open_guard(fresh.root)  # type: ignore[operator]
    (fresh.root / "first").write_text("1\n")
    guard.ensure()
    guard.checkpoint("First")
    assert files_of(guard)["first"][1] == b"1\n"


def test_a_home_folder_and_a_tree_of_untracked_files_have_none(
    worked: Guard, git: Git, tmp_path: Path
) -> None:
    (git.root / ".gitignore").unlink()
    for number in range(1_001):
        (git.root / f"new{number}").touch()
    worked.checkpoint("Too many")
    assert worked.log(1)[0].files == ""
    kept = worked.sessions.store().worktree.kept_at(worked.log(1)[0].id)
    assert kept is not None
    assert "`.gitignore`" in kept.refusal


def test_a_folder_in_a_deleted_files_place_is_not_kept_once_it_is_gone(
    worked: Guard, git: Git
) -> None:
    (git.root / "edited").unlink()
    (git.root / "edited").mkdir()
    (git.root / "edited" / "inner").write_text("inner\n")
    worked.checkpoint("A folder")
    (git.root / "edited" / "inner").unlink()
    (git.root / "edited").rmdir()
    worked.checkpoint("Nothing")
    assert "edited/inner" not in files_of(worked)
