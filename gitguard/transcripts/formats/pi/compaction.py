"""A compaction as pi and OpenClaw keep it in a session's file of version 3: one entry at its end.

It names the first of the older entries that stay; all behind that one stay too.
"""

from __future__ import annotations

from gitguard.model.codec import json_encoder
from gitguard.model.conversation import MESSAGE
from gitguard.transcripts.blocks import word
from gitguard.transcripts.entries import parse
from gitguard.transcripts.jsonl import forwards

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from gitguard.transcripts.fitting.compaction import CompactionPlan, Written

_encode = json_encoder(members=",", colon=":")


def lines(
    plan: CompactionPlan, written: Written, path: str, random: Callable[[int], bytes]
) -> list[bytes]:
    """Return the line to append; random gives so many random bytes."""
    remaining = [entry for unit in plan.kept for entry in unit.entries if entry.id]
    first = next((entry for entry in remaining if entry.kind == MESSAGE), remaining[0])
    last = plan.before.last or remaining[-1]
    entry: dict[str, Any] = {
        "type": "compaction",
        "id": _new_id(plan.before.ids, random),
        "parentId": last.id,
        "timestamp": written.timestamp,
        "summary": written.summary,
        "firstKeptEntryId": first.id,
        "tokensBefore": written.tokens_before,
        "details": {
            "readFiles": list(written.read_files),
            "modifiedFiles": list(written.modified_files),
        },
        "fromHook": True,
    }
    return [_encode(entry).encode("utf-8", "replace")]


def refuse_unfit(_path: str) -> None:
    """Refuse nothing."""


def folder(path: str) -> str:
    """Return the folder in which the conversation is held, as the file's first line says."""
    for line in forwards(path):
        return word(parse(line).get("cwd"))
    return ""


def _new_id(used_ids: frozenset[str], random: Callable[[int], bytes]) -> str:
    while (new_id := random(4).hex()) in used_ids:
        continue
    return new_id
