"""Transcripts of one document a line: recorded ones, torn ones, large ones."""

from __future__ import annotations

import json
import os
import re
import tracemalloc
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitguard.errors import InvalidDocument
from gitguard.model.events import Reading, Transcript
from gitguard.model.transcript import Compactions, Message
from gitguard.store.disk.files import lines_backwards
from gitguard.transcripts import entries, find_format, jsonl
from gitguard.transcripts.fitting.context import context_of
from gitguard.transcripts.formats import NAMES
from tests.support.appended_lines import added

PAYLOADS = Path(__file__).parents[1] / "payloads" / "claude_code"
CLAUDE_CODE = find_format("claude-code")
DEEP = "[" * 100_000


def newest_reading(path: str) -> Reading | None:
    return CLAUDE_CODE.newest_reading(Transcript(path, "claude-code"))


def messages(path: str) -> Iterator[Message]:
    return CLAUDE_CODE.messages(Transcript(path, "claude-code"))


def said(path: str) -> list[tuple[str, str]]:
    return [(message.role, message.text) for message in messages(path)]


def compactions(path: str, since: int = 0) -> Compactions:
    return CLAUDE_CODE.compactions(Transcript(path, "claude-code"), since)


def lines_of(name: str) -> list[str]:
    return (PAYLOADS / name).read_text(encoding="utf-8").splitlines()


def write(path: Path, lines: list[str]) -> str:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return str(path)


def usage_line(tokens: object, **more: Any) -> str:
    return json.dumps(
        {
            "type": "assistant",
            "timestamp": "2026-01-31T09:30:00.250Z",
            "message": {"model": "m", "usage": {"input_tokens": tokens, "output_tokens": 5}},
            **more,
        }
    )


def user_line(content: object, **more: Any) -> str:
    said = {"role": "user", "content": content}
    at = "2026-01-31T09:30:00Z"
    return json.dumps({"type": "user", "timestamp": at, "message": said, **more})


def agent_line(text: str, message_id: str, **more: Any) -> str:
    said = {"id": message_id, "role": "assistant", "content": [{"type": "text", "text": text}]}
    return json.dumps({"type": "assistant", "message": {**said, **more}})


def boundary_line(**more: Any) -> str:
    at = "2026-01-31T09:30:00.500Z"
    return json.dumps({"type": "system", "subtype": "compact_boundary", "timestamp": at, **more})


def test_an_unknown_format_is_refused_with_the_known_ones() -> None:
    with pytest.raises(InvalidDocument, match="`nobody`") as raised:
        find_format("nobody")
    assert ", ".join(NAMES) in raised.value.hint


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
    boundary = boundary_line(compactMetadata={"postTokens": 12_345})
    reading = newest_reading(write(tmp_path / "t", [usage_line(180_000), boundary]))
    assert reading is not None
    assert (reading.tokens, reading.after_compaction) == (12_345, True)


def test_a_sub_agents_transcript_lines_say_nothing(tmp_path: Path) -> None:
    lines = [usage_line(10_000), *lines_of("transcript.subagent.jsonl")]
    path = write(tmp_path / "t", [*lines, boundary_line(isSidechain=True)])
    reading = newest_reading(path)
    assert reading is not None
    assert reading.tokens == 10_005
    assert said(path) == []
    assert compactions(path).count == 0


def test_text_that_speaks_of_usage_is_no_usage(tmp_path: Path) -> None:
    talk = user_line('"usage" "compact_boundary"')
    path = write(tmp_path / "t", [usage_line(10_000), talk])
    reading = newest_reading(path)
    assert reading is not None
    assert reading.tokens == 10_005
    assert compactions(path).count == 0


@pytest.mark.parametrize("tokens", [0, "many", [1], {}, -5, "1e400"])
def test_a_usage_that_measured_nothing_leaves_the_one_before_it(
    tmp_path: Path, tokens: object
) -> None:
    bad = usage_line(tokens).replace('"1e400"', "1e400").replace('"output_tokens": 5', '"x": 0')
    reading = newest_reading(write(tmp_path / "t", [usage_line(10_000), bad]))
    assert reading is not None
    assert reading.tokens == 10_005


@pytest.mark.parametrize("when", [None, 5, "", "yesterday", ["2026"], {"a": 1}, [0] * 40])
def test_a_usage_without_a_time_is_no_reading(tmp_path: Path, when: object) -> None:
    assert newest_reading(write(tmp_path / "t", [usage_line(10_000, timestamp=when)])) is None


TORN = ["", '{"type": "assistant", "message": {"usage"', "\0\0", "[[[", DEEP, '{"a":' * 9_999]


@pytest.mark.parametrize("rest", TORN)
def test_a_torn_end_leaves_what_is_before_it(tmp_path: Path, rest: str) -> None:
    path = tmp_path / "t"
    whole = [user_line("hi"), boundary_line(), usage_line(10_000)]
    path.write_text("\n".join(whole) + "\n" + rest, encoding="utf-8")
    reading = newest_reading(str(path))
    assert reading is not None
    assert reading.tokens == 10_005
    assert said(str(path)) == [("user", "hi")]
    assert compactions(str(path)).upto == len("\n".join(whole)) + 1


FOREIGN = [*TORN, "null", "7", '"text"', "[]", '{"type": 5}', '{"message": []}', "\ufeff{}"]
FOREIGN += [user_line(None), user_line([None, {"type": "text"}, {"type": "text", "text": 5}])]
FOREIGN += ['{"type": "user", "message": "compact_boundary"}', '{"type": ["assistant"]}']


def test_foreign_lines_are_skipped(tmp_path: Path) -> None:
    marked = [line + ' "usage" "compact_boundary" "user"' for line in FOREIGN]
    lines = [user_line("before"), usage_line(10_000), *FOREIGN, *marked, user_line("after")]
    path = write(tmp_path / "t", lines)
    reading = newest_reading(path)
    assert reading is not None
    assert reading.tokens == 10_005
    assert said(path) == [("user", "before"), ("user", "after")]
    assert compactions(path).count == 0


def test_bytes_that_are_no_text_are_skipped(tmp_path: Path) -> None:
    path = tmp_path / "t"
    whole = [line.encode() for line in (user_line("hi"), usage_line(10_000))]
    path.write_bytes(b"\n".join([*whole, b'\xff\xfe "user" "usage"', b""]))
    assert newest_reading(str(path)) is not None
    assert said(str(path)) == [("user", "hi")]


@pytest.mark.parametrize("broken", ["folder", "missing", "pipe", "locked"])
def test_a_transcript_that_does_not_read_is_said(tmp_path: Path, broken: str) -> None:
    path = tmp_path / broken
    if broken == "folder":
        path.mkdir()
    if broken == "pipe":
        os.mkfifo(path)
    if broken == "locked":
        path.symlink_to(path)
    for ask in (newest_reading, said, compactions):
        with pytest.raises(InvalidDocument, match=f"cannot read the transcript `.*{broken}`: .+"):
            ask(str(path))


def test_an_empty_transcript_tells_nothing(tmp_path: Path) -> None:
    path = write(tmp_path / "t", [])
    assert newest_reading(path) is None
    assert said(path) == []
    assert compactions(path) == Compactions()


def test_what_was_said_in_a_recorded_conversation() -> None:
    recorded = list(messages(str(PAYLOADS / "transcript.jsonl")))
    assert [(message.role, message.text) for message in recorded] == [
        ("user", "turn one"),
        ("agent", "turn one done"),
        ("user", "go on"),
    ]
    assert recorded[0].at == entries.time_of({"timestamp": "2026-11-21T20:09:06.521Z"})


def test_texts_between_tool_calls_are_messages_of_their_own() -> None:
    recorded = said(str(PAYLOADS / "transcript.auto_compacted.jsonl"))
    answers = ["step 0", "step 1", "step 2", "end"]
    assert recorded == [("user", "do it"), *(("agent", answer) for answer in answers)]


def test_the_lines_of_one_api_message_are_one_message(tmp_path: Path) -> None:
    result = user_line([{"type": "tool_result", "content": "result"}])
    lines = [agent_line("one", "m1"), result, agent_line("two", "m1"), agent_line("three", "m2")]
    assert said(write(tmp_path / "t", lines)) == [("agent", "one\ntwo"), ("agent", "three")]


def test_messages_without_an_id_stay_apart(tmp_path: Path) -> None:
    assert len(said(write(tmp_path / "t", [agent_line("same", ""), agent_line("same", "")]))) == 2


HOSTS_OWN = [
    user_line("<command-name>/compact</command-name>"),
    user_line("<command-message>review</command-message>\n<command-name>/review</command-name>"),
    user_line("<local-command-stdout>Compacted</local-command-stdout>"),
    user_line("<task-notification>\n<task-id>b1</task-id></task-notification>"),
    user_line([{"type": "text", "text": "<system-reminder>\nnote\n</system-reminder>"}]),
    user_line([{"type": "text", "text": "[Request interrupted by user for tool use]"}]),
    user_line("<bash-input>ls</bash-input>"),
    user_line('<teammate-message teammate_id="verify">\nAll done.\n</teammate-message>'),
    user_line('<channel source="chat">Deploy it</channel>'),
    user_line("Caveat", isMeta=True),
    user_line("This session is being continued", isCompactSummary=True),
    user_line([{"type": "tool_result", "content": [{"type": "text", "text": "output"}]}]),
    user_line([{"type": "image", "source": {}}]),
    agent_line("API Error: 500", "e1", model="<synthetic>"),
]


def test_a_sub_agents_lines_in_a_main_conversation_are_no_messages(tmp_path: Path) -> None:
    lines = [user_line("main"), user_line("a sub-agent's task", isSidechain=True)]
    assert said(write(tmp_path / "t", lines)) == [("user", "main")]


@pytest.mark.parametrize("line", HOSTS_OWN)
def test_what_the_host_wrote_is_no_message(tmp_path: Path, line: str) -> None:
    assert said(write(tmp_path / "t", [line])) == []


def test_a_reminder_beside_the_users_words_is_left_out(tmp_path: Path) -> None:
    note = {"type": "text", "text": "<system-reminder>note</system-reminder>"}
    words = [{"type": "text", "text": text} for text in ("look", "here")]
    assert said(write(tmp_path / "t", [user_line([note, *words])])) == [("user", "look\nhere")]


@pytest.mark.parametrize("name", ["transcript.jsonl", "transcript.auto_compacted.jsonl"])
def test_a_recorded_compaction_is_counted(name: str) -> None:
    found = compactions(str(PAYLOADS / name))
    assert (found.count, found.anew) == (1, True)
    assert found.upto == (PAYLOADS / name).stat().st_size
    assert found.newest_at > entries.time_of({"timestamp": "2026-11-21T20:09:00Z"})


def test_counting_goes_on_where_it_stopped(tmp_path: Path) -> None:
    path = tmp_path / "t"
    first = compactions(write(path, [boundary_line(), user_line("a"), boundary_line()]))
    with path.open("a") as file:
        file.write(boundary_line() + "\n" + boundary_line())
    second = compactions(str(path), first.upto)
    assert (first.count, second.count, second.anew) == (2, 1, False)
    with path.open("a") as file:
        file.write("\n")
    third = compactions(str(path), second.upto)
    assert (third.count, added(added(first, second), third)) == (1, compactions(str(path)))


def test_a_compaction_that_is_written_twice_counts_once(tmp_path: Path) -> None:
    first = boundary_line(uuid="first")
    lines = [first, first, user_line("go on"), first, boundary_line(), boundary_line()]
    path = write(tmp_path / "x", lines[:1])
    so_far = compactions(path)
    assert so_far.count == 1
    write(tmp_path / "x", lines)
    assert compactions(path, so_far.upto).count == 2
    assert compactions(path).count == 3, "without an id, each is one of its own"
    assert compactions(write(tmp_path / "x", [*lines, boundary_line(uuid="second")])).count == 4


def test_a_transcript_that_shrank_is_counted_again(tmp_path: Path) -> None:
    path = tmp_path / "t"
    before = compactions(write(path, [boundary_line()] * 3))
    after = compactions(write(path, [boundary_line()]), before.upto)
    assert (after.count, after.anew) == (1, True)
    assert added(before, after) == after


pieces = st.lists(
    st.sampled_from([boundary_line(), user_line("a"), usage_line(5), "", DEEP[:50], "\u2028ä"]),
    max_size=25,
)


@given(pieces, st.lists(st.integers(0, 4_000), max_size=6))
def test_counting_in_parts_is_counting_at_once(
    tmp_path_factory: pytest.TempPathFactory, lines: list[str], cuts: list[int]
) -> None:
    path = tmp_path_factory.mktemp("t") / "transcript"
    whole = "".join(f"{line}\n" for line in lines).encode()
    path.write_bytes(b"")
    counted = compactions(str(path))
    for begin, end in pairwise([0, *sorted(cuts), len(whole) + 4_000]):
        with path.open("ab") as file:
            file.write(whole[begin:end])
        counted = added(counted, compactions(str(path), counted.upto))
    at_once = compactions(str(path))
    assert counted == at_once
    assert at_once.count == lines.count(boundary_line())


@given(st.lists(st.binary(max_size=40).filter(lambda line: b"\n" not in line), max_size=30))
def test_lines_are_the_same_whatever_the_block(
    tmp_path_factory: pytest.TempPathFactory, lines: list[bytes]
) -> None:
    path = tmp_path_factory.mktemp("t") / "lines"
    path.write_bytes(b"".join(line + b"\n" for line in lines) + b"torn")
    with pytest.MonkeyPatch.context() as patch:
        for block in (1, 3, 16):
            patch.setattr(jsonl, "_BLOCK", block)
            telling = [x for x in lines if len(x) >= 16]  # less can be no message
            assert list(jsonl.forwards(str(path))) == telling


def test_a_line_beyond_all_measure_is_skipped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jsonl, "_BLOCK", 512)
    monkeypatch.setattr(jsonl, "_LONGEST", 4_096)
    lines = [user_line("before"), user_line("x" * 9_000), boundary_line(), user_line("after")]
    path = write(tmp_path / "t", lines)
    assert said(path) == [("user", "before"), ("user", "after")]
    assert compactions(path).count == 1
    with Path(path).open("a") as file:
        file.write(user_line("y" * 9_000))
    assert compactions(path).upto == Path(path).stat().st_size - len(user_line("y" * 9_000))


def test_memory_is_flat_however_long_the_conversation(tmp_path: Path) -> None:
    turn = [user_line("q" * 500), agent_line("a" * 3_000, "m"), user_line("r" * 4_000)]
    path = write(tmp_path / "large", (turn * 200 + [boundary_line()]) * 25)
    assert Path(path).stat().st_size > 35 << 20
    tracemalloc.start()
    assert sum(1 for _ in messages(path)) > 500
    assert compactions(path).count == 25
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 8 << 20


@pytest.mark.parametrize("block", [1, 2, 3, 7, 64, 1 << 16])
@pytest.mark.parametrize("text", [b"", b"a", b"a\n", b"\n", b"a\nbb\n\nccc", b"a\nbb\n\nccc\n"])
def test_lines_backwards_are_the_lines_of_the_file(tmp_path: Path, text: bytes, block: int) -> None:
    path = tmp_path / "lines"
    path.write_bytes(text)
    backwards = list(lines_backwards(str(path), block=block))
    assert [line for line in reversed(backwards) if line] == [x for x in text.split(b"\n") if x]


def test_of_a_conversation_of_many_megabytes_the_first_and_the_last_messages_are_read(
    tmp_path: Path,
) -> None:
    said = [user_line(f"q{number} " + "x" * 500) for number in range(60_000)]
    path = write(tmp_path / "large", said)
    assert Path(path).stat().st_size > 32 << 20
    read = [message.text.split()[0] for message in messages(path)]
    assert read[0] == "q0"
    assert read[-1] == "q59999"
    numbers = [int(text[1:]) for text in read]
    assert numbers == sorted(set(numbers)), "none twice, none out of order"
    assert len(read) < 40_000


def test_what_is_left_out_of_a_long_conversation_is_said(tmp_path: Path) -> None:
    short = write(tmp_path / "short", [user_line("x" * 500)] * 100)
    long = write(tmp_path / "long", [user_line("x" * 500)] * 20_000)
    told: list[str] = []
    for path in (short, long):
        list(CLAUDE_CODE.messages(Transcript(path, "claude-code"), told.append))
    [sentence] = told
    assert re.fullmatch(
        r"the transcript has 1\d\.\d MB; its first 0\.\d MB and its last 3\.0 MB were read",
        sentence,
    )


@pytest.mark.parametrize("first", ["", user_line("first")])
def test_a_file_of_holes_keeps_no_prompt_waiting(tmp_path: Path, first: str) -> None:
    path = write(tmp_path / "holes", [first])
    os.truncate(path, 30 << 30)
    assert [text for _, text in said(path)] == (["first"] if first else [])
    assert CLAUDE_CODE.newest_reading(Transcript(path, "claude-code")) is None
    counted = compactions(path)
    assert 0 < counted.upto < 1 << 28
    assert compactions(path, counted.upto).upto > counted.upto, "the next event goes on"


def test_compactions_are_counted_piece_by_piece(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jsonl, "_BLOCK", 512)
    monkeypatch.setattr(jsonl, "COUNTED_AT_ONCE", 2_000)
    lines = [user_line("x" * 100)] * 5 + [boundary_line()]
    path = write(tmp_path / "t", lines * 20)
    total, upto, pieces = 0, 0, 0
    while upto < Path(path).stat().st_size:
        piece = compactions(path, upto)
        total, upto, pieces = total + piece.count, piece.upto, pieces + 1
    assert total == 20
    assert pieces > 3


def test_a_walk_backwards_ends_after_its_bounds(tmp_path: Path) -> None:
    path = tmp_path / "lines"
    path.write_bytes(b"".join(b"%d\n" % number for number in range(1_000)) + b"\n" * 1_000)
    few = list(lines_backwards(str(path), block=100, most=1_100))
    assert few[:2] == [b"999", b"998"]
    assert 50 < len(few) < 200
    near = list(lines_backwards(str(path), block=100, limit=1_400))
    assert near[0] == b"999"
    assert near[-1] == b"901", "the line in which the walk ends is left out"


# What a compaction keeps


def without_the_list(lines: list[str]) -> list[str]:
    """Lines of a version that tells only where the part that stays begins and ends."""
    documents = [json.loads(line) for line in lines]
    for document in documents:
        document.get("compactMetadata", {}).pop("preservedMessages", None)
    return list(map(json.dumps, documents))


def standing(path: str) -> list[str]:
    found = CLAUDE_CODE.entries(Transcript(path, "claude-code"))
    return [entry.id for entry in context_of(found).entries]


@pytest.mark.parametrize("name", ["transcript.jsonl", "transcript.auto_compacted.jsonl"])
def test_what_stays_is_told_by_its_ends_as_well_as_by_a_list(name: str, tmp_path: Path) -> None:
    lines = lines_of(name)
    listed = standing(write(tmp_path / "listed", lines))
    assert standing(write(tmp_path / "ends", without_the_list(lines))) == listed
    assert any('"preservedSegment"' in line for line in lines)


def test_a_branch_that_was_left_between_the_ends_does_not_stay(tmp_path: Path) -> None:
    links = {"a": None, "b": "a", "left": "b", "c": "b", "boundary": None, "summary": "boundary"}
    lines = [user_line(name, uuid=name, parentUuid=parent) for name, parent in links.items()]
    ends = {"headUuid": "b", "tailUuid": "c"}
    boundary = {"uuid": "boundary", "compactMetadata": {"preservedSegment": ends}}
    lines[4] = boundary_line(**boundary)
    lines.append(user_line("d", uuid="d", parentUuid="c"))
    assert standing(write(tmp_path / "x", lines)) == ["b", "c", "d"]
    ends["headUuid"] = "gone"
    lines[4] = boundary_line(**boundary)
    assert standing(write(tmp_path / "y", lines)) == ["c", "d"]
