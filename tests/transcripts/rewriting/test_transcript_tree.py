"""What follows what in a repaired transcript: branches that were left, copies, rings, pointers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gitguard.model.events import Transcript
from gitguard.transcripts import find_format
from gitguard.transcripts.rewriting.repair import RepairReport, conversation, repair
from gitguard.transcripts.rewriting.tree import Mended, ids_with
from tests.support.written_conversations import (
    WRITERS,
    Document,
    Part,
    Result,
    agent,
    blocks_of,
    read,
    user,
    write,
)

NAMES = {"pi": ("id", "parentId"), "claude-code": ("uuid", "parentUuid")}


@pytest.fixture(params=NAMES)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "conversation.jsonl"


def repaired(path: Path, name: str) -> RepairReport:
    report = repair(Transcript(str(path), name), lambda: 1_795_000_000.0)
    again = repair(Transcript(str(path), name), lambda: 1_795_000_000.0)
    assert again.needs_nothing, "once is enough"
    return report


def told(path: Path, name: str) -> list[str]:
    """Return what is said on the way to the last line."""
    entries = list(find_format(name).entries(Transcript(str(path), name)))
    said = [block for entry in conversation(entries) for block in entry.blocks]
    return [block.text for block in said if block.kind == "text"]


def linked(documents: list[Document], name: str, **parents: Any) -> list[Document]:
    """Give entries other parents; both are told by their place among those that have one."""
    own, parent = NAMES[name]
    entries = [document for document in documents if parent in document]
    for at, to in parents.items():
        entries[int(at[1:])][parent] = entries[to][own] if isinstance(to, int) else to
    return documents


@pytest.mark.parametrize("more", [[], [agent("", "c1")]], ids=["alone", "behind a call"])
def test_a_branch_that_was_left_stays_so_when_the_last_line_goes(
    path: Path, name: str, more: list[Part]
) -> None:
    parts: list[Part] = [
        user("begin"),
        agent("stands"),
        *more,
        user("left behind"),
        Result("never"),
    ]
    documents = linked(WRITERS[name](parts), name, **{f"_{2 + len(more)}": 0, "_-1": 1 + len(more)})
    write(path, documents)
    assert repaired(path, name).counts == {"orphaned": 1} | ({"answered": 1} if more else {})
    assert told(path, name)[:2] == ["begin", "stands"]
    assert "left behind" not in told(path, name)


def test_a_branch_that_was_left_stays_so_when_the_last_line_moves(path: Path, name: str) -> None:
    parts: list[Part] = [
        user("begin"),
        agent("", "c1"),
        user("next"),
        user("left behind"),
        Result("c1"),
    ]
    write(path, linked(WRITERS[name](parts), name, _3=0, _4=2))
    assert repaired(path, name).counts == {"moved": 1}
    assert told(path, name) == ["begin", "next"]


def test_without_a_branch_no_line_comes_for_the_last_that_goes(path: Path, name: str) -> None:
    documents = WRITERS[name]([user("begin"), agent("stands"), Result("never")])
    write(path, documents)
    repaired(path, name)
    assert read(path) == documents[:-1]


def test_what_follows_a_dropped_first_entry_inherits_no_foreign_parent(
    path: Path, name: str
) -> None:
    documents = WRITERS[name]([Result("never"), user("left"), user("begin"), agent("end")])
    write(path, linked(documents, name, _0="elsewhere", _1=0, _2=0))
    assert repaired(path, name).counts == {"orphaned": 1}
    own, parent = NAMES[name]
    assert [d[parent] for d in read(path) if parent in d][:2] == [None, None]


@pytest.mark.parametrize("ring", [{"_2": 2}, {"_2": 3}, {"_1": 1, "_3": 3}, {"_2": 4}])
def test_rings_are_broken_and_nothing_before_them_is_lost(
    path: Path, name: str, ring: dict[str, int]
) -> None:
    said = ["a", "b", "c", "d", "e"]
    write(path, linked(WRITERS[name]([agent(text) for text in said]), name, **ring))
    assert repaired(path, name).counts == {"relinked": len(ring)}
    assert told(path, name) == said


def test_what_is_relinked_makes_no_ring(path: Path, name: str) -> None:
    documents = WRITERS[name]([agent("a"), agent("b"), agent("c")])
    write(path, linked(documents, name, _0=1, _1="nowhere"))
    assert repaired(path, name).counts == {"relinked": 2}
    assert told(path, name) == ["a", "b", "c"]


def test_two_copies_of_a_line_without_a_parent_are_one_to_the_host(path: Path) -> None:
    [line] = WRITERS["claude-code"]([agent("", "c1")])
    write(path, [line, line])
    assert repaired(path, "claude-code").counts == {"answered": 1}


def test_a_copy_does_not_come_to_follow_itself(path: Path, name: str) -> None:
    documents = linked(WRITERS[name]([agent("", "c1"), agent("b")]), name, _0="lost", _1=0)
    for at in (len(documents) - 1, len(documents)):
        copied = [*documents[:at], documents[-2], *documents[at:]]
        write(path, copied)
        repaired(path, name)
        own, parent = NAMES[name]
        parents = {d[own]: d[parent] for d in read(path) if parent in d}
        for entry in parents:
            way = [entry]
            while (above := parents.get(way[-1])) is not None:
                assert above not in way
                way.append(above)


def test_copies_of_what_is_dropped_or_moved_do_not_come_back(path: Path, name: str) -> None:
    parts: list[Part] = [
        user("a"),
        agent("", "c1"),
        user("b"),
        Result("c1"),
        Result("never"),
        agent("end"),
    ]
    documents = WRITERS[name](parts)
    documents[-3:-3] = documents[-3:-1]
    write(path, documents)
    assert repaired(path, name).counts == {"moved": 1, "orphaned": 1}
    results = [b for d in read(path) for b in blocks_of(d) if b["type"] == "tool_result"]
    assert [block["tool_use_id"] for block in results] == ["c1"]
    assert told(path, name) == ["a", "b", "end"]


def boundary(kept: list[Any]) -> list[Document]:
    metadata = {"preservedMessages": {"uuids": kept, "allUuids": kept}}
    message = {"role": "user", "content": "so far"}
    return [
        {"type": "system", "subtype": "compact_boundary", "uuid": "bou", "parentUuid": None}
        | {"compactMetadata": metadata},
        {"type": "user", "uuid": "sum", "parentUuid": "bou", "isCompactSummary": True}
        | {"message": message},
    ]


def test_what_a_compaction_keeps_is_in_order_after_a_move(path: Path) -> None:
    old = WRITERS["claude-code"]([user("a"), agent("", "c1"), Result("c1"), agent("end")])
    kept = [old[0]["uuid"], old[2]["uuid"], old[1]["uuid"], old[3]["uuid"]]
    write(path, [*old, *boundary(kept)])
    assert repaired(path, "claude-code").counts == {"moved": 1}
    [metadata] = [d["compactMetadata"] for d in read(path) if "compactMetadata" in d]
    assert metadata["preservedMessages"]["uuids"] == [document["uuid"] for document in old]


def test_pointers_of_any_shape_stay(path: Path) -> None:
    documents = WRITERS["claude-code"]([user("a"), agent("", "c1"), agent("end")])
    blocks_of(documents[1])[0]["name"] = "?"
    odd: list[Any] = [{}, [], None, 5]
    documents += [{"type": "summary", "leafUuid": thing} for thing in odd]
    write(path, [*documents, *boundary([*odd, documents[1]["uuid"], documents[2]["uuid"]])])
    before = read(path)
    blocks_of(documents[2])[0]["type"] = "tool_use"
    repair(Transcript(str(path), "claude-code"), lambda: 0.0, everything=True)
    after = read(path)
    assert [d["leafUuid"] for d in after if d["type"] == "summary"] == odd
    assert len(after) == len(before) - 1
    [metadata] = [d["compactMetadata"] for d in after if "compactMetadata" in d]
    assert metadata["preservedMessages"]["uuids"] == [*odd, documents[2]["uuid"]]


def test_a_list_of_ids_is_mended() -> None:
    mended = Mended({"gone": "a"}, {}, {"a": ("new",), "b": ("moved",), "elsewhere": ("away",)})
    ids = ["a", "gone", "moved", {}, "b", "away"]
    assert ids_with(ids, mended) == ["a", "new", {}, "b", "moved"]
