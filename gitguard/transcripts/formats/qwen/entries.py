"""The lines of Qwen Code's chats as entries (recorded with 0.24.4)."""

from __future__ import annotations

from gitguard.model.conversation import (
    AGENT,
    COMPACTION,
    MESSAGE,
    RESULT,
    TEXT,
    TOOL,
    UNKNOWN,
    USER,
    Block,
    TranscriptEntry,
)
from gitguard.transcripts import jsonl
from gitguard.transcripts.blocks import word
from gitguard.transcripts.entries import inner, time_of, tokens
from gitguard.transcripts.formats.qwen.lines import is_by_host, is_compression, summary_in, texts_in
from gitguard.transcripts.parts import blocks_of_parts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

_ROLES = {"user": USER, "assistant": AGENT, "tool_result": TOOL}


def entries_of(path: str, since: int) -> Iterator[TranscriptEntry]:
    """Yield the entries of a file behind an offset."""
    return jsonl.entries(path, since, fields_of)


def fields_of(line: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of the entry that a line is."""
    role = _ROLES.get(word(line.get("type")))
    fields: dict[str, Any] = {
        "kind": UNKNOWN,
        "id": word(line.get("uuid")),
        "parent": word(line.get("parentUuid")),
        "time": time_of(line),
    }
    if is_compression(line):
        return fields | {"kind": COMPACTION, "blocks": (Block.saying(TEXT, 0, summary_in(line)),)}
    message = line.get("message")
    if role is None or not isinstance(message, dict):
        return fields
    return fields | {
        "kind": MESSAGE,
        "role": role,
        "blocks": tuple(_blocks(line, message)),
        "by_host": role == USER and (is_by_host(line) or not texts_in(message)),
        "tokens": tokens(line.get("usageMetadata"), ("promptTokenCount",)),
        "model": word(line.get("model")),
    }


def _blocks(line: dict[str, Any], message: dict[str, Any]) -> Iterator[Block]:
    exit_code = inner(inner(line, "toolCallResult"), "resultDisplay").get("exitCode")
    for at, block in enumerate(blocks_of_parts(message.get("parts"))):
        if block.kind == RESULT and isinstance(exit_code, int):
            yield block.replace(at=at, exit_code=exit_code)
        else:
            yield block.replace(at=at)
