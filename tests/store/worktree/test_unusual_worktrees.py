"""Snapshots and restores under every form of the index, every setting and kind of repository.

None of them changes the index, its shared part or any flag in it: `KeptFiles` looks at each act.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gitguard.guard import Guard
from gitguard.store.git.trees import PLAIN, SUBMODULE
from gitguard.store.session.workspace import UserDirs
from tests.conftest import Clock, Git, OpenGuard
from tests.support.hostile import Traps
from tests.support.kept_files import KeptFiles, files_of, left_out, snapshot_of, tree_of

FOLDERS = ("in", "out", "out/deep")


def fill(git: Git) -> None:
    """Commit files of every kind, in folders too."""
    for folder in FOLDERS:
        (git.root / folder).mkdir()
        (git.root / folder / "f").write_text("one\n")
    for name in ("edited", "deleted", "hidden", "other"):
        (git.root / name).write_text("one\n")
    (git.root / "program").write_text("#!/bin/sh\n")
    (git.root / "program").chmod(0o755)
    (git.root / "link").symlink_to("edited")
    git("add", "--all")
    git("commit", "--quiet", "--message", "Files")


@pytest.fixture
def kept(guard: Guard, git: Git) -> KeptFiles:
    fill(git)
    return KeptFiles(guard, git)


def work(root: Path, text: str) -> None:
    """Edit, add and remove files as somebody who works does."""
    (root / "edited").write_text(f"{text}\n")
    (root / "in" / "f").write_text(f"{text} in a folder\n")
    (root / "in" / f"new-{text}").write_text(f"{text} and new\n")
    (root / "deleted").unlink(missing_ok=True)
    (root / "program").chmod(0o644 if text == "two" else 0o755)
    (root / "link").unlink()
    (root / "link").symlink_to(text)


def works_through(kept: KeptFiles) -> None:
    """Take a snapshot of some work, do other work, go back, and forth again."""
    work(kept.root, "two")
    name, then = kept.snapshot(), tree_of(kept.root)
    assert left_out(kept.guard) == {}
    work(kept.root, "three")
    kept.goes_back_and_forth(name, then)


# What git is told not to look at

HIDING = {
    "assume-unchanged": ("update-index", "--assume-unchanged", "hidden"),
    "skip-worktree": ("update-index", "--skip-worktree", "hidden"),
}


@pytest.mark.parametrize("flag", HIDING)
@pytest.mark.parametrize("lies_there", [b"private\n", None])
def test_a_file_that_git_does_not_look_at_keeps_its_bytes_and_its_flag(
    kept: KeptFiles, flag: str, lies_there: bytes | None
) -> None:
    path = kept.root / "hidden"
    kept.git(*HIDING[flag])
    path.unlink()
    if lies_there is not None:
        path.write_bytes(lies_there)
    flags = kept.git("ls-files", "-v")
    works_through(kept)
    assert (path.read_bytes() if path.exists() else None) == lies_there
    assert kept.git("ls-files", "-v") == flags


@pytest.mark.parametrize("flag", HIDING)
@pytest.mark.parametrize("change", ["changed", "added", "removed"])
def test_it_keeps_them_also_where_the_commit_is_another_one_by_now(
    kept: KeptFiles, flag: str, change: str
) -> None:
    path = kept.root / "hidden"
    if change == "added":
        kept.git("rm", "--quiet", "hidden")
        kept.git("commit", "--quiet", "--message", "Without it")
    name = kept.snapshot()
    if change == "removed":
        kept.git("rm", "--quiet", "--cached", "hidden")
    else:
        path.write_text("committed later\n")
        kept.git("add", "hidden")
    kept.git("commit", "--quiet", "--message", "Later")
    if change == "removed":
        kept.git("reset", "--quiet", "HEAD~", "--", "hidden")
    kept.git(*HIDING[flag])
    path.write_text("private\n")
    (kept.root / "edited").write_text("later\n")
    assert "git ignores changes to it" in kept.put_back(name)["hidden"]
    assert path.read_text() == "private\n"
    assert (kept.root / "edited").read_text() == "one\n"


@pytest.mark.parametrize("form", [(), ("--cone",), ("--no-cone",), ("--cone", "--sparse-index")])
def test_a_sparse_checkout_stays_sparse(kept: KeptFiles, form: tuple[str, ...]) -> None:
    kept.git("sparse-checkout", "set", *form, "in" if "--no-cone" not in form else "/*\n!/out")
    if "--no-cone" in form:
        kept.git("sparse-checkout", "set", *form, "/*", "!/out/")
    assert not (kept.root / "out" / "f").exists()
    listed = kept.git("ls-files", "-t", "--sparse")
    works_through(kept)
    assert not (kept.root / "out").exists()
    assert kept.git("ls-files", "-t", "--sparse") == listed


def test_what_lies_where_a_sparse_checkout_has_nothing_is_kept_and_never_lost(
    kept: KeptFiles,
) -> None:
    kept.git("sparse-checkout", "set", "--cone", "--sparse-index", "in")
    name = kept.snapshot()
    (kept.root / "out").mkdir()
    (kept.root / "out" / "f").write_text("written into the gap\n")
    (kept.root / "out" / "new").write_text("new in the gap\n")
    before = tree_of(kept.root)
    kept.put_back(name)
    lying = tree_of(kept.root)
    if lying != before:
        kept.undo()
    assert tree_of(kept.root) == before


# Forms of the index


def with_split_index(git: Git) -> None:
    git("config", "core.splitIndex", "true")
    git("update-index", "--split-index")
    (git.root / "other").write_text("in the split part\n")
    git("add", "other")
    assert list((git.root / ".git").glob("sharedindex.*"))


def with_untracked_cache(git: Git) -> None:
    git("config", "core.untrackedCache", "true")
    git("update-index", "--untracked-cache")
    git("status")
    assert b"UNTR" in (git.root / ".git" / "index").read_bytes()


def with_version_4(git: Git) -> None:
    git("config", "index.version", "4")
    git("update-index", "--index-version", "4")


def with_all_of_them(git: Git) -> None:
    with_version_4(git)
    with_untracked_cache(git)
    git("config", "core.splitIndex", "true")
    git("update-index", "--split-index")
    git("config", "feature.manyFiles", "true")


@pytest.mark.parametrize(
    "prepare", [with_split_index, with_untracked_cache, with_version_4, with_all_of_them]
)
def test_every_form_of_the_index_stays_as_it_is(guard: Guard, git: Git, prepare: object) -> None:
    fill(git)
    assert callable(prepare)
    prepare(git)
    works_through(KeptFiles(guard, git))


def test_what_the_untracked_cache_was_not_told_is_in_the_snapshot(guard: Guard, git: Git) -> None:
    fill(git)
    with_untracked_cache(git)
    kept = KeptFiles(guard, git)
    (git.root / "out" / "late").write_text("late\n")
    kept.snapshot()
    assert files_of(guard)["out/late"] == (PLAIN, b"late\n")


# A monitor of files


def test_a_monitor_of_files_that_is_a_program_is_not_run(
    guard: Guard, git: Git, tmp_path: Path
) -> None:
    fill(git)
    traps = Traps(tmp_path / "traps")
    git("config", "core.fsmonitor", traps.script("monitor"))
    git("update-index", "--fsmonitor")
    assert traps.fired() == {"monitor"}, "the trap was none"
    assert b"FSMN" in (git.root / ".git" / "index").read_bytes()
    mark = traps.marks / "scripts.monitor"
    mark.unlink()
    kept = KeptFiles(guard, git)
    works_through(kept)
    assert traps.fired() == set()


def test_no_monitor_of_git_s_own_is_started(guard: Guard, git: Git) -> None:
    fill(git)
    git("config", "core.fsmonitor", "true")
    works_through(KeptFiles(guard, git))  # it looks for sockets in git's folder
    assert not list((git.root / ".git").glob("fsmonitor--daemon*"))


# Settings of how git sees files


@pytest.mark.parametrize(
    "setting",
    [
        "core.checkStat=minimal",
        "core.trustctime=false",
        "core.ignoreStat=true",
        "core.preloadIndex=false",
        "core.ignoreCase=true",
        "core.precomposeUnicode=true",
        "core.protectNTFS=true",
        "core.untrackedCache=keep",
        "status.showUntrackedFiles=no",
        "submodule.recurse=true",
        "diff.ignoreSubmodules=all",
        "diff.external=false",
        "diff.orderFile=nowhere",
        "core.sparseCheckout=true",
        "core.quotePath=true",
    ],
)
def test_a_setting_of_how_git_sees_files_loses_none(guard: Guard, git: Git, setting: str) -> None:
    fill(git)
    git("config", *setting.split("="))
    works_through(KeptFiles(guard, git))


def test_where_modes_mean_nothing_contents_come_back(guard: Guard, git: Git) -> None:
    fill(git)
    git("config", "core.fileMode", "false")
    kept = KeptFiles(guard, git)
    (git.root / "edited").write_text("two\n")
    (git.root / "edited").chmod(0o755)
    (git.root / "new").write_text("new\n")
    name = kept.snapshot()
    assert files_of(guard)["edited"] == (PLAIN, b"two\n")
    (git.root / "edited").write_text("three\n")
    (git.root / "new").unlink()
    (git.root / "other").chmod(0o755)
    assert kept.put_back(name) == {}
    assert (git.root / "edited").read_text() == "two\n"
    assert (git.root / "new").read_text() == "new\n"
    kept.undo()
    assert (git.root / "edited").read_text() == "three\n"
    assert not (git.root / "new").exists()


def test_where_links_are_plain_files_their_text_comes_back(guard: Guard, git: Git) -> None:
    fill(git)
    git("config", "core.symlinks", "false")
    (git.root / "link").unlink()
    git("checkout", "--", "link")
    assert not (git.root / "link").is_symlink()
    kept = KeptFiles(guard, git)
    unchanged = kept.snapshot()
    (git.root / "link").write_text("elsewhere")
    changed, then = kept.snapshot(), tree_of(git.root)
    assert files_of(guard)["link"][1] == b"elsewhere"
    (git.root / "link").unlink()
    kept.goes_back_and_forth(changed, then)
    assert kept.put_back(unchanged) == {}
    assert not (git.root / "link").is_symlink()
    assert (git.root / "link").read_bytes() == b"edited"


# Kinds of repositories


def start(root: Path, *options: str) -> Git:
    root.mkdir()
    git = Git(root)
    git.start(*options)
    return git


def test_a_repository_with_sha256_has_its_files_back(open_guard: OpenGuard, tmp_path: Path) -> None:
    git = start(tmp_path / "long", "--object-format=sha256")
    fill(git)
    kept = KeptFiles(open_guard(git.root), git)
    works_through(kept)
    assert len(snapshot_of(kept.guard).tree) == 64
    git.fsck()


@pytest.mark.parametrize("form", ["sha1", "sha256"])
def test_before_the_first_commit_files_go_back_too(
    open_guard: OpenGuard, tmp_path: Path, form: str
) -> None:
    git = Git(tmp_path / "unborn")
    git.root.mkdir()
    git("init", "--quiet", f"--object-format={form}")
    (git.root / "staged").write_text("one\n")
    git("add", "staged")
    kept = KeptFiles(open_guard(git.root), git)
    (git.root / "new").write_text("new\n")
    name, then = kept.snapshot(), tree_of(git.root)
    (git.root / "staged").write_text("two\n")
    (git.root / "new").unlink()
    (git.root / "newer").write_text("newer\n")
    kept.goes_back_and_forth(name, then)


def test_a_linked_worktree_has_its_own_files_back_and_no_other_s(
    kept: KeptFiles, open_guard: OpenGuard, tmp_path: Path
) -> None:
    kept.git("config", "extensions.worktreeConfig", "true")
    kept.git("worktree", "add", "--quiet", "-b", "linked", str(tmp_path / "linked"))
    before = tree_of(kept.root)
    with kept.untouched():
        works_through(KeptFiles(open_guard(tmp_path / "linked"), Git(tmp_path / "linked")))
    assert tree_of(kept.root) == before


@pytest.fixture
def outer(kept: KeptFiles, tmp_path: Path) -> KeptFiles:
    """A worktree with a submodule in it."""
    inner = start(tmp_path / "inner")
    fill(inner)
    add = ("-c", "protocol.file.allow=always", "submodule", "add", "--quiet", str(inner.root))
    kept.git(*add, "sub")
    kept.git("commit", "--quiet", "--message", "A submodule")
    return kept


def test_a_submodule_has_files_of_its_own_back(outer: KeptFiles, open_guard: OpenGuard) -> None:
    with outer.untouched():
        works_through(KeptFiles(open_guard(outer.root / "sub"), Git(outer.root / "sub")))


def test_a_submodule_is_kept_by_the_commit_that_is_checked_out_in_it(outer: KeptFiles) -> None:
    outer.snapshot()
    sub = Git(outer.root / "sub")
    who = ("-c", "user.name=A", "-c", "user.email=a@example.invalid")
    sub(*who, "commit", "--quiet", "--allow-empty", "--message", "Further")
    outer.snapshot()
    entry = snapshot_of(outer.guard).overlay["sub"]
    assert entry == (SUBMODULE, sub("rev-parse", "HEAD"))
    [newest, *_] = outer.guard.history.file_log("", "", most=5).entries
    assert [(file.path, file.action) for file in newest.files] == [("sub", "changed")]


def test_a_restore_above_a_submodule_changes_nothing_in_it(outer: KeptFiles) -> None:
    name = outer.snapshot()
    sub = Git(outer.root / "sub")
    (sub.root / "edited").write_text("in the submodule\n")
    (sub.root / "new").write_text("new in it\n")
    who = ("-c", "user.name=A", "-c", "user.email=a@example.invalid")
    sub(*who, "commit", "--quiet", "--message", "Further", "--", "edited")
    work(outer.root, "two")
    before = tree_of(sub.root)
    assert outer.put_back(name) == {"sub": "it is a repository of its own"}
    assert tree_of(sub.root) == before
    assert sub("status", "--porcelain") == "?? new"


def test_a_worktree_that_a_setting_puts_elsewhere_is_left_alone_there(
    open_guard: OpenGuard, tmp_path: Path
) -> None:
    git = start(tmp_path / "here")
    fill(git)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "precious").write_text("precious\n")
    git("config", "core.worktree", str(elsewhere))
    before = tree_of(elsewhere)
    kept = KeptFiles(open_guard(git.root), git)
    works_through(kept)
    assert tree_of(elsewhere) == before


def test_a_git_folder_apart_from_the_worktree_is_no_obstacle(
    open_guard: OpenGuard, tmp_path: Path
) -> None:
    git = start(tmp_path / "here", f"--separate-git-dir={tmp_path / 'apart'}")
    fill(git)
    works_through(KeptFiles(open_guard(git.root), git))


def test_a_worktree_inside_of_another_one_is_named_and_never_changed(kept: KeptFiles) -> None:
    name = kept.snapshot()
    kept.git("worktree", "add", "--quiet", "-b", "inside", "agents/inside")
    inside = kept.root / "agents" / "inside"
    work(inside, "two")
    (kept.root / "edited").write_text("two\n")
    before = tree_of(inside)
    kept.snapshot()
    assert left_out(kept.guard) == {"agents/inside": "a repository of its own"}
    assert kept.put_back(name) == {"agents/inside/": "it is a repository of its own"}
    assert (kept.root / "edited").read_text() == "one\n"
    assert tree_of(inside) == before


def test_a_worktree_of_a_bare_repository_has_its_files_back(
    git: Git, open_guard: OpenGuard, tmp_path: Path
) -> None:
    fill(git)
    Git(tmp_path)("clone", "--quiet", "--bare", str(git.root), "bare")
    Git(tmp_path / "bare")("worktree", "add", "--quiet", str(tmp_path / "linked"), "main")
    works_through(KeptFiles(open_guard(tmp_path / "linked"), Git(tmp_path / "linked")))


def test_a_partial_clone_has_its_files_back_and_nothing_is_fetched(
    git: Git, open_guard: OpenGuard, tmp_path: Path
) -> None:
    fill(git)
    (git.root / "out" / "f").write_text("left out of the clone\n")
    git("commit", "--quiet", "--all", "--message", "More")
    git("config", "uploadpack.allowFilter", "true")
    clone = ("clone", "--quiet", "--filter=blob:none", "--sparse", f"file://{git.root}", "partial")
    Git(tmp_path)(*clone)
    partial = Git(tmp_path / "partial")
    partial("sparse-checkout", "set", "in")
    kept = KeptFiles(open_guard(partial.root), partial)
    absent = ("rev-list", "--objects", "--missing=print", "HEAD")
    before = partial(*absent)
    assert "\n?" in before
    works_through(kept)
    assert partial(*absent) == before


@pytest.mark.parametrize("name", [b"a b\n'c", "größe".encode(), b"-C", b"%41"])
def test_a_worktree_in_a_folder_of_any_name_has_its_files_back(
    open_guard: OpenGuard, tmp_path: Path, name: bytes
) -> None:
    git = start(tmp_path / os.fsdecode(name))
    fill(git)
    kept = KeptFiles(open_guard(git.root), git)
    works_through(kept)
    without, then = kept.snapshot(), tree_of(kept.root)
    (git.root / "new.pem").write_text("kept outside of git\n")
    kept.goes_back_and_forth(without, then)


# Two sessions in one worktree


class Dies(BaseException):
    """The process is killed."""


def dies(step: str) -> None:
    if step == "restore-recorded":
        raise Dies


def test_two_sessions_keep_and_put_back_the_files_of_one_worktree(
    kept: KeptFiles, open_guard: OpenGuard
) -> None:
    other = KeptFiles(open_guard(session="other"), kept.git)
    work(kept.root, "two")
    first, then = kept.snapshot(), tree_of(kept.root)
    work(kept.root, "three")
    second, later = other.snapshot(), tree_of(kept.root)
    kept.put_back(first)
    assert tree_of(kept.root) == then
    other.put_back(second)
    assert tree_of(kept.root) == later
    other.undo()
    assert tree_of(kept.root) == then
    kept.undo()
    assert tree_of(kept.root) == later


def test_restores_of_two_sessions_at_one_moment_write_under_names_of_their_own(
    kept: KeptFiles, open_guard: OpenGuard, places: UserDirs
) -> None:
    suffixes = set()
    for session in ("first", "second"):
        dying = Guard(str(kept.root), places.replace(session=session, at_step=dies), lambda: 2e9)
        dying.ensure()
        dying.checkpoint("Here")
        (kept.root / "edited").write_text(f"{session}\n")
        plan = dying.files.plan(dying.log(1)[0].name, theirs_too=True)
        with pytest.raises(Dies):
            dying.files.restore(plan, force=session == "second")
        record = dying.files.unfinished()
        assert record is not None
        suffixes.add(record.suffix)
    assert len(suffixes) == 2


def test_what_one_session_wrote_while_another_s_restore_was_cut_off_is_not_lost(
    kept: KeptFiles, open_guard: OpenGuard, clock: Clock
) -> None:
    name = kept.snapshot()
    work(kept.root, "two")
    left = [2]

    def at_step(step: str) -> None:
        left[0] -= step == "file-restored"
        if not left[0]:
            raise Dies

    dying = open_guard(at_step=at_step)
    with pytest.raises(Dies):
        dying.files.restore(dying.files.plan(name, theirs_too=True))
    other = KeptFiles(open_guard(session="other"), kept.git)
    (kept.root / "edited").write_text("by the other session\n")
    there = other.snapshot()
    with kept.untouched():
        finished = kept.guard.files.finish()
    assert finished is not None
    lying = (kept.root / "edited").read_text()
    assert (lying, "edited" in finished.stayed) in [
        ("by the other session\n", True),
        ("one\n", False),
    ]
    other.put_back(there)
    assert (kept.root / "edited").read_text() == "by the other session\n"
