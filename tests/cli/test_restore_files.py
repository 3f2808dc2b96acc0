"""`gitguard restore --files` shows, asks, puts back and undoes."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests.support.command_place import Place
from tests.support.staged import staged_object
from tests.support.terminal import on_terminal


def begin_changed(folder: Path) -> Place:
    """A session with a checkpoint of two files, which both changed since."""
    session = Place(folder)
    session.type("gitguard ensure")
    session.type("mkdir src; echo one > src/a; echo one > b; gitguard checkpoint -m here")
    session.type("echo two > src/a; rm b; echo new > c")
    return session


tmp_path, changed = staged_object("changed", begin_changed)


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
    assert (done.returncode, "outside the worktree" in done.stderr) == (23, True)


def test_an_agent_may_not_put_files_back(changed: Place) -> None:
    done = changed.run("gitguard restore cp_002 --files --theirs-too --yes", CLAUDECODE="1")
    assert done.returncode == 37
    assert (changed.root / "c").exists()


def test_an_earlier_restore_is_undone_by_the_time_that_status_lists(changed: Place) -> None:
    changed.type("gitguard restore cp_002 src --theirs-too --yes")
    changed.type("gitguard restore cp_002 b --theirs-too --yes")
    listed = changed.type("gitguard status --files").partition("undoes:\n")[2].splitlines()
    [time] = [line.split()[0] for line in listed if line.endswith("src/a")]
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


def test_a_patch_of_binary_files_can_be_applied_by_git(changed: Place) -> None:
    root = changed.root
    contents = {"came": b"", "went": b"\0" * 100, "grew": bytes(range(256)) * 400}
    for name, data in contents.items():
        if data:
            (root / name).write_bytes(data)
    changed.type("gitguard checkpoint -m binary")
    (root / "came").write_bytes(b"\0came")
    (root / "went").unlink()
    (root / "grew").write_bytes(b"\0\xff")
    (root / "src" / "a").write_text("text\n")
    patch = changed.run("gitguard restore cp_003 --files --theirs-too --patch").stdout
    subprocess.run(["git", "apply", "-"], input=patch, text=True, cwd=root, check=True)
    for name, data in contents.items():
        assert (root / name).exists() == bool(data)
        assert not data or (root / name).read_bytes() == data
    assert (root / "src" / "a").read_text() == "two\n"


def test_an_undo_of_an_undo_says_when_the_files_were_like_that(changed: Place) -> None:
    changed.type("gitguard restore cp_002 src/a --theirs-too --yes; echo by hand > src/a")
    changed.type("gitguard restore --undo --theirs-too --yes")
    done = changed.type("gitguard restore --undo --yes")
    assert done.startswith("Files as at the undo at 2")
    assert (changed.root / "src" / "a").read_text() == "by hand\n"


@pytest.mark.parametrize("path", ["kept.log", ".git/config", ".gitguard"])
def test_a_path_of_which_the_snapshot_has_nothing_is_refused(changed: Place, path: str) -> None:
    changed.type("echo '*.log' >> .git/info/exclude; echo 1 > kept.log")
    for options in ("--theirs-too --yes", "--to elsewhere"):
        done = changed.run(f"gitguard restore cp_002 {path} {options}")
        assert done.returncode == 23
        assert f"the snapshot has nothing at `{path}`" in done.stderr
    assert not (changed.root / "elsewhere").exists()


def test_the_folder_in_which_the_command_runs_stays(changed: Place) -> None:
    changed.type("mkdir -p new/inner; echo 1 > new/inner/file")
    changed.type("cd new/inner; gitguard restore cp_002 --files --theirs-too --yes")
    assert (changed.root / "new" / "inner").is_dir()
    changed.type("cd new/inner; gitguard restore --undo --yes; test -e file")


def test_a_file_in_the_place_of_a_folder_is_named_in_the_plan_and_blocks_nothing(
    changed: Place,
) -> None:
    changed.type("rm -r src; echo file > src")
    done = changed.run("gitguard restore cp_002 src/a --theirs-too --yes")
    assert done.returncode == 23
    assert "src/a: a file is in the place of its folder `src`; name that, too" in done.stdout
    changed.type("gitguard restore cp_002 b --theirs-too --yes")
    changed.type("gitguard restore cp_002 src --theirs-too --yes")
    assert (changed.root / "src" / "a").read_text() == "one\n"


@pytest.mark.parametrize(
    "options",
    [
        "--undo --state",
        "cp_002 --patch --explain",
        "cp_002 --to out --explain",
        "cp_002 --to out --patch",
        "cp_002 --patch --state",
        "cp_002 --explain --json",
    ],
)
def test_options_that_contradict_each_other_are_refused(changed: Place, options: str) -> None:
    done = changed.run(f"gitguard restore {options} --yes")
    assert done.returncode == 2
    assert "See `gitguard restore --help`" in done.stdout + done.stderr
    assert not (changed.root / "out").exists()


def test_who_leaves_the_state_is_still_asked_for_the_files(changed: Place) -> None:
    changed.type("gitguard note --goal Other")
    changed.type("gitguard checkpoint -m other; echo three > src/a")
    code, seen = on_terminal(changed, "gitguard restore cp_002", b"n\n")
    assert code == 39, seen
    assert "Restore this state?" in seen
    assert "somebody else changed it" in seen
