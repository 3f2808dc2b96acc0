"""`log --files` and `diff --files` name files, checkpoints and paths as a person types them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.command_place import Place
from tests.support.staged import staged_object

SECOND = "+ b  (somebody else)\n+ src/a  (somebody else)\n"
THIRD = "- b  (somebody else)\n~ src/a  (somebody else)\n"


def begin_place(folder: Path) -> Place:
    """Three checkpoints; the second and the third brought changes of files."""
    place = Place(folder)
    place.type("gitguard ensure")
    place.type("mkdir src; echo one > src/a; echo one > b; gitguard checkpoint -m two")
    place.type("echo two > src/a; rm b; gitguard checkpoint -m three")
    return place


tmp_path, place = staged_object("place", begin_place)


def indented(lines: str) -> str:
    return "".join(f"  {line}\n" for line in lines.splitlines())


def test_the_log_lists_in_which_checkpoint_which_file_changed(place: Place) -> None:
    assert place.type("gitguard log --files") == (
        f"cp_003  ~1 -1  since cp_002\n{indented(THIRD)}"
        f"cp_002  +2  since cp_001\n{indented(SECOND)}"
    )
    assert place.type("gitguard log --files --oneline") == (
        "cp_003  ~1 -1  since cp_002\ncp_002  +2  since cp_001\n"
    )


def test_a_log_that_is_cut_says_so(place: Place) -> None:
    done = place.run("gitguard log --files -1 --oneline")
    assert done.stdout == "cp_003  ~1 -1  since cp_002\n"
    assert done.stderr == "There are earlier ones; -n 2 lists more.\n"


@pytest.mark.parametrize(
    ("asked", "listed"),
    [
        ("1..2", ["cp_002"]),
        ("1 2", ["cp_002"]),
        ("..2", ["cp_002"]),
        ("cp_002", ["cp_003"]),
        ("2..", ["cp_003"]),
        ("b", ["cp_003", "cp_002"]),
        ("1..2 src", ["cp_002"]),
        ("-- nothing", []),
    ],
)
def test_a_log_takes_checkpoints_and_paths(place: Place, asked: str, listed: list[str]) -> None:
    document = json.loads(place.run(f"gitguard log --files --json {asked}").stdout)
    assert [entry["newer"] for entry in document["entries"]] == listed
    assert document["has_more"] is False


@pytest.mark.parametrize(
    ("asked", "listed"),
    [
        ("1..3", ["src/a"]),
        ("1 3", ["src/a"]),
        ("2 src", ["src/a"]),
        ("2..3 b", ["b"]),
        ("src", []),
        ("", []),
    ],
)
def test_a_comparison_takes_checkpoints_and_paths(
    place: Place, asked: str, listed: list[str]
) -> None:
    document = json.loads(place.run(f"gitguard diff --files --json {asked}").stdout)
    assert [file["path"] for file in document["files"]] == listed


def test_paths_count_from_the_folder_in_which_they_are_typed(place: Place) -> None:
    assert place.type("cd src; gitguard log --files --oneline a") == (
        "cp_003  ~1  since cp_002\ncp_002  +1  since cp_001\n"
    )
    assert "- b " in place.type("cd src; gitguard diff 2 --files ..")
    done = place.run("gitguard log --files /somewhere/else")
    assert "is outside the worktree" in done.stderr


@pytest.mark.parametrize("command", ["log", "diff"])
def test_a_range_that_runs_backwards_is_refused(place: Place, command: str) -> None:
    done = place.run(f"gitguard {command} --files 3..2")
    assert done.returncode == 23
    assert "cp_003 is newer than cp_002" in done.stderr


@pytest.mark.parametrize("option", ["--since 2d", "--grep x", "--all"])
def test_what_chooses_checkpoints_does_not_choose_files(place: Place, option: str) -> None:
    done = place.run(f"gitguard log --files {option}")
    assert done.returncode == 2
    assert f"{option.split()[0]} does not go with --files" in done.stderr


LEFT_OUT = {
    "a secret": "echo TOKEN=1 > .env",
    "a large file": "head -c 21000000 /dev/zero > .env",
    "a repository": "git init --quiet .env; echo x > .env/x",
}


@pytest.mark.parametrize("make", LEFT_OUT.values(), ids=LEFT_OUT)
def test_what_a_snapshot_leaves_out_is_in_each_list_as_it_came_and_went(
    place: Place, make: str
) -> None:
    """It came in the fourth checkpoint, was there in the fifth, and was gone in the sixth."""
    place.type(f"{make}; gitguard checkpoint -m four")
    assert place.type("gitguard diff --files 4") == "Files from cp_004 to now:\nNo file changed.\n"
    place.type("touch other; gitguard checkpoint -m five")
    left_out = json.loads(place.type("gitguard status --files --json"))["gaps"]["left_out"]
    assert [file["path"] for file in left_out] == [".env"]
    place.type("rm -rf .env")
    gone, came = "- .env  (somebody else)\n", "+ .env  (somebody else)\n"
    assert place.type("gitguard diff --files 5") == f"Files from cp_005 to now:\n{gone}"
    place.type("gitguard checkpoint -m six")
    assert place.type("gitguard log --files 3..6 .env") == (
        f"cp_006  -1  since cp_005\n{indented(gone)}cp_004  +1  since cp_003\n{indented(came)}"
    )
    for older, newer, change in ((3, 4, came), (5, 6, gone)):
        shown = f"Files from cp_00{older} to cp_00{newer}:\n{change}"
        assert place.type(f"gitguard diff --files {older}..{newer}") == shown
        assert place.type(f"gitguard show {newer} --files") == shown


def test_what_was_left_out_and_is_ignored_by_now_is_not_said_to_be_gone(place: Place) -> None:
    place.type("echo TOKEN=1 > .env; gitguard checkpoint -m four; echo .env > .gitignore")
    only = "+ .gitignore  (somebody else)\n"
    assert place.type("gitguard diff --files 4") == f"Files from cp_004 to now:\n{only}"
    place.type("gitguard checkpoint -m five")
    assert place.type("gitguard show 5 --files") == f"Files from cp_004 to cp_005:\n{only}"
    assert place.type("gitguard log --files 4..5") == f"cp_005  +1  since cp_004\n{indented(only)}"


def test_what_was_left_out_may_have_been_changed_by_somebody_else(place: Place) -> None:
    place.type("head -c 21000000 /dev/zero > large; gitguard checkpoint -m four")
    done = place.run("gitguard restore 3 --files --dry-run")
    assert "  large: somebody else changed it, or may have: cp_004 left it out\n" in done.stdout


@pytest.mark.parametrize("command", ["log", "diff", "show", "status"])
def test_a_session_that_is_not_there_has_no_files_to_list(place: Place, command: str) -> None:
    done = place.run(f"gitguard --session nosuch {command} --files")
    assert (done.returncode, done.stdout) == (21, "")
    assert "the session `nosuch` has no checkpoint" in done.stderr


@pytest.mark.parametrize(
    "command",
    ["status --files --clear", "show state 2 --files", "diff --files --text 2"],
)
def test_options_that_do_not_go_with_lists_of_files_are_refused(place: Place, command: str) -> None:
    assert place.run(f"gitguard {command}").returncode == 2
