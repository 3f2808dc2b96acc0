"""Files go back to how they were at a checkpoint, nothing is lost, and it can be undone."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from gitguard.errors import GitguardError, MissingState, NothingFound, NotWritable
from gitguard.guard import Guard
from tests.conftest import Clock, Git, OpenGuard
from tests.support.kept_files import files_of, tree_of


@pytest.fixture
def worked(guard: Guard, git: Git) -> Guard:
    """A session with files of every kind, and a checkpoint of them."""
    root = git.root
    (root / "tracked").write_text("tracked\n")
    (root / "other").write_text("other\n")
    git("add", "--all")
    git("commit", "--quiet", "--message", "Files")
    (root / "tracked").write_text("tracked, at the checkpoint\n")
    (root / "program").write_text("#!/bin/sh\n")
    (root / "program").chmod(0o755)
    (root / "link").symlink_to("tracked")
    (root / "folder").mkdir()
    (root / "folder" / "inner").write_text("inner\n")
    guard.ensure()
    guard.checkpoint("Here")
    return guard


def here(guard: Guard) -> str:
    return guard.log(1)[0].name


def break_everything(root: Path) -> None:
    (root / "tracked").unlink()
    (root / "program").write_text("broken\n")
    (root / "program").chmod(0o644)
    (root / "link").unlink()
    (root / "link").write_text("no link\n")
    (root / "folder" / "inner").unlink()
    (root / "folder").rmdir()
    (root / "folder").write_text("no folder\n")
    (root / "new").mkdir()
    (root / "new" / "file").write_text("new\n")
    (root / "other").write_text("other, later\n")


def test_every_file_comes_back_and_the_restore_can_be_undone_and_done_again(
    worked: Guard, git: Git
) -> None:
    name, before = here(worked), tree_of(git.root)
    break_everything(git.root)
    broken = tree_of(git.root)
    index = (git.root / ".git" / "index").read_bytes()
    done = worked.files.restore(worked.files.plan(name, theirs_too=True))
    assert done.stayed == {}
    assert tree_of(git.root) == before
    assert worked.files.restore(worked.files.plan_undo()).stayed == {}
    assert tree_of(git.root) == broken
    assert worked.files.restore(worked.files.plan_undo()).stayed == {}
    assert tree_of(git.root) == before
    assert (git.root / ".git" / "index").read_bytes() == index


def test_a_plan_writes_nothing(worked: Guard, git: Git) -> None:
    name = here(worked)
    break_everything(git.root)
    before, refs = tree_of(git.root), git("for-each-ref")
    plan = worked.files.plan(name, theirs_too=True)
    assert {file.path: file.action for file in plan.files} == {
        "tracked": "added",
        "program": "changed",
        "link": "changed",
        "folder": "removed",
        "folder/inner": "added",
        "new/file": "removed",
        "other": "changed",
    }
    assert (tree_of(git.root), git("for-each-ref")) == (before, refs)


def test_only_the_paths_that_are_named_change(worked: Guard, git: Git) -> None:
    name = here(worked)
    break_everything(git.root)
    broken = tree_of(git.root)
    worked.files.restore(worked.files.plan(name, ("other", "new"), theirs_too=True))
    after = tree_of(git.root)
    assert after.pop("other")[1] == b"other\n"
    del broken["other"], broken["new/file"]
    assert after == broken


def test_what_somebody_else_changed_is_refused_by_name(worked: Guard, git: Git) -> None:
    name = here(worked)
    (git.root / "other").write_text("by the user\n")
    plan = worked.files.plan(name)
    assert [(file.path, file.refusal) for file in plan.files] == [
        ("other", f"somebody else changed it after {name}")
    ]
    with pytest.raises(GitguardError, match="nothing is left to restore"):
        worked.files.restore(plan)
    assert (git.root / "other").read_text() == "by the user\n"


def test_a_secret_that_is_replaced_is_kept_outside_of_the_repository(
    worked: Guard, git: Git
) -> None:
    (git.root / "new.pem").write_text("private\n")
    name = here(worked)
    plan = worked.files.plan(name, theirs_too=True)
    worked.files.restore(plan)
    assert not (git.root / "new.pem").exists()
    objects = git("cat-file", "--batch-all-objects", "--batch-check").splitlines()
    blobs = [line.split()[0] for line in objects if " blob " in line]
    assert "private" not in [git("cat-file", "blob", blob) for blob in blobs]
    worked.files.restore(worked.files.plan_undo())
    assert (git.root / "new.pem").read_text() == "private\n"


def test_a_folder_that_became_a_link_is_not_followed(
    worked: Guard, git: Git, tmp_path: Path
) -> None:
    name = here(worked)
    outside = tmp_path / "outside"
    outside.mkdir()
    (git.root / "folder" / "inner").unlink()
    (git.root / "folder").rmdir()
    (git.root / "folder").symlink_to(outside)
    plan = worked.files.plan(name, theirs_too=True)
    (git.root / "sub").mkdir()
    worked.files.restore(plan)
    assert list(outside.iterdir()) == []
    assert (git.root / "folder" / "inner").read_text() == "inner\n"


def test_without_a_snapshot_or_a_restore_it_is_said(worked: Guard) -> None:
    with pytest.raises(NothingFound, match="no restore of files to undo"):
        worked.files.plan_undo()


def test_the_next_conversation_is_told(worked: Guard, git: Git) -> None:
    name = here(worked)
    (git.root / "other").write_text("later\n")
    worked.files.restore(worked.files.plan(name, theirs_too=True))
    block = worked.resume()
    assert f"What happened:\n- `gitguard restore` put back 1 file as at {name} (other)." in block
    assert "The user said" not in block
    assert "Last request" not in block


def test_what_somebody_writes_over_a_file_just_put_back_is_theirs(
    worked: Guard, git: Git, open_guard: OpenGuard
) -> None:
    name = here(worked)
    (git.root / "tracked").write_text("later\n")
    (git.root / "other").write_text("later\n")

    def at_step(reached: str) -> None:
        if reached == "restore-done":
            (git.root / "other").write_text("by hand\n")

    raced = open_guard(at_step=at_step)
    raced.files.restore(raced.files.plan(name, theirs_too=True))
    plan = worked.files.plan(name)
    assert {file.path: file.refusal for file in plan.files} == {
        "other": f"somebody else changed it between cp_003 and {here(worked)}"
    }


class Dies(BaseException):
    """The process is killed."""


STEPS = ("restore-kept", "restore-recorded", "file-restored", "restore-done")


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("times", [1, 3])
def test_a_restore_that_is_killed_is_finished_by_the_next_run(
    worked: Guard, git: Git, clock: Clock, step: str, times: int
) -> None:
    name, before = here(worked), tree_of(git.root)
    break_everything(git.root)
    broken = tree_of(git.root)
    left = [times]

    def at_step(reached: str) -> None:
        if reached == step:
            left[0] -= 1
            if left[0] == 0:
                raise Dies

    places = worked.sessions.workspace.places
    dying = Guard(str(git.root), places.replace(at_step=at_step), clock)
    plan = dying.files.plan(name, theirs_too=True)
    if times == 1 or step == "file-restored":
        with pytest.raises(Dies):
            dying.files.restore(plan)
    else:
        dying.files.restore(plan)
    if worked.files.unfinished() is not None:
        finished = worked.files.finish()
        assert finished is not None
        assert finished.stayed == {}
    if step == "restore-kept" and times == 1:
        assert tree_of(git.root) == broken  # nothing had begun
    else:
        assert tree_of(git.root) == before
        worked.files.restore(worked.files.plan_undo())
        assert tree_of(git.root) == broken


def dying_at(open_guard: OpenGuard, step: str) -> Guard:
    """Open gitguard so that it dies as soon as it reaches a step."""

    def at_step(reached: str) -> None:
        if reached == step:
            raise Dies

    return open_guard(at_step=at_step)


@pytest.mark.parametrize("way_out", ["finish", "undo", "restore another"])
def test_what_a_killed_restore_was_writing_is_gone_whichever_way_it_ends(
    worked: Guard, git: Git, open_guard: OpenGuard, way_out: str
) -> None:
    name = here(worked)
    break_everything(git.root)
    dying = dying_at(open_guard, "restore-recorded")
    with pytest.raises(Dies):
        dying.files.restore(dying.files.plan(name, theirs_too=True))
    record = worked.files.unfinished()
    assert record is not None
    (git.root / "other").write_text("one file was put\n")
    for folder in (git.root, git.root / "new"):
        (folder / f".gitguard-{record.suffix}.tmp").write_text("half a fi")
    if way_out == "finish":
        worked.files.finish()
    elif way_out == "undo":
        worked.files.restore(worked.files.plan_undo(theirs_too=True))
    else:
        worked.files.restore(worked.files.plan(name, ("tracked",), theirs_too=True))
    assert [path for path in tree_of(git.root) if path.endswith(".tmp")] == []


def test_what_the_system_refuses_leaves_the_restore_open_until_it_is_finished_or_undone(
    worked: Guard, git: Git
) -> None:
    name, before = here(worked), tree_of(git.root)
    (git.root / "folder" / "inner").unlink()
    (git.root / "other").write_text("later\n")
    (git.root / "folder" / "blocking").mkdir()
    plan = worked.files.plan(name, theirs_too=True)
    (git.root / "folder" / "blocking").rmdir()
    (git.root / "folder").rmdir()
    (git.root / "folder").symlink_to("elsewhere")
    with pytest.raises(NotWritable, match="`folder/inner` could not be put back"):
        worked.files.restore(plan)
    assert (git.root / "other").read_text() == "other\n"
    worked.files.restore(worked.files.plan_undo())
    assert (git.root / "other").read_text() == "later\n"
    (git.root / "folder").unlink()
    worked.files.restore(worked.files.plan(name, theirs_too=True))
    assert tree_of(git.root) == before


def test_without_a_state_a_restore_is_refused_before_anybody_agrees_to_it(
    worked: Guard, git: Git
) -> None:
    name = here(worked)
    (git.root / "tracked").write_text("later\n")
    worked.files.restore(worked.files.plan(name, theirs_too=True))
    shutil.rmtree(worked.workspace.folder)
    with pytest.raises(MissingState):
        worked.files.plan(name, theirs_too=True)
    with pytest.raises(MissingState):
        worked.files.plan_undo()
    worked.ensure()
    worked.files.restore(worked.files.plan_undo())
    assert (git.root / "tracked").read_text() == "later\n"


# Undoing


def test_a_restore_that_was_cut_off_and_changed_nothing_is_given_up_by_an_undo(
    worked: Guard, git: Git
) -> None:
    name = here(worked)
    (git.root / "folder" / "inner").unlink()
    plan = worked.files.plan(name, theirs_too=True)
    (git.root / "folder").rmdir()
    (git.root / "folder").symlink_to("elsewhere")
    with pytest.raises(NotWritable):
        worked.files.restore(plan)
    assert worked.files.unfinished() is not None
    assert worked.files.plan_undo().files == ()
    assert worked.files.give_up()
    assert worked.files.unfinished() is None
    assert not worked.files.give_up()


def test_an_earlier_restore_is_undone_by_its_time(worked: Guard, git: Git, clock: Clock) -> None:
    name = here(worked)
    (git.root / ".env").write_text("TOKEN=1\n")  # which no snapshot may have
    (git.root / "tracked").write_text("later\n")
    worked.files.restore(worked.files.plan(name, theirs_too=True))
    clock.advance(60)
    (git.root / "tracked").write_text("even later\n")
    worked.files.restore(worked.files.plan(name, theirs_too=True))
    newest, earlier = worked.files.status().restores
    assert (newest.files, earlier.files) == (("tracked",), (".env", "tracked"))
    worked.files.restore(worked.files.plan_undo(earlier.at))
    assert (git.root / ".env").read_text() == "TOKEN=1\n"
    assert (git.root / "tracked").read_text() == "later\n"
    with pytest.raises(NothingFound, match="no restore of files began at `2001"):
        worked.files.plan_undo("2001-01-01T00:00:00Z")


def test_after_the_repository_moved_a_restore_is_still_undone(
    worked: Guard, git: Git, open_guard: OpenGuard
) -> None:
    name = here(worked)
    (git.root / ".env").write_text("TOKEN=1\n")
    worked.files.restore(worked.files.plan(name, theirs_too=True))
    moved_root = git.root.rename(git.root.parent / "moved")
    moved = open_guard(moved_root)
    moved.files.restore(moved.files.plan_undo())
    assert (moved_root / ".env").read_text() == "TOKEN=1\n"


# What stands in the way


@pytest.mark.parametrize("name", ["tracked", "link"])
def test_a_folder_without_a_file_makes_room(worked: Guard, git: Git, name: str) -> None:
    checkpoint, before = here(worked), tree_of(git.root)
    (git.root / name).unlink()
    (git.root / name / "empty" / "deeper").mkdir(parents=True)
    worked.files.restore(worked.files.plan(checkpoint, theirs_too=True))
    assert tree_of(git.root) == before


@pytest.mark.parametrize("name", ["tracked", "link"])
def test_a_link_that_leads_to_itself_is_replaced(worked: Guard, git: Git, name: str) -> None:
    checkpoint, before = here(worked), tree_of(git.root)
    (git.root / name).unlink()
    (git.root / name).symlink_to(name)
    worked.files.restore(worked.files.plan(checkpoint, theirs_too=True))
    assert tree_of(git.root) == before


@pytest.mark.parametrize("name", ["tracked", "link"])
def test_a_folder_with_an_ignored_file_stays_and_nothing_is_left_beside_it(
    worked: Guard, git: Git, name: str
) -> None:
    checkpoint = here(worked)
    (git.root / ".git" / "info" / "exclude").write_text("*.log\n")
    (git.root / name).unlink()
    (git.root / name).mkdir()
    (git.root / name / "empty").mkdir()
    (git.root / name / "kept.log").write_text("kept\n")
    (git.root / "other").write_text("later\n")
    [other, blocked] = sorted(
        worked.files.plan(checkpoint, theirs_too=True).files, key=lambda file: file.path != "other"
    )
    assert (other.path, other.refusal) == ("other", "")
    assert blocked.refusal == f"a folder is in its place, with `{name}/kept.log` in it"
    worked.files.restore(worked.files.plan(checkpoint, theirs_too=True))
    assert (git.root / "other").read_text() == "other\n"
    assert (git.root / name / "kept.log").read_text() == "kept\n"
    assert (git.root / name / "empty").is_dir()


# Line endings


def test_a_changed_file_comes_back_with_its_line_endings(
    guard: Guard, git: Git, tmp_path: Path
) -> None:
    (git.root / ".gitattributes").write_text("*.txt text eol=crlf\n")
    path = git.root / "t.txt"
    path.write_bytes(b"one\r\n")
    git("add", "--all")
    git("commit", "--quiet", "--message", "CRLF")
    guard.ensure()
    path.write_bytes(b"two\n")
    guard.checkpoint("LF")
    name = here(guard)
    path.write_bytes(b"three\r\n")
    guard.files.restore(guard.files.plan(name, theirs_too=True))
    assert path.read_bytes() == b"two\n"
    guard.files.export(name, str(tmp_path / "exported"))
    assert (tmp_path / "exported" / "t.txt").read_bytes() == b"two\n"
    # Git stores the same of both, so it takes this one for unchanged.
    git("commit", "--quiet", "--all", "--message", "Two")
    path.write_bytes(b"two\r\n")
    git("add", "t.txt")
    guard.files.restore(guard.files.plan(name, theirs_too=True))
    assert path.read_bytes() == b"two\n"


def test_what_a_killed_restore_was_writing_is_in_no_snapshot_and_files_of_such_names_are(
    worked: Guard, git: Git, open_guard: OpenGuard
) -> None:
    name = here(worked)
    break_everything(git.root)
    dying = dying_at(open_guard, "restore-recorded")
    with pytest.raises(Dies):
        dying.files.restore(dying.files.plan(name, theirs_too=True))
    record = worked.files.unfinished()
    assert record is not None
    (git.root / f".gitguard-{record.suffix}.tmp").write_text("half of a secret")
    (git.root / ".gitguard-mine.tmp").write_text("the user's own\n")
    worked.checkpoint("Meanwhile")
    temporary = [path for path in files_of(worked) if path.endswith(".tmp")]
    assert temporary == [".gitguard-mine.tmp"]


def test_an_undo_that_was_cut_off_before_its_first_file_leaves_the_restore_to_be_undone(
    worked: Guard, git: Git, open_guard: OpenGuard
) -> None:
    name = here(worked)
    (git.root / "tracked").write_text("my work\n")
    worked.files.restore(worked.files.plan(name, theirs_too=True))
    dying = dying_at(open_guard, "restore-recorded")
    with pytest.raises(Dies):
        dying.files.restore(dying.files.plan_undo())
    assert worked.files.plan_undo().files == ()
    assert worked.files.give_up()
    worked.files.restore(worked.files.plan_undo())
    assert (git.root / "tracked").read_text() == "my work\n"


def cut_off_after_one(open_guard: OpenGuard, name: str) -> None:
    """Restore, and die after the first file."""
    dying = dying_at(open_guard, "file-restored")
    with pytest.raises(Dies):
        dying.files.restore(dying.files.plan(name, theirs_too=True))


def test_while_a_restore_is_cut_off_no_earlier_one_is_undone(
    worked: Guard, git: Git, open_guard: OpenGuard
) -> None:
    name = here(worked)
    (git.root / "other").write_text("my work\n")
    worked.files.restore(worked.files.plan(name, theirs_too=True))
    (earlier,) = worked.files.status().restores
    for path in ("tracked", "program"):
        (git.root / path).write_text("my work\n")
    cut_off_after_one(open_guard, name)
    with pytest.raises(GitguardError, match="was cut off"):
        worked.files.plan_undo(earlier.at)
    worked.files.restore(worked.files.plan_undo())
    assert (git.root / "tracked").read_text() == "my work\n"
    worked.files.restore(worked.files.plan_undo(earlier.at))
    assert (git.root / "other").read_text() == "my work\n"


def test_a_restore_that_another_session_of_the_worktree_left_is_told_and_ended_first(
    worked: Guard, git: Git, open_guard: OpenGuard
) -> None:
    name = here(worked)
    for path in ("tracked", "program"):
        (git.root / path).write_text("my work\n")
    cut_off_after_one(open_guard, name)
    worked.sessions.use(worked.sessions.find("other"))
    worked.checkpoint("In another session")
    way_out = "`gitguard --session main restore --undo` takes it back"
    assert any(way_out in warning for warning in worked.status().warnings)
    (git.root / "tracked").write_text("more work\n")
    obstacle = worked.files.plan(here(worked), theirs_too=True).obstacle
    assert obstacle is not None
    assert obstacle.way_out == way_out


def test_two_restores_within_a_second_have_times_of_their_own(worked: Guard, git: Git) -> None:
    name = here(worked)
    for path in ("tracked", "other", "program"):
        (git.root / path).write_text("my work\n")
    for path in ("tracked", "other", "program"):
        worked.files.restore(worked.files.plan(name, (path,), theirs_too=True))
    restores = worked.files.status().restores
    assert len({restore.at for restore in restores}) == 3
    worked.files.restore(worked.files.plan_undo(restores[-1].at))
    assert (git.root / "tracked").read_text() == "my work\n"


def test_a_folder_with_permissions_of_its_own_stays_when_it_is_emptied(
    worked: Guard, git: Git
) -> None:
    name = here(worked)
    private = git.root / "private"
    private.mkdir(mode=0o700)
    (private / "file").write_text("mine\n")
    (git.root / "plain").mkdir()
    (git.root / "plain" / "file").write_text("mine\n")
    worked.files.restore(worked.files.plan(name, theirs_too=True))
    assert not (git.root / "plain").exists()
    worked.files.restore(worked.files.plan_undo())
    assert (private / "file").read_text() == "mine\n"
    assert private.stat().st_mode & 0o777 == 0o700


def test_a_person_who_waits_is_told_how_many_files_are_done(worked: Guard, git: Git) -> None:
    name = here(worked)
    for path in ("tracked", "other", "program"):
        (git.root / path).write_text("later\n")
    told: list[tuple[int, int]] = []
    plan = worked.files.plan(name, theirs_too=True)
    worked.files.restore(plan, tell=lambda done, of: told.append((done, of)))
    assert told == [(0, 3), (1, 3), (2, 3)]
