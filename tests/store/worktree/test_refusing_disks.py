"""What disks that are full or read-only do to snapshots and restores: nothing is lost by it.

A restore that a disk cut off is finished by the next one, or taken back, once there is room.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from gitguard.errors import GitguardError, NotWritable
from gitguard.guard import Guard
from tests.conftest import Git, OpenGuard
from tests.support.another_user import ALICE, GROUP, open_the_way, run_as
from tests.support.kept_files import Files, KeptFiles, tree_of
from tests.support.needed import need_root
from tests.support.unwritable import fill, read_only, small_disk

FILES, BYTES = 6, 60_000
"""How many files are put back, and how large each is, on a disk of a few megabytes."""


def text(number: int, when: str) -> str:
    """Return a content that does not get smaller when git packs it."""
    return f"{when} {number}\n" + os.urandom(BYTES // 2).hex()


def make_work(root: Path, when: str) -> None:
    (root / "folder").mkdir(exist_ok=True)
    for number in range(FILES):
        (root / "folder" / f"{number}").write_text(text(number, when))
    (root / f"only {when}").write_text(when)


def accounted_for(kept: KeptFiles, *states: Files) -> None:
    """Fail unless what lies there is whole: each file as in one of some states."""
    for path, version in tree_of(kept.root).items():
        if not path.startswith("filler"):
            assert version in [state.get(path) for state in states], path


# A disk without room

LAYOUTS = ("worktree", "repository", "state")


@pytest.fixture(params=LAYOUTS)
def on_small_disk(
    request: pytest.FixtureRequest, tmp_path: Path, open_guard: OpenGuard
) -> Iterator[tuple[KeptFiles, Path]]:
    """A worktree of which a part lies on a disk that is soon full."""
    layout = request.param
    with small_disk(tmp_path / "disk", "4m") as disk:
        root = (tmp_path if layout != "worktree" else disk) / "root"
        root.mkdir()
        apart = (tmp_path if layout != "repository" else disk) / "apart"
        git = Git(root)
        git.start(f"--separate-git-dir={apart}")
        state = str((tmp_path if layout != "state" else disk) / "state-home")
        yield KeptFiles(open_guard(root, state_home=state), git), disk


@pytest.mark.parametrize("room", [0, 4, 16, 40, 90])
def test_a_restore_on_a_full_disk_loses_nothing_and_is_finished_when_there_is_room(
    on_small_disk: tuple[KeptFiles, Path], room: int
) -> None:
    kept, disk = on_small_disk
    make_work(kept.root, "then")
    name, then = kept.snapshot(), tree_of(kept.root)
    make_work(kept.root, "later")
    (kept.root / "only then").unlink()
    later = tree_of(kept.root)
    fill(disk / "filler", room * 4096)
    try:
        kept.guard.files.restore(kept.guard.files.plan(name, theirs_too=True))
    except GitguardError:
        accounted_for(kept, then, later)
    else:
        accounted_for(kept, then)
    finally:
        (disk / "filler").unlink()
    if kept.guard.files.unfinished() is not None:
        finished = kept.guard.files.finish()
        assert finished is not None
        assert finished.stayed == {}
    elif tree_of(kept.root) != then:
        assert tree_of(kept.root) == later
        assert kept.put_back(name) == {}
    assert tree_of(kept.root) == then
    kept.undo()
    assert tree_of(kept.root) == later


def test_a_restore_that_ran_out_of_room_can_be_taken_back(
    tmp_path: Path, open_guard: OpenGuard
) -> None:
    with small_disk(tmp_path / "disk", "4m") as disk:
        (disk / "root").mkdir()
        git = Git(disk / "root")
        git.start(f"--separate-git-dir={tmp_path / 'apart'}")
        kept = KeptFiles(open_guard(git.root), git)
        make_work(kept.root, "then")
        name = kept.snapshot()
        for path in (kept.root / "folder").iterdir():
            path.write_text("short\n")
        later = tree_of(kept.root)
        plan = kept.plan(name)
        fill(disk / "filler", 2 * BYTES)
        with pytest.raises(NotWritable, match="could not be put back"):
            kept.guard.files.restore(plan)
        assert kept.guard.files.unfinished() is not None
        with kept.untouched():
            kept.guard.files.restore(kept.guard.files.plan_undo())
        (disk / "filler").unlink()
        assert tree_of(kept.root) == later


# UserDirs that cannot be written


@pytest.fixture
def kept(guard: Guard, git: Git) -> KeptFiles:
    kept = KeptFiles(guard, git)
    make_work(git.root, "then")
    return kept


def test_a_folder_that_is_read_only_leaves_its_files_and_the_restore_open(kept: KeptFiles) -> None:
    name, then = kept.snapshot(), tree_of(kept.root)
    make_work(kept.root, "later")
    later = tree_of(kept.root)
    plan = kept.plan(name)
    with read_only(kept.root / "folder"):
        with pytest.raises(NotWritable, match=r"`folder/0` could not be put back.* 5 more"):
            kept.guard.files.restore(plan)
        assert not (kept.root / "only later").exists()
        accounted_for(kept, then, later)
    assert kept.guard.files.finish() is not None
    assert tree_of(kept.root) == then
    kept.undo()
    assert tree_of(kept.root) == later


def test_a_worktree_that_is_read_only_is_left_as_it_is_with_the_reason(kept: KeptFiles) -> None:
    name = kept.snapshot()
    make_work(kept.root, "later")
    later = tree_of(kept.root)
    with read_only(kept.root):
        with pytest.raises(GitguardError):
            kept.guard.files.restore(kept.guard.files.plan(name, theirs_too=True))
        assert tree_of(kept.root) == later
    then_put_back = kept.put_back(name)
    assert then_put_back == {}
    kept.undo()
    assert tree_of(kept.root) == later


# Files that cannot be read


def test_a_file_that_its_user_may_not_read_is_named_and_stays(tmp_path: Path) -> None:
    need_root("to be another user")
    git = Git(tmp_path / "alice")
    git.root.mkdir()
    git.start()
    (git.root / "new").write_text("new\n")
    for path in (git.root, *git.root.rglob("*")):
        os.chown(path, ALICE, GROUP)
    open_the_way(tmp_path)
    tmp_path.chmod(0o777)

    def alice(*arguments: str) -> str:
        code, said = run_as(ALICE, git.root, *arguments, HOME=str(tmp_path / "home"))
        assert code == 0, said
        return said

    alice("ensure")
    alice("checkpoint", "-m", "Before")
    names = ("README.md", "new")
    for name in names:
        (git.root / name).write_text("unreadable\n")
        (git.root / name).chmod(0)
    alice("checkpoint", "-m", "Unreadable")
    said = alice("status", "--files")
    assert all(f"{name}: it cannot be read" in said for name in names)
    said = alice("restore", "2", "--files", "--theirs-too", "--dry-run")
    assert said.count("the current file cannot be read, so it cannot be saved") == len(names)
    assert all((git.root / name).read_text() == "unreadable\n" for name in names)
