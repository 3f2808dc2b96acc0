"""Whatever happens to the lines of a sound conversation, no repair takes a message from it."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitguard.model.events import Transcript
from gitguard.transcripts.rewriting.repair import RepairReport, repair
from tests.support.written_conversations import (
    PAIRED,
    Document,
    Part,
    Result,
    agent,
    refusals,
    user,
)

Lines = list[bytes]

SAID: Sequence[Part] = (
    user("one"),
    agent("", "c1", "c2"),
    Result("c1"),
    Result("c2"),
    agent("two", thinking="hm"),
    user("three"),
    agent("look", "c3"),
    Result("c3"),
    agent("four"),
    user("five"),
    agent("six"),
)
NAMES = {"claude-code": ("uuid", "parentUuid"), "pi": ("id", "parentId")}
NAMES["openclaw"] = NAMES["pi"]


def lines_of(name: str) -> Lines:
    return [json.dumps(document).encode() for document in PAIRED[name](SAID)]


def sub_agents(name: str) -> Lines:
    """The same conversation as a sub-agent's own, if the format has such."""
    if name != "claude-code":
        return lines_of(name)
    return [
        line.replace(b'"isSidechain": false', b'"isSidechain": true') for line in lines_of(name)
    ]


def move(lines: Lines, at: int, to: int, first: int) -> None:
    line = lines.pop(first + at % (len(lines) - first))
    lines.insert(first + to % (len(lines) - first + 1), line)


def glue(lines: Lines, at: int, _to: int, _first: int) -> None:
    if len(lines) > 1:
        at %= len(lines) - 1
        lines[at] += lines.pop(at + 1)


def double(lines: Lines, at: int, to: int, first: int) -> None:
    line = lines[first + at % (len(lines) - first)]
    lines.insert(first + to % (len(lines) - first + 1), line)


def _with(lines: Lines, at: int, value: bytes) -> None:
    at %= len(lines)
    if lines[at].endswith(b"}"):
        lines[at] = lines[at][:-1] + b',"later":' + value + b"}"


def nest(lines: Lines, at: int, to: int, _first: int) -> None:
    depth = 250 + to * 97
    _with(lines, at, b'{"a":[' * depth + b"1" + b"]}" * depth)


def number(lines: Lines, at: int, to: int, _first: int) -> None:
    _with(lines, at, b"-" * (to % 2) + b"8" * (4_000 + 500 * to))


def unknown(lines: Lines, at: int, to: int, first: int) -> None:
    made = (b'{"type":"future-note","about":%d}', b'{"later":{"than":%d}}')[to % 2]
    lines.insert(first + at % (len(lines) - first + 1), made % at)


DAMAGES: dict[str, Callable[[Lines, int, int, int], None]] = {
    function.__name__: function for function in (move, glue, double, nest, number, unknown)
}
damages = st.lists(
    st.tuples(st.sampled_from(sorted(DAMAGES)), st.integers(0, 30), st.integers(0, 30)),
    min_size=1,
    max_size=6,
)


def documents_of(path: Path) -> list[Document]:
    """Return what the lines hold, with the odd parts as a host would have them: as something."""
    decoder = json.JSONDecoder(parse_int=lambda digits: int(digits[:9]))
    return [decoder.decode(_flat(line)) for line in path.read_bytes().splitlines()]


def _flat(line: bytes) -> str:
    begin, mark, _ = line.partition(b',"later":')
    return (begin + b"}" if mark else line).decode()


def branch_ids(documents: Sequence[Document], name: str) -> list[str]:
    """Return the ids that a host meets when it goes back from the last line."""
    own, parent = NAMES[name]
    entries = {d[own]: d for d in documents if parent in d}
    last = next((d[own] for d in reversed(documents) if parent in d), None)
    way: list[str] = []
    while last is not None and last in entries and last not in way:
        way.append(last)
        last = entries[last][parent]
    return way[::-1]


def repaired(path: Path, name: str) -> RepairReport:
    return repair(Transcript(str(path), name), lambda: 1_795_000_000.0)


def damaged(lines: Lines, damage: Sequence[tuple[str, int, int]], name: str) -> None:
    """Damage lines one way after another; a header stays first, as hosts find nothing without."""
    for kind, at, to in damage:
        DAMAGES[kind](lines, at, to, int(name != "claude-code"))


@pytest.mark.parametrize("write", [lines_of, sub_agents])
@pytest.mark.parametrize("name", PAIRED)
@settings(max_examples=25, deadline=None)
@given(damage=damages)
def test_moved_glued_doubled_nested_numbered_and_unknown_lines_cost_nothing(
    name: str, write: Callable[[str], Lines], damage: list[tuple[str, int, int]]
) -> None:
    lines = write(name)
    whole = [json.loads(line) for line in lines]
    damaged(lines, damage, name)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x_01a1-ffc5.jsonl"
        path.write_bytes(b"".join(line + b"\n" for line in lines))
        repaired(path, name)
        documents = documents_of(path)
        assert branch_ids(documents, name) == branch_ids(whole, name)
        assert refusals([d for d in documents if NAMES[name][1] in d]) == []
        again = path.read_bytes()
        assert repaired(path, name).needs_nothing
        assert path.read_bytes() == again


@pytest.mark.parametrize("name", ["claude-code", "pi"])
def test_any_single_line_may_be_moved_anywhere(tmp_path: Path, name: str) -> None:
    whole, first = lines_of(name), int(name != "claude-code")
    path = tmp_path / "x_01a1-ffc5.jsonl"
    for at in range(first, len(whole)):
        for to in range(first, len(whole)):
            lines = [*whole[:at], *whole[at + 1 :]]
            lines.insert(to, whole[at])
            path.write_bytes(b"".join(line + b"\n" for line in lines))
            repaired(path, name)
            ids = branch_ids(documents_of(path), name)
            assert ids == branch_ids([json.loads(line) for line in whole], name), (at, to)
            assert repaired(path, name).needs_nothing


@pytest.mark.parametrize("name", ["claude-code", "pi"])
@settings(max_examples=60, deadline=None)
@given(at=st.integers(1, 10), cut=st.integers(1, 400), more=st.booleans())
def test_of_a_torn_line_that_is_glued_to_the_next_only_the_torn_part_goes(
    name: str, at: int, cut: int, more: bool
) -> None:
    lines = lines_of(name)
    torn = lines[at][: min(cut, len(lines[at]) - 1)]
    lines[at : at + 2] = [torn + lines[at + 1] + (lines[at][:9] if more else b"")]
    own, parent = NAMES[name]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x_01a1-ffc5.jsonl"
        path.write_bytes(b"".join(line + b"\n" for line in lines))
        report = repaired(path, name)
        assert report.counts["split"] == 1
        ids = [document[own] for document in PAIRED[name](SAID) if parent in document]
        lost = json.loads(lines_of(name)[at])[own]
        documents = documents_of(path)
        assert {*ids} - {d.get(own) for d in documents} <= {lost, *_results(documents, name, lost)}
        assert repaired(path, name).needs_nothing


def _results(documents: Sequence[Document], name: str, lost: str) -> set[str]:
    """Return the lines that answer a call that is lost: a model would refuse them."""
    line = next(d for d in PAIRED[name](SAID) if d.get(NAMES[name][0]) == lost)
    calls: Any = json.dumps(line)
    return {
        d[NAMES[name][0]]
        for d in PAIRED[name](SAID)
        if any(f'"{call}"' in calls and f'"{call}"' in json.dumps(d) for call in ("c1", "c2", "c3"))
    }


GLUED: dict[str, Callable[[Lines], Lines]] = {
    "the first two": lambda lines: [lines[0] + lines[1], *lines[2:]],
    "three": lambda lines: [*lines[:2], b"".join(lines[2:5]), *lines[5:]],
    "all": lambda lines: [b"".join(lines)],
    "with NULs between": lambda lines: [*lines[:2], lines[2] + b"\0\0 " + lines[3], *lines[4:]],
    "a line and its copy": lambda lines: [*lines[:3], lines[3] + lines[3], *lines[4:]],
    "behind two torn ones": lambda lines: [
        *lines[:3],
        lines[2][:30] + lines[1][:50] + lines[3],
        *lines[4:],
    ],
    "before a torn one": lambda lines: [*lines[:-1], lines[-1] + lines[1][:40]],
}


@pytest.mark.parametrize("glued", GLUED.values(), ids=GLUED)
@pytest.mark.parametrize("name", ["claude-code", "pi"])
@pytest.mark.parametrize("end", [b"\n", b""])
def test_every_whole_record_on_a_line_becomes_a_line(
    tmp_path: Path, name: str, glued: Callable[[Lines], Lines], end: bytes
) -> None:
    lines = lines_of(name)
    whole = [json.loads(line) for line in lines]
    path = tmp_path / "x_01a1-ffc5.jsonl"
    path.write_bytes(b"\n".join(glued(lines)) + end)
    report = repaired(path, name)
    assert {*report.counts} - {"ended"} == {"split"}
    assert report.messages_after == sum("message" in document for document in whole)
    documents = documents_of(path)
    assert [d for at, d in enumerate(documents) if d not in documents[:at]] == whole
    assert repaired(path, name).needs_nothing
