"""What a repair does not understand, or a line that was moved, costs no call and no result."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gitguard.model.events import Transcript
from gitguard.transcripts.rewriting.repair import RepairReport, repair
from tests.support.transcript_command import run
from tests.support.written_conversations import (
    CALLS,
    PAIRED,
    Document,
    Result,
    agent,
    blocks_of,
    branch,
    read,
    user,
    write,
)

SAID = (user("one"), agent("look", "c1", "c2"), Result("c1"), Result("c2"), agent("two"))


def repaired(path: Path, name: str) -> RepairReport:
    return repair(Transcript(str(path), name), lambda: 1_795_000_000.0)


def has_block(document: Document, kinds: tuple[str, ...]) -> bool:
    return any(block.get("type") in kinds for block in blocks_of(document))


@pytest.mark.parametrize("name", ["pi", "openclaw"])
def test_encrypted_reasoning_that_pi_keeps_as_json_stays_at_its_call(
    tmp_path: Path, name: str
) -> None:
    documents = PAIRED[name](SAID)
    for block in (block for document in documents for block in blocks_of(document)):
        if block["type"] in CALLS:
            detail = {"type": "reasoning.encrypted", "id": block["id"], "data": "gAAAA+/="}
            block["thoughtSignature"] = json.dumps(detail)
    path = write(tmp_path / "x_01a1-ffc5.jsonl", documents)
    assert repaired(path, name).needs_nothing


@pytest.mark.parametrize("signature", ['{"id":1}', '{"type":"reasoning.encrypted"', "[1]", "{}"])
def test_other_json_is_no_signature(tmp_path: Path, signature: str) -> None:
    documents = PAIRED["pi"](SAID)
    call = next(b for d in documents for b in blocks_of(d) if b["type"] in CALLS)
    call["thoughtSignature"] = signature
    path = write(tmp_path / "x_01a1-ffc5.jsonl", documents)
    assert repaired(path, "pi").counts == {"unsigned": 1}


@pytest.mark.parametrize("name", ["claude-code", "pi", "openclaw"])
def test_the_signature_of_a_block_that_is_not_understood_stays(tmp_path: Path, name: str) -> None:
    documents = PAIRED[name](SAID)
    call = next(d for d in documents for b in blocks_of(d) if b["type"] in CALLS)
    blocks_of(call).append({"type": "tomorrows_text", "signature": "v2:abc.def"})
    path = write(tmp_path / "x_01a1-ffc5.jsonl", documents)
    assert repaired(path, name).needs_nothing


@pytest.mark.parametrize("kinds", [("tool_result",), CALLS], ids=["results", "calls"])
@pytest.mark.parametrize("member", ["type", "role"])
@pytest.mark.parametrize("name", PAIRED)
def test_a_call_or_a_result_in_a_line_that_is_not_understood_leaves_its_pair_alone(
    tmp_path: Path, name: str, member: str, kinds: tuple[str, ...]
) -> None:
    documents = PAIRED[name](SAID)
    for document in documents:
        if has_block(document, kinds):
            if member == "role" and name != "claude-code":
                document["message"]["role"] = "later-role"
            else:
                document["type"] = "later-kind"
    path = write(tmp_path / "x_01a1-ffc5.jsonl", documents)
    whole = path.read_bytes()
    assert repaired(path, name).needs_nothing
    assert path.read_bytes() == whole


@pytest.mark.parametrize("name", PAIRED)
def test_a_line_that_is_not_understood_may_name_its_call_anywhere(
    tmp_path: Path, name: str
) -> None:
    documents = PAIRED[name](SAID)
    own, parent = ("uuid", "parentUuid") if name == "claude-code" else ("id", "parentId")
    for at, document in enumerate(documents):
        if has_block(document, ("tool_result",)):
            call = next(b["tool_use_id"] for b in blocks_of(document))
            documents[at] = {own: document[own], parent: document[parent], "type": "later-kind"}
            documents[at]["outcomes"] = [{"of": {"callId": call}, "said": "done"}]
    path = write(tmp_path / "x_01a1-ffc5.jsonl", documents)
    assert repaired(path, name).needs_nothing


def test_a_line_of_progress_is_no_result_of_its_call(tmp_path: Path) -> None:
    documents = PAIRED["claude-code"]((user(), agent("", "c1"), Result("c1"), agent("end")))
    progress: Document = {key: documents[2][key] for key in ("uuid", "parentUuid", "isSidechain")}
    documents[2] = {**progress, "type": "progress", "toolUseID": "c1", "data": {}}
    path = write(tmp_path / "x.jsonl", documents)
    assert repaired(path, "claude-code").counts == {"answered": 1}


# Calls at once, as Claude Code keeps them: each a line, with its result beside the way on


def calls_at_once(order: tuple[int, ...]) -> list[Document]:
    lines: list[Document] = []

    def add(parent: str | None, kind: str, message: Document) -> str:
        id_ = f"u{len(lines):03}"
        line: Document = {"uuid": id_, "parentUuid": parent, "isSidechain": False, "type": kind}
        message = {"role": kind, **message}
        lines.append({**line, "sessionId": "s", "message": message})
        return id_

    ids = [add(None, "user", {"content": "one"})]
    for number in order:
        call = {"type": "tool_use", "id": f"c{number}", "name": "Bash", "input": {}}
        ids.append(add(ids[-1], "assistant", {"id": "msg_1", "content": [call]}))
    for number in order:
        call_line = ids[1 + sorted(order).index(number)]
        name = lines[int(call_line[1:])]["message"]["content"][0]["id"]
        result = {"type": "tool_result", "tool_use_id": name, "content": "done"}
        newest = add(call_line, "user", {"content": [result]})
    for number, text in enumerate(("two", "three")):
        answer = [{"type": "text", "text": text}]
        newest = add(newest, "assistant", {"id": f"msg_{number + 2}", "content": answer})
        newest = add(newest, "user", {"content": "go on"})
    return lines


def way(documents: list[Document]) -> list[str]:
    """Return the ids that a host meets when it goes back from the last line."""
    by_id = {document["uuid"]: document for document in documents}
    here: Any = documents[-1]
    ids: list[str] = []
    while here is not None and here["uuid"] not in ids:
        ids.append(here["uuid"])
        here = by_id.get(here["parentUuid"])
    return ids


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 0, 1)])
def test_any_line_of_calls_at_once_may_be_moved_to_the_end(
    tmp_path: Path, order: tuple[int, ...]
) -> None:
    whole = calls_at_once(order)
    path = tmp_path / "x.jsonl"
    assert repaired(write(path, whole), "claude-code").needs_nothing
    for at in range(len(whole)):
        write(path, [*whole[:at], *whole[at + 1 :], whole[at]])
        repaired(path, "claude-code")
        assert way(read(path)) == way(whole), at
        assert repaired(path, "claude-code").needs_nothing
    # A result of the newest answer stands where it belongs: nothing came after it yet.
    newest = whole[: 1 + 2 * len(order)]
    assert repaired(write(path, newest), "claude-code").needs_nothing


def compacted(tmp_path: Path) -> list[Document]:
    """Return a conversation that was compacted and went on, as Claude Code keeps it."""
    path = write(tmp_path / "x.jsonl", PAIRED["claude-code"]((*SAID, user("three"), agent("four"))))
    run("compact", path, "--keep-turns", "1", "--mechanical", cwd=tmp_path)
    documents = read(path)
    last = next(d for d in documents if "compactMetadata" in d)["logicalParentUuid"]
    for id_, made in (("z1", {"content": "five"}), ("z2", {"id": "msg_z", "content": []})):
        kind = "assistant" if "id" in made else "user"
        line: Document = {"uuid": id_, "parentUuid": last, "isSidechain": False, "type": kind}
        documents.append({**line, "sessionId": "s", "message": {"role": kind, **made}})
        last = id_
    return documents


def test_a_compactions_line_may_be_moved_anywhere_before_what_follows_it(tmp_path: Path) -> None:
    whole = compacted(tmp_path)
    path = tmp_path / "y.jsonl"
    assert repaired(write(path, whole), "claude-code").needs_nothing
    boundary = next(at for at, document in enumerate(whole) if "compactMetadata" in document)
    for to in range(boundary):
        lines = [*whole[:boundary], *whole[boundary + 1 :]]
        lines.insert(to, whole[boundary])
        assert repaired(write(path, lines), "claude-code").needs_nothing, to


def test_the_last_line_may_stand_before_a_compaction(tmp_path: Path) -> None:
    whole = compacted(tmp_path)
    path = tmp_path / "y.jsonl"
    for at in range(len(whole) - 1):
        repaired(write(path, [*whole[:at], whole[-1], *whole[at:-1]]), "claude-code")
        assert way(read(path)) == way(whole), at
        assert repaired(path, "claude-code").needs_nothing


@pytest.mark.parametrize("name", PAIRED)
def test_closing_a_gap_breaks_no_link_of_the_active_branch(tmp_path: Path, name: str) -> None:
    documents = PAIRED[name](
        (user("one"), agent("two"), user("three"), agent("four"), user("five"))
    )
    first = int(name != "claude-code")
    header, (one, _, three, four, five) = documents[:first], documents[first:]
    path = write(tmp_path / "x_01a1-ffc5.jsonl", [*header, one, four, three, five])
    assert repaired(path, name).messages_after == 4
    own = "id" if first else "uuid"
    assert [document[own] for document in branch(read(path))] == [
        document[own] for document in (one, three, four, five)
    ]
    assert repaired(path, name).needs_nothing
