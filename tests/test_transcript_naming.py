"""How commands are told which transcript is meant, and what they refuse to take for it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from gitguard.transcripts import NAMES

from .test_transcript_command import PI, RECORDED, document, run
from .written_conversations import claude_code, pi, user, write

WRITING = [["repair"], ["repair", "--reset"], ["prune"], ["compact"]]
FILES = [path for path in RECORDED if path.suffix == ".jsonl"]


# Whose it is


@pytest.mark.parametrize("words", WRITING, ids=" ".join)
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.parent.name)
def test_what_is_of_another_host_is_not_written(
    path: Path, words: list[str], tmp_path: Path
) -> None:
    copy = tmp_path / path.name
    shutil.copy(path, copy)
    own = document("usage", copy, cwd=tmp_path)["transcript"]["format"]
    another = "claude-code" if own == "pi" else "pi"
    said = run(*words, "--format", another, copy, cwd=tmp_path, code=23)
    assert f"is a transcript of {own}, not of {another}" in said
    assert copy.read_bytes() == path.read_bytes()
    assert [each.name for each in tmp_path.iterdir()] == [copy.name]


def test_a_file_that_tells_nothing_is_what_its_place_says(tmp_path: Path) -> None:
    path = tmp_path / ".codex" / "sessions" / "rollout.jsonl"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"{torn\n")
    said = run("repair", "--reset", "--format", "pi", path, cwd=tmp_path, code=23)
    assert "is a transcript of codex, not of pi" in said
    assert path.read_bytes() == b"{torn\n"


def test_a_line_of_another_host_is_not_enough_to_refuse_a_file(tmp_path: Path) -> None:
    [stray, *_] = claude_code([user("hello")])
    path = write(tmp_path / "t.jsonl", [stray, *pi([user("hello")])])
    assert document("usage", path, cwd=tmp_path)["transcript"]["format"] == "claude-code"
    run("repair", "--dry-run", "--format", "pi", path, cwd=tmp_path)


def test_formats_of_the_same_lines_are_told_apart_by_who_names_them(tmp_path: Path) -> None:
    shutil.copy(PI, tmp_path / "t.jsonl")
    run("repair", "--dry-run", "--format", "openclaw", "t.jsonl", cwd=tmp_path)


@pytest.mark.parametrize("name", NAMES)
def test_what_tells_nothing_at_all_may_be_called_anything(name: str, tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_bytes(b"{torn\n")
    code = 24 if name in ("claude-code", "pi", "openclaw") else 23
    assert "not of" not in run("repair", "--format", name, path, cwd=tmp_path, code=code)
