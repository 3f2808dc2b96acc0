"""Which files have another content than a commit: what counts, what is never run, what is said."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from gitguard.model.redaction.redactor import Redactor
from gitguard.store.git.differences import Changes, Differences, WorktreeComparer
from gitguard.store.git.place import locate
from gitguard.store.git.repository import Repository
from gitguard.store.git.worktree_files import ReadLimits
from gitguard.store.session.session_worktree import KeptLook, keep_look, kept_look
from tests.conftest import Git

Look = Callable[[], Differences]
LIMITS = ReadLimits()


@pytest.fixture
def looker(repo: Path) -> WorktreeComparer:
    return looker_of(repo)


def looker_of(root: Path, limits: ReadLimits = LIMITS) -> WorktreeComparer:
    return WorktreeComparer(
        Repository(locate(str(root)), dict(os.environ), lambda: 0.0), Redactor(), limits
    )


def look(git: Git, commit: str = "HEAD") -> Differences:
    base = git("rev-parse", "--verify", commit) if commit else ""
    return looker_of(git.root).compare(base)


def changed(git: Git, limits: ReadLimits = LIMITS, *, commit: str = "HEAD") -> Changes:
    base = git("rev-parse", "--verify", commit) if commit else ""
    return looker_of(git.root, limits).compare(base).changes()


def commit(git: Git, **files: str | bytes) -> str:
    """Commit files, whose names have a dot for each two underscores; return the commit's id."""
    for name, content in files.items():
        path = git.root / name.replace("__", ".")
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    git("add", "--all", "--force")
    git("commit", "--quiet", "--message", "more", "--no-verify")
    return git("rev-parse", "HEAD")


def rewrite(path: Path, data: bytes) -> None:
    """Change a file so that size and modification time stay."""
    times = path.stat()
    assert len(data) == times.st_size
    path.write_bytes(data)
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))


# What counts


def test_a_fresh_clone_has_no_differences(git: Git, tmp_path: Path) -> None:
    commit(git, **{f"f{number}__py": f"{number}\n" for number in range(700)})
    git("clone", "--quiet", ".", str(tmp_path / "clone"))
    assert changed(Git(tmp_path / "clone")) == Changes()


def test_a_copy_whose_index_fits_no_file_has_no_differences(git: Git, tmp_path: Path) -> None:
    shutil.copytree(git.root, tmp_path / "copy")
    assert changed(Git(tmp_path / "copy")) == Changes()


def test_touched_files_are_no_differences(git: Git) -> None:
    commit(git, f2="2", f3="3")
    for name in ("f2", "f3"):
        os.utime(git.root / name, (1, 1))
    assert changed(git) == Changes()


def test_a_file_that_was_changed_and_changed_back_is_no_difference(git: Git) -> None:
    path = git.root / "README.md"
    text = path.read_text()
    path.write_text("other\n")
    assert changed(git).changed == ("README.md",)
    path.write_text(text)
    assert changed(git) == Changes()


def test_an_edit_of_the_same_size_and_time_is_a_difference(git: Git) -> None:
    commit(git, racy="one")
    rewrite(git.root / "racy", b"two")
    assert changed(git).changed == ("racy",)


def test_every_kind_of_change_is_named(git: Git) -> None:
    commit(git, edited="a", staged="a", deleted="a", removed="a", mode="a", linked="a", folder="a")
    commit(git, untracked_later="a", left_alone="a")
    (git.root / "edited").write_text("b")
    (git.root / "staged").write_text("b")
    git("add", "staged")
    (git.root / "deleted").unlink()
    git("rm", "--quiet", "removed")
    (git.root / "mode").chmod(0o755)
    (git.root / "linked").unlink()
    (git.root / "linked").symlink_to("edited")
    (git.root / "folder").unlink()
    (git.root / "folder").mkdir()
    (git.root / "folder" / "inner").write_text("new")
    (git.root / "new").write_text("new")
    (git.root / "intended").write_text("new")
    git("add", "--intent-to-add", "intended")
    git("rm", "--quiet", "--cached", "untracked_later")
    assert changed(git) == Changes(
        ("edited", "folder/inner", "intended", "linked", "mode", "new", "staged"),
        ("deleted", "folder", "removed"),
        created=("folder/inner", "intended", "new"),
    )


def test_ignored_files_are_no_differences_unless_they_are_tracked(git: Git) -> None:
    commit(git, __gitignore="*.log\nout/\n", tracked__log="a")
    (git.root / "new.log").write_text("new")
    (git.root / "out").mkdir()
    (git.root / "out" / "new").write_text("new")
    assert changed(git) == Changes()
    (git.root / "tracked.log").write_text("b")
    assert changed(git).changed == ("tracked.log",)


def test_what_was_committed_and_what_was_not_both_count_against_an_older_commit(git: Git) -> None:
    old = commit(git, committed="a", edited="a", back="a")
    commit(git, committed="b", back="b", added="new")
    (git.root / "edited").write_text("b")
    (git.root / "back").write_text("a")
    assert changed(git, commit=old).changed == ("added", "committed", "edited")


def test_before_the_first_commit_every_file_is_new(tmp_path: Path) -> None:
    git = Git(tmp_path / "unborn")
    git.root.mkdir()
    git("init", "--quiet")
    (git.root / "staged").write_text("a")
    git("add", "staged")
    (git.root / "new").write_text("a")
    seen = look(git, "")
    assert seen.changes() == Changes(("new", "staged"), created=("new", "staged"))
    assert all(file.is_new and file.id for file in seen.files)


def test_a_conflict_is_named_by_what_lies_in_the_file(git: Git) -> None:
    old = commit(git, both="a\n")
    git("switch", "--quiet", "--create", "topic")
    commit(git, both="topic\n")
    git("switch", "--quiet", "-")
    commit(git, both="main\n")
    git("merge", "--quiet", "topic", check=False)
    assert git("ls-files", "--unmerged")
    assert changed(git, commit=old).changed == ("both",)
    (git.root / "both").write_text("a\n")
    assert changed(git, commit=old) == Changes()


def test_odd_names_are_named_as_they_are(git: Git) -> None:
    names = ["a\nb", "tab\there", '"quoted"', " - ", os.fsdecode(b"latin-\xe9"), ":(top)x"]
    for name in names:
        (git.root / name).write_text("new")
    assert changed(git).changed == tuple(sorted(names))
    git("add", "--all")
    git("commit", "--quiet", "--message", "odd")
    assert changed(git) == Changes()
    for name in names:
        (git.root / name).write_text("other")
    assert changed(git).changed == tuple(sorted(names))


@pytest.mark.parametrize("version", ["2", "3", "4"])
def test_every_form_of_the_index_is_understood(git: Git, version: str) -> None:
    commit(git, a="a", b="b")
    git("update-index", "--index-version", version)
    (git.root / "a").write_text("other")
    assert changed(git) == Changes(("a",))
    git("update-index", "--split-index")
    (git.root / "b").write_text("other")
    assert changed(git) == Changes(("a", "b"))


def test_repositories_with_sha256_are_compared(tmp_path: Path) -> None:
    git = Git(tmp_path / "long")
    git.root.mkdir()
    git("init", "--quiet", "--object-format=sha256")
    git("config", "user.name", "A")
    git("config", "user.email", "a@example.invalid")
    commit(git, a="a", b="b")
    os.utime(git.root / "a", (1, 1))
    (git.root / "b").write_text("other")
    assert changed(git) == Changes(("b",))


def test_a_linked_worktree_has_differences_of_its_own(git: Git, tmp_path: Path) -> None:
    git("worktree", "add", "--quiet", str(tmp_path / "linked"), "-b", "linked")
    (tmp_path / "linked" / "README.md").write_text("other\n")
    assert changed(git) == Changes()
    assert changed(Git(tmp_path / "linked")).changed == ("README.md",)


def test_what_git_was_told_not_to_look_at_counts_as_unchanged(git: Git) -> None:
    commit(git, assumed="a", skipped="a")
    git("update-index", "--assume-unchanged", "assumed")
    git("update-index", "--skip-worktree", "skipped")
    (git.root / "assumed").write_text("b")
    (git.root / "skipped").unlink()
    assert changed(git) == Changes()


def test_a_sparse_checkout_is_no_deletion(git: Git) -> None:
    for folder in ("in", "out"):
        (git.root / folder).mkdir()
        (git.root / folder / "f").write_text("a")
    commit(git)
    git("sparse-checkout", "set", "--cone", "--sparse-index", "in")
    assert not (git.root / "out").exists()
    assert changed(git) == Changes()


def test_of_a_submodule_only_its_commit_counts(git: Git, tmp_path: Path) -> None:
    inner = Git(tmp_path / "inner")
    inner.root.mkdir()
    inner.start()
    git("-c", "protocol.file.allow=always", "submodule", "add", "--quiet", str(inner.root), "sub")
    commit(git)
    sub = Git(git.root / "sub")
    (sub.root / "README.md").write_text("other\n")
    assert changed(git) == Changes()
    sub("-c", "user.name=A", "-c", "user.email=a@b", "commit", "--quiet", "--all", "--message", "x")
    assert changed(git).changed == ("sub",)


def test_line_endings_that_git_converts_are_no_differences(git: Git) -> None:
    commit(git, __gitattributes="*.txt text\n*.bin -text\n", a__txt="a\nb\n", b__bin="a\nb\n")
    commit(git, plain="a\nb\n")
    for name in ("a.txt", "b.bin", "plain"):
        (git.root / name).write_bytes(b"a\r\nb\r\n")
    assert changed(git).changed == ("b.bin", "plain")
    git("config", "core.autocrlf", "true")
    assert changed(git).changed == ("b.bin",)
    (git.root / "a.txt").write_bytes(b"a\r\nc\r\n")
    assert changed(git).changed == ("a.txt", "b.bin")


def test_a_file_that_is_committed_with_crlf_is_none_beside_one_that_is_edited(git: Git) -> None:
    commit(git, lying="a\r\nb\r\n", edited="a\r\nb\r\n")
    git("config", "core.autocrlf", "true")
    os.utime(git.root / "lying", (1, 1))
    (git.root / "edited").write_bytes(b"c\r\nd\r\n")
    assert changed(git).changed == ("edited",)


# Nothing of the repository runs, and nothing is written


def trap_filters(git: Git, trap: Path) -> None:
    """Let everything that git could run for a look leave a mark."""
    program = f"sh -c 'touch {trap}; cat'"
    for setting in (
        "filter.trap.clean", "filter.trap.smudge", "filter.trap.process", "diff.trap.textconv",
        "diff.trap.command", "core.fsmonitor", "diff.external", "core.pager",
    ):  # fmt: skip
        git("config", setting, program)
    git("config", "filter.trap.required", "true")
    for name in ("post-checkout", "reference-transaction", "post-index-change", "fsmonitor"):
        hook = git.root / ".git" / "hooks" / name
        hook.parent.mkdir(exist_ok=True)
        hook.write_text(f"#!/bin/sh\ntouch {trap}\n")
        hook.chmod(0o755)


@pytest.mark.parametrize("where", ["config", "included"])
def test_no_filter_runs_even_where_git_would_compare_content(
    git: Git, tmp_path: Path, where: str
) -> None:
    trap = tmp_path / "sprung"
    commit(git, __gitattributes="* filter=trap diff=trap\n", racy="one", touched="one")
    trap_filters(git, trap)
    if where == "included":
        lines = (git.root / ".git" / "config").read_text().partition('[filter "trap"]')
        (tmp_path / "more").write_text("".join(lines[1:]))
        (git.root / ".git" / "config").write_text(f"{lines[0]}\n[include]\npath={tmp_path}/more\n")
    # As new as the index and of the same size: git itself would have to compare the content.
    os.utime(git.root / ".git" / "index", (1, 1))
    for name in ("racy", "touched"):
        os.utime(git.root / name)
    rewrite(git.root / "racy", b"two")
    seen = changed(git)
    assert not trap.exists()
    assert seen.unseen == ("1 filtered, large or unreadable file",)
    git("status", check=False)
    assert trap.exists(), "the trap was none"


def test_a_filter_that_cannot_be_named_to_git_keeps_it_from_comparing(git: Git) -> None:
    git("config", "filter.a=b.clean", "false")
    assert changed(git).unseen == (
        "tracked files (git cannot compare them)",
        "untracked files",
    )


def test_the_index_stays_as_it_is(git: Git) -> None:
    commit(git, a="a", b="b")
    os.utime(git.root / "a", (1, 1))
    (git.root / "b").write_text("other")
    index = git.root / ".git" / "index"
    before = (index.read_bytes(), index.stat().st_mtime_ns, index.stat().st_ino)
    names = sorted(os.listdir(git.root / ".git"))
    assert changed(git).changed == ("b",)
    assert (index.read_bytes(), index.stat().st_mtime_ns, index.stat().st_ino) == before
    assert sorted(os.listdir(git.root / ".git")) == names


def test_a_commit_that_is_an_option_is_not_handed_to_git(
    looker: WorktreeComparer, tmp_path: Path
) -> None:
    target = tmp_path / "written"
    seen = looker.compare(f"--output={target}")
    assert seen.changes().unseen == ("tracked files", "untracked files")
    assert not target.exists()


# Bounds, and what could not be looked at


def test_a_pipe_in_a_files_place_is_named_and_never_opened(git: Git) -> None:
    commit(git, f="a")
    (git.root / "f").unlink()
    os.mkfifo(git.root / "f")
    os.mkfifo(git.root / "new")
    assert "f" in changed(git).changed


def test_a_folder_that_became_a_link_is_not_followed(git: Git, tmp_path: Path) -> None:
    (git.root / "folder").mkdir()
    (git.root / "folder" / "f").write_text("a")
    commit(git)
    shutil.move(git.root / "folder", tmp_path / "outside")
    (git.root / "folder").symlink_to(tmp_path / "outside")
    assert changed(git) == Changes(("folder",), ("folder/f",), created=("folder",))


def test_an_index_that_is_too_large_is_said(git: Git) -> None:
    (git.root / "README.md").write_text("other")
    assert changed(git, ReadLimits(index=10)) == Changes(
        unseen=("tracked files (the index is larger than 0 MiB)", "untracked files")
    )


def test_too_many_new_files_are_said_and_the_tracked_ones_compared(git: Git) -> None:
    (git.root / "README.md").write_text("other")
    for number in range(1001):
        (git.root / f"new{number}").touch()
    assert changed(git) == Changes(("README.md",), unseen=("untracked files (more than 1,000)",))


def test_large_files_are_counted_as_not_compared(git: Git) -> None:
    (git.root / "README.md").write_text("x" * 11)
    (git.root / "new").write_text("x" * 11)
    assert changed(git, ReadLimits(file=10)) == Changes(
        unseen=("2 filtered, large or unreadable files",)
    )


def test_at_most_so_many_bytes_are_read(git: Git) -> None:
    for name in "abc":
        (git.root / name).write_text("x" * 10)
    assert changed(git, ReadLimits(bytes=25)) == Changes(
        ("a", "b"),
        unseen=("1 filtered, large or unreadable file",),
        created=("a", "b"),
    )


def test_a_damaged_index_and_a_missing_commit_are_said(git: Git) -> None:
    gone = changed_at_missing(git)
    assert gone == ("tracked files (git cannot compare them)", "untracked files")
    (git.root / ".git" / "index").write_bytes(b"not an index")
    assert changed(git).unseen[0] == "tracked files (git cannot compare them)"


def changed_at_missing(git: Git) -> tuple[str, ...]:
    return looker_of(git.root).compare("1" * 40).changes().unseen


def test_a_secret_in_a_name_is_not_told(git: Git) -> None:
    (git.root / f"ghp_{'a1B2c3D4e5' * 4}"[:40]).write_text("new")
    (git.root / "plain").write_text("new")
    names = ("[REDACTED:github-token]", "plain")
    assert changed(git) == Changes(names, created=names)


# Between two looks


def test_what_was_so_at_the_earlier_look_is_not_a_change(git: Git) -> None:
    head = commit(git, dirty="a", edited="a", deleted="a", reverted="a", reborn="a")
    looker = looker_of(git.root)
    for name in ("dirty", "edited", "reverted"):
        (git.root / name).write_text("b")
    for name in ("new", "leaving", "hidden"):
        (git.root / name).write_text("new")
    (git.root / "deleted").unlink()
    (git.root / "reborn").unlink()
    earlier = looker.compare(head)
    assert looker.compare(head, also=earlier.new_files).since(earlier) == Changes()
    os.utime(git.root / "dirty", (1, 1))
    (git.root / "edited").write_text("c")
    (git.root / "reverted").write_text("a")
    (git.root / "reborn").write_text("a")
    (git.root / "leaving").unlink()
    (git.root / ".git" / "info").mkdir(exist_ok=True)
    (git.root / ".git" / "info" / "exclude").write_text("hidden\n")
    (git.root / "newer").write_text("new")
    later = looker.compare(head, also=earlier.new_files)
    expected = Changes(
        ("edited", "newer", "reborn", "reverted"), ("leaving",), created=("newer", "reborn")
    )
    assert later.since(earlier) == expected
    commit(git)
    assert looker.compare(head, also=earlier.new_files).since(earlier) == expected


def test_filtered_files_are_compared_between_looks(git: Git) -> None:
    head = commit(git, __gitattributes="*.big filter=lfs\n", a__big="pointer a", b__big="pointer b")
    looker = looker_of(git.root)
    for name in ("a.big", "b.big"):
        (git.root / name).write_text("content")
    earlier = looker.compare(head)
    assert earlier.changes().unseen == ("2 filtered, large or unreadable files",)
    (git.root / "b.big").write_text("other content")
    assert looker.compare(head).since(earlier) == Changes(("b.big",))


def test_what_one_look_did_not_see_is_no_change_of_the_other(git: Git) -> None:
    head = git("rev-parse", "HEAD")
    (git.root / "README.md").write_text("other")
    (git.root / "new").write_text("new")
    whole = looker_of(git.root).compare(head)
    blind = Differences(head, (), "tracked files", "untracked files")
    half = Differences(head, (), "", "untracked files")
    unseen = ("tracked files", "untracked files")
    assert whole.since(blind) == blind.since(whole) == Changes(unseen=unseen)
    assert whole.since(half) == Changes(("README.md",), unseen=unseen[1:])


def test_a_kept_look_reads_back_whole_with_any_name(git: Git, tmp_path: Path) -> None:
    for name in (os.fsdecode(b"latin-\xe9"), "ü\n", "plain"):
        (git.root / name).write_text("new")
    seen = look(git)
    path = str(tmp_path / "worktree.json")
    keep_look(path, KeptLook("c" * 40, "/git", seen, "journal", 7))
    kept = kept_look(path, "c" * 40, "/git")
    assert kept is not None
    assert seen.since(kept.look) == Changes()
    assert kept == KeptLook("c" * 40, "/git", seen, "journal", 7)
    assert kept_look(path, "d" * 40, "/git") is None
    assert kept_look(path, "c" * 40, "/elsewhere") is None


@pytest.mark.parametrize(
    "data",
    [b"", b"{}", b"[]", b'{"format": 1}', b'{"format": 9}', b"\xff", b"x" * (1 << 21),
     '{"format":1,"checkpoint":"c","git_dir":"/g","look":{"commit":"","files":'
     '[{"path":"\N{ROCKET}","mode":1}]}}'.encode()],
)  # fmt: skip
def test_a_damaged_look_is_none(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "worktree.json").write_bytes(data)
    assert kept_look(str(tmp_path / "worktree.json"), "c", "/g") is None
