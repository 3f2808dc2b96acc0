"""A compaction lists nothing that the host does not load: it would drop all that is listed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gitguard.compaction.compacting import compact
from gitguard.model.config.config import DEFAULTS
from gitguard.model.events import Transcript
from tests.conftest import Clock
from tests.support.written_compactions import tools
from tests.support.written_conversations import (
    Document,
    Result,
    agent,
    claude_code,
    read,
    user,
    write,
)

KINDS = ("progress", "future-note", "queue-operation")


def chained(kinds: tuple[str, ...]) -> list[Document]:
    """A conversation with a line of each kind in the chain behind every message."""
    parts = [
        part
        for number in range(3)
        for part in (
            user(f"question {number}"),
            agent("look", f"c{number}"),
            Result(f"c{number}"),
            agent(f"answer {number}"),
        )
    ]
    lines: list[Document] = []
    last = None
    for document in claude_code(parts):
        lines.append({**document, "parentUuid": last})
        last = document["uuid"]
        for kind in kinds:
            own = f"{kind}-{document['uuid']}"
            lines.append({"type": kind, "uuid": own, "parentUuid": last, "isSidechain": False})
            last = own
    return lines


@pytest.mark.parametrize("kinds", [(), KINDS[:1], KINDS], ids="+".join)
def test_what_is_kept_names_only_what_the_host_loads(
    tmp_path: Path, clock: Clock, kinds: tuple[str, ...]
) -> None:
    path = write(tmp_path / "s.jsonl", chained(kinds))
    compact(Transcript(str(path), "claude-code"), DEFAULTS, tools(clock), keep_turns=1)
    documents = read(path)
    [metadata] = [d["compactMetadata"] for d in documents if "compactMetadata" in d]
    loaded = {d["uuid"]: d["type"] for d in documents if d["type"] in ("user", "assistant")}
    preserved: Any = metadata["preservedMessages"]
    segment = metadata["preservedSegment"]
    assert preserved["uuids"] == preserved["allUuids"]
    assert {*preserved["uuids"], segment["headUuid"], segment["tailUuid"]} <= loaded.keys()
    assert [loaded[own] for own in preserved["uuids"]][0] == "user"
    assert len(preserved["uuids"]) == 5


def test_attachments_stay_with_the_turns_that_are_kept(tmp_path: Path, clock: Clock) -> None:
    path = write(tmp_path / "s.jsonl", chained(("attachment",)))
    compact(Transcript(str(path), "claude-code"), DEFAULTS, tools(clock), keep_turns=1)
    [metadata] = [d["compactMetadata"] for d in read(path) if "compactMetadata" in d]
    kept = metadata["preservedMessages"]["uuids"]
    assert sum(own.startswith("attachment-") for own in kept) == 5
