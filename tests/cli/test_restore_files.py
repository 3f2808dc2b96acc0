"""`gitguard restore --files` shows, asks, puts back and undoes."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests.support.command_place import Place
from tests.support.terminal import on_terminal


@pytest.fixture
def changed(tmp_path: Path) -> Place:
    """A session with a checkpoint of two files, which both changed since."""
    session = Place(tmp_path)
    session.type("gitguard ensure")
    session.type("mkdir src; echo one > src/a; echo one > b; gitguard checkpoint -m here")
    session.type("echo two > src/a; rm b; echo new > c")
    return session


def test_a_preview_names_each_file_and_changes_none(changed: Place) -> None:
    done = changed.run("gitguard restore cp_002 --files --theirs-too --dry-run")
    assert done.stdout == "Files as at cp_002:\n  + b\n  - c\n  ~ src/a\n"
    assert (changed.root / "c").exists()


def test_what_somebody_else_changed_stays_without_the_option(changed: Place) -> None:
    done = changed.run("gitguard restore cp_002 --files --dry-run")
    assert "  src/a: somebody else changed it after cp_002" in done.stdout


def test_a_preview_counts_the_files_that_it_does_not_name(changed: Place) -> None:
    changed.type("gitguard checkpoint -m more")
    changed.type("for number in $(seq 300); do echo new > new$number; done")
    chosen = changed.run("gitguard restore cp_003 --files --theirs-too --dry-run").stdout
    refused = changed.run("gitguard restore cp_003 --files --dry-run").stdout
    for said in (chosen, refused):
        assert said.count("new") == 200
        assert said.splitlines()[-1] == "  … 100 more"


def test_without_a_terminal_it_asks_for_yes(changed: Place) -> None:
    done = changed.run("gitguard restore cp_002 --files --theirs-too")
    assert done.returncode == 39
    assert (changed.root / "c").exists()


def test_files_are_put_back_and_the_restore_is_undone(changed: Place) -> None:
    done = changed.run("gitguard restore cp_002 --files --theirs-too --yes")
    assert "Put back: 3 files as at cp_002" in done.stdout
    assert (changed.root / "src" / "a").read_text() == "one\n"
    assert not (changed.root / "c").exists()
    changed.type("gitguard restore --undo --yes")
    assert (changed.root / "src" / "a").read_text() == "two\n"
    assert not (changed.root / "b").exists()


def test_a_patch_can_be_applied_by_git(changed: Place) -> None:
    patch = changed.run("gitguard restore cp_002 --files --theirs-too --patch").stdout
    subprocess.run(["git", "apply", "-"], input=patch, text=True, cwd=changed.root, check=True)
    assert (changed.root / "src" / "a").read_text() == "one\n"
    assert (changed.root / "b").read_text() == "one\n"
    assert not (changed.root / "c").exists()


def test_the_git_commands_that_are_printed_do_the_same(changed: Place) -> None:
    commands = changed.run("gitguard restore cp_002 --files --theirs-too --explain").stdout
    changed.type(commands)
    assert (changed.root / "src" / "a").read_text() == "one\n"
    assert (changed.root / "b").read_text() == "one\n"
    assert not (changed.root / "c").exists()


def test_files_are_written_elsewhere_and_only_into_an_empty_folder(changed: Place) -> None:
    changed.type("gitguard restore cp_002 --to out src")
    assert (changed.root / "out" / "src" / "a").read_text() == "one\n"
    again = changed.run("gitguard restore cp_002 --to out")
    assert (again.returncode, "is not an empty folder" in again.stderr) == (23, True)


def test_json_names_what_would_change(changed: Place) -> None:
    done = changed.run("gitguard restore cp_002 src --theirs-too --dry-run --json")
    assert json.loads(done.stdout)["files"] == [
        {"path": "src/a", "action": "changed", "refusal": ""}
    ]


def test_a_path_outside_is_refused(changed: Place) -> None:
    done = changed.run("gitguard restore cp_002 ../elsewhere")
    assert (done.returncode, "outside of the worktree" in done.stderr) == (23, True)


def test_an_agent_may_not_put_files_back(changed: Place) -> None:
    done = changed.run("gitguard restore cp_002 --files --theirs-too --yes", CLAUDECODE="1")
    assert done.returncode == 37
    assert (changed.root / "c").exists()


def test_an_earlier_restore_is_undone_by_the_time_that_status_lists(changed: Place) -> None:
    changed.type("gitguard restore cp_002 src --theirs-too --yes; sleep 1")
    changed.type("gitguard restore cp_002 b --theirs-too --yes")
    listed = changed.type("gitguard status --files").partition("undoes:\n")[2].splitlines()
    [time] = [line.split()[0] for line in listed if line.endswith("replaced src/a")]
    changed.type(f"gitguard restore --undo {time} --yes")
    assert (changed.root / "src" / "a").read_text() == "two\n"
    assert (changed.root / "b").read_text() == "one\n"


def test_a_checkpoint_or_undo_has_to_be_named(changed: Place) -> None:
    assert changed.run("gitguard restore").returncode == 2
    assert "no restore of files" in changed.run("gitguard restore cp_002 --undo").stderr


def test_the_files_that_are_kept_are_told_with_what_was_left_out(changed: Place) -> None:
    changed.type("echo A=1 > .env; gitguard checkpoint -m more")
    done = changed.run("gitguard status --files")
    assert "  .env: its name says that it holds secrets" in done.stdout


def test_one_checkpoint_shows_which_files_changed_in_it(changed: Place) -> None:
    changed.type("gitguard checkpoint -m later")
    done = changed.run("gitguard show cp_003 --files")
    assert done.stdout == (
        "Files from cp_002 to cp_003:\n"
        "- b  (somebody else)\n+ c  (somebody else)\n~ src/a  (somebody else)\n"
    )


def test_a_restored_state_says_which_code_commit_it_is_of(changed: Place) -> None:
    changed.type("git commit --quiet --allow-empty -m more; gitguard note --goal Port")
    done = changed.run("gitguard restore cp_002 --state --yes")
    assert "\nThe state was saved at code commit " in done.stdout


def test_a_person_on_a_terminal_is_asked_for_the_files_and_an_agent_there_is_not(
    tmp_path: Path,
) -> None:
    place = Place(tmp_path)
    place.type("gitguard ensure; gitguard checkpoint -m here; echo new > c")
    _, seen = on_terminal(place, "gitguard restore cp_002 --theirs-too", b"n\n")
    assert "Put back 1 file?" in seen
    _, seen = on_terminal(place, "gitguard restore cp_002")
    assert "Files as at cp_002:" in seen
    _, seen = on_terminal(place, "gitguard restore cp_002", b"y\n", CLAUDECODE="1")
    assert "Files as at cp_002:" not in seen
    assert "note: 1 file not as at cp_002" in seen
    assert (place.root / "c").exists()


def test_json_is_one_document(changed: Place) -> None:
    done = changed.run("gitguard restore cp_002 --files --state --json --dry-run")
    assert (done.returncode, done.stdout.count('"source"')) == (2, 0)


def test_a_file_with_a_backslash_in_its_name_is_kept(changed: Place) -> None:
    (changed.root / "a\\b").write_text("1\n")
    changed.type("git add --all; git commit --quiet -m Backslash; gitguard checkpoint -m more")
    (changed.root / "a\\b").unlink()
    changed.type("gitguard restore cp_003 --files --theirs-too --yes")
    assert (changed.root / "a\\b").read_text() == "1\n"
    assert "FAULT" not in changed.type("gitguard status")


def test_another_commit_than_at_the_checkpoint_is_said(changed: Place) -> None:
    changed.type("git add --all; git -c user.name=x -c user.email=x commit -qm More")
    then, now = changed.type("git rev-parse HEAD~1 HEAD").split()
    done = changed.run("gitguard restore cp_002 --files --theirs-too --dry-run")
    assert f"at commit {then[:12]}, and {now[:12]} is checked out now." in done.stdout
