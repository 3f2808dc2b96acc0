"""Pressure from transcripts: recorded ones, torn ones, large ones."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gitguard.errors import InvalidDocument
from gitguard.store.files import lines_backwards
from gitguard.transcripts import NEWEST_READING

PAYLOADS = Path(__file__).parent / "payloads" / "claude_code"
newest_reading = NEWEST_READING["claude-code"]


def lines_of(name: str) -> list[str]:
    return (PAYLOADS / name).read_text(encoding="utf-8").splitlines()


def write(path: Path, lines: list[str]) -> str:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return str(path)


def usage_line(tokens: int) -> str:
    return json.dumps(
        {
            "type": "assistant",
            "timestamp": "2026-01-31T09:30:00.250Z",
            "message": {"model": "m", "usage": {"input_tokens": tokens, "output_tokens": 5}},
        }
    )


def test_the_newest_usage_of_a_recorded_conversation_counts(tmp_path: Path) -> None:
    lines = lines_of("transcript.jsonl")
    usages = [n for n, line in enumerate(lines) if '"usage"' in line]
    reading = newest_reading(write(tmp_path / "t", lines[: usages[0] + 1]))
    assert reading is not None
    assert (reading.tokens, reading.model) == (150_050, "claude-haiku-4-5")


def test_usage_before_the_last_compaction_is_no_reading(tmp_path: Path) -> None:
    lines = lines_of("transcript.jsonl")
    boundary = next(n for n, line in enumerate(lines) if "compact_boundary" in line)
    reading = newest_reading(write(tmp_path / "t", lines[: boundary + 1]))
    assert reading is None or reading.tokens != 165_075


def test_what_a_compaction_left_is_a_reading_where_the_host_says_it(tmp_path: Path) -> None:
    entry = {
        "type": "system",
        "subtype": "compact_boundary",
        "timestamp": "2026-01-31T09:30:00.000Z",
        "compactMetadata": {"postTokens": 12_345},
    }
    reading = newest_reading(write(tmp_path / "t", [usage_line(180_000), json.dumps(entry)]))
    assert reading is not None
    assert reading.tokens == 12_345


def test_a_sub_agents_transcript_lines_say_nothing(tmp_path: Path) -> None:
    lines = [usage_line(10_000), *lines_of("transcript.subagent.jsonl")]
    reading = newest_reading(write(tmp_path / "t", lines))
    assert reading is not None
    assert reading.tokens == 10_005


def test_text_that_speaks_of_usage_is_no_usage(tmp_path: Path) -> None:
    talk = json.dumps({"type": "user", "message": {"content": '"usage" "compact_boundary"'}})
    reading = newest_reading(write(tmp_path / "t", [usage_line(10_000), talk]))
    assert reading is not None
    assert reading.tokens == 10_005


@pytest.mark.parametrize("rest", ["", '{"type": "assistant", "message": {"usage"', "\0\0", "[[["])
def test_a_torn_end_leaves_the_usage_before_it(tmp_path: Path, rest: str) -> None:
    path = tmp_path / "t"
    path.write_text(usage_line(10_000) + "\n" + rest, encoding="utf-8")
    reading = newest_reading(str(path))
    assert reading is not None
    assert reading.tokens == 10_005


def test_a_transcript_that_does_not_read_is_said(tmp_path: Path) -> None:
    with pytest.raises(InvalidDocument, match="cannot read the transcript"):
        newest_reading(str(tmp_path))


def test_an_empty_transcript_has_no_reading(tmp_path: Path) -> None:
    assert newest_reading(write(tmp_path / "t", [])) is None


@pytest.mark.parametrize("block", [1, 2, 3, 7, 64, 1 << 16])
@pytest.mark.parametrize("text", [b"", b"a", b"a\n", b"\n", b"a\nbb\n\nccc", b"a\nbb\n\nccc\n"])
def test_lines_backwards_are_the_lines_of_the_file(tmp_path: Path, text: bytes, block: int) -> None:
    path = tmp_path / "lines"
    path.write_bytes(text)
    backwards = list(lines_backwards(str(path), block=block))
    assert [line for line in reversed(backwards) if line] == [x for x in text.split(b"\n") if x]
