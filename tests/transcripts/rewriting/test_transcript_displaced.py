"""A line that stands behind what follows it goes back to where it belongs."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from gitguard.model.events import Transcript
from gitguard.transcripts import find_format
from gitguard.transcripts.fitting.context import context_of
from gitguard.transcripts.rewriting.repair import RepairReport, repair
from tests.support.written_conversations import WRITERS, Part, Result, agent, user, write

NOW = 1_795_000_000.0
SAID: list[Part] = [
    user("one"),
    agent("", "c1", "c2"),
    Result("c1"),
    Result("c2"),
    agent("two"),
    user("three"),
    agent("", "c3"),
    Result("c3"),
    agent("four"),
    user("five"),
    agent("six"),
]


def repaired(path: Path, name: str) -> RepairReport:
    return repair(Transcript(str(path), name), lambda: NOW)


def lines_of(path: Path, name: str) -> list[bytes]:
    write(path, WRITERS[name](SAID))
    return path.read_bytes().splitlines(keepends=True)


@pytest.mark.parametrize("name", WRITERS)
def test_each_line_that_came_last_goes_back_to_the_byte(tmp_path: Path, name: str) -> None:
    path = tmp_path / "t.jsonl"
    lines = lines_of(path, name)
    for at in range(name == "pi", len(lines) - 1):
        path.write_bytes(b"".join([*lines[:at], *lines[at + 1 :], lines[at]]))
        assert repaired(path, name).counts == {"displaced": 1}, lines[at]
        assert path.read_bytes() == b"".join(lines)


@pytest.mark.parametrize("name", WRITERS)
def test_a_copy_that_came_last_goes(tmp_path: Path, name: str) -> None:
    path = tmp_path / "t.jsonl"
    lines = lines_of(path, name)
    for at in range(name == "pi", len(lines) - 1):
        path.write_bytes(b"".join([*lines, lines[at]]))
        assert repaired(path, name).counts == {"displaced": 1}
        assert path.read_bytes() == b"".join(lines)


@pytest.mark.parametrize("name", WRITERS)
def test_several_lines_that_came_last_go_back_together(tmp_path: Path, name: str) -> None:
    path = tmp_path / "t.jsonl"
    lines = lines_of(path, name)
    moved = [lines[7], lines[3]]
    path.write_bytes(b"".join([*(line for line in lines if line not in moved), *moved]))
    assert repaired(path, name).counts == {"displaced": 2}
    assert path.read_bytes() == b"".join(lines)


@pytest.mark.parametrize("name", WRITERS)
def test_a_file_that_was_turned_round_is_put_in_order(tmp_path: Path, name: str) -> None:
    path = tmp_path / "t.jsonl"
    lines = lines_of(path, name)
    head = lines[: name == "pi"]
    path.write_bytes(b"".join([*head, *reversed(lines[len(head) :])]))
    assert set(repaired(path, name).counts) == {"displaced"}
    assert path.read_bytes() == b"".join(lines)


@pytest.mark.parametrize("name", WRITERS)
def test_any_few_last_lines_are_in_place_after_one_repair(tmp_path: Path, name: str) -> None:
    path = tmp_path / "t.jsonl"
    lines = lines_of(path, name)
    for order in itertools.permutations(range(len(lines) - 4, len(lines))):
        path.write_bytes(b"".join([*lines[:-4], *(lines[at] for at in order)]))
        repaired(path, name)
        assert repaired(path, name).needs_nothing, order


@pytest.mark.parametrize("name", WRITERS)
def test_a_line_that_came_last_goes_back_beside_other_damage(tmp_path: Path, name: str) -> None:
    path = tmp_path / "t.jsonl"
    lines = lines_of(path, name)
    path.write_bytes(b"".join([*lines[:4], lines[5], *lines[6:], b"{torn\n", lines[4].rstrip()]))
    repaired(path, name)
    assert repaired(path, name).needs_nothing
    found = context_of(find_format(name).entries(Transcript(str(path), name)))
    texts = [block.text for entry in found.entries for block in entry.blocks if block.text]
    assert texts[0] == "one"
    assert texts[-1] == "six"


@pytest.mark.parametrize("name", WRITERS)
def test_a_repair_says_how_many_messages_the_active_branch_had_and_has(
    tmp_path: Path, name: str
) -> None:
    path = tmp_path / "t.jsonl"
    lines = lines_of(path, name)
    first = int(name == "pi")
    path.write_bytes(b"".join([*lines[: first + 1], lines[-1], *lines[first + 1 : -1]]))
    messages = len(lines) - first
    report = repaired(path, name)
    assert report.counts == {"displaced": 1}
    assert (report.messages_before, report.messages_after) == (messages - 1, messages)
    assert path.read_bytes() == b"".join(lines)
    sound = repaired(path, name)
    assert (sound.messages_before, sound.messages_after) == (0, 0)


@pytest.mark.parametrize("name", WRITERS)
def test_thousands_of_lines_in_the_wrong_place_are_put_in_order(tmp_path: Path, name: str) -> None:
    path = tmp_path / "t.jsonl"
    parts = [part for number in range(1_500) for part in (user(str(number)), agent("yes"))]
    write(path, WRITERS[name](parts))
    lines = path.read_bytes().splitlines(keepends=True)
    first = int(name == "pi")
    path.write_bytes(b"".join([*lines[:first], *lines[2_000:], *lines[first:2_000]]))
    assert set(repaired(path, name).counts) == {"displaced"}
    assert path.read_bytes() == b"".join(lines)
