"""What a line of a transcript is: the same to all that read it, and to all that write it again."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitguard.compaction.transcripts import HOST, JSON_LINES, MARKDOWN, Transcripts
from gitguard.errors import InvalidInput
from gitguard.model.config.config import DEFAULTS, Config
from gitguard.model.config.redaction import CustomRule, RedactionConfig
from gitguard.model.conversation import BROKEN
from gitguard.model.events import MOST_TOKENS, Transcript
from gitguard.model.transcript import AGENT
from gitguard.transcripts import find_format, jsonl
from gitguard.transcripts.entries import Unread, open_file, parse, read_line, tokens
from gitguard.transcripts.exporting import Selection
from gitguard.transcripts.fast_json import reader
from gitguard.transcripts.formats.opencode.messages import moment
from gitguard.transcripts.formats.pi import writing as pi_writing
from gitguard.transcripts.formats.recognition import recognise
from gitguard.transcripts.identity import id_of
from gitguard.transcripts.rewriting import applying
from gitguard.transcripts.rewriting.edits import Cut, Drop, Edit, Relink, Rename
from gitguard.transcripts.rewriting.repair import RepairReport, repair
from tests.support.written_conversations import (
    WRITERS,
    Part,
    Result,
    agent,
    pi,
    read,
    user,
    write,
)

SMALL, LARGE = 0, 1 << 30
MARK = b"\xef\xbb\xbf"
AROUND = pytest.mark.parametrize("around", [MARK, b"\0\0\0", b"\0" + MARK, MARK + b" \0"])


def nested(levels: int) -> bytes:
    return b"[" * levels + b"]" * levels


def repaired(path: Path) -> RepairReport:
    return repair(Transcript(str(path), "pi"), lambda: 0)


# One idea of a line

DOCUMENTS = st.dictionaries(
    st.text(max_size=5),
    st.none() | st.integers(-(2**63), 2**63) | st.text() | st.lists(st.text(max_size=9)),
)
BYTES = st.one_of(
    st.binary(max_size=40),
    DOCUMENTS.map(lambda document: json.dumps(document).encode()),
    DOCUMENTS.map(
        lambda document: json.dumps(document, ensure_ascii=False).encode(errors="replace")
    ),
    st.integers(1, 1_100).map(lambda levels: b'{"a":' + nested(levels) + b"}"),
    st.sampled_from([b"NaN", b"1e400", b'"\\ud800"', b'"\xff"', b"1" * 5_000, b"-0"]).map(
        lambda value: b'{"a":' + value + b"}"
    ),
)


@given(st.sampled_from([b"", b"\0", MARK, b" \0", b"\0" + MARK, b"\t"]), BYTES)
def test_every_reader_and_writer_has_the_same_idea_of_a_line(around: bytes, raw: bytes) -> None:
    raw = raw.replace(b"\n", b"")
    line = around + raw
    found = read_line(line)
    assert repr(reader(SMALL)(line)) == repr(reader(LARGE)(line)) == repr(found)
    assert repr(parse(line)) == repr({} if isinstance(found, Unread) else found)
    assert (applying.parse(line) is None) == isinstance(found, Unread)
    if raw.startswith(b"{"):
        assert repr(read_line(raw)) == repr(found)


@pytest.mark.parametrize(
    ("raw", "problem"),
    [
        (b"", ""),
        (b" \t\r", ""),
        (b"{", "property name"),
        (b"\0\0", "Expecting value"),
        (MARK, "Expecting value"),
        (b"[1]", "it holds no object, but a list"),
        (b'{"a":NaN}', "`NaN` is nothing that JSON has"),
        (b'{"a":' + b"[" * 900 + b"}" * 901, "Expecting"),
        (b'{"a":' + b"9" * 5_000 + b"9.}", "a number is malformed"),
        (b"[" * 100_000, "it is nested too deeply"),
        (b'{"a":' + b"[" * 700 + b"[}" + b"]" * 700 + b"}", "Expecting"),
        (b'{"a":' + b"[" * 700 + b"9" * 5_000 + b"9." + b"]" * 700 + b"}", "malformed"),
        (b'{"a":' + b"[" * 100_000 + b'"' + b'\\"' * 300_000, "it is nested too deeply"),
    ],
)
def test_why_a_line_holds_no_document_is_told(raw: bytes, problem: str) -> None:
    for size in (SMALL, LARGE):
        found = reader(size)(raw)
        assert isinstance(found, Unread)
        assert problem in found.problem
        assert bool(problem) == bool(found.problem)


@pytest.mark.parametrize("levels", [298, 299, 300, 301, 984, 989, 1_020, 40_000, 600_000])
def test_a_line_is_read_however_deep_it_is(levels: int) -> None:
    raw = b'{"id":"x","a":' + nested(levels) + b',"b":1}'
    for size in (SMALL, LARGE):
        document = reader(size)(raw)
        assert isinstance(document, dict)
        assert (document["id"], document["b"]) == ("x", 1)
        assert ("nested too deeply" in str(document["a"])) == (levels >= 300)


@pytest.mark.parametrize(
    "odd", [nested(5_000), b"9" * 6_000, b"-1" + b"0" * 4_999 + b"e7", b"1e999"]
)
def test_what_python_does_not_read_is_written_back_to_the_byte(odd: bytes) -> None:
    raw = b'{"id":"x","a":[1,' + odd + b'],"b":"' + b"\\u0000 \xff" + b'","c":' + odd + b"}"
    document = applying.parse(raw)
    assert document is not None
    assert applying.line_of({**document, "id": "y"}) == raw.replace(b'"x"', b'"y"')


@AROUND
@pytest.mark.parametrize("name", WRITERS)
def test_what_is_an_entry_is_read_by_all(tmp_path: Path, name: str, around: bytes) -> None:
    documents = WRITERS[name]([user("a question"), agent("an answer")])
    path = write(tmp_path / "chat.jsonl", [around + json.dumps(d).encode() for d in documents])
    transcript = Transcript(str(path), name)
    kept = find_format(name)
    assert [entry.tokens for entry in kept.entries(transcript)][-1] == 5
    newest = kept.newest_reading(transcript)
    assert newest is not None
    assert newest.tokens == 5
    assert [said.role for said in kept.messages(transcript)][-1] == AGENT
    assert id_of(transcript) == {"pi": "01a1-ffc5", "claude-code": "s"}[name]
    assert recognise(str(path)).format == name


# Too deep to be dealt with


ODD = {"deep": nested(985), "deeper": nested(30_000), "a long number": b"9" * 6_000}


@pytest.mark.parametrize("odd", ODD.values(), ids=ODD)
@pytest.mark.parametrize(
    "line",
    [
        b'{"type":"custom_message","id":"deep","parentId":"00000001","content":[{"x":%s}]}',
        b'{"type":"message","id":"deep","parentId":"00000001","x":%s,"message":{"role":"assistant",'
        b'"content":[{"type":"text","text":"."}]}}',
        b'{"type":"message","id":"deep","parentId":"00000001","message":{"role":"assistant",'
        b'"stopReason":"error","content":[{"type":"toolCall","id":"c","name":"n",'
        b'"arguments":{"x":%s}}]}}',
    ],
)
def test_a_repair_keeps_an_odd_line_and_mends_the_rest(
    tmp_path: Path, odd: bytes, line: bytes
) -> None:
    odd_line = line % odd
    lines: list[Any] = pi([user("one"), agent("", "c1"), user("two")])
    lines[2]["parentId"] = "deep"
    path = write(tmp_path / "x_01a1-ffc5.jsonl", [*lines[:2], odd_line, *lines[2:]])
    report = repaired(path)
    assert (report.counts, report.unjudged) == ({"answered": 1}, 0)
    assert odd_line + b"\n" in path.read_bytes()
    entries = find_format("pi").entries(Transcript(str(path), "pi"))
    assert BROKEN not in [entry.kind for entry in entries]
    assert len(path.read_bytes().splitlines()) == len(lines) + 2


@pytest.mark.parametrize("odd", ODD.values(), ids=ODD)
@pytest.mark.parametrize("name", WRITERS)
@pytest.mark.parametrize("place", range(4))
def test_a_sound_conversation_with_an_odd_line_needs_nothing(
    tmp_path: Path, odd: bytes, name: str, place: int
) -> None:
    parts: list[Part] = [user("one"), agent("", "c1", "c2"), Result("c1"), Result("c2")]
    lines = WRITERS[name](parts)
    lines[place + (name == "pi")]["odd"] = "HERE"
    path = write(tmp_path / "x_01a1-ffc5.jsonl", lines)
    path.write_bytes(path.read_bytes().replace(b'"HERE"', odd))
    whole = path.read_bytes()
    assert repair(Transcript(str(path), name), lambda: 0).needs_nothing
    assert path.read_bytes() == whole


def test_what_is_not_too_deep_is_mended(tmp_path: Path) -> None:
    lines: list[Any] = pi([user("one"), agent("", "c1"), user("two")])
    inner: Any = "x"
    for _ in range(290):
        inner = [inner]
    lines[2]["message"]["content"][0]["arguments"] = {"x": inner}
    path = write(tmp_path / "x_01a1-ffc5.jsonl", lines)
    assert repaired(path).counts == {"answered": 1}
    assert len(read(path)) == len(lines) + 1


# Export in a host's own lines

SECRET = "ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


def host_lines(path: Path, config: Config = DEFAULTS, *, redact: bool = False) -> bytes:
    transcripts = Transcripts(config, lambda: 0)
    return b"".join(
        transcripts.export(Transcript(str(path), "pi"), Selection(), HOST, redact=redact)
    )


@AROUND
def test_no_secret_gets_out_with_a_line_that_something_stands_around(
    tmp_path: Path, around: bytes
) -> None:
    lines = [around + json.dumps(d).encode() for d in pi([user(SECRET), Result("c1", SECRET)])]
    path = write(tmp_path / "chat.jsonl", [*lines, b"", b"{"])
    told = host_lines(path, redact=True)
    assert SECRET.encode() not in told
    assert len(told.splitlines()) == 3
    assert b'"details"' not in told
    assert b'"details"' not in host_lines(path)


@pytest.mark.parametrize("redact", [False, True])
def test_details_under_a_name_that_is_spelled_out_get_out_nowhere(
    tmp_path: Path, redact: bool
) -> None:
    line = json.dumps(pi([Result("c1")])[1]).replace('"details"', '"\\u0064et\\u0061ils"')
    path = write(tmp_path / "chat.jsonl", [line.encode()])
    assert b"exit" in path.read_bytes()
    assert b"exit" not in host_lines(path, redact=redact)


@pytest.mark.parametrize("redact", [False, True])
def test_of_a_name_that_stands_twice_only_what_its_host_reads_gets_out(
    tmp_path: Path, redact: bool
) -> None:
    twice = b'{"type":"message","message":{"role":"toolResult","details":"%s"},"message":{}}'
    path = write(tmp_path / "chat.jsonl", [*pi([user("look")]), twice % SECRET.encode()])
    assert SECRET.encode() not in host_lines(path, redact=redact)


@pytest.mark.parametrize("kind", [HOST, JSON_LINES, MARKDOWN])
def test_an_export_is_held_against_the_users_own_rules(tmp_path: Path, kind: str) -> None:
    rules = RedactionConfig(rules=(CustomRule("badge", r"BADGE-[0-9]{4}"),))
    transcripts = Transcripts(Config(redaction=rules), lambda: 0)
    path = write(tmp_path / "chat.jsonl", pi([user("it is BADGE-1234")]))
    told = transcripts.export(Transcript(str(path), "pi"), Selection(), kind, redact=True)
    assert b"it is [REDACTED:badge]" in b"".join(told)


# Edits of lines that something stands around


@AROUND
def test_pruning_a_line_that_something_stands_around_is_done_once(
    tmp_path: Path, around: bytes
) -> None:
    documents = pi(
        [user(), agent("", "c1"), Result("c1", "x" * 90_000), *[agent("ok"), user()] * 3]
    )
    lines = [json.dumps(document).encode() for document in documents]
    path = write(tmp_path / "chat.jsonl", [*lines[:3], around + lines[3], *lines[4:]])
    transcript = Transcript(str(path), "pi")
    done = Transcripts(DEFAULTS, lambda: 2e9).prune(transcript)
    assert (len(done.changed), bool(done.backup)) == (1, True)
    assert path.stat().st_size < 10_000
    assert len(read(path)) == len(documents)
    again = Transcripts(DEFAULTS, lambda: 2e9).prune(transcript)
    assert (again.changed, again.backup) == ((), "")


@pytest.mark.parametrize("edit", [Cut(0, 0, "x"), Rename(0, 0, "x"), Relink(0, "x"), Drop(0, (0,))])
def test_an_edit_of_what_is_no_entry_is_refused(tmp_path: Path, edit: Edit) -> None:
    path = write(tmp_path / "chat.jsonl", [b"{", *pi([user()])])
    before = path.read_bytes()
    with pytest.raises(InvalidInput, match="no entry begins at byte 0"):
        applying.rewrite(str(path), [edit], pi_writing, now=0)
    assert [path.read_bytes(), [*tmp_path.iterdir()]] == [before, [path]]


@pytest.mark.parametrize("end", [b"\n", b""])
def test_lines_longer_than_what_is_read_at_once_are_read_like_others(
    tmp_path: Path, end: bytes
) -> None:
    long = [json.dumps(d).encode() for d in pi([user("x" * 3_000_000), agent("y" * 1_500_000)])]
    short = [json.dumps(d).encode() for d in pi([user(), agent("ok")])[1:]]
    lines = [*long, *short, long[1], b"", short[1]]
    path = tmp_path / "chat.jsonl"
    path.write_bytes(b"\n".join(lines) + end)
    read_ = list(jsonl.lines(str(path)))
    assert [raw for _, _, raw in read_] == lines
    assert [after for _, after, _ in read_[:-1]] == [at for at, _, _ in read_[1:]]
    assert read_[-1][1] == path.stat().st_size
    entries = list(find_format("pi").entries(Transcript(str(path), "pi")))
    assert [(e.at, e.end, e.raw) for e in entries] == read_
    marked = [found for found in jsonl.marked(str(path), (b'"yyy', b'"ok"'), 0) if found[1]]
    whole = len(read_) if end else len(read_) - 1
    told = [(after, raw) for _, after, raw in read_[:whole] if b'"yyy' in raw or b'"ok"' in raw]
    assert marked == told


# While a host writes


@pytest.mark.parametrize("written", [20, 500, 1_500])
@pytest.mark.parametrize("more", [b"", b'{"torn', b"\n\n"])
def test_lines_that_a_host_ends_while_they_are_read_are_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, written: int, more: bytes
) -> None:
    path = write(tmp_path / "chat.jsonl", pi([user(str(number)) for number in range(9)]))
    whole = path.read_bytes() + more
    path.write_bytes(whole[:written])
    opened = []

    def opened_by_both(name: str) -> int:
        opened.append(name)
        if len(opened) == 2:  # what is whole was read, and now comes what is torn
            path.write_bytes(whole)
        return open_file(name)

    monkeypatch.setattr("gitguard.transcripts.entries.open_file", opened_by_both)
    found = list(jsonl.lines(str(path)))
    assert [(at, end) for at, end, _ in found] == [*_places(whole)]
    assert [line for _, _, line in found] == whole.removesuffix(b"\n").split(b"\n")


def _places(whole: bytes) -> Iterator[tuple[int, int]]:
    at = 0
    for line in whole.splitlines(keepends=True):
        yield at, at + len(line)
        at += len(line)


# Numbers that nobody counted


def test_a_snapshot_without_an_id_ends_no_counting(tmp_path: Path) -> None:
    message = {"id": "", "type": "user", "content": [{"text": "<state_snapshot> so far"}]}
    lines: list[Any] = [{"sessionId": "x", "projectHash": "h"}, {"$set": {"messages": [message]}}]
    transcript = Transcript(str(write(tmp_path / "chat.jsonl", lines)), "gemini")
    assert find_format("gemini").compactions(transcript).count == 0


def test_what_is_looked_for_may_be_nothing(tmp_path: Path) -> None:
    path = write(tmp_path / "lines", [b"one", b"", b"two"])
    assert [line for _, line in jsonl.marked(str(path), (b"",), 0) if line] == [b"one", b"two"]


@pytest.mark.parametrize("number", [10**4_200, 1e300, "9" * 4_200, 10**9], ids=range(4))
def test_no_context_has_more_tokens_than_any_window(number: object) -> None:
    assert tokens({"a": number, "b": 1}, ("a", "b")) == MOST_TOKENS


@pytest.mark.parametrize("number", [-(10**4_200), -1, "", None, [], 1e400], ids=range(6))
def test_what_is_no_number_of_tokens_is_none(number: object) -> None:
    assert tokens({"a": number}, ("a",)) == 0


@pytest.mark.parametrize("number", [10**4_200, 10**22, 1e22, 10**15], ids=range(4))
def test_a_time_that_no_calendar_has_is_none(number: object) -> None:
    assert moment({"time": {"created": number}}) == 0
