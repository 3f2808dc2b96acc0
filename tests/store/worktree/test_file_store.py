"""The store of file snapshots: nothing carries it away, and its disk comes back."""

from __future__ import annotations

import os
import shutil
import stat
from pathlib import Path

import pytest

from gitguard.errors import GitFailed, Locked, NothingFound
from gitguard.guard import Guard
from gitguard.store.git.trees import FOLDER, PLAIN, TreeEntry, Trees
from gitguard.store.worktree.consolidating import consolidate
from gitguard.store.worktree.file_store import MANY
from gitguard.store.worktree.manifest import Manifest, dump_manifest
from tests.conftest import Clock, Git, OpenGuard
from tests.support.file_stores import all_objects, has_bytes, packs_of, size_of, store_of
from tests.support.kept_files import Files, files_of, tree_of
from tests.support.kept_sessions import at, close_it, maintain

UNCOMMITTED = "a line that nobody ever committed\n"


@pytest.fixture
def worked(guard: Guard, git: Git) -> Guard:
    """A session with a committed file that was changed, and one that was never committed."""
    (git.root / "tracked").write_text("tracked\n")
    git("add", "--all")
    git("commit", "--quiet", "--message", "Files")
    (git.root / "tracked").write_text(f"changed\n{UNCOMMITTED}")
    (git.root / "untracked").write_text(UNCOMMITTED)
    guard.ensure()
    guard.checkpoint("Here")
    return guard


def newest(guard: Guard) -> str:
    return guard.log(1)[0].name


def exported(guard: Guard, name: str, folder: Path) -> Files:
    guard.files.export(name, str(folder))
    return tree_of(folder)


def of_repository(files: Files, *paths: str) -> dict[str, bytes]:
    return {path: files[path][1] for path in paths if path in files}


def save(guard: Guard, git: Git, text: str) -> str:
    """Take a checkpoint with another file, a second later; return its name."""
    clock = guard.clock
    assert isinstance(clock, Clock)
    clock.advance(1)
    (git.root / "file.txt").write_text(text)
    guard.checkpoint(text.strip()[:40])
    return newest(guard)


# What nothing of the user's carries away


CARRIERS = {
    "push --mirror": ("push", "--quiet", "--mirror", "TARGET"),
    "push of all refs": ("push", "--quiet", "TARGET", "refs/*:refs/*"),
    "push --all --follow-tags": ("push", "--quiet", "--all", "--follow-tags", "TARGET"),
    "clone --mirror": ("clone", "--quiet", "--mirror", ".", "OTHER"),
    "clone of a path": ("clone", "--quiet", ".", "OTHER"),
    "clone --no-local": ("clone", "--quiet", "--no-local", "--mirror", ".", "OTHER"),
    "clone --shared": ("clone", "--quiet", "--bare", "--shared", ".", "OTHER"),
    "bundle --all": ("bundle", "create", "--quiet", "BUNDLE", "--all"),
}


@pytest.mark.parametrize("carrier", CARRIERS)
def test_no_push_clone_or_bundle_carries_a_file_that_was_never_committed(
    worked: Guard, git: Git, tmp_path: Path, carrier: str
) -> None:
    target, other, bundle = tmp_path / "target", tmp_path / "other", tmp_path / "all.bundle"
    git("init", "--quiet", "--bare", str(target))
    names = {"TARGET": str(target), "OTHER": str(other), "BUNDLE": str(bundle)}
    git(*(names.get(word, word) for word in CARRIERS[carrier]))
    if bundle.exists():
        git("clone", "--quiet", "--mirror", str(bundle), str(other))
    carried = Git(other if other.exists() else target)
    assert carried("for-each-ref"), "something was carried"
    git_dir = Path(carried("rev-parse", "--absolute-git-dir"))
    assert UNCOMMITTED.encode() not in all_objects(git_dir)
    assert not (git_dir / "gitguard").exists()
    assert "refs/gitguard" not in carried("for-each-ref")


def test_the_users_own_git_sees_nothing_of_the_store(worked: Guard, git: Git) -> None:
    assert UNCOMMITTED.encode() not in all_objects(git.root / ".git")
    assert has_bytes(git, UNCOMMITTED.encode())
    assert "refs/gitguard" not in git("for-each-ref")
    packs, counted = packs_of(git), git("count-objects", "-v")
    (git.root / "untracked").write_text(f"{UNCOMMITTED}more\n")
    worked.store().worktree.see(git("rev-parse", "HEAD"), None, None)
    assert git("count-objects", "-v") == counted
    assert git("fsck", "--full", "--strict", "--unreachable") == ""
    before = files_of(worked)
    git("gc", "--quiet", "--prune=now")
    git("repack", "-a", "-d", "--quiet")
    assert files_of(worked) == before
    assert set(packs) <= set(packs_of(git))


def test_the_store_is_nobody_elses_and_has_neither_refs_nor_alternates(
    worked: Guard, git: Git
) -> None:
    store = store_of(git)
    assert stat.S_IMODE(store.stat().st_mode) == 0o700
    assert list((store / "refs").iterdir()) == []
    assert not (store / "objects" / "info").exists()
    assert not (git.root / ".git" / "objects" / "info" / "alternates").exists()
    inside = Git(store)
    assert inside("--git-dir=.", "for-each-ref") == ""
    inside("--git-dir=.", "fsck", "--full", "--strict")
    assert len(packs_of(git)) == 2 * len(list(store.rglob("*.pack")))


def test_snapshots_of_a_sha256_repository_are_stored_and_put_back(
    tmp_path: Path, open_guard: OpenGuard
) -> None:
    git = Git(tmp_path / "sha256")
    git.root.mkdir()
    git.start("--object-format=sha256")
    guard = open_guard(git.root)
    (git.root / "untracked").write_text(UNCOMMITTED)
    guard.ensure()
    guard.checkpoint("Here")
    (git.root / "untracked").unlink()
    guard.files.restore(guard.files.plan(newest(guard), ("untracked",)))
    assert (git.root / "untracked").read_text() == UNCOMMITTED
    maintain(guard)
    assert files_of(guard)["untracked"][1] == UNCOMMITTED.encode()


# What the user's git throws away


def test_a_file_that_was_only_in_the_index_comes_back_after_a_prune(guard: Guard, git: Git) -> None:
    (git.root / "staged").write_text(UNCOMMITTED)
    git("add", "staged")
    guard.ensure()
    guard.checkpoint("Here")
    git("reset", "--quiet")
    (git.root / "staged").unlink()
    git("prune", "--expire=now")
    assert guard.files.restore(guard.files.plan(newest(guard), ("staged",))).files == ("staged",)
    assert (git.root / "staged").read_text() == UNCOMMITTED


def give_up_commits(git: Git) -> None:
    """Let git collect all that no branch reaches."""
    git("reflog", "expire", "--expire=now", "--expire-unreachable=now", "--all")
    git("gc", "--quiet", "--prune=now")


def test_a_snapshot_is_whole_after_its_commit_was_amended_and_collected(
    worked: Guard, git: Git, tmp_path: Path
) -> None:
    (git.root / "crlf.txt").write_bytes(b"one\r\ntwo\r\n")
    (git.root / "only here").write_text("only in the amended commit\n")
    git("config", "core.autocrlf", "true")
    git("add", "crlf.txt", "only here")
    git("commit", "--quiet", "--message", "To be amended")
    worked.checkpoint("Before the amend")
    name, amended = newest(worked), git("rev-parse", "HEAD")
    before = exported(worked, name, tmp_path / "before")
    git("rm", "--quiet", "only here")
    git("commit", "--quiet", "--amend", "--message", "Amended")
    worked.checkpoint("After the amend")
    give_up_commits(git)
    assert git("cat-file", "-e", amended, check=False) == ""
    with pytest.raises(AssertionError):
        git("cat-file", "-e", amended)
    assert exported(worked, name, tmp_path / "after") == before
    assert before["crlf.txt"][1] == b"one\r\ntwo\r\n"
    plan = worked.files.plan(name, theirs_too=True)
    assert [file.path for file in plan.chosen] == ["only here"]
    maintain(worked)
    assert exported(worked, name, tmp_path / "packed") == before


def test_maintenance_stores_what_a_snapshot_needs_of_a_branch_that_is_gone(
    worked: Guard, git: Git, tmp_path: Path
) -> None:
    git("switch", "--quiet", "--create", "feature")
    (git.root / "of the branch").write_text("of the branch\n")
    git("add", "of the branch")
    git("commit", "--quiet", "--message", "On the branch")
    worked.checkpoint("On the branch")
    name = newest(worked)
    before = exported(worked, name, tmp_path / "before")
    git("switch", "--quiet", "main")
    git("branch", "-D", "feature")
    maintain(worked)
    give_up_commits(git)
    assert exported(worked, name, tmp_path / "after") == before


def test_the_changed_files_of_a_snapshot_outlive_a_commit_that_was_destroyed_at_once(
    worked: Guard, git: Git
) -> None:
    name = newest(worked)
    git("commit", "--quiet", "--amend", "--message", "Amended at once", "--only")
    give_up_commits(git)
    (git.root / "untracked").unlink()
    (git.root / "tracked").write_text("later\n")
    (git.root / "new since").write_text("new\n")
    plan = worked.files.plan(name, theirs_too=True)
    assert {file.path for file in plan.chosen} == {"tracked", "untracked"}
    assert any("which is gone" in unseen for unseen in plan.unseen)
    worked.files.restore(plan)
    assert (git.root / "untracked").read_text() == UNCOMMITTED
    assert (git.root / "tracked").read_text() == f"changed\n{UNCOMMITTED}"
    assert (git.root / "new since").exists()


def test_snapshots_of_a_worktree_outlive_it(worked: Guard, git: Git, open_guard: OpenGuard) -> None:
    linked = Git(git.root.parent / "linked")
    git("worktree", "add", "--quiet", "-b", "linked", str(linked.root))
    guard = open_guard(linked.root)
    guard.ensure()
    (linked.root / "untracked").write_text(UNCOMMITTED * 2)
    guard.checkpoint("In the worktree")
    session, name = guard.store().session.name, newest(guard)
    git("worktree", "remove", "--force", str(linked.root))
    git("branch", "-D", "linked")
    give_up_commits(git)
    folder = git.root.parent / "exported"
    open_guard(session=session).files.export(name, str(folder))
    assert (folder / "untracked").read_text() == UNCOMMITTED * 2


# What comes back, and what a restore leaves


def test_a_named_path_that_lies_nowhere_comes_back_without_theirs_too(
    worked: Guard, git: Git
) -> None:
    (git.root / "untracked").unlink()
    (git.root / "tracked").write_text("by somebody else\n")
    assert worked.files.plan(newest(worked)).chosen == ()
    plan = worked.files.plan(newest(worked), ("untracked", "tracked"))
    assert [file.path for file in plan.chosen] == ["untracked"]
    worked.files.restore(plan)
    assert (git.root / "untracked").read_text() == UNCOMMITTED
    assert (git.root / "tracked").read_text() == "by somebody else\n"


def test_a_restore_names_the_repositories_whose_files_it_leaves(
    worked: Guard, git: Git, tmp_path: Path
) -> None:
    library = Git(tmp_path / "library")
    library.root.mkdir()
    library.start()
    local = ("-c", "protocol.file.allow=always")
    git(*local, "submodule", "--quiet", "add", str(library.root), "sub/module")
    git("commit", "--quiet", "--message", "With a submodule")
    nested = Git(git.root / "nested")
    nested.root.mkdir()
    nested.start()
    worked.checkpoint("Here")
    (git.root / "sub" / "module" / "README.md").write_text("changed inside\n")
    (git.root / "untracked").unlink()
    unseen = worked.files.plan(newest(worked)).unseen
    assert "files in the submodule `sub/module`" in unseen
    assert "files in `nested`, a repository of its own" in unseen
    assert worked.files.plan(newest(worked), ("untracked",)).unseen == ()
    assert worked.files.plan(newest(worked), ("sub",)).unseen == unseen[:1]


def test_a_restore_names_a_repository_that_is_gone_by_now(worked: Guard, git: Git) -> None:
    nested = Git(git.root / "nested")
    nested.root.mkdir()
    nested.start()
    name = save(worked, git, "two\n")
    shutil.rmtree(nested.root)
    assert worked.files.plan(name).unseen == ("files in `nested`, a repository of its own",)


# The disk


def test_what_is_forgotten_gives_its_disk_back_at_once(
    worked: Guard, git: Git, clock: Clock
) -> None:
    save(worked, git, UNCOMMITTED * 50_000)
    save(worked, git, "small\n")
    large = size_of(git)
    clock.advance(31 * 86_400)
    maintain(worked)
    assert size_of(git) < large - len(UNCOMMITTED) * 50_000 + 10_000
    assert not has_bytes(git, UNCOMMITTED.encode() * 3)
    assert files_of(worked)["file.txt"][1] == b"small\n"


def test_what_is_forgotten_with_another_snapshot_gives_its_disk_back_as_well(
    worked: Guard, git: Git, clock: Clock
) -> None:
    save(worked, git, UNCOMMITTED * 50_000)
    clock.advance(31 * 86_400)
    save(worked, git, "small\n")
    assert size_of(git) < 100_000


def test_a_purged_file_is_gone_from_the_disk_at_once(worked: Guard, git: Git) -> None:
    password = "correcthorse"
    (git.root / "settings.py").write_text(f"password is {password}\n")
    worked.checkpoint("With the file")
    (git.root / "settings.py").write_text(f"password is still {password}\n")
    worked.checkpoint("Again")
    (git.root / "settings.py").unlink()
    worked.checkpoint("Without it")
    left_behind = store_of(git) / "objects" / "pack" / "tmp_pack_killed"
    left_behind.write_bytes(password.encode())
    assert has_bytes(git, password.encode())
    worked.secrets.purge("1", value=password, reason="It got into a file")
    assert not has_bytes(git, password.encode())
    assert files_of(worked)["untracked"][1] == UNCOMMITTED.encode()


def test_many_snapshots_become_one_pack_and_every_one_reads_as_before(
    worked: Guard, git: Git, tmp_path: Path
) -> None:
    texts = [f"{'line ' * number}\n" for number in range(1, MANY + 5)]
    names = [save(worked, git, text) for text in texts]
    packs = [name for name in packs_of(git) if name.endswith(".pack")]
    assert len(packs) < MANY
    assert any(name.startswith("pack-") for name in packs)
    with worked.store().worktree.reader() as reader:
        for checkpoint, text in zip(reversed(worked.log(len(names))), texts, strict=True):
            snapshot = reader.snapshot(checkpoint.files)
            blob = snapshot.overlay["file.txt"].id
            assert reader.read(blob, "blob", limit=1 << 20) == text.encode()
    maintain(worked)
    assert len([name for name in packs_of(git) if name.endswith(".pack")]) == 1
    assert exported(worked, names[0], tmp_path / "first")["file.txt"][1] == texts[0].encode()


def test_deleting_the_last_history_of_a_session_deletes_its_snapshots(
    worked: Guard, git: Git, open_guard: OpenGuard
) -> None:
    other = at(worked, "other")
    save(other, git, "only in the other session\n")
    closed = close_it(other, "other")
    assert has_bytes(git, b"only in the other session")
    again = open_guard()
    again.sessions.use(again.sessions.find("main"))
    (git.root / "file.txt").unlink()
    maintain(again, "enforce", closed.name)
    assert not has_bytes(git, b"only in the other session")


def test_a_summary_outlives_the_archive_and_goes_with_the_last_history(
    worked: Guard, git: Git, open_guard: OpenGuard
) -> None:
    other = at(worked, "other")
    save(other, git, "only in the other session\n")
    kept = other.store().worktree.kept_summaries()
    summary = kept.keep("Half of the fields are read.", 1, len(worked.log(1)[0].id))
    closed = close_it(other, "other")
    again = open_guard()
    again.sessions.use(again.sessions.find("main"))
    maintain(again)
    assert kept.read(summary) == "Half of the fields are read."
    maintain(again, "enforce", closed.name)
    assert kept.read(summary) is None
    assert not has_bytes(git, b"Half of the fields")


# Who writes and who removes


def test_nothing_is_removed_while_somebody_writes_a_snapshot(worked: Guard, git: Git) -> None:
    save(worked, git, "two\n")
    store, packs = worked.store().worktree.file_store, packs_of(git)
    with store.shared(), store.shared(), pytest.raises(Locked):
        consolidate(store, patience=0)
    assert packs_of(git) == packs
    consolidate(store, patience=0)
    assert len(packs_of(git)) == 2


def test_a_snapshot_that_would_wait_too_long_for_a_removal_is_refused_and_no_fault_of_ours(
    worked: Guard, git: Git
) -> None:
    with worked.store().worktree.file_store.alone(0):
        name = save(worked, git, "two\n")
    assert not worked.log(1)[0].files
    assert worked.workspace.faults() == []
    assert "is held by" in worked.files.status().gaps.refusal
    assert save(worked, git, "two\n") != name
    assert files_of(worked)["file.txt"][1] == b"two\n"


@pytest.mark.parametrize("dies_at", ["files-packed", "lists-written", "pack-removed"])
def test_whoever_dies_while_it_packs_loses_nothing_and_the_next_one_ends_it(
    worked: Guard, git: Git, clock: Clock, dies_at: str
) -> None:
    texts = ["two\n", "three\n", "four\n"]
    for text in texts:
        save(worked, git, text)
    store = worked.store().worktree.file_store

    def die(step: str) -> None:
        if step == dies_at:
            raise KeyboardInterrupt

    store.at_step = die
    with pytest.raises(KeyboardInterrupt):
        consolidate(store)
    checkpoints = worked.log(3)[::-1]
    for _ in range(2):
        with worked.store().worktree.reader() as reader:
            for checkpoint, text in zip(checkpoints, texts, strict=True):
                blob = reader.snapshot(checkpoint.files).overlay["file.txt"].id
                assert reader.read(blob, "blob", limit=100) == text.encode()
        consolidate(worked.store().worktree.file_store)
    assert len(packs_of(git)) == 2


# What is lost of the store itself


def test_a_list_that_was_lost_is_made_again_from_the_packs(
    worked: Guard, git: Git, tmp_path: Path
) -> None:
    first = newest(worked)
    save(worked, git, "two\n")
    maintain(worked)
    third = save(worked, git, "three\n")
    kept = worked.files.status()
    shutil.rmtree(store_of(git) / "kept")
    assert worked.files.status().snapshots == kept.snapshots
    assert exported(worked, third, tmp_path / "third")["file.txt"][1] == b"three\n"
    maintain(worked)
    assert worked.files.status().snapshots == kept.snapshots
    assert exported(worked, first, tmp_path / "first")["untracked"][1] == UNCOMMITTED.encode()


def test_packing_forgets_no_session_whose_list_was_lost(worked: Guard, git: Git) -> None:
    save(worked, git, "two\n")
    maintain(worked)
    kept = worked.files.status().snapshots
    (store_of(git) / "kept" / "main.list").unlink()
    at(worked, "other")
    save(worked, git, "three\n")
    consolidate(worked.store().worktree.file_store)
    at(worked, "main")
    assert worked.files.status().snapshots >= kept


@pytest.mark.parametrize("cut", [0, 1, 40, -1])
def test_a_line_that_a_power_cut_took_is_read_again_from_its_pack(
    worked: Guard, git: Git, cut: int
) -> None:
    path = store_of(git) / "kept" / "main.list"
    before = path.read_bytes()
    save(worked, git, "two\n")
    added = path.read_bytes()[len(before) :]
    path.write_bytes(before + added[:cut])
    assert worked.files.status().snapshots == 2
    assert files_of(worked)["file.txt"][1] == b"two\n"
    save(worked, git, "three\n")
    assert worked.files.status().snapshots == 3
    maintain(worked)
    assert worked.files.status().snapshots == 3


@pytest.mark.parametrize("damage", [None, b"", b"\0" * 1_100, b"half of an index"])
def test_an_index_that_a_power_cut_took_is_made_again(
    worked: Guard, git: Git, damage: bytes | None
) -> None:
    for path in (store_of(git) / "objects" / "pack").glob("*.idx"):
        path.chmod(0o600)
        path.unlink() if damage is None else path.write_bytes(damage)
    assert files_of(worked)["untracked"][1] == UNCOMMITTED.encode()
    maintain(worked)
    assert files_of(worked)["untracked"][1] == UNCOMMITTED.encode()


@pytest.mark.parametrize("name", ["main~" + "0" * 40 + ".pack", "~" + "1" * 40 + ".pack"])
def test_a_pack_that_was_cut_off_while_it_was_written_is_removed(
    worked: Guard, git: Git, name: str
) -> None:
    half = store_of(git) / "objects" / "pack" / name
    half.write_bytes(b"PACK\0\0\0\2\0\0")
    assert worked.files.status().snapshots == 1
    assert files_of(worked)["untracked"][1] == UNCOMMITTED.encode()
    maintain(worked)
    assert not half.exists()
    assert files_of(worked)["untracked"][1] == UNCOMMITTED.encode()


def test_a_list_that_somebody_changed_gives_no_files_that_were_not_taken(
    worked: Guard, git: Git
) -> None:
    first = worked.log(2)[0]
    save(worked, git, "two\n")
    path = store_of(git) / "kept" / "main.list"
    snapshots = worked.store().worktree.kept_snapshots()
    *older, one, two = snapshots.list()
    snapshots.put((*older, one.replace(root=two.root), two))
    with pytest.raises(NothingFound):
        worked.files.plan(first.name)
    assert path.exists()


# What somebody made of it


@pytest.mark.parametrize("damage", [b"", b"half of an index"])
def test_the_index_of_packed_snapshots_is_made_again_before_anything_is_removed(
    worked: Guard, git: Git, tmp_path: Path, damage: bytes
) -> None:
    first = newest(worked)
    save(worked, git, "two\n")
    maintain(worked)
    for path in (store_of(git) / "objects" / "pack").glob("pack-*.idx"):
        path.chmod(0o600)
        path.write_bytes(damage)
    save(worked, git, "three\n")
    maintain(worked)
    assert exported(worked, first, tmp_path / "first")["untracked"][1] == UNCOMMITTED.encode()


def test_the_index_of_another_pack_is_none(worked: Guard, git: Git, tmp_path: Path) -> None:
    first = newest(worked)
    save(worked, git, "two\n")
    one, two = sorted((store_of(git) / "objects" / "pack").glob("main~*.idx"))[:2]
    one_index, two_index = one.read_bytes(), two.read_bytes()
    one.write_bytes(two_index)
    two.write_bytes(one_index)
    maintain(worked)
    assert exported(worked, first, tmp_path / "first")["untracked"][1] == UNCOMMITTED.encode()


def test_a_pack_that_git_cannot_read_at_the_moment_is_not_removed(
    worked: Guard, git: Git, tmp_path: Path
) -> None:
    first = newest(worked)
    packs = store_of(git) / "objects" / "pack"
    for path in packs.glob("*.idx"):
        path.unlink()
    store = worked.store().worktree.file_store
    # A folder at the place of the new index stands for a disk without room for it.
    names = [packs / f"{path.stem}.{os.getpid()}.tmp" for path in packs.glob("*.pack")]
    for name in names:
        name.mkdir()
    with pytest.raises(GitFailed):
        consolidate(store)
    for name in names:
        name.rmdir()
    consolidate(store)
    assert exported(worked, first, tmp_path / "first")["untracked"][1] == UNCOMMITTED.encode()


def test_what_somebody_lays_a_snapshot_on_is_not_believed(
    worked: Guard, git: Git, tmp_path: Path
) -> None:
    name = newest(worked)
    before = exported(worked, name, tmp_path / "before")
    snapshots = worked.store().worktree.kept_snapshots()
    *older, snapshot = snapshots.list()
    writer = snapshots.writer(len(snapshot.id))
    forged = {"never taken": TreeEntry(PLAIN, writer.write("blob", b"forged\n"))}
    manifest = writer.write("blob", dump_manifest(Manifest(snapshot.base)))
    parts = {
        "files": TreeEntry(FOLDER, Trees(None).changed("", forged, writer.write)),
        "manifest.json": TreeEntry(PLAIN, manifest),
        "first": TreeEntry(FOLDER, snapshot.id),
    }
    tree = Trees(None).changed("", parts, writer.write)
    snapshots.put((*older, snapshots.keep(snapshot, writer, tree)))
    assert exported(worked, name, tmp_path / "after") == before


def test_packing_that_fails_leaves_no_half_of_a_pack(worked: Guard, git: Git) -> None:
    save(worked, git, "two\n")
    (pack,) = (
        path
        for path in (store_of(git) / "objects" / "pack").glob("main~*.pack")
        if UNCOMMITTED.encode() in path.read_bytes()
    )
    # The snapshot after it names contents of this pack.
    pack.write_bytes(b"")
    with pytest.raises(GitFailed):
        maintain(worked)
    assert not [name for name in packs_of(git) if "tmp" in name]
