"""Entries are only forgotten where repair would find nothing to do about any of them."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitguard.transcripts.formats import WRITING, load
from gitguard.transcripts.formats.claude_code import writing
from gitguard.transcripts.formats.pi import writing as pi_writing
from gitguard.transcripts.rewriting.pairing import Pairing, pair
from gitguard.transcripts.rewriting.replacing import identity_of
from gitguard.transcripts.rewriting.scanning import Scan, scan
from tests.support.written_conversations import PAIRED, Document, Part, Result, agent, user, write

if TYPE_CHECKING:
    from gitguard.transcripts.rewriting.tree import Writable

FORMATS: dict[str, Writable] = {
    "claude-code": writing,
    "openclaw": load("openclaw", WRITING),
    "pi": pi_writing,
}
ONE_CALL = (user(), agent("let me see", "c1"), Result("c1"), agent("end"))
SOUND: tuple[Sequence[Part], ...] = (
    ONE_CALL,
    (user(), agent("", "c1", "c2"), Result("c1"), Result("c2"), agent("end"), user(), user()),
    (user(), agent("", "c1"), Result("c1"), agent("", "c2"), Result("c2", '"type":"tool_use"')),
    (agent("nobody asked", thinking="hm"), agent(stopped="aborted"), user('","uuid":"u001","')),
)


def scanned(path: Path, name: str, forget_after: int | None) -> Scan:
    return scan(str(path), identity_of(str(path)), FORMATS[name], forget_after=forget_after)


def needs_nothing(whole: Scan, name: str) -> bool:
    """Say whether repair has nothing to do about entries, decided with all of them."""
    writable = FORMATS[name]
    pairing = pair(
        whole.entries,
        notes_between=writable.NOTES_BETWEEN,
        results_name_tools=writable.RESULTS_NAME_TOOLS,
    )
    ids = [entry.id for entry in whole.entries if entry.id]
    return whole.is_plain and pairing == Pairing() and len(set(ids)) == len(ids)


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("parts", SOUND)
@pytest.mark.parametrize("forget_after", [0, 2, 1_000])
def test_of_a_sound_conversation_no_entry_is_kept(
    tmp_path: Path, name: str, parts: Sequence[Part], forget_after: int
) -> None:
    path = write(tmp_path / "a.jsonl", PAIRED[name](parts))
    light, whole = scanned(path, name, forget_after), scanned(path, name, None)
    assert needs_nothing(whole, name)
    assert light.entries == []
    assert whole.entries
    assert vars(light) == {**vars(whole), "entries": []}


@pytest.mark.parametrize("name", FORMATS)
def test_a_torn_line_is_told_without_keeping_what_is_sound(tmp_path: Path, name: str) -> None:
    path = write(tmp_path / "a.jsonl", [*PAIRED[name](ONE_CALL), b'{"type":"user","mess'])
    light = scanned(path, name, 0)
    assert [line.size for line in light.broken] == [21]
    assert light.entries == []


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("forget_after", [0, 2, 1_000])
def test_a_call_without_a_result_at_the_very_end_brings_all_entries_back(
    tmp_path: Path, name: str, forget_after: int
) -> None:
    path = write(tmp_path / "a.jsonl", PAIRED[name]((*ONE_CALL, agent("", "c2"))))
    assert vars(scanned(path, name, forget_after)) == vars(scanned(path, name, None))


def exchange(number: int, calls: int) -> list[Part]:
    """A prompt, an answer with so many calls, and their results."""
    ids = [f"c{number}{call or ''}" for call in range(calls)]
    return [user(), agent("", *ids), *map(Result, ids), agent("end")]


def _changed(document: Document, change: dict[str, Any]) -> Document:
    """Return a line with members replaced, wherever they are: in it, its message or its blocks."""
    if not isinstance(document, dict):
        return document
    inner: Document = {}
    for name, value in document.items():
        if isinstance(value, list):
            inner[name] = [_changed(item, change) for item in value]
        else:
            inner[name] = _changed(value, change) if isinstance(value, dict) else value
    return inner | {name: value for name, value in change.items() if name in document}


AMISS: dict[str, tuple[Sequence[Part], int, dict[str, Any]]] = {
    "a result behind the user's words": (
        (user(), agent("", "c1"), user("wait"), Result("c1"), agent("end")),
        0,
        {},
    ),
    "a result behind the output of a command of the user's": (
        (user(), agent("", "c1"), user("!ls"), Result("c1"), agent("end")),
        -3,
        {"role": "bashExecution"},
    ),
    "a result behind another answer": (
        (user(), agent("", "c1"), agent("", "c2"), Result("c1"), Result("c2")),
        0,
        {},
    ),
    "a second result": ((*ONE_CALL, Result("c1")), 0, {}),
    "a result without a call": ((user(), Result("c1"), agent("end")), 0, {}),
    "two calls of one id": ((*ONE_CALL, *ONE_CALL), 0, {}),
    "a call of a broken-off answer": (
        (user(), agent("", "c1", stopped="aborted"), Result("c1"), agent("end")),
        0,
        {},
    ),
    "two entries of one id": (ONE_CALL, -1, {"uuid": "u001", "id": "00000001"}),
    "a call without a name": (ONE_CALL, -3, {"name": " "}),
    "a call with blanks around its name": (ONE_CALL, -3, {"name": " bash"}),
    "a result without its tool's name": (ONE_CALL, -2, {"toolName": ""}),
    "a call without an input": (ONE_CALL, -3, {"input": None, "arguments": None}),
    "an id that is not ASCII": (
        (user(), agent("", "\u00e9"), Result("\u00e9"), agent("end")),
        0,
        {},
    ),
    "a sub-agent's line": (ONE_CALL, -1, {"isSidechain": True}),
    "an entry that follows one that is not there": (
        ONE_CALL,
        -1,
        {"parentUuid": "lost", "parentId": "lost"},
    ),
}


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("what", AMISS)
@pytest.mark.parametrize("forget_after", [0, 2, 1_000])
def test_with_one_thing_amiss_all_entries_are_kept(
    tmp_path: Path, name: str, what: str, forget_after: int
) -> None:
    parts, at, change = AMISS[what]
    documents = PAIRED[name](parts)
    documents[at] = _changed(documents[at], change)
    path = write(tmp_path / "a.jsonl", documents)
    light, whole = scanned(path, name, forget_after), scanned(path, name, None)
    if not needs_nothing(whole, name):
        assert vars(light) == vars(whole)


@pytest.mark.parametrize("what", AMISS)
def test_each_of_these_things_needs_a_repair_in_some_format(tmp_path: Path, what: str) -> None:
    parts, at, change = AMISS[what]
    needing = []
    for name, written in PAIRED.items():
        documents = written(parts)
        documents[at] = _changed(documents[at], change)
        path = write(tmp_path / f"{name}.jsonl", documents)
        if not needs_nothing(scanned(path, name, None), name):
            needing.append(name)
    assert needing


IDS = ("a", "b", "c", "", " ", "u001", "00000001", "é", 5, None)
NAMES = ("bash", " bash", "", "Grép", "x" * 65, None)
CHANGES = st.one_of(
    st.sampled_from(IDS).map(lambda own: {"uuid": own}),
    st.sampled_from(IDS).map(lambda own: {"parentUuid": own, "parentId": own}),
    st.sampled_from(IDS).map(lambda own: {"id": own}),
    st.sampled_from(IDS).map(lambda own: {"tool_use_id": own, "toolCallId": own}),
    st.sampled_from(NAMES).map(lambda name: {"name": name, "toolName": name}),
    st.sampled_from(({"a": 1}, {}, None, "text")).map(lambda to: {"input": to, "arguments": to}),
    st.sampled_from((True, False)).map(lambda to: {"isSidechain": to}),
    st.sampled_from(("user", "system", "tool_use", "text", "compaction")).map(
        lambda to: {"type": to}
    ),
    st.sampled_from(("user", "assistant", "toolResult", 7)).map(lambda to: {"role": to}),
    st.sampled_from(([], "text", None, [5])).map(lambda to: {"content": to}),
    st.sampled_from(("aborted", "error", "stop")).map(lambda to: {"stopReason": to}),
)
PUT_BETWEEN: tuple[Part, ...] = (
    user(),
    user("<command-name>/cost</command-name>"),
    agent("done", thinking="hm"),
    agent("", "c0"),
    Result("c0"),
    Result("c1"),
)
ADDED = (
    b'{"type":"us',
    b"",
    b'\xef\xbb\xbf{"type":"user","uuid":"bom"}\0',
    b'{"type":"user","message":{"role":"user","content":"\xff"}}',
    b'{"type":"system","subtype":"compact_boundary","uuid":"z","parentUuid":null}',
    b'{"type":"file-history-snapshot","messageId":"u001"}',
    b'{"type":"user","type":"assistant","uuid":"a","uuid":"b","message":{"role":"assistant",'
    b'"content":"\\"tool_use\\"","content":[{"type":"tool_use","id":"e","name":"n","input":{}}]}}',
    b'{"type":"message","id":"x","parentId":null,"message":{"role":"assistant","content":[]}}',
)


@given(
    name=st.sampled_from(list(FORMATS)),
    calls=st.lists(st.integers(0, 3), min_size=1, max_size=4),
    between=st.lists(st.tuples(st.integers(0, 9), st.sampled_from(PUT_BETWEEN)), max_size=1),
    changes=st.lists(st.tuples(st.integers(0, 9), CHANGES), max_size=2),
    added=st.lists(st.tuples(st.integers(0, 9), st.sampled_from(ADDED)), max_size=1),
    gone=st.lists(st.integers(0, 9), max_size=1),
    again=st.lists(st.integers(0, 9), max_size=1),
    forget_after=st.sampled_from((0, 1, 3, 50_000)),
)
def test_what_is_forgotten_needed_nothing_and_everything_else_is_as_if_all_were_kept(
    name: str,
    calls: list[int],
    between: list[tuple[int, Part]],
    changes: list[tuple[int, dict[str, Any]]],
    added: list[tuple[int, bytes]],
    gone: list[int],
    again: list[int],
    forget_after: int,
) -> None:
    parts = [part for number, count in enumerate(calls) for part in exchange(number, count)]
    for at, part in between:
        parts.insert(at, part)
    documents = PAIRED[name](parts)
    for at, change in changes:
        if at < len(documents):
            documents[at] = _changed(documents[at], change)
    lines = [json.dumps(document).encode() for document in documents]
    for at in gone:
        del lines[at : at + 1]
    lines += [lines[at] for at in again if at < len(lines)]
    for at, line in added:
        lines.insert(at, line)
    with tempfile.TemporaryDirectory() as folder:
        path = write(Path(folder) / "a.jsonl", lines)
        light, whole = scanned(path, name, forget_after), scanned(path, name, None)
    if light.entries != whole.entries:
        assert light.entries == []
        assert needs_nothing(whole, name)
    assert vars(light) | {"entries": []} == vars(whole) | {"entries": []}
