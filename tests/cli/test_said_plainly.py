"""What people see on a terminal: exit codes that mean it, their own time, and completion."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gitguard.model.text import local_times, seconds
from gitguard.review.times import parse_since
from tests.support.command_place import Place
from tests.support.staged import staged_object

TOKYO = {"TZ": "<+09>-9"}
KOLKATA = {"TZ": "<+0530>-5:30"}


def begin_place(folder: Path) -> Place:
    """A session with a task that is complete, and a file in the worktree."""
    place = Place(folder)
    (place.root / "parser.py").write_text("one\n")
    place.type("gitguard ensure")
    event = {"hook_event_name": "UserPromptSubmit", "session_id": "S1", "prompt": "Port it"}
    event |= {"cwd": str(place.root), "transcript_path": str(folder / "S1.jsonl")}
    place.run("gitguard hook claude-code", stdin=json.dumps(event))
    for command in ("note --goal 'Port it' --decision SQLite", "note --next DONE"):
        place.type(f"gitguard {command}")
    return place


tmp_path, place = staged_object("place", begin_place)


# How a command ends


def test_status_of_a_complete_task_ends_with_0_and_the_gate_with_12(place: Place) -> None:
    status = place.run("gitguard status")
    assert (status.returncode, status.stderr) == (0, "")
    assert "\nThe task is complete.\n" in status.stdout
    assert json.loads(place.run("gitguard status --json").stdout)["error"] is None
    assert place.run("gitguard gate").returncode == 12


def test_a_note_that_is_saved_and_not_committed_yet_ends_with_0_and_says_so(place: Place) -> None:
    place.type("git worktree add -q ../elsewhere gitguard/main")
    noted = place.run("gitguard note --decision Later")
    assert (noted.returncode, noted.stderr) == (0, "")
    assert "The note is saved; its commit is pending: " in noted.stdout
    assert json.loads(place.run("gitguard note --learning x --json").stdout)["saved"]["pending"]
    assert place.run("gitguard update", stdin='{"blockers": ["CI"]}').returncode == 0
    assert place.run("gitguard checkpoint").returncode == 13


# Whose time


@pytest.mark.parametrize("command", ["log", "show 2", "status", "search SQLite", "at HEAD"])
def test_times_are_the_readers_with_their_zone(place: Place, command: str) -> None:
    shown = place.run(f"gitguard {command}", **KOLKATA).stdout
    assert "+05:30" in shown
    assert local_times(shown) == shown  # in these tests the reader's zone is UTC
    assert not any(word.endswith("Z") and "T" in word for word in shown.split())
    assert "+05:30" not in place.run(f"gitguard {command} --json", **KOLKATA).stdout


def test_a_sentence_names_the_hour_of_the_reader(place: Place) -> None:
    taken = json.loads(place.run("gitguard show 2 --json").stdout)["checkpoint"]["at"]
    hour = (int(taken) // 3600 + 9) % 24
    assert f"Goal: Port it (agent, {hour:02}:" in place.run("gitguard show 2", **TOKYO).stdout
    assert " +09:00)" in place.run("gitguard show 2", **TOKYO).stdout


def test_a_time_that_was_printed_names_the_same_moment_when_it_is_typed() -> None:
    assert parse_since("2026-11-01T09:30:15+05:30", 0) == seconds("2026-11-01T04:00:15Z")


def test_an_undo_takes_the_time_that_status_printed(place: Place) -> None:
    place.type("gitguard checkpoint -m one")
    place.type("rm parser.py")
    restored = place.run("gitguard restore 3 --files --force --theirs-too --yes parser.py")
    assert "Put back: 1 file" in restored.stdout, restored
    _, _, listed = place.run("gitguard status --files", **TOKYO).stdout.partition("TIME` undoes:")
    at, _, _ = listed.strip().partition(" ")
    assert at.endswith("+09:00")
    undone = place.run(f"gitguard restore --undo {at} --dry-run", **TOKYO)
    assert "- parser.py" in undone.stdout, undone


# What a shell completes


def completed(place: Place, line: str) -> list[tuple[str, str]]:
    """Return what click's protocol tells bash for a line: a type and a value each."""
    words = f"{line}|".split(" ")
    variables = {"COMP_WORDS": line, "COMP_CWORD": str(len(words) - 1)}
    done = place.run("gitguard", _GITGUARD_COMPLETE="bash_complete", **variables)
    assert (done.returncode, done.stderr) == (0, ""), done
    pairs = (entry.partition(",") for entry in done.stdout.split())
    return [(kind, value) for kind, _, value in pairs]


def test_completion_offers_sessions_and_checkpoints_and_leaves_files_to_the_shell(
    place: Place,
) -> None:
    place.type("gitguard session fork payments")
    place.type("gitguard session use main")
    for line in ("gitguard session use ", "gitguard --session ", "gitguard status --session "):
        assert completed(place, line) == [("plain", "main"), ("plain", "payments")]
    assert completed(place, "gitguard session show pa") == [("plain", "payments")]
    newest = int(place.type("git rev-list --count gitguard/main"))
    numbers = [("plain", str(number)) for number in range(newest, 0, -1)]
    assert len(numbers) > 1
    for line in ("gitguard restore ", "gitguard diff ", "gitguard diff 1 ", "gitguard pin "):
        assert completed(place, line) == numbers
    assert completed(place, "gitguard --session payments restore ")[-1] == ("plain", "1")
    assert ("plain", "cp_002") in completed(place, "gitguard restore cp_")
    shown = [("plain", word) for word in ("state", "summary", "snapshot", "host-summary")]
    assert completed(place, "gitguard show ") == [*shown, *numbers]
    for line in ("gitguard restore 2 ", "gitguard why ", "gitguard note --artifact "):
        assert [kind for kind, _ in completed(place, line)] == ["file"]


def test_completion_outside_of_a_repository_offers_nothing_and_says_nothing(place: Place) -> None:
    assert completed(place, "gitguard --root /nowhere restore ") == []


# A second clone


def test_a_second_clone_is_told_of_in_one_sentence_and_so_is_the_agent(
    place: Place, tmp_path: Path
) -> None:
    place.type("git clone --quiet . ../clone")
    clone = Place.__new__(Place)
    clone.root, clone.home = place.root.parent / "clone", place.root.parent / "elsewhere"
    clone.home.mkdir()
    begun = clone.run("gitguard ensure")
    assert (begun.returncode, begun.stderr) == (0, ""), begun
    assert begun.stdout == (
        "This is another clone, and the remote already has a session `main`, so nothing is "
        "committed here yet; continue it with `gitguard repair --trust`, or start another with "
        "`gitguard session use NAME`.\n"
    )
    event = {"hook_event_name": "UserPromptSubmit", "session_id": "S2", "prompt": "Go on"}
    event |= {"cwd": str(clone.root), "transcript_path": str(tmp_path / "S2.jsonl")}
    told = clone.run("gitguard hook claude-code", stdin=json.dumps(event)).stdout
    assert "the remote already has a session `main`" in told
    assert "Tell the user" in told
    noted = clone.run("gitguard note --learning one")
    assert (noted.returncode, noted.stderr) == (0, "")
