"""A compaction as Claude Code keeps it (recorded with 2.1.330): two lines, behind all the others.

The first is the boundary; it lists the entries that stay. The second, in the user's name, is the
summary. What the host writes later follows the last entry that stays, and it puts those that stay
behind the summary when it reads the file.
"""

from __future__ import annotations

import uuid

from gitguard.errors import InvalidInput
from gitguard.model.codec import json_encoder
from gitguard.model.conversation import MESSAGE, TranscriptEntry
from gitguard.transcripts import jsonl
from gitguard.transcripts.blocks import word
from gitguard.transcripts.entries import backwards, parse
from gitguard.transcripts.formats.claude_code.lines import ENVIRONMENT
from gitguard.transcripts.formats.claude_code.reading import is_sub_agents

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from gitguard.transcripts.fitting.compaction import CompactionPlan, Written

_LOADED = ("user", "assistant", "attachment", "system")
_encode = json_encoder(members=",", colon=":")


def lines(
    plan: CompactionPlan, written: Written, path: str, random: Callable[[int], bytes]
) -> list[bytes]:
    """Return the lines to append; random gives so many random bytes."""
    boundary, summary = (str(uuid.UUID(bytes=random(16), version=4)) for _ in range(2))
    remaining_ids = _loaded_ids(path, [entry for unit in plan.kept for entry in unit.entries])
    last = plan.before.last
    common = {name: value for name, value in _newest(path).items() if name in ENVIRONMENT}
    first: dict[str, Any] = {
        "parentUuid": None,
        "logicalParentUuid": last.id if last is not None else None,
        "isSidechain": False,
        "type": "system",
        "subtype": "compact_boundary",
        "content": "Conversation compacted",
        "isMeta": False,
        "timestamp": written.timestamp,
        "uuid": boundary,
        "level": "info",
        "compactMetadata": _metadata(remaining_ids, summary, written),
    }
    second: dict[str, Any] = {
        "parentUuid": boundary,
        "isSidechain": False,
        "type": "user",
        "message": {"role": "user", "content": written.summary},
        "isVisibleInTranscriptOnly": True,
        "isCompactSummary": True,
        "uuid": summary,
        "timestamp": written.timestamp,
    }
    return [_encode({**line, **common}).encode("utf-8", "replace") for line in (first, second)]


def _loaded_ids(path: str, entries: Sequence[TranscriptEntry]) -> list[str]:
    """Return the ids of those entries that the host loads; it keeps nothing if one is not there.

    It passes over `progress` lines, which versions before 2.1.64 chained between messages, and over
    kinds of lines that it does not know.
    """
    ids = [
        entry.id
        for entry in entries
        if entry.id and (entry.kind == MESSAGE or _is_loaded(path, entry))
    ]
    if not ids:
        raise InvalidInput(f"`{path}` cannot be compacted: its host loads none of the last turns")
    return ids


def _is_loaded(path: str, entry: TranscriptEntry) -> bool:
    def kind_of(document: dict[str, Any]) -> dict[str, Any]:
        return {"message": word(document.get("type"))}

    return jsonl.entry_at(path, entry.at, entry.end, kind_of).message in _LOADED


def refuse_unfit(path: str) -> None:
    """Refuse a sub-agent's own transcript: how its host compacts one is not known."""
    if is_sub_agents(path):
        raise InvalidInput(
            f"`{path}` is a sub-agent's own transcript, which gitguard does not compact",
            "Compact the conversation that called it",
        )


def folder(path: str) -> str:
    """Return the folder in which the conversation went on last."""
    return word(_newest(path).get("cwd"))


def _metadata(remaining_ids: list[str], summary: str, written: Written) -> dict[str, Any]:
    # The tokens that are left are the host's to measure: what we guess would be read as its figure.
    return {
        "trigger": "manual",
        "preTokens": written.tokens_before,
        "durationMs": written.milliseconds,
        "preservedSegment": {
            "headUuid": remaining_ids[0],
            "anchorUuid": summary,
            "tailUuid": remaining_ids[-1],
        },
        "preservedMessages": {
            "anchorUuid": summary,
            "uuids": remaining_ids,
            "allUuids": remaining_ids,
        },
    }


def _newest(path: str) -> dict[str, Any]:
    """Return the newest line that tells of the conversation."""
    for line in backwards(path):
        document = parse(line)
        if document.get("uuid") and not document.get("isSidechain"):
            return document
    return {}
